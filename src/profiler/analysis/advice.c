/* advice.c -- rules that turn the numbers of a step or kernel into advice. */
#include "profiler/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/occupancy.h"
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

static bool low_occupancy(const struct lab_advice_facts *f,
                          struct lab_advice *a)
{
    int limit = f->occupancy_limit & ~(LAB_LIMIT_GRID | LAB_LIMIT_WARPS);
    char what[128];
    if (!(f->occupancy_pct < low_occupancy_pct) || !limit)
        return false;
    lab_occupancy_limit_text(what, sizeof(what), limit);
    a->weight = 1 - f->occupancy_pct / 100;
    snprintf(a->evidence, sizeof(a->evidence),
             "%.0f %% of an SM's warps can be there at once, because of its %s",
             f->occupancy_pct, what);
    snprintf(a->remedy, sizeof(a->remedy), "%s",
             limit & LAB_LIMIT_REGISTERS
                 ? "fewer registers a thread (__launch_bounds__, a smaller "
                   "piece of the result for each thread), unless each thread "
                   "has enough independent work to hide latency by itself"
             : limit & LAB_LIMIT_SHARED
                 ? "less shared memory a block: smaller tiles, or one buffer "
                   "less"
                 : "larger blocks: an SM takes a limited number of them");
    return true;
}

static bool few_blocks(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (f->blocks == LAB_UNKNOWN || f->sm_count == LAB_UNKNOWN ||
        f->sm_count <= 0 || f->blocks >= f->sm_count)
        return false;
    a->weight = 1 - (double)f->blocks / (double)f->sm_count;
    if (a->weight < idle_share)
        return false;
    snprintf(a->evidence, sizeof(a->evidence),
             "%lld blocks on %lld SMs: %lld SMs have nothing to do",
             (long long)f->blocks, (long long)f->sm_count,
             (long long)(f->sm_count - f->blocks));
    snprintf(a->remedy, sizeof(a->remedy),
             "more, smaller blocks; a larger batch; for a product with a small "
             "result: split the inner dimension over blocks");
    return true;
}

static bool tail(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (f->blocks == LAB_UNKNOWN || f->sm_count == LAB_UNKNOWN ||
        f->active_blocks_per_sm == LAB_UNKNOWN ||
        f->active_blocks_per_sm <= 0 || f->sm_count <= 0)
        return false;
    double wave = (double)(f->active_blocks_per_sm * f->sm_count);
    double waves = (double)f->blocks / wave;
    if (waves <= 1) /* that is few blocks, not a tail */
        return false;
    a->weight = 1 - waves / ceil(waves);
    if (a->weight < tail_share)
        return false;
    snprintf(a->evidence, sizeof(a->evidence),
             "%lld blocks are %.2f waves of %.0f: the last one is %.0f %% full",
             (long long)f->blocks, waves, wave, (waves - floor(waves)) * 100);
    snprintf(a->remedy, sizeof(a->remedy),
             "a grid that is a whole number of waves, smaller blocks, or a "
             "loop over tiles in as many blocks as fit at once");
    return true;
}

static bool uncoalesced(const struct lab_advice_facts *f, struct lab_advice *a)
{
    double load = f->counters.sectors_per_load;
    double store = f->counters.sectors_per_store;
    bool loads = load > spread_sectors;
    if (!loads && !(store > spread_sectors))
        return false;
    double sectors = loads && !(store > load) ? load : store;
    a->weight = 1 - 4 / sectors;
    snprintf(a->evidence, sizeof(a->evidence),
             "a warp's %s touches %.1f sectors of 32 bytes; 4 would do for 32 "
             "floats",
             sectors == load ? "load" : "store", sectors);
    snprintf(a->remedy, sizeof(a->remedy),
             "let neighbouring threads read neighbouring addresses: another "
             "axis for threadIdx.x, or a tile through shared memory");
    return true;
}

static bool launch_bound(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (!(f->time_ns < short_kernel_ns) || isnan(f->wall_ns) ||
        f->kernels == LAB_UNKNOWN || f->kernels <= 0)
        return false;
    double each = f->wall_ns / (double)f->kernels;
    if (each < 2 * f->time_ns)
        return false;
    a->weight = 1 - f->time_ns / each;
    snprintf(a->evidence, sizeof(a->evidence),
             "the kernel works for %.1f us, its launch takes the host %.1f us",
             f->time_ns / 1e3, each / 1e3);
    snprintf(a->remedy, sizeof(a->remedy),
             "a larger batch, %sor the whole iteration as one CUDA graph (as "
             "training at speed does)",
             f->fusable ? "a fused variant, " : "");
    return true;
}

static bool many_launches(const struct lab_advice_facts *f,
                          struct lab_advice *a)
{
    if (!(f->time_ns < short_kernel_ns) || f->kernels < many_kernels)
        return false;
    a->weight = 1 - 1 / (double)f->kernels;
    snprintf(a->evidence, sizeof(a->evidence),
             "the step is %lld launches, and this one works for %.1f us",
             (long long)f->kernels, f->time_ns / 1e3);
    snprintf(a->remedy, sizeof(a->remedy),
             "%sone kernel, or one batched call, for all of them",
             f->fusable ? "a fused variant, " : "");
    return true;
}

static bool is_product(const struct lab_advice_facts *f)
{
    return f->flop > product_intensity * f->bytes;
}

static bool idle_tensor(const struct lab_advice_facts *f, struct lab_advice *a)
{
    if (!is_product(f) || !(f->flop >= large_product_flop) ||
        !(f->counters.tensor_flop == 0))
        return false;
    a->weight = 0.75;
    snprintf(a->evidence, sizeof(a->evidence),
             "a product of %.3g operations, and not one on a tensor core",
             f->flop);
    snprintf(a->remedy, sizeof(a->remedy),
             "fp32 stays off them on purpose; tf32, bf16 or fp16 would use "
             "them, with 10 or 7 bits of mantissa instead of 23");
    return true;
}

static bool small_tiles(const struct lab_advice_facts *f, struct lab_advice *a)
{
    double moved = f->counters.dram_read_bytes + f->counters.dram_write_bytes;
    double limit_ns = moved / f->peak_dram_bytes_s * 1e9;
    if (!is_product(f) || !(f->bytes > 0) ||
        !(moved > fetched_again * f->bytes) || !(limit_ns > 0.5 * f->time_ns))
        return false;
    a->weight = 1 - f->bytes / moved;
    snprintf(a->evidence, sizeof(a->evidence),
             "%.3g bytes went to and from DRAM, %.1f times the tensors' own, "
             "and that takes %.0f %% of the kernel's time",
             moved, moved / f->bytes, limit_ns / f->time_ns * 100);
    snprintf(a->remedy, sizeof(a->remedy),
             "larger tiles in shared memory and registers: each number is then "
             "used more often for one fetch");
    return true;
}

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
