/* kernels/saxpy/saxpy.h -- y = 2 x + y. */
#pragma once

#define LAB_SAXPY_A 2.0f
