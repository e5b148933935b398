/* The list of the vectorised tables. */
#include "cpu/vector_sets.h"

const struct lab_kernel_set *const *lab_vector_sets(int *count)
{
#define LAB_VECTOR_SET(op) &lab_vector_##op,
    static const struct lab_kernel_set *const sets[] = {
        LAB_VECTOR_SETS(LAB_VECTOR_SET)};
    *count = sizeof(sets) / sizeof(sets[0]);
    return sets;
}
