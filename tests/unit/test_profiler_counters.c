/* Counting, with a libcupti that the test plays: every kernel's values reach
 * its step, the trace pauses, nothing changes; and every way in which counters
 * may be refused. Then CUPTI's own host side, where it is installed: what our
 * metrics cost on the chips of compute capability 7.5 to 9.0. No GPU. */
#include <dlfcn.h>

#include "test.h"

#include "cupti_api.h"
#include "cupti_counters.h"
#include "profiler/counters.h"
#include "unit/fake_cupti.h"
#include "unit/net.h"
#include "unit/profiler_sink.h"

#ifdef LAB_HAVE_COUNTERS
static struct fake_cupti *fake;
static void (*count_launch)(void);

/* The module asks the driver for the context; here it is this. */
CUresult cuCtxGetCurrent(CUcontext *out);
CUresult cuCtxGetCurrent(CUcontext *out)
{
    static char context;
    *out = (CUcontext)(void *)&context;
    return CUDA_SUCCESS;
}

/* A backend that is the CPU's, and "launches" a kernel for every step, two for
 * a matmul. */
static struct lab_backend_ops playing;

static enum lab_status run(struct lab_backend *be, const struct lab_variant *v,
                           struct lab_call *call)
{
    count_launch();
    if (v->step && strcmp(v->step, "matmul") == 0)
        count_launch();
    return lab_backend_cpu.run(be, v, call);
}

struct rig {
    struct net net;
    struct kept *kept;
    struct lab_profiler *profiler;
    struct lab_sink sink;
};

static void open_rig(struct rig *r)
{
    struct lab_backend *be = NULL;
    struct lab_observer observer;
    memset(fake, 0, sizeof(*fake));
    fake->passes = 3;
    r->kept = kept_new();
    r->sink = kept_sink(r->kept);
    struct lab_profiler_config config = {
        .sink = &r->sink, .backend = "cuda", .gpu = &lab_gpu_profiler_cupti};
    assert_ok(lab_profiler_new(&r->profiler, &config));
    net_init(&r->net);
    net_tensor(&r->net, "x 4,3", NULL);
    net_labels(&r->net, "y 4", 3);
    net_node(&r->net, "fc dense units=3");
    net_loss(&r->net, "softmax_cross_entropy");
    net_optimizer(&r->net, "adam lr=0.1");
    assert_ok(lab_backend_open(&be, "cpu", 0));
    playing = lab_backend_cpu;
    playing.run = run;
    be->ops = &playing;
    net_walk_on(&r->net, be);
    lab_profiler_observer(r->profiler, &observer);
    lab_walk_observe(r->net.walk, &observer);
    net_choose(&r->net, "*", "naive");
}

static void close_rig(struct rig *r)
{
    net_free(&r->net);
    lab_profiler_free(r->profiler);
    assert_int_equal(fake->hosts, 0);
    assert_int_equal(fake->enabled, 0);
    assert_int_equal(fake->subscribed, 0);
    kept_free(r->kept);
}

static int metrics_of(const struct rig *r, int64_t exec, int64_t kernel)
{
    int n = 0;
    for (size_t i = 0; i < r->kept->n; i++) {
        const struct lab_record *at = &r->kept->records[i];
        n += at->kind == LAB_RECORD_METRIC && at->u.metric.exec == exec &&
             at->u.metric.kernel_ordinal == kernel;
    }
    return n;
}

TEST_CASE(every_kernel_gets_its_values)
{
    struct rig r;
    struct lab_counted c;
    open_rig(&r);
    int steps = lab_walk_schedule(r.net.walk)->n_steps;
    net_steps(&r.net, steps);
    struct net_moment *before = net_keep(&r.net);
    int on = fake->kinds_on;
    assert_true(on > 0);
    assert_ok(lab_profiler_count(r.profiler, r.net.walk, 0, steps,
                                 LAB_COUNTERS_FULL, &c));
    struct net_moment *after = net_keep(&r.net);
    net_same(&r.net, "counting", before, after);
    assert_int_equal(fake->kinds_on, on);
    assert_int_equal(fake->kinds_on_while_counting, 0);
    assert_int_equal(fake->passes_run, 3);
    assert_int_equal(c.passes, 3 + 3); /* and the tensor cores' */
    assert_string_equal(c.chip, "GP999");
    const char *const *names;
    assert_int_equal(c.metrics, lab_counter_metrics(LAB_COUNTERS_FULL, &names) +
                                    lab_counter_tensor_metrics(&names) -
                                    1); /* fp64's is not known */
    int64_t kernel = 0;
    for (int i = 0; i < steps; i++) {
        int64_t exec;
        int64_t ns;
        const struct lab_step *s = lab_walk_schedule(r.net.walk)->steps[i].step;
        bool two = strcmp(strchr(s->name, '.'), ".matmul") == 0;
        lab_walk_step_status(r.net.walk, i, &exec, &ns);
        for (int k = 0; k <= two; k++, kernel++)
            assert_int_equal(metrics_of(&r, exec, k), c.metrics);
        assert_int_equal(metrics_of(&r, exec, two + 1), 0);
    }
    assert_int_equal(c.kernels, kernel);
    net_moment_free(before);
    net_moment_free(after);
    close_rig(&r);
}

