/* Which step a kernel belongs to, with records in every order that CUPTI may
 * bring them in, and in some that it may not. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/mem.h"
#include "profiler/join.h"
#include "unit/profiler_sink.h"

static struct lab_join *join_new(struct kept *kept, size_t window,
                                 size_t pending)
{
    struct lab_sink sink = kept_sink(kept);
    struct lab_join_config config = {
        .sink = &sink, .window = window, .max_pending = pending};
    struct lab_join *j = NULL;
    assert_int_equal(lab_join_new(&j, &config), LAB_OK);
    return j;
}

static void kernel(struct lab_join *j, uint32_t id, const char *name)
{
    struct lab_kernel_record k = {.exec = LAB_UNKNOWN,
                                  .correlation_id = id,
                                  .registers_per_thread = 32,
                                  .grid = {8, 1, 1},
                                  .block = {256, 1, 1}};
    struct lab_gpu_launch launch = {.mangled = name, .carveout_pct = -1};
    lab_join_kernel(j, &k, &launch);
}

static void call(struct lab_join *j, uint32_t id)
{
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api.correlation_id = id;
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

static void the_usual_order_passes_straight_through(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    lab_join_external(j, 17, 5);
    call(j, 17);
    kernel(j, 17, "saxpy");
    assert_int_equal(k->n, 2);
    assert_int_equal(kernel_exec(k, 0), 5);
    assert_int_equal(kept_get(k, LAB_RECORD_API, 0)->u.api.exec, 5);
    assert_int_equal(stats(j).joined, 2);
    assert_int_equal(stats(j).late, 0);
    lab_join_free(j);
}

static void a_kernel_waits_for_its_external_record(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    kernel(j, 3, "late");
    lab_join_retry(j); /* its buffer ends; the next one brings the rest */
    assert_int_equal(k->n, 0);
    lab_join_external(j, 4, 40);
    lab_join_external(j, 3, 30);
    kernel(j, 4, "soon");
    lab_join_retry(j);
    assert_int_equal(k->n, 2);
    assert_int_equal(kernel_exec(k, 0), 40);
    assert_int_equal(kernel_exec(k, 1), 30);
    assert_int_equal(stats(j).late, 1);
    assert_int_equal(stats(j).kernels_without_step, 0);
    lab_join_free(j);
}

static void what_stays_unknown_is_handed_on_and_counted(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    struct lab_record copy = {.kind = LAB_RECORD_MEMCPY};
    copy.u.memcpy_.correlation_id = 8;
    kernel(j, 7, "orphan");
    lab_join_record(j, &copy);
    assert_int_equal(k->n, 0);
    lab_join_flush(j);
    assert_int_equal(k->n, 2);
    assert_true(kernel_exec(k, 0) == LAB_UNKNOWN);
    assert_true(k->records[1].u.memcpy_.exec == LAB_UNKNOWN);
    assert_int_equal(stats(j).kernels, 1);
    assert_int_equal(stats(j).kernels_without_step, 1);
    lab_join_flush(j);
    assert_int_equal(k->n, 2);
    lab_join_free(j);
}

static void one_graph_launch_gives_all_its_kernels_one_step(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    kernel(j, 9, "first");
    lab_join_external(j, 9, 2);
    kernel(j, 9, "second");
    lab_join_external(j, 9, 2); /* runtime and driver both bring one */
    kernel(j, 9, "third");
    lab_join_flush(j);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kernel_exec(k, i), 2);
    lab_join_free(j);
}

static void an_old_id_is_not_taken_for_a_new_one(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 16, 0);
    lab_join_external(j, 1, 100);
    lab_join_external(j, 17, 200); /* the same slot */
    kernel(j, 1, "old");
    kernel(j, 17, "new");
    lab_join_flush(j);
    assert_int_equal(kernel_exec(k, 0), 200);
    assert_true(kernel_exec(k, 1) == LAB_UNKNOWN);
    lab_join_free(j);
}

static void ids_wrap_around(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 16, 0);
    for (uint32_t i = 0; i < 40; i++)
        lab_join_external(j, UINT32_MAX - 19 + i, 1000 + i);
    for (uint32_t i = 24; i < 40; i++)
        kernel(j, UINT32_MAX - 19 + i, "k");
    for (int i = 0; i < 16; i++)
        assert_int_equal(kernel_exec(k, i), 1024 + i);
    lab_join_free(j);
}

static void too_many_waiting_lets_the_oldest_go(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 1024, 8);
    for (uint32_t i = 0; i < 9; i++)
        kernel(j, i, "k");
    assert_int_equal(k->n, 4);
    assert_int_equal(stats(j).expired, 4);
    for (uint32_t i = 0; i < 9; i++)
        lab_join_external(j, i, i + 1);
    lab_join_flush(j);
    assert_int_equal(k->n, 9);
    assert_true(kernel_exec(k, 3) == LAB_UNKNOWN);
    assert_int_equal(kernel_exec(k, 4), 5);
    assert_int_equal(kernel_exec(k, 8), 9);
    assert_int_equal(stats(j).kernels_without_step, 4);
    lab_join_free(j);
}

