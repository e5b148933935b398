/* cpu/room.h -- memory that a kernel needs during its call.
 *
 * What the system gives anew it clears page by page at the first touch, which takes
 * longer than some kernels. So one room that was given back is kept for the next call
 * of any kernel, up to LAB_ROOM_KEPT bytes. Threads: any. */
#pragma once
#include <stdint.h>
#include "base/status.h"

enum { LAB_ROOM_KEPT = 1 << 26 };

LAB_C_BEGIN
/* `count` floats, a multiple of 64 bytes' address, of any value; NULL: no memory. */
float *lab_room_take(int64_t count);
void lab_room_give(float *room); /* NULL allowed */
LAB_C_END
