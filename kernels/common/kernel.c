/* kernel.c -- names of data types, phases and precisions, and reading or
 * writing one element of any type as a double. */
#include "common/kernel.h"

#include <stddef.h>

#include "common/number.h"

size_t lab_dtype_bytes(enum lab_dtype dtype)
{
    switch (dtype) {
    case LAB_F64:
        return sizeof(double);
    case LAB_F16:
    case LAB_BFLOAT16:
        return sizeof(uint16_t);
    default:
        return sizeof(float);
    }
}

const char *lab_dtype_name(enum lab_dtype dtype)
{
    static const char *const name[LAB_DTYPE_COUNT] = {"f32", "f64", "i32",
                                                      "f16", "bf16"};
    return (unsigned)dtype < LAB_DTYPE_COUNT ? name[dtype] : "?";
}

const char *lab_phase_name(enum lab_phase phase)
{
    static const char *const name[LAB_PHASE_COUNT] = {"forward", "loss",
                                                      "backward", "update"};
    return (unsigned)phase < LAB_PHASE_COUNT ? name[phase] : "?";
}

const char *lab_precision_name(enum lab_precision p)
{
    static const char *const name[LAB_PRECISION_COUNT] = {
        "fp32", "tf32", "bf16", "fp16", "fp64"};
    return (unsigned)p < LAB_PRECISION_COUNT ? name[p] : "?";
}

double lab_number_at(const void *data, enum lab_dtype dtype, int64_t i)
{
    switch (dtype) {
    case LAB_F64:
        return ((const double *)data)[i];
    case LAB_I32:
        return ((const int32_t *)data)[i];
    case LAB_F16:
        return (double)lab_f16_value(((const uint16_t *)data)[i]);
    case LAB_BFLOAT16:
        return (double)lab_bf16_value(((const uint16_t *)data)[i]);
    default:
        return (double)((const float *)data)[i];
    }
}

void lab_number_put(void *data, enum lab_dtype dtype, int64_t i, double v)
{
    switch (dtype) {
    case LAB_F64:
        ((double *)data)[i] = v;
        break;
    case LAB_I32:
        ((int32_t *)data)[i] = (int32_t)v;
        break;
    case LAB_F16:
        ((uint16_t *)data)[i] = lab_f16_of(v);
        break;
    case LAB_BFLOAT16:
        ((uint16_t *)data)[i] = lab_bf16_of(v);
        break;
    default:
        ((float *)data)[i] = (float)v;
    }
}
