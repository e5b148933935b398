/* kernels/overlap/streams.cu -- to the GPU, compute, and back.
 *
 * pageable   one copy there, one kernel, one copy back. The host's memory is
 *            what malloc gives: the driver copies it piece by piece into memory
 *            of its own first, since the GPU may only fetch pages that stay.
 * pinned     the same from page-locked memory, which the GPU fetches itself.
 * streams_2, streams_4, streams_8
 *            the vector in so many parts, each in a stream of its own: while
 *            one part computes the next comes in and the one before goes out.
 *            A GPU has copy engines for both ways beside its multiprocessors,
 *            so that the longest of the three is what remains, and the ends:
 *            (in + kernel + out) / k + (k - 1) / k of the longest.
 *
 * Host memory, streams and events are made in prepare and freed in release. The
 * first run after a prepare ends by sending what came back to the host to y
 * once more: that run is the one that is compared, and so the comparison covers
 * the whole way. It alone waits. */
#include "common/kernel.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "overlap/overlap.h"
#include "common/launch.cuh"

static __global__ void overlap_steps(float *y, const float *x, int64_t steps,
                                     int64_t n)
{
    int64_t i = lab_element();
    if (i >= n)
        return;
    float v = x[i];
    for (int64_t s = 0; s < steps; s++)
        v = fmaf(v, LAB_OVERLAP_A, LAB_OVERLAP_C);
    y[i] = v;
}

/* What is prepared; one at a time, as the ladders run. */
static struct {
    float *in; /* on the host: x, and what comes back */
    float *back;
    bool pinned;
    bool fresh; /* not run yet */
    cudaStream_t stream[LAB_OVERLAP_STREAMS];
    cudaEvent_t done[LAB_OVERLAP_STREAMS];
    cudaEvent_t begin;
    cudaEvent_t end;
    float in_ms; /* each part alone */
    float kernel_ms;
    float back_ms;
} ready;

static enum lab_status failed(const char *what, cudaError_t err)
{
    return lab_fail(err == cudaErrorMemoryAllocation ? LAB_E_NOMEM
                                                     : LAB_E_DEVICE,
                    "%s: %s", what, cudaGetErrorString(err));
}

