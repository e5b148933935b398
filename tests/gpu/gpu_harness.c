/* Runs every variant of a step on the GPU against the reference in double;
 * gpu_harness.h has what is checked. */
#include "gpu_harness.h"

#include <cuda_runtime_api.h>

#include "base/mem.h"
#include "cuda_priv.h"
#include "library/cublas_exec.h"
#include "library/cudnn_exec.h"

/* Not the same around inputs and outputs: a kernel that goes one too far would
 * copy one guard over the other, and nothing would show. */
enum { GUARD = 64, GUARD_IN = 0x5AB0A5E5, GUARD_OUT = 0x4B5A0F3C };

/* One tensor in all its places. */
struct place {
    struct lab_view dev;
    struct lab_view ref; /* doubles, or the same labels */
    float *host;         /* what the device starts with */
    float *first;        /* outputs: what the first run gave */
    uint32_t *base;      /* device memory with its guards */
    uint32_t guard;
};

static struct {
    struct lab_exec exec;
    struct lab_cublas cublas;
    struct lab_cudnn cudnn;
    void *workspace;
    void *cublas_workspace;
    bool tried;
    bool there;
} gpu;

/* How many elements all tensors of a case may have, and how often it runs. */
#ifdef LAB_GPU_SIMULATED
enum { GPU_MOST_ELEMENTS = 100000, ROUNDS = 2 };
#else
enum { GPU_MOST_ELEMENTS = INT32_MAX, ROUNDS = 3 };
int gpu_end(void)
{
    return 0;
}
#endif
static int left_out;

static bool is_too_large(const struct gpu_case *c)
{
    double elements = 0;
    for (int i = 0; i < CASE_TENSORS + CASE_OUT; i++) {
        const struct tensor *t =
            i < CASE_TENSORS ? &c->in[i] : &c->out[i - CASE_TENSORS];
        double count = t->fill == FILL_NULL ? 0 : 1;
        for (int d = 0; d < t->rank; d++)
            count *= (double)t->dim[d];
        elements += count;
    }
    bool large = elements > GPU_MOST_ELEMENTS;
    left_out += large;
    return large;
}

struct lab_exec *gpu_exec(void)
{
    if (gpu.tried)
        return gpu.there ? &gpu.exec : NULL;
    gpu.tried = true;
    gpu_seed();
    if (lab_cuda_select(0)) {
        print_message("no GPU: %s\n", lab_error());
        return NULL;
    }
    /* Kernels that cut sums into slices make as many as the device can use. */
    assert_int_equal(cudaDeviceGetAttribute(&gpu.exec.sm_count,
                                            cudaDevAttrMultiProcessorCount, 0),
                     cudaSuccess);
    assert_int_equal(cudaDeviceGetAttribute(&gpu.exec.cc_major,
                                            cudaDevAttrComputeCapabilityMajor,
                                            0),
                     cudaSuccess);
    assert_int_equal(cudaDeviceGetAttribute(&gpu.exec.cc_minor,
                                            cudaDevAttrComputeCapabilityMinor,
                                            0),
                     cudaSuccess);
    gpu.exec.workspace_bytes = (size_t)32 << 20;
    assert_int_equal(cudaStreamCreate(&gpu.exec.stream), cudaSuccess);
    assert_int_equal(cudaMalloc(&gpu.workspace, gpu.exec.workspace_bytes),
                     cudaSuccess);
    assert_int_equal(
        cudaMalloc(&gpu.cublas_workspace, gpu.exec.workspace_bytes),
        cudaSuccess);
    gpu.exec.workspace = gpu.workspace;
    const char *why;
    if (lab_cublas_available(&why)) {
        assert_ok(lab_cublas_open(&gpu.cublas, gpu.exec.stream,
                                  gpu.cublas_workspace,
                                  gpu.exec.workspace_bytes));
        gpu.exec.cublas = &gpu.cublas;
    } else {
        print_message("cuBLAS is not tested: %s\n", why);
    }
    if (lab_cudnn_available(&why) && lab_cudnn_open(&gpu.cudnn))
        gpu.exec.cudnn = &gpu.cudnn;
    else
        print_message("cuDNN is not tested: %s\n", why);
    gpu.there = true;
    return &gpu.exec;
}

