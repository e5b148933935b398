/* kernels/gemm/operands.cu -- rows made longer, to start on 16 bytes. */
#include "gemm/operands.cuh"

#include <stdio.h>

enum { ROW_START = 16 };

static struct {
    void *a; /* NULL: A is taken as it lies */
    void *b;
    int64_t bytes;
} copies;

static int64_t pitch_of(int64_t cols, size_t number_bytes)
{
    int64_t bytes = cols * static_cast<int64_t>(number_bytes);
    return (bytes + ROW_START - 1) / ROW_START * ROW_START;
}

static bool lies_well(const struct lab_view *v)
{
    int64_t bytes = v->dim[1] * static_cast<int64_t>(lab_dtype_bytes(v->dtype));
    return bytes % ROW_START == 0;
}

enum lab_status lab_gemm_operands_release(const struct lab_call *call)
{
    (void)call;
    (void)cudaFree(copies.a);
    (void)cudaFree(copies.b);
    copies = {};
    return LAB_OK;
}

static enum lab_status make_room(const struct lab_view *v, void **out)
{
    if (lies_well(v))
        return LAB_OK;
    int64_t bytes = v->dim[0] * pitch_of(v->dim[1], lab_dtype_bytes(v->dtype));
    cudaError_t err = cudaMalloc(out, static_cast<size_t>(bytes));
    if (err != cudaSuccess) {
        (void)cudaGetLastError();
        return lab_fail(
            LAB_E_NOMEM,
            "no room for a copy of %lld bytes with rows that start on "
            "16 bytes: %s",
            static_cast<long long>(bytes), cudaGetErrorString(err));
    }
    copies.bytes += bytes;
    return LAB_OK;
}

enum lab_status lab_gemm_operands_prepare(const struct lab_call *call)
{
    const int64_t side = INT32_MAX - 256; /* a tile may hang over */
    if (call->in[0].dim[0] > side || call->in[0].dim[1] > side ||
        call->in[1].dim[1] > side)
        return lab_fail(
            LAB_E_RANGE,
            "[launch.tma-side] a side is more than the TMA unit's 31 "
            "bits");
    (void)lab_gemm_operands_release(call);
    enum lab_status st = make_room(&call->in[0], &copies.a);
    if (!st)
        st = make_room(&call->in[1], &copies.b);
    if (st)
        (void)lab_gemm_operands_release(call);
    return st;
}

/* A number a thread; what is behind a row's end is never looked at. */
template <typename T>
static __global__ void gemm_longer_rows(T *to, const T *from, int64_t rows,
                                        int64_t cols, int64_t pitch)
{
    int64_t i = lab_element();
    if (i < rows * cols)
        to[i / cols * pitch + i % cols] = from[i];
}

static enum lab_status take(const struct lab_call *call,
                            const struct lab_view *v, void *copy,
                            const void **data, int64_t *pitch)
{
    size_t bytes = lab_dtype_bytes(v->dtype);
    int64_t longer = pitch_of(v->dim[1], bytes);
    *pitch = longer;
    *data = copy ? copy : v->data;
    if (!copy)
        return lies_well(v) ? LAB_OK
                            : lab_fail(LAB_E_ARG, "run without prepare");
    longer /= static_cast<int64_t>(bytes);
    if (bytes == 2)
        gemm_longer_rows<<<lab_blocks(v->count), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
            static_cast<uint16_t *>(copy),
            static_cast<const uint16_t *>(v->data), v->dim[0], v->dim[1],
            longer);
    else
        gemm_longer_rows<<<lab_blocks(v->count), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
            static_cast<uint32_t *>(copy),
            static_cast<const uint32_t *>(v->data), v->dim[0], v->dim[1],
            longer);
    return lab_launched("gemm_longer_rows");
}

enum lab_status gemm_operands_queue(const struct lab_call *call,
                                    struct gemm_operands *out)
{
    const struct lab_view *a = &call->in[0];
    const struct lab_view *b = &call->in[1];
    *out = {};
    out->c = call->out[0].data;
    out->M = static_cast<int>(a->dim[0]);
    out->N = static_cast<int>(b->dim[1]);
    out->K = static_cast<int>(a->dim[1]);
    out->dtype = a->dtype;
    out->number_bytes = lab_dtype_bytes(a->dtype);
    enum lab_status st = take(call, a, copies.a, &out->a, &out->a_pitch);
    return st ? st : take(call, b, copies.b, &out->b, &out->b_pitch);
}

void lab_gemm_operands_note(const struct lab_call *call,
                            struct lab_variant_note *out)
{
    (void)call;
    out->workspace_bytes = copies.bytes;
    if (copies.bytes > 0)
        snprintf(out->text, sizeof(out->text), "rows of %s copied first",
                 copies.a && copies.b ? "A and B"
                 : copies.a           ? "A"
                                      : "B");
}
