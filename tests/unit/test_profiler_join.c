/* What a record is given before it is stored, and which are not of the run. */
#include <pthread.h>
#include "test.h"

#include "base/mem.h"
#include "profiler/join.h"
#include "unit/profiler_sink.h"

static struct lab_join *join_new(struct kept *kept)
{
    struct lab_sink sink = kept_sink(kept);
    struct lab_join *j = NULL;
    assert_ok(lab_join_new(&j, &sink));
    return j;
}

static void kernel(struct lab_join *j, int64_t exec, const char *name)
{
    struct lab_kernel_record k = {.exec = exec,
                                  .launch.registers_per_thread = 32,
                                  .launch.grid = {8, 1, 1},
                                  .launch.block = {256, 1, 1}};
    struct lab_gpu_launch launch = {.mangled = name, .carveout_pct = -1};
    lab_join_kernel(j, &k, &launch);
}

static void call(struct lab_join *j, int64_t exec)
{
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api.exec = exec;
    lab_join_record(j, &r);
}

static struct lab_join_stats stats(struct lab_join *j)
{
    struct lab_join_stats s;
    lab_join_get_stats(j, &s);
    return s;
}

static int64_t kernel_exec(const struct kept *k, int nth)
{
    const struct lab_record *r = kept_get(k, LAB_RECORD_KERNEL, nth);
    assert_non_null(r);
    return r->u.kernel.exec;
}

static int teardown(void **state);
static int setup(void **state);

#define FIXTURE_CASE(name) TEST_CASE_OF(name, setup, teardown, struct kept *k)

FIXTURE_CASE(records_go_on_at_once)
{
    struct lab_join *j = join_new(k);
    struct lab_record copy = {.kind = LAB_RECORD_MEMCPY};
    copy.u.memcpy_.exec = LAB_UNKNOWN;
    call(j, 5);
    kernel(j, 5, "saxpy");
    kernel(j, LAB_UNKNOWN, "orphan");
    lab_join_record(j, &copy);
    assert_int_equal(k->n, 4);
    assert_int_equal(kernel_exec(k, 0), 5);
    assert_true(kernel_exec(k, 1) == LAB_UNKNOWN);
    assert_int_equal(kept_get(k, LAB_RECORD_API, 0)->u.api.exec, 5);
    assert_true(kept_get(k, LAB_RECORD_MEMCPY, 0)->u.memcpy_.exec ==
                LAB_UNKNOWN);
    assert_int_equal(stats(j).kernels, 2);
    assert_int_equal(stats(j).kernels_without_step, 1);
    lab_join_free(j);
}

FIXTURE_CASE(records_without_a_call_pass)
{
    struct lab_join *j = join_new(k);
    struct lab_record r = {.kind = LAB_RECORD_OVERHEAD};
    r.u.overhead.overhead_kind = 1 << 16;
    lab_join_record(j, &r);
    assert_int_equal(k->n, 1);
    assert_int_equal(k->records[0].u.overhead.overhead_kind, 1 << 16);
    lab_join_free(j);
}

FIXTURE_CASE(work_between_steps_is_recorded_as_such)
{
    struct lab_join *j = join_new(k);
    call(j, LAB_EXEC_BETWEEN);
    kernel(j, LAB_EXEC_BETWEEN, "evaluation");
    kernel(j, LAB_EXEC_BETWEEN, "another");
    assert_int_equal(k->n, 3);
    assert_true(kept_get(k, LAB_RECORD_API, 0)->u.api.exec == LAB_EXEC_BETWEEN);
    assert_true(kernel_exec(k, 0) == LAB_EXEC_BETWEEN);
    assert_true(kernel_exec(k, 1) == LAB_EXEC_BETWEEN);
    assert_int_equal(stats(j).kernels, 2);
    assert_int_equal(stats(j).kernels_between, 2);
    assert_int_equal(stats(j).kernels_without_step, 0);
    lab_join_free(j);
}

/* Calls, copies and sets as well: a launch is not kept without its kernel. */
FIXTURE_CASE(work_of_unreported_steps_is_counted_and_left_out)
{
    struct lab_join *j = join_new(k);
    struct lab_record copy = {.kind = LAB_RECORD_MEMCPY};
    copy.u.memcpy_.exec = LAB_EXEC_DROPPED;
    struct lab_record sync = {.kind = LAB_RECORD_SYNC};
    sync.u.api.exec = LAB_EXEC_DROPPED;
    call(j, LAB_EXEC_DROPPED);
    kernel(j, LAB_EXEC_DROPPED, "unreported");
    lab_join_record(j, &copy);
    copy.kind = LAB_RECORD_MEMSET;
    lab_join_record(j, &copy);
    lab_join_record(j, &sync);
    kernel(j, LAB_EXEC_BETWEEN, "evaluation");
    kernel(j, 5, "saxpy");
    assert_int_equal(k->n, 2);
    assert_true(kernel_exec(k, 0) == LAB_EXEC_BETWEEN);
    assert_int_equal(kernel_exec(k, 1), 5);
    assert_int_equal(stats(j).unreported, 5);
    assert_int_equal(stats(j).kernels, 2);
    assert_int_equal(stats(j).kernels_between, 1);
    lab_join_free(j);
}

