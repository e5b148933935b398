/* advice.c -- rules that turn the numbers of a step or kernel into advice.
 *
 * Facts in, pieces of advice out, each with an id and its numbers; the wording
 * is sentence.c's. Unknown facts trigger no rule. report/advise.c collects the
 * facts for --plain and the screens. */
#include "profiler/advice.h"

#include <math.h>
#include <stdlib.h>

#include "trace/record.h"

/* Below this a memory latency of some 500 cycles is no longer hidden by other
 * warps in ordinary code: the usual advice is half of all warps. */
static const double low_occupancy_pct = 50;
/* A warp's request of 32 floats is 4 sectors of 32 bytes; of 32 doubles 8. */
static const double spread_sectors = 12;
/* A last wave that costs at least so much of the kernel's time. */
static const double tail_share = 0.2;
/* Of the SMs, that it is worth giving work to: 4 idle ones of 132 are 3 %. */
static const double idle_share = 0.2;
/* The GPU needs this long to start a kernel that has nothing to do (measured:
 * docs/measurements.md); shorter kernels are mostly that. */
static const double short_kernel_ns = 5000;
/* So many launches of one step are worth a kernel that does them all. */
static const int64_t many_kernels = 5;
/* Below this many operations a product is over before it matters. */
static const double large_product_flop = 5e7;
/* What uses each of its numbers so often is a product or a convolution: an
 * elementwise step has less than one operation for each byte. */
static const double product_intensity = 8;
/* Fetching each operand this many times more than once. */
static const double fetched_again = 3;

void lab_advice_facts_init(struct lab_advice_facts *f)
{
    *f = (struct lab_advice_facts){.blocks = LAB_UNKNOWN,
                                   .sm_count = LAB_UNKNOWN,
                                   .occupancy_pct = NAN,
                                   .active_blocks_per_sm = LAB_UNKNOWN,
                                   .time_ns = NAN,
                                   .wall_ns = NAN,
                                   .kernels = LAB_UNKNOWN,
                                   .flop = NAN,
                                   .bytes = NAN,
                                   .peak_dram_bytes_s = NAN};
    lab_counters_init(&f->counters);
}

/* What was seen: a sentence of an id and its values. */
#define STATE(a, ...)                                                          \
    (a)->evidence = (struct lab_sentence)                                      \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static bool low_occupancy(const struct lab_advice_facts *f,
                          struct lab_advice *a)
{
    int limit = f->occupancy_limit & ~(LAB_LIMIT_GRID | LAB_LIMIT_WARPS);
    a->weight = 1 - f->occupancy_pct / 100;
    a->remedy = limit & LAB_LIMIT_REGISTERS ? LAB_SENTENCE_TRY_FEWER_REGISTERS
                : limit & LAB_LIMIT_SHARED  ? LAB_SENTENCE_TRY_LESS_SHARED
                                            : LAB_SENTENCE_TRY_LARGER_BLOCKS;
    STATE(a, LAB_SENTENCE_LOW_OCCUPANCY, {f->occupancy_pct, limit});
    return f->occupancy_pct < low_occupancy_pct && limit;
}

static bool few_blocks(const struct lab_advice_facts *f, struct lab_advice *a)
{
    double blocks = (double)f->blocks;
    double sms = (double)f->sm_count;
    if (f->blocks == LAB_UNKNOWN || f->sm_count <= 0)
        return false;
    a->weight = 1 - blocks / sms;
    a->remedy = LAB_SENTENCE_TRY_MORE_BLOCKS;
    STATE(a, LAB_SENTENCE_FEW_BLOCKS, {blocks, sms, sms - blocks});
    return a->weight >= idle_share;
}

static bool tail(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (f->blocks == LAB_UNKNOWN || f->active_blocks_per_sm <= 0 ||
        f->sm_count <= 0)
        return false;
    double wave = (double)(f->active_blocks_per_sm * f->sm_count);
    double waves = (double)f->blocks / wave;
    a->weight = 1 - waves / ceil(waves);
    a->remedy = LAB_SENTENCE_TRY_WHOLE_WAVES;
    STATE(a, LAB_SENTENCE_TAIL,
          {(double)f->blocks, waves, wave, (waves - floor(waves)) * 100});
    return waves > 1 && /* else that is few blocks, not a tail */
           a->weight >= tail_share;
}

static bool uncoalesced(const struct lab_advice_facts *f, struct lab_advice *a)
{
    double load = f->counters.sectors_per_load;
    double store = f->counters.sectors_per_store;
    double sectors = fmax(load, store); /* not the NaN */
    a->weight = 1 - 4 / sectors;
    a->remedy = LAB_SENTENCE_TRY_NEIGHBOURS;
    STATE(a,
          sectors == load ? LAB_SENTENCE_SPREAD_LOAD
                          : LAB_SENTENCE_SPREAD_STORE,
          {sectors});
    return sectors > spread_sectors;
}

