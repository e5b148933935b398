/* check.h -- what check.c, race.c and count.c share: the state of the checks of a
 * launch and of a block that runs. */
#pragma once
#include <pthread.h>
#include "code.h"
#include "memory.h"

#define SIM_FULL 0xffffffffu
