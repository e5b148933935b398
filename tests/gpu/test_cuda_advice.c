/* The rules of profiler/advice.h on kernels that really run, with their own
 * launch records and hardware counters: for each rule a kernel made to show it
 * and one made not to. Skipped without a GPU, a trace, or the right to read
 * counters. */
#include "test.h"

#include "advice_kernels.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/backend.h"
#include "profiler/advice.h"
#include "profiler/profiler.h"
#include "unit/profiler_sink.h"

static struct {
    struct kept *kept;
    struct lab_profiler *profiler;
    struct lab_observer observer;
    struct lab_backend *be;
    const struct lab_gpu_profiler_ops *gpu;
    const struct lab_gpu_counter_ops *counters;
    struct lab_gpu_counter_info info;
    const char *names[LAB_MAX_METRICS]; /* that this chip counts */
    struct lab_device_info device;
    int64_t exec;
    bool open;
    bool known[ADVICE_KERNELS];
    struct lab_advice_facts facts[ADVICE_KERNELS];
} rig;

/* Of the tensor cores too, whether they work or not. */
static int all_metrics(const char *const **out)
{
    static const char *all[LAB_MAX_METRICS];
    const char *const *names;
    int n = lab_counter_metrics(LAB_COUNTERS_FULL, &names);
    memcpy(all, names, (size_t)n * sizeof(*all));
    int more = lab_counter_tensor_metrics(&names);
    memcpy(all + n, names, (size_t)more * sizeof(*all));
    *out = all;
    return n + more;
}

static bool open_counters(void)
{
    const char *const *metrics;
    char chip[LAB_GPU_TEXT];
    int n = all_metrics(&metrics);
    if (!rig.counters || rig.counters->probe(chip, sizeof(chip)) ||
        rig.counters->open(metrics, n, &rig.info)) {
        print_message("skipped: counters: %s\n",
                      rig.counters ? rig.gpu->error() : "built without them");
        return false;
    }
    for (int i = 0; i < rig.info.n; i++)
        rig.names[i] = metrics[rig.info.metric[i]];
    return true;
}

static int open_rig(void **state)
{
    const struct lab_cuda_module *module;
    (void)state;
    if (lab_cuda_load(&module)) {
        print_message("skipped: %s\n", lab_error());
        return 0;
    }
    rig.kept = kept_new();
    struct lab_sink sink = kept_sink(rig.kept);
    struct lab_profiler_config config = {
        .sink = &sink, .backend = "cuda", .gpu = module->profiler};
    if (lab_profiler_new(&rig.profiler, &config) ||
        lab_backend_open(&rig.be, "cuda", 0) || !advice_open()) {
        print_message("skipped: no device: %s\n", lab_error());
        return 0;
    }
    lab_backend_info(rig.be, &rig.device);
    lab_profiler_set_device(rig.profiler, &rig.device);
    lab_profiler_observer(rig.profiler, &rig.observer);
    if (lab_profiler_time_source(rig.profiler) != LAB_TIME_CUPTI) {
        print_message("skipped: %s\n", lab_profiler_note(rig.profiler));
        return 0;
    }
    rig.gpu = module->profiler;
    rig.counters = rig.gpu->counters;
    rig.observer.run_begin(rig.observer.user, "advice");
    rig.observer.iteration_begin(rig.observer.user, 0,
                                 lab_clock_monotonic_ns());
    rig.open = open_counters();
    return 0;
}

static int close_rig(void **state)
{
    (void)state;
    if (rig.open)
        rig.counters->close();
    if (rig.be)
        advice_close();
    lab_profiler_free(rig.profiler);
    lab_backend_close(rig.be);
    if (rig.kept)
        kept_free(rig.kept);
    return 0;
}