static cudaError_t host_alloc(float **out, size_t bytes)
{
    if (ready.pinned)
        return cudaMallocHost(reinterpret_cast<void **>(out), bytes);
    *out = static_cast<float *>(malloc(bytes));
    return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void host_free(float *p)
{
    if (ready.pinned)
        cudaFreeHost(p);
    else
        free(p);
}

static enum lab_status release(const struct lab_call *call)
{
    (void)call;
    for (int s = 0; s < LAB_OVERLAP_STREAMS; s++) {
        if (ready.stream[s])
            cudaStreamDestroy(ready.stream[s]);
        if (ready.done[s])
            cudaEventDestroy(ready.done[s]);
    }
    if (ready.begin)
        cudaEventDestroy(ready.begin);
    if (ready.end)
        cudaEventDestroy(ready.end);
    host_free(ready.in);
    host_free(ready.back);
    ready = {};
    return LAB_OK;
}

static cudaError_t make(const struct lab_call *call)
{
    size_t bytes = static_cast<size_t>(call->in[0].count) * sizeof(float);
    cudaError_t err = host_alloc(&ready.in, bytes);
    if (err == cudaSuccess)
        err = host_alloc(&ready.back, bytes);
    for (int s = 0; s < LAB_OVERLAP_STREAMS && err == cudaSuccess; s++) {
        err =
            cudaStreamCreateWithFlags(&ready.stream[s], cudaStreamNonBlocking);
        if (err == cudaSuccess)
            err = cudaEventCreateWithFlags(&ready.done[s],
                                           cudaEventDisableTiming);
    }
    if (err == cudaSuccess)
        err = cudaEventCreate(&ready.begin);
    if (err == cudaSuccess)
        err = cudaEventCreate(&ready.end);
    if (err == cudaSuccess)
        err = cudaMemcpy(ready.in, lab_in(call, 0), bytes,
                         cudaMemcpyDeviceToHost);
    return err;
}

/* One of the three parts for elements [first, first + n), on a stream. */
enum part { IN, KERNEL, BACK };

static cudaError_t queue(const struct lab_call *call, enum part part,
                         int64_t first, int64_t n, cudaStream_t stream)
{
    float *x = lab_out(call, 1) + first; /* the scratch vector */
    float *y = lab_out(call, 0) + first;
    size_t bytes = static_cast<size_t>(n) * sizeof(float);
    if (part == IN)
        return cudaMemcpyAsync(x, ready.in + first, bytes,
                               cudaMemcpyHostToDevice, stream);
    if (part == BACK)
        return cudaMemcpyAsync(ready.back + first, y, bytes,
                               cudaMemcpyDeviceToHost, stream);
    overlap_steps<<<lab_blocks(n), LAB_BLOCK, 0, stream>>>(
        y, x, lab_bench_dim(call, 1), n);
    return cudaGetLastError();
}

/* Milliseconds of one part alone, the shortest of some turns: the first ones
 * touch pages that are still unused. */
static cudaError_t time_part(const struct lab_call *call, enum part part,
                             float *out)
{
    enum { TURNS = 5 };
    cudaStream_t stream = lab_stream(call);
    cudaError_t err = cudaSuccess;
    *out = INFINITY;
    for (int turn = 0; turn < TURNS && err == cudaSuccess; turn++) {
        float ms = INFINITY;
        err = cudaEventRecord(ready.begin, stream);
        if (err == cudaSuccess)
            err = queue(call, part, 0, call->in[0].count, stream);
        if (err == cudaSuccess)
            err = cudaEventRecord(ready.end, stream);
        if (err == cudaSuccess)
            err = cudaEventSynchronize(ready.end);
        if (err == cudaSuccess)
            err = cudaEventElapsedTime(&ms, ready.begin, ready.end);
        *out = fminf(*out, ms);
    }
    return err;
}

static enum lab_status prepare(const struct lab_call *call, bool pinned)
{
    ready = {};
    ready.pinned = pinned;
    ready.fresh = true;
    cudaError_t err = make(call);
    if (err == cudaSuccess)
        err = time_part(call, IN, &ready.in_ms);
    if (err == cudaSuccess)
        err = time_part(call, KERNEL, &ready.kernel_ms);
    if (err == cudaSuccess)
        err = time_part(call, BACK, &ready.back_ms);
    if (err == cudaSuccess)
        return LAB_OK;
    cudaGetLastError(); /* not the next launch's fault */
    release(call);
    return failed("cannot prepare copies from the host", err);
}

static enum lab_status pageable_prepare(const struct lab_call *call)
{
    return prepare(call, false);
}

static enum lab_status pinned_prepare(const struct lab_call *call)
{
    return prepare(call, true);
}

/* y from the host's copy, NaN there first so that nothing old can be right. */
static cudaError_t close_circle(const struct lab_call *call)
{
    cudaStream_t stream = lab_stream(call);
    size_t bytes = static_cast<size_t>(call->out[0].count) * sizeof(float);
    ready.fresh = false;
    cudaError_t err = cudaMemsetAsync(lab_out(call, 0), 0xff, bytes, stream);
    if (err == cudaSuccess)
        err = cudaMemcpyAsync(lab_out(call, 0), ready.back, bytes,
                              cudaMemcpyHostToDevice, stream);
    return err == cudaSuccess ? cudaStreamSynchronize(stream) : err;
}

static enum lab_status whole(const struct lab_call *call)
{
    cudaError_t err = cudaSuccess;
    for (int part = IN; part <= BACK && err == cudaSuccess; part++)
        err = queue(call, static_cast<enum part>(part), 0, call->in[0].count,
                    lab_stream(call));
    if (err == cudaSuccess && ready.fresh)
        err = close_circle(call);
    return err == cudaSuccess ? LAB_OK : failed("copy, compute, copy", err);
}

/* Part s of `streams` of the vector. */
static cudaError_t queue_part(const struct lab_call *call, int s, int streams)
{
    int64_t n = call->in[0].count;
    int64_t first = n * s / streams;
    int64_t many = n * (s + 1) / streams - first;
    cudaError_t err = cudaStreamWaitEvent(ready.stream[s], ready.begin, 0);
    for (int part = IN; part <= BACK && err == cudaSuccess && many; part++)
        err = queue(call, static_cast<enum part>(part), first, many,
                    ready.stream[s]);
    if (err == cudaSuccess)
        err = cudaEventRecord(ready.done[s], ready.stream[s]);
    return err;
}

/* All streams begin when the exec's stream comes here, and that one goes on
 * when all of them are done. */
static enum lab_status in_streams(const struct lab_call *call, int streams)
{
    cudaError_t err = cudaEventRecord(ready.begin, lab_stream(call));
    for (int s = 0; s < streams && err == cudaSuccess; s++)
        err = queue_part(call, s, streams);
    for (int s = 0; s < streams && err == cudaSuccess; s++)
        err = cudaStreamWaitEvent(lab_stream(call), ready.done[s], 0);
    if (err == cudaSuccess && ready.fresh)
        err = close_circle(call);
    return err == cudaSuccess ? LAB_OK : failed("copies in streams", err);
}

static enum lab_status streams_2(const struct lab_call *call)
{
    return in_streams(call, 2);
}

static enum lab_status streams_4(const struct lab_call *call)
{
    return in_streams(call, 4);
}

static enum lab_status streams_8(const struct lab_call *call)
{
    return in_streams(call, 8);
}

/* What the parts take alone, and what they should take together. */
static void note(struct lab_variant_note *out, int streams)
{
    double sum =
        static_cast<double>(ready.in_ms) + ready.kernel_ms + ready.back_ms;
    double most = fmax(fmax(ready.in_ms, ready.kernel_ms), ready.back_ms);
    snprintf(out->text, sizeof(out->text),
             LAB_OVERLAP_ALONE("%.3f") "; together %.3f ms by the model",
             static_cast<double>(ready.in_ms),
             static_cast<double>(ready.kernel_ms),
             static_cast<double>(ready.back_ms),
             sum / streams + (streams - 1) * most / streams);
}

#define NOTE(name, streams)                                                    \
    static void name(const struct lab_call *call,                              \
                     struct lab_variant_note *out)                             \
    {                                                                          \
        (void)call;                                                            \
        note(out, streams);                                                    \
    }

NOTE(whole_note, 1)
NOTE(note_2, 2)
NOTE(note_4, 4)
NOTE(note_8, 8)

#define SOURCE "kernels/overlap/streams.cu"

extern const struct lab_variant lab_cuda_variants_overlap[] = {
    {.name = "pageable",
     .idea = "one after another, from memory as malloc gives it",
     .run = whole,
     .source = SOURCE,
     .prepare = pageable_prepare,
     .release = release,
     .note = whole_note},
    {.name = "pinned",
     .idea = "page-locked memory: the GPU fetches it itself",
     .run = whole,
     .source = SOURCE,
     .prepare = pinned_prepare,
     .release = release,
     .note = whole_note},
    {.name = "streams_2",
     .idea = "two halves in two streams: copies beside kernels",
     .run = streams_2,
     .source = SOURCE,
     .prepare = pinned_prepare,
     .release = release,
     .note = note_2},
    {.name = "streams_4",
     .idea = "four parts: both copies and the kernel at once",
     .run = streams_4,
     .source = SOURCE,
     .prepare = pinned_prepare,
     .release = release,
     .note = note_4},
    {.name = "streams_8",
     .idea = "eight parts: shorter ends",
     .run = streams_8,
     .source = SOURCE,
     .prepare = pinned_prepare,
     .release = release,
     .note = note_8},
    {},
};
