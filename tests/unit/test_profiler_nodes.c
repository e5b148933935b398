/* Which step a node of a launched graph belongs to. */
#include "test.h"

#include "base/mem.h"
#include "profiler/join.h"
#include "unit/profiler_sink.h"

enum { BASE = 100 };
static const int64_t graph_of = INT64_C(2) << 32; /* high half of a node's id */
/* Node 0 is of no step; step 1 has none; node 6 comes after the steps. */
static const int64_t node_end[] = {3, 3, 6};

static struct lab_join *join_new(struct kept *kept)
{
    struct lab_sink sink = kept_sink(kept);
    struct lab_join *j = NULL;
    assert_ok(lab_join_new(&j, &sink));
    assert_ok(lab_join_graph(j, BASE, 3, 1, node_end));
    return j;
}

static void node(struct lab_join *j, int number, int64_t exec)
{
    struct lab_kernel_record k = {.exec = exec,
                                  .graph_node_id = graph_of + number,
                                  .graph_id = 2,
                                  .start_ns = 1000 + 10 * number,
                                  .end_ns = 1008 + 10 * number};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    lab_join_kernel(j, &k, &launch);
}

static void check(struct lab_join *j, const struct kept *k)
{
    static const int64_t wanted[] = {LAB_EXEC_BETWEEN, BASE,     BASE,
                                     BASE + 2,         BASE + 2, BASE + 2,
                                     LAB_EXEC_BETWEEN};
    struct lab_join_stats s;
    int64_t start;
    int64_t end;
    lab_join_get_stats(j, &s);
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), 7);
    assert_int_equal(s.kernels, 7);
    assert_int_equal(s.kernels_without_step, 0);
    assert_int_equal(s.kernels_between, 2);
    for (int i = 0; i < 7; i++)
        assert_true(kept_get(k, LAB_RECORD_KERNEL, i)->u.kernel.exec ==
                    wanted[i]);
    lab_join_graph_span(j, BASE + 2, &start, &end);
    assert_true(start == 1030 && end == 1058);
    lab_join_graph_span(j, BASE + 1, &start, &end); /* it has no node */
    assert_true(start == LAB_UNKNOWN && end == LAB_UNKNOWN);
    lab_join_graph_span(j, BASE + 3, &start, &end);
    assert_true(start == LAB_UNKNOWN && end == LAB_UNKNOWN);
}

TEST_CASE(nodes_go_to_their_steps)
{
    struct kept *k = kept_new();
    struct lab_join *j = join_new(k);
    for (int i = 0; i < 7; i++)
        node(j, i, BASE);
    check(j, k);
    lab_join_free(j);
    kept_free(k);
}

/* A kernel beside the graph, one between steps, and one of another step. */
TEST_CASE(other_launches_stay_as_they_are)
{
    struct kept *k = kept_new();
    struct lab_join *j = join_new(k);
    struct lab_kernel_record plain = {.exec = BASE};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    struct lab_join_stats s;
    lab_join_kernel(j, &plain, &launch);
    node(j, 2, LAB_EXEC_BETWEEN);
    plain.exec = BASE + 40;
    lab_join_kernel(j, &plain, &launch);
    lab_join_get_stats(j, &s);
    assert_int_equal(s.kernels_between, 2);
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), 3);
    for (int i = 0; i < 2; i++)
        assert_true(kept_get(k, LAB_RECORD_KERNEL, i)->u.kernel.exec ==
                    LAB_EXEC_BETWEEN);
    assert_true(kept_get(k, LAB_RECORD_KERNEL, 2)->u.kernel.exec == BASE + 40);
    lab_join_free(j);
    kept_free(k);
}

/* The graph's other iterations, that are not reported, however many. */
TEST_CASE(unreported_launches_are_not_recorded)
{
    enum { LAUNCHES = 100 };
    struct kept *k = kept_new();
    struct lab_join *j = join_new(k);
    struct lab_join_stats s;
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int i = 0; i < 7; i++)
            node(j, i, launch == 1 ? BASE : LAB_EXEC_DROPPED);
    check(j, k);
    lab_join_get_stats(j, &s);
    assert_int_equal(s.unreported, 7 * (LAUNCHES - 1));
    assert_int_equal(k->n, 7);
    lab_join_free(j);
    kept_free(k);
}

TEST_CASE(short_memory_is_an_error)
{
    struct kept *k = kept_new();
    struct lab_join *j = join_new(k);
    for (int fail = 1; fail <= 2; fail++) {
        lab_mem_fail_from(fail);
        assert_int_equal(lab_join_graph(j, 1, 3, 0, node_end), LAB_E_NOMEM);
        lab_mem_fail_from(0);
    }
    assert_ok(lab_join_graph(j, BASE, 0, 0, NULL));
    node(j, 4, BASE);
    assert_true(kept_get(k, LAB_RECORD_KERNEL, 0)->u.kernel.exec == BASE);
    lab_join_free(j);
    kept_free(k);
}

RUN_TESTS()
