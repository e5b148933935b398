/* kernels/library/rows_cudnn.cu -- softmax and the activations by NVIDIA's cuDNN.
 *
 * One call each, of functions with the formulas of our kernels: softmax with the
 * maximum subtracted (SOFTMAX_ACCURATE) over each row, relu, sigmoid and tanh,
 * where a NaN stays one. Rows are cuDNN's images of C channels and one pixel.
 *
 * A row of nothing but -inf is zeros there, and NaN here. */
#include "library/cudnn_entry.cuh"

/* The descriptor of a matrix, and of the function where there is one. */
enum { MATRIX, FUNCTION };

static enum lab_status make(const struct lab_call *call,
                            struct lab_cudnn_entry *e, int64_t rows,
                            int64_t cols, int function, const char *what)
{
    const struct lab_cudnn *dnn = call->exec->cudnn;
    const int64_t sizes[] = {rows * cols};
    if (!cudnn_fits(sizes, 1))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-size] %s: cuDNN counts to 2^31 - 1 numbers", what);
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        (function >= 0 &&
         !cudnn_descriptor(e, dnn->act_create, dnn->act_destroy)))
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    int status = dnn->tensor_4d(e->descriptor[MATRIX], LAB_CUDNN_FLOAT,
                                (int)rows, (int)cols, 1, 1, (int)cols, 1, 1, 1);
    if (!status && function >= 0)
        status = dnn->act_set(e->descriptor[FUNCTION], function,
                              LAB_CUDNN_PROPAGATE_NAN, 0.0);
    return cudnn_judge(call, status, what);
}

static enum lab_status entry_of(const struct lab_call *call, int64_t rows,
                                int64_t cols, int function, const char *what,
                                struct lab_cudnn_entry **e)
{
    struct cudnn_key key = {{CUDNN_ROWS, function, rows, cols}};
    enum lab_status st = cudnn_entry_of(call, key, 1, e);
    if (st || (*e)->ready)
        return st;
    return cudnn_entry_made(call, *e,
                            make(call, *e, rows, cols, function, what));
}

/* ---- softmax ---- */

static const char softmax_text[] = "softmax cudnn";

static enum lab_status softmax_entry(const struct lab_call *call,
                                     struct lab_cudnn_entry **e)
{
    return entry_of(call, lab_view_rows(&call->in[0]),
                    lab_view_cols(&call->in[0]), -1, softmax_text, e);
}

static enum lab_status softmax_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    return softmax_entry(call, &e);
}

static enum lab_status softmax_forward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st = softmax_entry(call, &e);
    if (st)
        return st;
    return cudnn_judge(call,
                       dnn->softmax_forward(
                           dnn->handle, LAB_CUDNN_SOFTMAX_ACCURATE,
                           LAB_CUDNN_SOFTMAX_INSTANCE, &cudnn_one,
                           e->descriptor[MATRIX], lab_in(call, 0), &cudnn_zero,
                           e->descriptor[MATRIX], lab_out(call, 0)),
                       softmax_text);
}

/* dx = y (dy - sum dy y) */
static enum lab_status softmax_backward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st = softmax_entry(call, &e);
    if (st)
        return st;
    void *d = e->descriptor[MATRIX];
    return cudnn_judge(
        call,
        dnn->softmax_backward(dnn->handle, LAB_CUDNN_SOFTMAX_ACCURATE,
                              LAB_CUDNN_SOFTMAX_INSTANCE, &cudnn_one, d,
                              lab_in(call, 1), d, lab_in(call, 0), &cudnn_zero,
                              d, lab_out(call, 0)),
        softmax_text);
}

/* ---- activations ---- */

static const char *activation_text(int function)
{
    return function == LAB_CUDNN_RELU      ? "relu cudnn"
           : function == LAB_CUDNN_SIGMOID ? "sigmoid cudnn"
                                           : "tanh cudnn";
}

/* A row of all elements, cut where cuDNN counts no further. */
template <int FUNCTION>
static enum lab_status activation_entry(const struct lab_call *call,
                                        struct lab_cudnn_entry **e)
{
    return entry_of(call, 1, call->in[0].count, FUNCTION,
                    activation_text(FUNCTION), e);
}

template <int KIND>
static enum lab_status activation_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    return activation_entry<KIND>(call, &e);
}

template <int KIND>
static enum lab_status activation_forward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st = activation_entry<KIND>(call, &e);
    if (st)
        return st;
    void *d = e->descriptor[MATRIX];
    return cudnn_judge(call,
                       dnn->act_forward(dnn->handle, e->descriptor[FUNCTION],
                                        &cudnn_one, d, lab_in(call, 0),
                                        &cudnn_zero, d, lab_out(call, 0)),
                       activation_text(KIND));
}

template <int KIND>
static enum lab_status activation_backward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st = activation_entry<KIND>(call, &e);
    if (st)
        return st;
    void *d = e->descriptor[MATRIX];
    return cudnn_judge(call,
                       dnn->act_backward(dnn->handle, e->descriptor[FUNCTION],
                                         &cudnn_one, d, lab_in(call, 2), d,
                                         lab_in(call, 0), d, lab_in(call, 1),
                                         &cudnn_zero, d, lab_out(call, 0)),
                       activation_text(KIND));
}

/* ---- tables ---- */

static const char source[] = "kernels/library/rows_cudnn.cu";

static const struct lab_variant softmax_rows[] = {
    lab_row("cudnn", "softmax", LAB_FORWARD, softmax_forward, source,
            "softmax_forward", false, softmax_prepare),
    lab_row("cudnn", "softmax", LAB_BACKWARD, softmax_backward, source,
            "softmax_backward", false, softmax_prepare),
};

#define ACTIVATION_ROWS(op, kind)                                              \
    static const struct lab_variant op##_rows[] = {                            \
        lab_row("cudnn", #op, LAB_FORWARD, activation_forward<kind>, source,   \
                "activation_forward", false, activation_prepare<kind>),        \
        lab_row("cudnn", #op, LAB_BACKWARD, activation_backward<kind>, source, \
                "activation_backward", false, activation_prepare<kind>),       \
    }

ACTIVATION_ROWS(relu, LAB_CUDNN_RELU);
ACTIVATION_ROWS(sigmoid, LAB_CUDNN_SIGMOID);
ACTIVATION_ROWS(tanh, LAB_CUDNN_TANH);

const struct lab_kernel_set lab_cudnn_softmax =
    lab_set("softmax", softmax_rows);
const struct lab_kernel_set lab_cudnn_relu = lab_set("relu", relu_rows);
const struct lab_kernel_set lab_cudnn_sigmoid =
    lab_set("sigmoid", sigmoid_rows);
const struct lab_kernel_set lab_cudnn_tanh = lab_set("tanh", tanh_rows);
