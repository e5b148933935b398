/* kernels/warps_copy/warps_copy.h -- the launchers of its variants. */
#pragma once
#include "labs/sweep.h"

enum { LAB_COPY_WARPS = 64 /* at most */ };
