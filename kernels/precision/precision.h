/* kernels/precision/precision.h -- products in fewer bits, and of parts.
 *
 * A split takes an fp32 number apart: A1 is A rounded to 16 bits, A2 what that
 * left, A - A1, rounded to 16 bits. Then A B = A1 B1 + A1 B2 + A2 B1 + A2 B2 to
 * about twice the bits. split_1 to split_4 make the first 1 to 4 of these
 * products, with one sum in fp32. */
#pragma once
#include "common/kernel.h"

/* Numbers in a row of a part, in memory: a row starts on 16 bytes. */
#define LAB_SPLIT_PITCH(cols) (((cols) + 7) / 8 * 8)

/* Product i, from 0, takes part i / 2 of A and part i % 2 of B. */

LAB_C_BEGIN
/* bf16 or fp16, by the type of the scratch tensors. */
lab_kernel_fn lab_split_1, lab_split_2, lab_split_3, lab_split_4;
LAB_C_END