int gpu_close(void **state)
{
    (void)state;
    if (!gpu.there)
        return 0;
    lab_cublas_close(&gpu.cublas);
    lab_cudnn_release(&gpu.cudnn);
    cudaFree(gpu.workspace);
    cudaFree(gpu.cublas_workspace);
    cudaStreamDestroy(gpu.exec.stream);
    gpu.there = false;
    if (left_out > 0)
        print_message("%d cases are left out: more than %d elements\n",
                      left_out, GPU_MOST_ELEMENTS);
    return gpu_end();
}

static void fill_labels(struct place *p, const struct tensor *t)
{
    int32_t *label = (int32_t *)p->host;
    for (int64_t i = 0; i < p->dev.count; i++)
        label[i] = gpu_draw_label(t->fill, i, t->limit);
    memcpy(p->ref.data, label, (size_t)p->dev.count * sizeof(*label));
}

static void fill_numbers(struct place *p, enum fill fill)
{
    double *ref = p->ref.data;
    for (int64_t i = 0; i < p->dev.count; i++) {
        p->host[i] = gpu_draw(fill, i);
        ref[i] = p->host[i];
    }
}

static void place_open(struct place *p, const struct tensor *t, uint32_t guard)
{
    bool labels = t->fill == FILL_LABELS || t->fill == FILL_BAD_LABELS;
    *p = (struct place){.guard = guard};
    p->dev.dtype = labels ? LAB_I32 : LAB_F32;
    p->dev.rank = t->rank;
    p->dev.count = 1;
    for (int d = 0; d < t->rank; d++) {
        p->dev.dim[d] = t->dim[d];
        p->dev.count *= t->dim[d];
    }
    p->ref = p->dev;
    p->ref.dtype = labels ? LAB_I32 : LAB_F64;
    if (t->fill == FILL_NULL)
        return;
    size_t count = (size_t)p->dev.count;
    p->host = lab_alloc_array(count, sizeof(float));
    p->first = lab_alloc_array(count, sizeof(float));
    p->ref.data = lab_alloc_array(count, sizeof(double));
    assert_true(p->host && p->first && p->ref.data);
    assert_int_equal(
        cudaMalloc((void **)&p->base, (count + 2 * GUARD) * sizeof(float)),
        cudaSuccess);
    p->dev.data = p->base + GUARD;
    if (labels)
        fill_labels(p, t);
    else
        fill_numbers(p, t->fill);
}

static void place_close(struct place *p)
{
    cudaFree(p->base);
    lab_free(p->host);
    lab_free(p->first);
    lab_free(p->ref.data);
}

/* The tensor as the kernel is to find it, and its guards. */
static void place_upload(const struct place *p, bool poison)
{
    if (!p->dev.data)
        return;
    size_t count = (size_t)p->dev.count;
    uint32_t *image = lab_alloc_array(count + 2 * GUARD, sizeof(*image));
    assert_non_null(image);
    for (size_t i = 0; i < count + 2 * GUARD; i++)
        image[i] = p->guard;
    float *body = (float *)(image + GUARD);
    for (size_t i = 0; i < count; i++)
        body[i] = NAN;
    if (!poison)
        memcpy(body, p->host, count * sizeof(float));
    assert_int_equal(cudaMemcpy(p->base, image,
                                (count + 2 * GUARD) * sizeof(*image),
                                cudaMemcpyHostToDevice),
                     cudaSuccess);
    lab_free(image);
}

/* The tensor's numbers; fails when a guard word was written over. */
static float *place_download(const struct place *p, const char *what)
{
    size_t count = (size_t)p->dev.count;
    uint32_t *image = lab_alloc_array(count + 2 * GUARD, sizeof(*image));
    assert_non_null(image);
    assert_int_equal(cudaMemcpy(image, p->base,
                                (count + 2 * GUARD) * sizeof(*image),
                                cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (size_t i = 0; i < GUARD; i++) {
        if (image[i] != p->guard || image[GUARD + count + i] != p->guard)
            fail_msg("%s: wrote outside its output", what);
    }
    memmove(image, image + GUARD, count * sizeof(*image));
    return (float *)image;
}

static double largest(const double *values, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(values[i]))
            most = fmax(most, fabs(values[i]));
    }
    return most;
}