static int metrics_seen(const struct rig *r)
{
    int seen = 0;
    for (size_t i = 0; i < r->kept->n; i++)
        seen += r->kept->records[i].kind == LAB_RECORD_METRIC;
    return seen;
}

/* From the metric record number `from` on: n metrics of steps 2 and 3, a kernel
 * each. */
static void values_follow(const struct rig *r, int from, int n)
{
    int seen = 0;
    for (size_t i = 0; i < r->kept->n; i++) {
        const struct lab_metric_record *m = &r->kept->records[i].u.metric;
        if (r->kept->records[i].kind != LAB_RECORD_METRIC)
            continue;
        int at = seen++ - from;
        if (at < 0 || at >= 2 * n)
            continue;
        assert_int_equal(m->exec, 2 + at / n);
        assert_int_equal(m->kernel_ordinal, 0);
        assert_float_equal(m->value, 100 * (at / n) + at % n, 0);
        assert_int_equal(m->passes, 3);
    }
    assert_true(seen >= from + 2 * n);
}

TEST_CASE(values_are_the_kernels_own)
{
    struct rig r;
    struct lab_counted c;
    open_rig(&r);
    net_steps(&r.net, 3); /* fc.matmul, fc.bias, loss.softmax */
    assert_ok(lab_profiler_count(r.profiler, r.net.walk, 1, 3,
                                 LAB_COUNTERS_BASIC, &c));
    assert_int_equal(c.kernels, 2);
    const char *const *names;
    int basic = lab_counter_metrics(LAB_COUNTERS_BASIC, &names);
    values_follow(&r, 0, basic);
    values_follow(&r, 2 * basic, c.metrics - basic);
    assert_int_equal(metrics_seen(&r), 2 * c.metrics);
    close_rig(&r);
}

/* The tensor cores' metrics want passes of their own: not where none worked. */
TEST_CASE(idle_tensor_cores_are_not_asked)
{
    struct rig r;
    struct lab_counted c;
    const char *const *names;
    open_rig(&r);
    fake->idle_tensor_cores = 1;
    net_steps(&r.net, 3);
    assert_ok(lab_profiler_count(r.profiler, r.net.walk, 0, 3,
                                 LAB_COUNTERS_BASIC, &c));
    assert_int_equal(c.passes, 3);
    assert_int_equal(c.metrics,
                     lab_counter_metrics(LAB_COUNTERS_BASIC, &names));
    assert_int_equal(metrics_seen(&r), 4 * c.metrics);
    close_rig(&r);
}

static void count_fails(const char *error)
{
    struct rig r;
    struct lab_counted c;
    struct fake_cupti wanted = *fake;
    open_rig(&r);
    fake->availability_gives = wanted.availability_gives;
    fake->start_gives = wanted.start_gives;
    fake->vgpu = wanted.vgpu;
    fake->lost_range = wanted.lost_range;
    net_steps(&r.net, 3);
    int on = fake->kinds_on;
    assert_int_not_equal(lab_profiler_count(r.profiler, r.net.walk, 0, 3,
                                            LAB_COUNTERS_BASIC, &c),
                         LAB_OK);
    assert_true(error_is(error));
    assert_int_equal(fake->kinds_on, on);
    assert_int_equal(fake->callbacks_on > 0, 0);
    for (size_t i = 0; i < r.kept->n; i++)
        assert_int_not_equal(r.kept->records[i].kind, LAB_RECORD_METRIC);
    close_rig(&r);
}