/* Before anything is let go, it is looked at once more. */
static void full_waiting_room_is_joined_first(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 1024, 4);
    for (uint32_t i = 0; i < 4; i++)
        kernel(j, i, "k");
    for (uint32_t i = 0; i < 4; i++)
        lab_join_external(j, i, i + 1);
    kernel(j, 4, "k");
    assert_int_equal(k->n, 4);
    assert_int_equal(stats(j).expired, 0);
    assert_int_equal(stats(j).late, 4);
    lab_join_free(j);
}

static void a_shuffled_run_has_no_orphan(void **state)
{
    enum { N = 5000 };
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 1 << 15, 1 << 15);
    int order[3 * N];
    uint64_t x = 7;
    for (int i = 0; i < 3 * N; i++)
        order[i] = i;
    for (int i = 3 * N - 1; i > 0; i--) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        int s = (int)((x >> 33) % (uint64_t)(i + 1));
        int t = order[i];
        order[i] = order[s];
        order[s] = t;
    }
    for (int i = 0; i < 3 * N; i++) {
        uint32_t id = (uint32_t)(order[i] / 3);
        if (order[i] % 3 == 0)
            lab_join_external(j, id, (int64_t)id * 2 + 1);
        else if (order[i] % 3 == 1)
            call(j, id);
        else
            kernel(j, id, id % 2 ? "_Z3oddPf" : "_Z4evenPf");
        if (i % 1000 == 0)
            lab_join_retry(j);
    }
    lab_join_flush(j);
    assert_int_equal(k->n, 2 * N);
    assert_int_equal(stats(j).kernels, N);
    assert_int_equal(stats(j).kernels_without_step, 0);
    for (size_t i = 0; i < k->n; i++) {
        const struct lab_record *r = &k->records[i];
        if (r->kind != LAB_RECORD_KERNEL)
            continue;
        const struct lab_kernel_record *q = &r->u.kernel;
        assert_int_equal(q->exec, (int64_t)q->correlation_id * 2 + 1);
        assert_string_equal(k->names[q->short_name],
                            q->correlation_id % 2 ? "odd" : "even");
    }
    lab_join_free(j);
}

static void records_without_a_call_pass(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    struct lab_record r = {.kind = LAB_RECORD_OVERHEAD};
    r.u.overhead.overhead_kind = 1 << 16;
    lab_join_record(j, &r);
    assert_int_equal(k->n, 1);
    assert_int_equal(k->records[0].u.overhead.overhead_kind, 1 << 16);
    lab_join_free(j);
}

static void calls_are_left_out_when_asked(void **state)
{
    struct kept *k = *state;
    struct lab_sink sink = kept_sink(k);
    struct lab_join_config config = {.sink = &sink, .drop_api = true};
    struct lab_join *j;
    assert_int_equal(lab_join_new(&j, &config), LAB_OK);
    lab_join_external(j, 1, 1);
    call(j, 1);
    kernel(j, 1, "k");
    lab_join_flush(j);
    assert_int_equal(k->n, 1);
    assert_int_equal(stats(j).not_stored, 0);
    lab_join_free(j);
}

static void work_meant_for_no_step_is_no_orphan(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    lab_join_external(j, 1, LAB_EXEC_OUTSIDE);
    call(j, 1);
    kernel(j, 1, "evaluation");
    kernel(j, 2, "late evaluation");
    lab_join_external(j, 2, LAB_EXEC_OUTSIDE);
    lab_join_flush(j);
    assert_int_equal(k->n, 1);
    assert_true(kept_get(k, LAB_RECORD_API, 0)->u.api.exec == LAB_UNKNOWN);
    assert_int_equal(stats(j).kernels_outside, 2);
    assert_int_equal(stats(j).kernels_without_step, 0);
    lab_join_free(j);
}

static void timed_kernel(struct lab_join *j, uint32_t id, int64_t end_ns)
{
    struct lab_kernel_record k = {
        .correlation_id = id, .start_ns = 1, .end_ns = end_ns};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    lab_join_kernel(j, &k, &launch);
}

/* What has a step is of the run, whatever the clocks say. */
static void what_was_over_before_the_run_is_not_of_it(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    struct lab_record o = {.kind = LAB_RECORD_OVERHEAD};
    lab_join_external(j, 5, 50);
    lab_join_begin(j, 1000);
    timed_kernel(j, 1, 999);
    timed_kernel(j, 2, 1000);
    timed_kernel(j, 3, LAB_UNKNOWN);
    timed_kernel(j, 5, 10);
    o.u.overhead.end_ns = 999;
    lab_join_record(j, &o);
    o.u.overhead.end_ns = 1001;
    lab_join_record(j, &o);
    lab_join_flush(j);
    assert_int_equal(stats(j).before, 2);
    assert_int_equal(stats(j).kernels, 3);
    assert_int_equal(stats(j).kernels_without_step, 2);
    assert_int_equal(kernel_exec(k, 0), 50);
    assert_int_equal(kept_get(k, LAB_RECORD_KERNEL, 1)->u.kernel.correlation_id,
                     2);
    assert_int_equal(kept_count(k, LAB_RECORD_OVERHEAD), 1);
    lab_join_free(j);
}

