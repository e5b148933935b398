#include "kernel.h"

#include <stddef.h>

size_t lab_dtype_bytes(enum lab_dtype dtype)
{
    return dtype == LAB_F64 ? sizeof(double) : sizeof(float);
}

const char *lab_dtype_name(enum lab_dtype dtype)
{
    static const char *const name[LAB_DTYPE_COUNT] = {"f32", "f64", "i32"};
    return (unsigned)dtype < LAB_DTYPE_COUNT ? name[dtype] : "?";
}

const char *lab_phase_name(enum lab_phase phase)
{
    static const char *const name[LAB_PHASE_COUNT] = {"forward", "loss",
                                                      "backward", "update"};
    return (unsigned)phase < LAB_PHASE_COUNT ? name[phase] : "?";
}