static void timed_kernel(struct lab_join *j, uint32_t id, int64_t exec,
                         int64_t end_ns)
{
    struct lab_kernel_record k = {
        .exec = exec, .correlation_id = id, .start_ns = 1, .end_ns = end_ns};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    lab_join_kernel(j, &k, &launch);
}

/* What has a step is of the run, whatever the clocks say. */
FIXTURE_CASE(what_was_over_before_the_run_is_not_of_it)
{
    struct lab_join *j = join_new(k);
    struct lab_record o = {.kind = LAB_RECORD_OVERHEAD};
    lab_join_begin(j, 1000);
    timed_kernel(j, 5, 50, 10);
    timed_kernel(j, 1, LAB_UNKNOWN, 999);
    timed_kernel(j, 2, LAB_UNKNOWN, 1000);
    timed_kernel(j, 3, LAB_UNKNOWN, LAB_UNKNOWN);
    o.u.overhead.end_ns = 999;
    lab_join_record(j, &o);
    o.u.overhead.end_ns = 1001;
    lab_join_record(j, &o);
    assert_int_equal(stats(j).before, 2);
    assert_int_equal(stats(j).kernels, 3);
    assert_int_equal(stats(j).kernels_without_step, 2);
    assert_int_equal(kernel_exec(k, 0), 50);
    assert_int_equal(kept_get(k, LAB_RECORD_KERNEL, 1)->u.kernel.correlation_id,
                     2);
    assert_int_equal(kept_count(k, LAB_RECORD_OVERHEAD), 1);
    lab_join_free(j);
}

/* One of five kinds, of a step, between steps, of a step that is not
 * reported, of no known step, of a graph's node; over before the run or not. */
static void any_record(struct lab_join *j, uint32_t *seed)
{
    static const int64_t execs[] = {1, 7, LAB_EXEC_BETWEEN, LAB_EXEC_DROPPED,
                                    LAB_UNKNOWN};
    static const enum lab_record_kind kinds[] = {
        LAB_RECORD_KERNEL, LAB_RECORD_MEMCPY, LAB_RECORD_MEMSET, LAB_RECORD_API,
        LAB_RECORD_SYNC};
    *seed = *seed * 1664525u + 1013904223u;
    uint32_t r = *seed >> 8;
    struct lab_record record = {.kind = kinds[r % 5]};
    int64_t exec = execs[r / 5 % 5];
    int64_t end = r / 25 % 2 ? 999 : 2000;
    int64_t node = r / 50 % 3;
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    if (record.kind == LAB_RECORD_KERNEL) {
        record.u.kernel = (struct lab_kernel_record){
            .exec = exec, .start_ns = 1, .end_ns = end, .graph_node_id = node};
        lab_join_kernel(j, &record.u.kernel, &launch);
        return;
    }
    if (record.kind == LAB_RECORD_API || record.kind == LAB_RECORD_SYNC)
        record.u.api =
            (struct lab_api_record){.exec = exec, .start_ns = 1, .end_ns = end};
    else
        record.u.memcpy_ = (struct lab_memcpy_record){
            .exec = exec, .start_ns = 1, .end_ns = end, .graph_node_id = node};
    lab_join_record(j, &record);
}

/* What comes in goes on or is counted as left out, whatever it is of. */
TEST_CASE_WITH(no_record_is_lost, setup, teardown)
{
    enum { ALL = 20000 };
    static const int64_t node_end[] = {1, 2};
    struct kept *k = *state;
    struct lab_join *j = join_new(k);
    uint32_t seed = 11;
    lab_join_begin(j, 1000);
    assert_ok(lab_join_graph(j, 7, 2, 0, node_end));
    for (int i = 0; i < ALL; i++) {
        lab_join_mute(j, i / 100 % 20 == 7);
        any_record(j, &seed);
    }
    struct lab_join_stats s = stats(j);
    assert_int_equal(k->n + s.before + s.muted + s.unreported, ALL);
    assert_int_equal(s.muted, ALL / 20);
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), s.kernels);
    uint64_t between = 0;
    uint64_t unknown = 0;
    for (int i = 0; i < (int)s.kernels; i++) {
        between += kernel_exec(k, i) == LAB_EXEC_BETWEEN;
        unknown += kernel_exec(k, i) == LAB_UNKNOWN;
    }
    assert_int_equal(between, s.kernels_between);
    assert_int_equal(unknown, s.kernels_without_step);
    assert_true(s.before > 1000 && s.unreported > 1000 && between > 500 &&
                unknown > 200);
    lab_join_free(j);
}

FIXTURE_CASE(a_refusing_sink_is_counted)
{
    struct lab_join *j = join_new(k);
    k->room = 1;
    kernel(j, 1, "k");
    kernel(j, 1, "k");
    assert_int_equal(stats(j).not_stored, 1);
    lab_join_free(j);
}

