/* kernels/gesv/cpu.c -- A X = B on one thread of a CPU: the factors of the
 * lab lu, then forward through L and back through U for each right hand side. */
#include <string.h>

#include "lu/lu_cpu.h"
#include "common/kernel.h"

/* x becomes the solution; column by column, as the factors lie in memory. */
static void solve(const double *lu, const int32_t *pivots, int64_t n, double *x)
{
    for (int64_t k = 0; k < n; k++) {
        double v = x[k];
        x[k] = x[pivots[k] - 1];
        x[pivots[k] - 1] = v;
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = k + 1; i < n; i++)
            x[i] -= lu[i + k * n] * x[k];
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        x[k] /= lu[k + k * n];
        for (int64_t i = 0; i < k; i++)
            x[i] -= lu[i + k * n] * x[k];
    }
}

static enum lab_status gesv_unblocked(const struct lab_call *call)
{
    int64_t n = call->in[0].dim[0];
    double *x = call->out[0].data;
    double *lu = call->out[1].data;
    int32_t *pivots = call->out[2].data;
    memcpy(lu, call->in[0].data, (size_t)(n * n) * sizeof(*lu));
    memcpy(x, call->in[1].data, (size_t)call->in[1].count * sizeof(*x));
    lab_cpu_lu(lu, pivots, n);
    for (int64_t c = 0; c < call->in[1].dim[1]; c++)
        solve(lu, pivots, n, x + c * n);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_gesv[] = {
    {.name = "unblocked",
     .idea = "the factors of lu, then two triangles",
     .run = gesv_unblocked,
     .source = "kernels/gesv/cpu.c",
     .precision = LAB_FP64},
    {0},
};