static bool launch_bound(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (!(f->time_ns < short_kernel_ns) || f->kernels <= 0)
        return false;
    double each = f->wall_ns / (double)f->kernels;
    a->weight = 1 - f->time_ns / each;
    a->remedy =
        f->fusable ? LAB_SENTENCE_TRY_GRAPH_OR_FUSED : LAB_SENTENCE_TRY_GRAPH;
    STATE(a, LAB_SENTENCE_SLOW_LAUNCH, {f->time_ns, each});
    return each >= 2 * f->time_ns;
}

static bool many_launches(const struct lab_advice_facts *f,
                          struct lab_advice *a)
{
    double kernels = (double)f->kernels;
    a->weight = 1 - 1 / kernels;
    a->remedy = f->fusable ? LAB_SENTENCE_TRY_ONE_KERNEL_OR_FUSED
                           : LAB_SENTENCE_TRY_ONE_KERNEL;
    STATE(a, LAB_SENTENCE_SHORT_LAUNCHES, {kernels, f->time_ns});
    return f->time_ns < short_kernel_ns && f->kernels >= many_kernels;
}

static bool is_product(const struct lab_advice_facts *f)
{
    return f->flop > product_intensity * f->bytes;
}

static bool idle_tensor(const struct lab_advice_facts *f, struct lab_advice *a)
{
    a->weight = 0.75;
    a->remedy = LAB_SENTENCE_TRY_TENSOR_CORES;
    STATE(a, LAB_SENTENCE_NO_TENSOR_CORES, {f->flop});
    return is_product(f) && f->flop >= large_product_flop &&
           f->counters.tensor_flop == 0;
}

static bool small_tiles(const struct lab_advice_facts *f, struct lab_advice *a)
{
    double moved = f->counters.dram_read_bytes + f->counters.dram_write_bytes;
    double limit_ns = moved / f->peak_dram_bytes_s * 1e9;
    a->weight = 1 - f->bytes / moved;
    a->remedy = LAB_SENTENCE_TRY_LARGER_TILES;
    STATE(a, LAB_SENTENCE_FETCHED_AGAIN,
          {moved, moved / f->bytes, limit_ns / f->time_ns * 100});
    return is_product(f) && f->bytes > 0 && moved > fetched_again * f->bytes &&
           limit_ns > 0.5 * f->time_ns;
}

/* Fills `a` in; false: it does not apply, and `a` is of no use. */
static const struct {
    const char *name;
    bool (*applies)(const struct lab_advice_facts *f, struct lab_advice *a);
} rules[] = {
    [LAB_ADVICE_LOW_OCCUPANCY] = {"low-occupancy", low_occupancy},
    [LAB_ADVICE_FEW_BLOCKS] = {"few-blocks", few_blocks},
    [LAB_ADVICE_TAIL] = {"tail", tail},
    [LAB_ADVICE_UNCOALESCED] = {"uncoalesced", uncoalesced},
    [LAB_ADVICE_LAUNCH_BOUND] = {"launch-bound", launch_bound},
    [LAB_ADVICE_MANY_LAUNCHES] = {"many-launches", many_launches},
    [LAB_ADVICE_IDLE_TENSOR] = {"idle-tensor-cores", idle_tensor},
    [LAB_ADVICE_SMALL_TILES] = {"small-tiles", small_tiles},
};

const char *lab_advice_name(enum lab_advice_rule rule)
{
    return rule < LAB_ADVICE_COUNT ? rules[rule].name : "";
}

void lab_advice_add(struct lab_str *out, const struct lab_advice *a)
{
    const struct lab_sentence remedy = {.id = a->remedy};
    lab_str_addf(out, "%s: ", lab_advice_name(a->rule));
    lab_sentence_add(out, &a->evidence);
    lab_str_add(out, ". Try ");
    lab_sentence_add(out, &remedy);
    lab_str_add_char(out, '.');
}

static int by_weight(const void *a, const void *b)
{
    const struct lab_advice *x = a;
    const struct lab_advice *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
                                  : (int)x->rule - (int)y->rule;
}

int lab_advise(const struct lab_advice_facts *f,
               struct lab_advice out[LAB_ADVICE_COUNT])
{
    int n = 0;
    for (int i = 0; i < LAB_ADVICE_COUNT; i++) {
        struct lab_advice a = {.rule = (enum lab_advice_rule)i};
        if (rules[i].applies(f, &a))
            out[n++] = a;
    }
    qsort(out, (size_t)n, sizeof(*out), by_weight);
    return n;
}