static void a_refusing_sink_is_counted(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    k->room = 1;
    lab_join_external(j, 1, 1);
    kernel(j, 1, "k");
    kernel(j, 1, "k");
    assert_int_equal(stats(j).not_stored, 1);
    lab_join_free(j);
}

static void occupancy_needs_the_device(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    struct lab_device_info h100 = {
        .compute_major = 9,
        .sm_count = 132,
        .max_threads_per_sm = 2048,
        .max_registers_per_sm = 65536,
        .max_shared_per_sm_bytes = 228 * 1024,
        .max_shared_per_block_optin_bytes = 227 * 1024,
    };
    lab_join_external(j, 1, 1);
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

static void bad_config_and_short_memory(void **state)
{
    struct kept *k = *state;
    struct lab_sink sink = kept_sink(k);
    struct lab_join_config config = {.sink = &sink, .window = 24};
    struct lab_join *j = NULL;
    assert_int_equal(lab_join_new(&j, &config), LAB_E_ARG);
    config.sink = NULL;
    config.window = 0;
    assert_int_equal(lab_join_new(&j, &config), LAB_E_ARG);
    config.sink = &sink;
    for (int n = 1; n <= 3; n++) {
        lab_mem_fail_from(n);
        assert_int_equal(lab_join_new(&j, &config), LAB_E_NOMEM);
        assert_null(j);
    }
    lab_mem_fail_from(0);
    lab_join_free(NULL);
    j = join_new(k, 0, 0);
    lab_join_external(j, 1, 1);
    lab_mem_fail_from(1); /* names that cannot be read or kept */
    kernel(j, 1, "_Z4nextPf");
    lab_mem_fail_from(0);
    const struct lab_kernel_record *r = &k->records[0].u.kernel;
    assert_string_equal(k->names[r->mangled_name], "_Z4nextPf");
    assert_string_equal(k->names[r->demangled_name], "_Z4nextPf");
    assert_string_equal(k->names[r->short_name], "next");
    lab_join_free(j);
}

static void many_names_are_all_found_again(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 0, 0);
    char name[32];
    lab_join_external(j, 1, 1);
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof(name), "kernel_%d", i % 300);
        kernel(j, 1, name);
    }
    for (int i = 0; i < 600; i++) {
        const struct lab_kernel_record *r = &k->records[i].u.kernel;
        snprintf(name, sizeof(name), "kernel_%d", i % 300);
        assert_string_equal(k->names[r->short_name], name);
        assert_string_equal(k->names[r->demangled_name], name);
    }
    kernel(j, 1, NULL);
    assert_int_equal(k->records[600].u.kernel.short_name, 0);
    lab_join_free(j);
}

enum { PER_THREAD = 20000 };

static void *externals(void *user)
{
    for (uint32_t i = 0; i < PER_THREAD; i++)
        lab_join_external(user, i, (int64_t)i + 1);
    return NULL;
}

static void two_threads_may_bring_records(void **state)
{
    struct kept *k = *state;
    struct lab_join *j = join_new(k, 1 << 15, 1 << 15);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, externals, j), 0);
    for (uint32_t i = 0; i < PER_THREAD; i++)
        kernel(j, i, "k");
    pthread_join(other, NULL);
    lab_join_flush(j);
    assert_int_equal(k->n, PER_THREAD);
    for (size_t i = 0; i < k->n; i++)
        assert_int_equal(k->records[i].u.kernel.exec,
                         (int64_t)k->records[i].u.kernel.correlation_id + 1);
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_usual_order_passes_straight_through),
        TEST(a_kernel_waits_for_its_external_record),
        TEST(what_stays_unknown_is_handed_on_and_counted),
        TEST(one_graph_launch_gives_all_its_kernels_one_step),
        TEST(an_old_id_is_not_taken_for_a_new_one),
        TEST(ids_wrap_around),
        TEST(too_many_waiting_lets_the_oldest_go),
        TEST(full_waiting_room_is_joined_first),
        TEST(a_shuffled_run_has_no_orphan),
        TEST(records_without_a_call_pass),
        TEST(calls_are_left_out_when_asked),
        TEST(work_meant_for_no_step_is_no_orphan),
        TEST(what_was_over_before_the_run_is_not_of_it),
        TEST(a_refusing_sink_is_counted),
        TEST(occupancy_needs_the_device),
        TEST(bad_config_and_short_memory),
        TEST(many_names_are_all_found_again),
        TEST(two_threads_may_bring_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
