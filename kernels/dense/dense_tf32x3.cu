/* kernels/dense/dense_tf32x3.cu -- the dense layer's products on the tensor cores, in
 * fp32: each number in two parts (tf32x3/tf32x3_sm90.cuh). The bias is added while the sums
 * are still in registers. */
#include "dense/dense_cuda.cuh"
#include "tf32x3/tf32x3.h"

static enum lab_status multiply(const struct lab_call *call,
                                const struct lab_cublas_product &p,
                                const float *bias)
{
    return lab_tf32x3_multiply(call, &p, bias, call->exec->workspace,
                               call->exec->workspace_bytes);
}

enum lab_status dense_tf32x3_forward(const struct lab_call *call)
{
    return multiply(call, dense_xW(call), nullptr);
}

enum lab_status dense_tf32x3_layer(const struct lab_call *call)
{
    return multiply(call, dense_xW(call),
                    call->n_in > 2 ? lab_in(call, 2) : nullptr);
}

enum lab_status dense_tf32x3_backward(const struct lab_call *call)
{
    enum lab_status st =
        lab_out(call, 0) ? multiply(call, dense_dW(call), nullptr) : LAB_OK;
    return st || !lab_out(call, 1) ? st
                                   : multiply(call, dense_dx(call), nullptr);
}