TEST_CASE(refusals_name_their_remedy)
{
    static const struct {
        CUptiResult result;
        const char *error;
    } cases[] = {
        {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
         "[device] NVreg_RestrictProfiling"},
        {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
         "[device] enable_profiling=1"},
        {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
         "[device] confidential"},
        {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "[device] MIG"},
        {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "[device] WSL"},
        {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
         "[state] another tool"},
        {CUPTI_ERROR_HARDWARE_BUSY, "[state] another tool"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(fake, 0, sizeof(*fake));
        fake->availability_gives = (int)cases[i].result;
        count_fails(cases[i].error);
        memset(fake, 0, sizeof(*fake));
        fake->start_gives = (int)cases[i].result; /* in the middle */
        count_fails(cases[i].error);
    }
    memset(fake, 0, sizeof(*fake));
    fake->vgpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
    count_fails("[unsupported] virtual GPU");
}

TEST_CASE(a_kernel_that_is_missing_is_reported)
{
    memset(fake, 0, sizeof(*fake));
    fake->lost_range = 1;
    count_fails("[counters.mismatch] 4 kernels were launched and 3 counted");
}

TEST_CASE(steps_must_have_run)
{
    struct rig r;
    struct lab_counted c;
    open_rig(&r);
    net_steps(&r.net, 2);
    assert_int_equal(lab_profiler_count(r.profiler, r.net.walk, 0, 3,
                                        LAB_COUNTERS_BASIC, &c),
                     LAB_E_STATE);
    assert_true(error_is("[walk.not-run] "));
    close_rig(&r);
}

/* ---- the real host side ---- */

/* CUPTI loads its metrics with RTLD_DEEPBIND, which ASan refuses. */
#ifdef __SANITIZE_ADDRESS__
enum { UNDER_ASAN = 1 };
#else
enum { UNDER_ASAN = 0 };
#endif

static const struct {
    const char *chip;
    int basic; /* passes at most */
    int full;
    int tensor;  /* of what the tensor cores computed */
    int unknown; /* metrics of a list that the chip has no name for, at most */
} chips[] = {
    {"TU102", 2, 14, 1, 5}, {"GA100", 3, 14, 4, 1}, {"GA102", 2, 14, 4, 3},
    {"AD102", 2, 14, 4, 3}, {"GH100", 3, 14, 4, 2},
};

static void is_known(const struct lab_cupti *cupti, int chip, const char *what,
                     const char *const *names, int n, int most,
                     struct lab_cupti_config *c)
{
    if (lab_cupti_config_open(c, cupti, chips[chip].chip, NULL, names, n))
        fail_msg("%s: %s", chips[chip].chip, lab_error());
    print_message("%s %s: %d of %d metrics, %d passes\n", chips[chip].chip,
                  what, c->n, n, c->passes);
    assert_true(c->n >= n - chips[chip].unknown);
    assert_in_range(c->passes, 1, most);
}

static void our_metrics_are_known(void **state)
{
    const struct lab_cupti *cupti = *state;
    const char *const *names;
    struct lab_cupti_config c;
    if (!cupti || cupti->no_counters || UNDER_ASAN)
        skip();
    for (int i = 0; i < (int)(sizeof(chips) / sizeof(chips[0])); i++) {
        for (int s = LAB_COUNTERS_BASIC; s <= LAB_COUNTERS_FULL; s++) {
            enum lab_counter_set set = (enum lab_counter_set)s;
            int n = lab_counter_metrics(set, &names);
            is_known(cupti, i, lab_counter_set_name(set), names, n,
                     set == LAB_COUNTERS_BASIC ? chips[i].basic : chips[i].full,
                     &c);
            /* Without these there is nothing to show. */
            assert_string_equal(c.names[0], "gpu__time_duration.sum");
            assert_int_equal(c.asked[6], 6);
            lab_cupti_config_close(&c);
        }
        int n = lab_counter_tensor_metrics(&names);
        is_known(cupti, i, "tensor", names, n, chips[i].tensor, &c);
        lab_cupti_config_close(&c);
    }
}

/* In a child the process may load another libcupti than the fake one. */
static int setup_real(void **state)
{
    const struct lab_cupti *cupti = NULL;
    unsetenv("LAPENNA_LAB_CUPTI");
    *state = lab_cupti_load(&cupti) ? NULL : (void *)cupti;
    return 0;
}

static int setup_fake(void **state)
{
    struct fake_cupti *(*get)(void);
    (void)state;
    setenv("LAPENNA_LAB_CUPTI", LAB_FAKE_CUPTI, 1);
    void *lib = dlopen(LAB_FAKE_CUPTI, RTLD_NOW | RTLD_GLOBAL);
    if (!lib)
        return 1;
    void *symbol = dlsym(lib, "fake_cupti_state");
    memcpy(&get, &symbol, sizeof(symbol));
    fake = get();
    symbol = dlsym(lib, "fake_cupti_count_launch");
    memcpy(&count_launch, &symbol, sizeof(symbol));
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest real[] = {
        cmocka_unit_test_setup(our_metrics_are_known, setup_real),
    };
    if (argc > 1 && strcmp(argv[1], "real") == 0)
        return cmocka_run_group_tests(real, NULL, NULL);
    return test_run_all(setup_fake, NULL);
}
#else
int main(void)
{
    return 77;
}
#endif