/* max |got - want| <= `units` 1e-5 (1 + max |want|); NaN and infinities in the
 * same places. What was computed from larger numbers, up to `through`, has
 * their rounding. */
static void compare(const float *got, const double *want, int64_t count,
                    double through, double units, const char *what)
{
    double allowed = units * 1e-5 * (1 + fmax(largest(want, count), through));
    for (int64_t i = 0; i < count; i++) {
        bool same = isfinite(want[i])
                        ? fabs((double)got[i] - want[i]) <= allowed
                        : (isnan(want[i]) ? isnan(got[i]) : got[i] == want[i]);
        if (!same) {
            fail_msg("%s: element %lld of %lld is %.9g, not %.9g (allowed "
                     "%.3g)",
                     what, (long long)i, (long long)count, (double)got[i],
                     want[i], allowed);
        }
    }
}

struct setup {
    const struct gpu_case *c;
    double through; /* what outputs are computed from; 0: from no larger */
    double units;   /* of the tolerance that the variant has */
    bool activates; /* a group with an activation, which not all rows take in */
    int n_in;
    int n_out;
    struct place in[CASE_TENSORS];
    struct place out[CASE_OUT];
    struct lab_view in_dev[CASE_TENSORS];
    struct lab_view out_dev[CASE_OUT];
    struct lab_view in_ref[CASE_TENSORS];
    struct lab_view out_ref[CASE_OUT];
    struct lab_call call;
};

static int count_tensors(const struct tensor *t, int most)
{
    int n = 0;
    while (n < most && (t[n].fill != FILL_NULL || t[n].rank > 0))
        n++;
    return n;
}

/* What derive() wrote, as the device is to have it. */
static void take_derived(struct setup *s)
{
    if (!s->c->derive)
        return;
    assert_ok(s->c->derive(&s->call));
    for (int i = 0; i < s->n_in; i++) {
        struct place *p = &s->in[i];
        double *ref = p->ref.data;
        for (int64_t k = 0; p->host && k < p->dev.count; k++) {
            if (p->dev.dtype != LAB_F32)
                continue;
            p->host[k] = (float)ref[k];
            ref[k] = p->host[k];
        }
    }
}

static void setup_open(struct setup *s, const struct gpu_case *c)
{
    s->c = c;
    s->n_in = count_tensors(c->in, CASE_TENSORS);
    s->n_out = count_tensors(c->out, CASE_OUT);
    for (int i = 0; i < s->n_in; i++) {
        place_open(&s->in[i], &c->in[i], GUARD_IN);
        s->in_dev[i] = s->in[i].dev;
        s->in_ref[i] = s->in[i].ref;
    }
    for (int i = 0; i < s->n_out; i++) {
        place_open(&s->out[i], &c->out[i], GUARD_OUT);
        s->out_dev[i] = s->out[i].dev;
        s->out_ref[i] = s->out[i].ref;
    }
    s->call = (struct lab_call){.in = s->in_ref,
                                .n_in = s->n_in,
                                .out = s->out_ref,
                                .n_out = s->n_out,
                                .params = c->params,
                                .training = !c->evaluation,
                                .seed = 0x123456789ABCDEF0u,
                                .iteration = c->iteration,
                                .node = 7};
    take_derived(s);
}

static void setup_close(struct setup *s)
{
    for (int i = 0; i < s->n_in; i++)
        place_close(&s->in[i]);
    for (int i = 0; i < s->n_out; i++)
        place_close(&s->out[i]);
    lab_free(s);
}

static void upload(const struct setup *s)
{
    for (int i = 0; i < s->n_in; i++)
        place_upload(&s->in[i], false);
    for (int i = 0; i < s->n_out; i++)
        place_upload(&s->out[i], !s->c->inout);
}

