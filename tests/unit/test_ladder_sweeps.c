/* Labs whose sizes hold a parameter: sizes that have no meaning, models by
 * hand, the cycle of the pointer chase, variants that skip work or are wrong on
 * purpose. */
#include "climb.h"

#include "pointer_chase/chase.h"
#include "read_levels/levels.h"

TEST_CASE(sizes_without_a_meaning)
{
    static const struct {
        const char *lab;
        const char *size;
        const char *message;
    } bad[] = {
        {"divergence", "100x33", "[lab.size] 32 branches"},
        {"launch", "100x1025x1", "[lab.size] 1024 threads"},
        {"launch", "100x32x9999999", "[lab.size] shared"},
        {"warps_copy", "100x65", "[lab.size] 64 warps"},
        {"warps_fma", "100x65", "[lab.size] 64 warps"},
        {"overlap", "100x65537", "[lab.size] 65536 steps"},
        {"pointer_chase", "100x10", "[lab.size] 128 bytes"},
        {"pointer_chase", "4294967296x10", "[lab.size] 2147483648"},
        {"pointer_chase", "65536x99999999999", "[lab.size] 134217728 accesses"},
        {"read_levels", "20000x10", "[lab.size] 16384 bytes"},
        {"read_levels", "16384x99999999999",
         "[lab.size] at most 4398046511104"},
        {"conv", "9999999999x9999999999x8x8x8x3", "[lab.size] can be counted"},
        {"conv_nhwc", "9999999999x9999999999x8x8x8x3",
         "[lab.size] can be counted"},
        {"conv_data", "9999999999x9999999999x8x8x8x3",
         "[lab.size] can be counted"},
        {"conv_filter", "1x1x1x1x1x2", "[lab.size] a window of 2 x 2"},
        {"conv", "64", "[lab.size] only one side"},
        {"attention", "64", "[lab.size] only one side"},
        {"layout", "64", "[lab.size] only one side"},
        {"gemm", "1e9", "[lab.size] whole numbers in decimal"},
        {"stride", "4000000000x4000000000", "[lab.size] STRIDE"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct lab_ladder_size s;
        enum lab_status st = lab_ladder_size(
            operation_of(bad[i].lab), bad[i].size, strlen(bad[i].size), &s);
        if (st != LAB_E_USAGE || !error_is(bad[i].message))
            fail_msg("%s %s: %s", bad[i].lab, bad[i].size, lab_error());
    }
}

/* Reads the footprint every other round only. The largest number is right. */
static enum lab_status skips_rounds(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float v = x[0];
    int64_t chunks = 0;
    for (int64_t t = 0; t < lab_bench_dim(call, 1); t += 2) {
        for (int64_t i = 0; i < call->in[0].count; i++)
            v = x[i] > v ? x[i] : v;
        chunks += call->in[0].count * 4 / LAB_LEVELS_CHUNK;
    }
    *(float *)call->out[0].data = v;
    *(int32_t *)call->out[1].data = (int32_t)chunks;
    return LAB_OK;
}

TEST_CASE(rounds_that_are_skipped_are_seen)
{
    static const struct lab_variant variant = {.name = "skips",
                                               .run = skips_rounds};
    struct lab_backend *be = NULL;
    double error = -1;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    assert_int_equal(
        lab_ladder_check(be, operation_of("read_levels"), &variant, 1, &error),
        LAB_E_CHECK);
    lab_backend_close(be);
}

/* One of N numbers, S apart: a burst of 64 bytes holds 16 of them. */
TEST_CASE(strides_move_bursts)
{
    const struct lab_operation *l = operation_of("stride");
    const struct lab_variant gather = {.name = "gather",
                                       .model = {.traffic = 1}};
    const struct lab_variant whole = {.name = "whole", .model = {.traffic = 2}};
    static const struct {
        const char *size;
        double gather;
        double whole;
    } want[] = {{"100x1", 8, 8},
                {"100x4", 20, 20},
                {"100x16", 68, 68},
                {"100x32", 68, 132}};
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        struct lab_ladder_size s = size_of(l, want[i].size);
        assert_true(lab_ladder_traffic(l, &gather, &s) == 100 * want[i].gather);
        assert_true(lab_ladder_traffic(l, &whole, &s) == 100 * want[i].whole);
        assert_true(l->bytes(s.dim, LAB_FP32) == 800);
    }
}

/* Every line once, and back to the first, in no order that a prefetcher would
 * guess: no step is followed by the same one. */
TEST_CASE(a_chase_visits_every_line)
{
    static const int64_t counts[] = {1, 2, 3, 5, 32, 33, 1000, 1024, 4097};
    for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
        int64_t lines = counts[c];
        char *seen = calloc((size_t)lines, 1);
        int64_t at = 0;
        int64_t same = 0;
        int64_t last = 0;
        assert_non_null(seen);
        for (int64_t k = 0; k < lines; k++) {
            int64_t next = lab_chase_next(at, lines);
            assert_true(next >= 0 && next < lines && !seen[next]);
            seen[next] = 1;
            same += next - at == last;
            last = next - at;
            at = next;
        }
        assert_true(at == 0);
        if (lines >= 1000)
            assert_true(same < lines / 20);
        free(seen);
    }
}

/* ---- wrong on purpose ---- */

struct seen {
    int rows;
    int timed;
    int64_t wrong;
    int64_t compared;
};

static enum lab_status see(void *user, const struct lab_ladder_row *row)
{
    struct seen *s = user;
    s->rows++;
    s->timed += row->status == LAB_OK;
    if (!row->variant->wrong_on_purpose) {
        assert_int_equal(row->wrong + row->compared, 0);
        return LAB_OK;
    }
    assert_int_equal(row->status, LAB_E_CHECK);
    assert_true(isnan(row->median_ns) && isnan(row->rate) && isnan(row->gain));
    assert_int_equal(row->repeats, 0);
    assert_non_null(strstr(row->reason, "wrong on purpose"));
    assert_non_null(strstr(row->reason, row->variant->wrong_on_purpose));
    s->wrong += row->wrong;
    s->compared += row->compared;
    return LAB_OK;
}

/* Of a block's eight warps seven add, in their last six threads, what the next
 * has not loaded yet; the block's halo is there. */
TEST_CASE(what_lacks_a_barrier_is_counted)
{
    struct lab_backend *be = NULL;
    struct seen seen = {0};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    int variants =
        climb_at((struct lab_ladder_run){.backend = be,
                                         .ladder = operation_of("stencil"),
                                         .row = see,
                                         .user = &seen},
                 "1024");
    assert_int_equal(seen.rows, variants);
    assert_int_equal(seen.timed, variants - 1);
    assert_int_equal(seen.compared, 1024);
    assert_int_equal(seen.wrong, 4 * 7 * 6);
    lab_backend_close(be);
}

RUN_TESTS()
