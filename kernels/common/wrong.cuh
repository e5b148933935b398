/* kernels/common/wrong.cuh -- a row of an op's table that shows a mistake. It is right
 * on the numbers of the check of variants, and runs only when it is chosen by hand. */
#pragma once
#include "common/launch.cuh"

/* `what` is wrong with it. */
static constexpr struct lab_variant lab_wrong(struct lab_variant row,
                                              const char *what)
{
    row.wrong_on_purpose = what;
    return row;
}