static void run_now(struct setup *s, const struct lab_variant *v,
                    const char *what)
{
    if (v->run(&s->call))
        fail_msg("%s: %s", what, lab_error());
    cudaError_t err = cudaStreamSynchronize(gpu.exec.stream);
    if (err != cudaSuccess)
        fail_msg("%s: %s", what, cudaGetErrorString(err));
}

#ifdef LAB_GPU_SIMULATED
/* The simulator has no graphs, and would run the same order in the same way: its
 * second run, the last, has its warps in another order. */
static void run_otherwise(struct setup *s, const struct lab_variant *v,
                          const char *what)
{
    gpu_other_order();
    run_now(s, v, what);
}
#else
static void run_otherwise(struct setup *s, const struct lab_variant *v,
                          const char *what)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    assert_int_equal(cudaStreamBeginCapture(gpu.exec.stream,
                                            cudaStreamCaptureModeThreadLocal),
                     cudaSuccess);
    enum lab_status st = v->run(&s->call);
    cudaError_t err = cudaStreamEndCapture(gpu.exec.stream, &graph);
    if (st || err != cudaSuccess)
        fail_msg("%s: cannot be captured: %s", what,
                 st ? lab_error() : cudaGetErrorString(err));
    assert_int_equal(cudaGraphInstantiateWithFlags(&ready, graph, 0),
                     cudaSuccess);
    assert_int_equal(cudaGraphLaunch(ready, gpu.exec.stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(gpu.exec.stream), cudaSuccess);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}
#endif

static void inputs_unchanged(const struct setup *s, const char *what)
{
    for (int i = 0; i < s->n_in; i++) {
        const struct place *p = &s->in[i];
        if (!p->dev.data)
            continue;
        float *now = place_download(p, what);
        if (memcmp(now, p->host, (size_t)p->dev.count * sizeof(float)) != 0)
            fail_msg("%s: wrote into input %d", what, i);
        lab_free(now);
    }
}

/* round 0 is compared with the reference, later rounds bit by bit with it. */
static void check_outputs(struct setup *s, int round, const char *what)
{
    for (int i = 0; i < s->n_out; i++) {
        struct place *p = &s->out[i];
        if (!p->dev.data)
            continue;
        size_t bytes = (size_t)p->dev.count * sizeof(float);
        float *now = place_download(p, what);
        if (round == 0 && p->dev.dtype == LAB_I32) {
            if (memcmp(now, p->ref.data, bytes) != 0)
                fail_msg("%s: output %d differs from the reference", what, i);
            memcpy(p->first, now, bytes);
        } else if (round == 0) {
            compare(now, p->ref.data, p->dev.count, s->through, s->units, what);
            memcpy(p->first, now, bytes);
        } else if (memcmp(now, p->first, bytes) != 0) {
            fail_msg("%s: output %d differs between two runs", what, i);
        }
        lab_free(now);
    }
}

/* false: it does not serve these sizes, and reports it. */
static bool check_variant(struct setup *s, const struct lab_variant *v)
{
    char what[256];
    const struct gpu_case *c = s->c;
    int at = snprintf(what, sizeof(what), "%s.%s %s %s in", c->op,
                      c->step ? c->step : "group", lab_phase_name(c->phase),
                      v->name);
    for (int d = 0; d < c->in[0].rank; d++)
        at += snprintf(what + at, sizeof(what) - (size_t)at, " %lld",
                       (long long)c->in[0].dim[d]);
    if (lab_cublas_row(v) && !gpu.exec.cublas)
        return false;
    /* Winograd adds and takes away before and after its products: over 800,000
     * places an H200 is 1.8 units off. The lab's convolution allows 4 as well. */
    s->units = strstr(v->name, "winograd") ? 4 : 1;
    enum lab_status st = v->prepare ? v->prepare(&s->call) : LAB_OK;
    if (st == LAB_E_UNSUPPORTED)
        return false;
    if (st)
        fail_msg("%s: %s", what, lab_error());
    for (int round = 0; round < ROUNDS; round++) {
        upload(s);
        if (round < ROUNDS - 1)
            run_now(s, v, what);
        else
            run_otherwise(s, v, what);
        check_outputs(s, round, what);
    }
    inputs_unchanged(s, what);
    return true;
}