FIXTURE_CASE(occupancy_needs_the_device)
{
    struct lab_join *j = join_new(k);
    struct lab_device_info h100 = {
        .compute_major = 9,
        .sm_count = 132,
        .max_threads_per_sm = 2048,
        .max_registers_per_sm = 65536,
        .max_shared_per_sm_bytes = 228 * 1024,
        .max_shared_per_block_optin_bytes = 227 * 1024,
    };
    kernel(j, 1, "k");
    lab_join_set_device(j, &h100);
    kernel(j, 1, "k");
    h100.device_id = 1; /* the kernels run on device 0 */
    lab_join_set_device(j, &h100);
    kernel(j, 1, "k");
    const struct lab_kernel_record *r =
        &kept_get(k, LAB_RECORD_KERNEL, 0)->u.kernel;
    assert_true(isnan(r->occupancy_pct));
    r = &kept_get(k, LAB_RECORD_KERNEL, 1)->u.kernel;
    assert_true(r->occupancy_pct == 100.0);
    assert_int_equal(r->active_blocks_per_sm, 8);
    assert_int_equal(r->occupancy_limit,
                     LAB_LIMIT_WARPS | LAB_LIMIT_REGISTERS | LAB_LIMIT_GRID);
    r = &kept_get(k, LAB_RECORD_KERNEL, 2)->u.kernel;
    assert_true(isnan(r->occupancy_pct));
    lab_join_free(j);
}

FIXTURE_CASE(bad_config_and_short_memory)
{
    struct lab_sink sink = kept_sink(k);
    struct lab_join *j = NULL;
    assert_int_equal(lab_join_new(&j, NULL), LAB_E_ARG);
    lab_mem_fail_from(1);
    assert_int_equal(lab_join_new(&j, &sink), LAB_E_NOMEM);
    assert_null(j);
    lab_mem_fail_from(0);
    lab_join_free(NULL);
    j = join_new(k);
    lab_intern("_Z4nextPf");
    lab_intern("next");
    lab_mem_fail_from(1); /* names that cannot be read or kept */
    kernel(j, 1, "_Z4nextPf");
    lab_mem_fail_from(0);
    const struct lab_kernel_record *r = &k->records[0].u.kernel;
    assert_string_equal(lab_intern_text(r->mangled_name), "_Z4nextPf");
    assert_string_equal(lab_intern_text(r->demangled_name), "_Z4nextPf");
    assert_string_equal(lab_intern_text(r->short_name), "next");
    lab_join_free(j);
}

FIXTURE_CASE(many_names_are_all_found_again)
{
    struct lab_join *j = join_new(k);
    char name[32];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof(name), "kernel_%d", i % 300);
        kernel(j, 1, name);
    }
    for (int i = 0; i < 600; i++) {
        const struct lab_kernel_record *r = &k->records[i].u.kernel;
        snprintf(name, sizeof(name), "kernel_%d", i % 300);
        assert_string_equal(lab_intern_text(r->short_name), name);
        assert_string_equal(lab_intern_text(r->demangled_name), name);
    }
    kernel(j, 1, NULL);
    assert_int_equal(k->records[600].u.kernel.short_name, 0);
    lab_join_free(j);
}

/* A module was unloaded, and another kernel's name lies where its was. */
FIXTURE_CASE(a_pointer_may_name_another_kernel)
{
    struct lab_join *j = join_new(k);
    char name[16];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "kernel_%d", i / 2 % 2);
        kernel(j, 1, name);
    }
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "kernel_%d", i / 2 % 2);
        const struct lab_kernel_record *r = &k->records[i].u.kernel;
        assert_string_equal(lab_intern_text(r->mangled_name), name);
        assert_string_equal(lab_intern_text(r->short_name), name);
    }
    lab_join_free(j);
}

enum { PER_THREAD = 20000 };

static void *bring(void *user)
{
    for (uint32_t i = 0; i < PER_THREAD; i++)
        kernel(user, (int64_t)i + 1, i % 2 ? "_Z3oddPf" : "_Z4evenPf");
    return NULL;
}

FIXTURE_CASE(two_threads_may_bring_records)
{
    struct lab_join *j = join_new(k);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, bring, j), 0);
    bring(j);
    pthread_join(other, NULL);
    assert_int_equal(k->n, 2 * PER_THREAD);
    assert_int_equal(stats(j).kernels, 2 * PER_THREAD);
    for (size_t i = 0; i < k->n; i++) {
        const struct lab_kernel_record *q = &k->records[i].u.kernel;
        assert_string_equal(lab_intern_text(q->short_name),
                            q->exec % 2 ? "even" : "odd");
    }
    lab_join_free(j);
}

static int setup(void **state)
{
    *state = kept_new();
    return 0;
}

static int teardown(void **state)
{
    kept_free(*state);
    return 0;
}

RUN_TESTS()