/* One launch as a step, traced. The second counts: the first loads it. */
static void trace(enum advice_kernel which, struct lab_advice_facts *f)
{
    static const struct lab_step step = {.name = (char *)"advice",
                                         .phase = LAB_FORWARD};
    struct lab_step_event e = {.exec = ++rig.exec,
                               .step = &step,
                               .node = "advice",
                               .op = "advice",
                               .variant = "made",
                               .backend = "cuda",
                               .device_ns = LAB_EVENT_NO_TIME};
    assert_true(advice_launch(which) && advice_wait());
    rig.observer.step_begin(rig.observer.user, &e);
    int64_t since = lab_clock_monotonic_ns();
    assert_true(advice_launch(which));
    assert_true(advice_wait());
    f->wall_ns = (double)(lab_clock_monotonic_ns() - since);
    rig.observer.step_end(rig.observer.user, &e);
    assert_ok(lab_profiler_flush(rig.profiler));
    int n = (int)kept_count(rig.kept, LAB_RECORD_KERNEL);
    assert_true(n > 0);
    const struct lab_kernel_record *k =
        &kept_get(rig.kept, LAB_RECORD_KERNEL, n - 1)->u.kernel;
    assert_int_equal(k->exec, rig.exec);
    f->blocks = lab_launch_size(k->launch.grid);
    f->occupancy_pct = k->occupancy_pct;
    f->occupancy_limit = k->occupancy_limit;
    f->active_blocks_per_sm = k->active_blocks_per_sm;
    f->time_ns = (double)(k->end_ns - k->start_ns);
    f->kernels = 1;
}

static void count(enum advice_kernel which, struct lab_advice_facts *f)
{
    double *values = NULL;
    int64_t kernels = 0;
    bool again = true;
    if (rig.counters->begin(1))
        fail_msg("%s", rig.gpu->error());
    while (again) {
        if (rig.counters->pass_begin())
            fail_msg("%s", rig.gpu->error());
        assert_true(advice_launch(which) && advice_wait());
        if (rig.counters->pass_end(&again))
            fail_msg("%s", rig.gpu->error());
    }
    if (rig.counters->end(&values, &kernels))
        fail_msg("%s", rig.gpu->error());
    assert_int_equal(kernels, 1);
    lab_counters_compute(&f->counters, rig.names, rig.info.n, values,
                         rig.info.n, 1);
    lab_free(values);
}

static const struct lab_advice_facts *facts_of(enum advice_kernel which)
{
    struct lab_advice_facts *f = &rig.facts[which];
    if (rig.known[which])
        return f;
    lab_advice_facts_init(f);
    f->sm_count = rig.device.sm_count;
    f->peak_dram_bytes_s = rig.device.peak_dram_bytes_s;
    advice_work(which, &f->flop, &f->bytes);
    trace(which, f);
    count(which, f);
    rig.known[which] = true;
    return f;
}

static bool shows(enum advice_kernel which, enum lab_advice_rule rule,
                  struct lab_advice *found)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    int n = lab_advise(facts_of(which), all);
    for (int i = 0; i < n; i++) {
        if (all[i].rule == rule) {
            *found = all[i];
            return true;
        }
    }
    return false;
}

static void print_facts(enum advice_kernel which)
{
    const struct lab_advice_facts *f = facts_of(which);
    print_message("kernel %d: %lld blocks, %.1f %% occupancy (limit %d), %.0f "
                  "of %.0f ns, %.1f/%.1f sectors, DRAM %.3g, "
                  "tensor %.3g\n",
                  (int)which, (long long)f->blocks, f->occupancy_pct,
                  f->occupancy_limit, f->time_ns, f->wall_ns,
                  f->counters.sectors_per_load, f->counters.sectors_per_store,
                  f->counters.dram_read_bytes + f->counters.dram_write_bytes,
                  f->counters.tensor_flop);
}

/* `shown` has the advice with that sentence, and `hidden` has no such advice. */
static void rule_tells(enum lab_advice_rule rule, enum advice_kernel shown,
                       enum lab_sentence_id id, enum advice_kernel hidden)
{
    struct lab_advice a = {0};
    if (!rig.open)
        skip();
    print_facts(shown);
    print_facts(hidden);
    assert_true(shows(shown, rule, &a));
    assert_true(a.evidence.id == id || a.remedy == id);
    assert_true(a.weight > 0 && a.weight <= 1);
    assert_false(shows(hidden, rule, &a));
}