static int check_set(struct setup *s, const struct lab_kernel_set *set)
{
    int found = 0;
    for (int i = 0; i < set->count; i++) {
        if (!gpu_fits(&set->variants[i], s->c->step, s->c->phase) ||
            set->variants[i].wrong_on_purpose ||
            set->variants[i].keeps_parts != s->c->keeps_parts ||
            (s->c->only && strcmp(set->variants[i].name, s->c->only) != 0) ||
            (s->activates && !set->variants[i].absorbs_activation))
            continue;
        if (check_variant(s, &set->variants[i]))
            gpu_note_served(&set->variants[i]);
        found++;
    }
    return found;
}

static void check_all(struct setup *s)
{
    int found = 0;
    s->call.in = s->in_dev;
    s->call.out = s->out_dev;
    s->call.exec = &gpu.exec;
    found = check_set(s, gpu_cuda_set(s->c->op));
    int n_cudnn;
    const struct lab_kernel_set *const *cudnn = gpu_cudnn_sets(&n_cudnn);
    for (int i = 0; i < n_cudnn && gpu.exec.cudnn && !s->c->not_cudnn; i++) {
        if (strcmp(cudnn[i]->op, s->c->op) == 0)
            found += check_set(s, cudnn[i]);
    }
    if (found == 0 && (s->c->step || gpu.exec.cudnn))
        fail_msg("no CUDA kernel for %s.%s", s->c->op, s->c->step);
}

void gpu_check_against(const struct gpu_case *c, lab_kernel_fn *reference)
{
    if (is_too_large(c))
        return;
    struct setup *s = lab_alloc(sizeof(*s));
    assert_non_null(s);
    setup_open(s, c);
    assert_ok(reference(&s->call));
    check_all(s);
    setup_close(s);
}

void gpu_check(const struct gpu_case *c)
{
    gpu_check_against(c, gpu_ref(c->op, c->step, c->phase));
}

void gpu_check_all(const struct gpu_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gpu_check(&cases[i]);
}

void gpu_check_with(const void *params, const char *op, const char *step,
                    enum lab_phase phase, const struct tensor *in,
                    const struct tensor *out)
{
    struct gpu_case c = {
        .op = op, .step = step, .phase = phase, .params = params};
    memcpy(c.in, in, sizeof(c.in));
    memcpy(c.out, out, sizeof(c.out));
    gpu_check(&c);
}

void gpu_check_step(const char *op, const char *step, enum lab_phase phase,
                    const struct tensor *in, const struct tensor *out)
{
    gpu_check_with(NULL, op, step, phase, in, out);
}

/* out = x W + b and activated = f(out), by the reference's three steps. */
static void fused_reference(struct setup *s, const char *activation_op,
                            const void *activation_params)
{
    struct lab_call step = {.in = s->in_ref,
                            .n_in = 2,
                            .out = s->out_ref,
                            .n_out = 1,
                            .training = true};
    assert_ok(gpu_ref("dense", "matmul", LAB_FORWARD)(&step));
    if (s->in_ref[2].data) {
        struct lab_view in[2] = {s->out_ref[0], s->in_ref[2]};
        step.in = in;
        assert_ok(gpu_ref("dense", "bias", LAB_FORWARD)(&step));
    }
    if (!activation_op)
        return;
    /* f, whose slope is about 1 at most, of sums that may nearly cancel. */
    s->through = largest(s->out_ref[0].data, s->out_ref[0].count);
    step.in = s->out_ref;
    step.n_in = 1;
    step.out = &s->out_ref[1];
    step.params = activation_params;
    lab_kernel_fn *activate =
        gpu_ref(activation_op, activation_op, LAB_FORWARD);
    assert_ok(activate(&step));
}

void gpu_check_fused(const struct gpu_case *c, const char *activation_op,
                     const void *activation_params)
{
    if (is_too_large(c))
        return;
    struct setup *s = lab_alloc(sizeof(*s));
    assert_non_null(s);
    setup_open(s, c);
    fused_reference(s, activation_op, activation_params);
    s->activates = activation_op != NULL;
    check_all(s);
    setup_close(s);
}
