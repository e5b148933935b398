/* kernels/batched_gemm/batched.cu -- many small products by one kernel.
 *
 * A block of 16 x 16 threads makes 32 x 32 elements of a C, four a thread, from
 * tiles of 32 x 32 in shared memory.
 *
 * looped   one launch a product. Of 32 x 32 that is one block: one of the GPU's
 *          multiprocessors works, for less time than the next launch takes.
 * streams  the same launches on 8 streams: products of different streams may
 *          run side by side, but each is still launched.
 * blocks   one launch for all: the block's number selects the product. */
#include <stdio.h>

#include "batched_gemm/batched.h"
#include "common/kernel.h"
#include "common/launch.cuh"

enum { TILE = 32, SIDE = 16, STREAMS = 8 };

static __global__ void __launch_bounds__(SIDE *SIDE)
    batched_gemm(float *c, const float *a, const float *b, int64_t n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int64_t across = (n + TILE - 1) / TILE;
    int64_t tile = blockIdx.x % (across * across);
    int64_t matrix = blockIdx.x / (across * across) * n * n;
    int64_t row0 = tile / across * TILE;
    int64_t col0 = tile % across * TILE;
    int x = threadIdx.x;
    int y = threadIdx.y;
    float sum[2][2] = {};
    for (int64_t k0 = 0; k0 < n; k0 += TILE) {
        for (int i = y; i < TILE; i += SIDE) {
            for (int j = x; j < TILE; j += SIDE) {
                bool in_a = row0 + i < n && k0 + j < n;
                bool in_b = k0 + i < n && col0 + j < n;
                as[i][j] = in_a ? a[matrix + (row0 + i) * n + k0 + j] : 0.0f;
                bs[i][j] = in_b ? b[matrix + (k0 + i) * n + col0 + j] : 0.0f;
            }
        }
        __syncthreads(); /* both tiles are there */
        for (int k = 0; k < TILE; k++) {
            for (int u = 0; u < 2; u++)
                for (int v = 0; v < 2; v++)
                    sum[u][v] += as[y + u * SIDE][k] * bs[k][x + v * SIDE];
        }
        __syncthreads(); /* no thread needs them any more */
    }
    for (int u = 0; u < 2; u++) {
        for (int v = 0; v < 2; v++) {
            int64_t row = row0 + y + u * SIDE;
            int64_t col = col0 + x + v * SIDE;
            if (row < n && col < n)
                c[matrix + row * n + col] = sum[u][v];
        }
    }
}

/* Products first .. first + count - 1 in one launch. */
static void launch(const struct lab_call *call, int64_t first, int64_t count,
                   cudaStream_t stream)
{
    int64_t n = call->in[0].dim[1];
    int64_t across = (n + TILE - 1) / TILE;
    int64_t at = first * n * n;
    batched_gemm<<<lab_blocks(count * across * across, 1), dim3(SIDE, SIDE), 0,
                   stream>>>(lab_out(call, 0) + at, lab_in(call, 0) + at,
                             lab_in(call, 1) + at, n);
}

enum lab_status lab_batched_blocks(const struct lab_call *call)
{
    launch(call, 0, call->in[0].dim[0], lab_stream(call));
    return lab_launched("batched_gemm");
}

enum lab_status lab_batched_looped(const struct lab_call *call)
{
    for (int64_t i = 0; i < call->in[0].dim[0]; i++)
        launch(call, i, 1, lab_stream(call));
    return lab_launched("batched_gemm");
}

/* ---- streams ---- */

/* Made by prepare and given back by release; one size at a time. */
static struct {
    cudaStream_t stream[STREAMS];
    cudaEvent_t begin;
    cudaEvent_t end[STREAMS];
} lanes;

enum lab_status lab_batched_streams_free(const struct lab_call *call)
{
    (void)call;
    for (int i = 0; i < STREAMS; i++) {
        if (lanes.stream[i])
            (void)cudaStreamDestroy(lanes.stream[i]);
        if (lanes.end[i])
            (void)cudaEventDestroy(lanes.end[i]);
    }
    if (lanes.begin)
        (void)cudaEventDestroy(lanes.begin);
    lanes = {};
    return LAB_OK;
}

enum lab_status lab_batched_streams_make(const struct lab_call *call)
{
    (void)lab_batched_streams_free(call);
    cudaError_t err =
        cudaEventCreateWithFlags(&lanes.begin, cudaEventDisableTiming);
    for (int i = 0; i < STREAMS && !err; i++) {
        err =
            cudaStreamCreateWithFlags(&lanes.stream[i], cudaStreamNonBlocking);
        if (!err)
            err =
                cudaEventCreateWithFlags(&lanes.end[i], cudaEventDisableTiming);
    }
    if (!err)
        return LAB_OK;
    (void)lab_batched_streams_free(call);
    return lab_fail(LAB_E_DEVICE, "cannot make %d streams: %s", STREAMS,
                    cudaGetErrorString(err));
}

/* The streams start when this one gets here, and it goes on when they have
 * finished. */
enum lab_status lab_batched_streams(const struct lab_call *call)
{
    cudaStream_t own = lab_stream(call);
    cudaError_t err = cudaEventRecord(lanes.begin, own);
    for (int i = 0; i < STREAMS && !err; i++)
        err = cudaStreamWaitEvent(lanes.stream[i], lanes.begin, 0);
    for (int64_t i = 0; i < call->in[0].dim[0] && !err; i++)
        launch(call, i, 1, lanes.stream[i % STREAMS]);
    for (int i = 0; i < STREAMS && !err; i++) {
        err = cudaEventRecord(lanes.end[i], lanes.stream[i]);
        if (!err)
            err = cudaStreamWaitEvent(own, lanes.end[i], 0);
    }
    if (err)
        return lab_fail(LAB_E_DEVICE, "streams: %s", cudaGetErrorString(err));
    return lab_launched("batched_gemm");
}

void lab_batched_note(const struct lab_call *call, struct lab_variant_note *out)
{
    (void)call;
    snprintf(out->text, sizeof(out->text), "1 launch");
}

void lab_batched_note_loop(const struct lab_call *call,
                           struct lab_variant_note *out)
{
    snprintf(out->text, sizeof(out->text), "%lld launches",
             static_cast<long long>(call->in[0].dim[0]));
}