TEST_CASE(low_occupancy)
{
    rule_tells(LAB_ADVICE_LOW_OCCUPANCY, ADVICE_SHARED,
               LAB_SENTENCE_TRY_LESS_SHARED, ADVICE_PLAIN);
    rule_tells(LAB_ADVICE_LOW_OCCUPANCY, ADVICE_REGISTERS,
               LAB_SENTENCE_TRY_FEWER_REGISTERS, ADVICE_PLAIN);
}

TEST_CASE(few_blocks)
{
    rule_tells(LAB_ADVICE_FEW_BLOCKS, ADVICE_FEW, LAB_SENTENCE_FEW_BLOCKS,
               ADVICE_PLAIN);
}

TEST_CASE(tail)
{
    rule_tells(LAB_ADVICE_TAIL, ADVICE_TAIL, LAB_SENTENCE_TAIL, ADVICE_PLAIN);
}

TEST_CASE(uncoalesced)
{
    rule_tells(LAB_ADVICE_UNCOALESCED, ADVICE_SPREAD, LAB_SENTENCE_SPREAD_LOAD,
               ADVICE_PLAIN);
    rule_tells(LAB_ADVICE_UNCOALESCED, ADVICE_SPREAD_STORE,
               LAB_SENTENCE_SPREAD_STORE, ADVICE_PLAIN);
}

TEST_CASE(launch_bound)
{
    rule_tells(LAB_ADVICE_LAUNCH_BOUND, ADVICE_TINY, LAB_SENTENCE_SLOW_LAUNCH,
               ADVICE_PLAIN);
}

TEST_CASE(idle_tensor_cores)
{
    rule_tells(LAB_ADVICE_IDLE_TENSOR, ADVICE_FP32_PRODUCT,
               LAB_SENTENCE_NO_TENSOR_CORES, ADVICE_TENSOR_PRODUCT);
}

TEST_CASE(small_tiles)
{
    rule_tells(LAB_ADVICE_SMALL_TILES, ADVICE_REFETCH,
               LAB_SENTENCE_FETCHED_AGAIN, ADVICE_TILED);
}

/* What is counted is what the kernels do. */
TEST_CASE(the_counters_are_right)
{
    if (!rig.open)
        skip();
    const struct lab_advice_facts *f = facts_of(ADVICE_FP32_PRODUCT);
    double flop;
    double bytes;
    advice_work(ADVICE_FP32_PRODUCT, &flop, &bytes);
    assert_true(fabs(f->counters.fp32_flop - flop) <= 0.01 * flop);
    assert_true(f->counters.tensor_flop == 0);
    f = facts_of(ADVICE_TENSOR_PRODUCT);
    assert_true(fabs(f->counters.tensor_flop - flop) <= 0.01 * flop);
}

/* No product does more than multiply-adds that touch no memory. Times are compared: nothing
 * else may run on the GPU. */
TEST_CASE(multiply_adds_are_the_roof_of_fp32)
{
    const struct lab_cuda_module *module;
    struct lab_ceiling_times product = {.n = 0};
    struct lab_ceiling_times fma = {.n = 0};
    double best[2] = {0, 0};
    if (!rig.be || lab_cuda_load(&module))
        skip();
    const struct lab_backend_ops *ops = module->backend;
    if (ops->ceiling(rig.be, LAB_CEILING_FP32, &product))
        skip(); /* no cuBLAS */
    assert_ok(ops->ceiling(rig.be, LAB_CEILING_FMA, &fma));
    assert_true(fma.n > 2 && fma.size > 0);
    for (int i = 0; i < product.n; i++)
        best[0] = fmax(best[0], product.work / product.seconds[i]);
    for (int i = 0; i < fma.n; i++)
        best[1] = fmax(best[1], fma.work / fma.seconds[i]);
    print_message("fp32: %.3g FLOP/s a product, %.3g multiply-adds\n", best[0],
                  best[1]);
    assert_true(best[1] > best[0]);
}

int main(void)
{
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    return test_run_all(open_rig, close_rig);
}
