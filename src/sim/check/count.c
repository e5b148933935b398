/* count.c -- what a launch did, in numbers: sectors of global memory, wavefronts
 * of shared memory, FLOP; per launch and per source line.
 *
 * Global memory, as ncu's l1tex__t_requests and l1tex__t_sectors: an instruction
 * of a warp is one request, and the 32-byte sectors that its lanes touch are
 * counted once each, for any width of a lane; of a cp.async of 16 bytes once in each
 * quarter of the warp, which is what shared memory takes at a time. Constant memory
 * has a cache of its own: LDC and ULDC are none of these requests.
 *
 * Shared memory, as ncu's l1tex__data_pipe_lsu_wavefronts_mem_shared: 32 banks of
 * 4 bytes ("CUDA C++ Programming Guide", compute capability 5.x and later). A
 * pass serves one word of each bank, to any number of lanes. Up to 4 bytes a
 * lane the warp is served together. With 8 bytes its halves are served one after
 * the other, with 16 bytes its quarters. Two neighbours (halves, or the quarters
 * of one half) are served together if each of their lanes has the address of the
 * lane with a number that differs in bit 0, or each that of the one that differs in bit
 * 1, or that lane is off; of stores, none off. NVIDIA's documents do not state this; it
 * is what others measured on cards since Volta, and what an H200 counted
 * (docs/measurements.md). The least number of wavefronts is that of the groups that are
 * served one after the other; what is more is a bank conflict. Loads that ptxas joins
 * are one (fuse.c); what is copied by cp.async, TMA or wgmma takes none, nor does an
 * mbarrier.
 *
 * FLOP are those that the counters smsp__sass_thread_inst_executed_op_{f,d,h}{add,
 * mul,fma} give: additions and multiplications are one, fused ones two. Divisions and
 * roots count as what the machine makes of them. */
#include "check/check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SECTOR = 32, BANKS = 32 };

/* ---- global memory ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { NEAR = 4096 }; /* as one bit each they are counted sooner than sorted */

/* How many different ones there are, of which none is NEAR above `least`. */
static int distinct_near(const uint64_t *v, int n, uint64_t least,
                         uint64_t most)
{
    uint64_t bits[NEAR / 64];
    int count = 0;
    memset(bits, 0, (size_t)((most - least) / 64 + 1) * sizeof(bits[0]));
    for (int i = 0; i < n; i++) {
        const uint64_t at = v[i] - least;
        count += !(bits[at / 64] >> at % 64 & 1);
        bits[at / 64] |= UINT64_C(1) << at % 64;
    }
    return count;
}

/* How many different ones there are. Most warps walk upwards. */
static int distinct(uint64_t *v, int n)
{
    bool sorted = true;
    int count = n > 0;
    uint64_t least = n > 0 ? v[0] : 0;
    uint64_t most = least;
    for (int i = 1; i < n; i++) {
        sorted &= v[i - 1] <= v[i];
        count += v[i - 1] != v[i];
        least = v[i] < least ? v[i] : least;
        most = v[i] > most ? v[i] : most;
    }
    if (sorted)
        return count;
    if (most - least < NEAR)
        return distinct_near(v, n, least, most);
    qsort(v, (size_t)n, sizeof(v[0]), by_value);
    return distinct(v, n);
}

static void count_sectors(struct lab_sim_counts *n, const struct sim_access *a,
                          uint32_t lanes)
{
    const uint64_t bytes = (uint64_t)a->bytes;
    uint64_t sectors[SIM_LANES * 2];
    int count = 0;
    /* A lane is in one sector or two; only a bulk copy, of one lane, in more. */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t from = a->addr[__builtin_ctz(rest)];
        uint64_t last = (from + bytes - 1) / SECTOR;
        sectors[count++] = from / SECTOR;
        if (last > from / SECTOR + 1)
            n->global_sectors += (int64_t)(last - from / SECTOR - 1);
        if (last != from / SECTOR)
            sectors[count++] = last;
    }
    n->global_sectors += distinct(sectors, count);
}

static void count_request(struct lab_sim_counts *n, const struct sim_access *a,
                          uint32_t lanes, enum sim_pattern pattern)
{
    const int lane_count = sim_count_lanes(lanes);
    const bool quarters = a->async && !a->proxy && a->align == 16;
    n->global_requests++;
    n->global_bytes += a->bytes * lane_count;
    if (a->kind == SIM_ATOMIC)
        n->atomics += lane_count;
    if (pattern != SIM_ANY && !quarters) {
        uint64_t run = pattern == SIM_ROW ? (uint64_t)lane_count : 1;
        uint64_t first = a->addr[0] / SECTOR;
        uint64_t last = (a->addr[0] + run * (uint64_t)a->bytes - 1) / SECTOR;
        n->global_sectors += (int64_t)(last - first + 1);
        return;
    }
    for (int first = 0; first < SIM_LANES; first += quarters ? 8 : SIM_LANES)
        count_sectors(n, a, lanes & (quarters ? 0xffu << first : SIM_FULL));
}

void sim_count_global(struct lab_sim_counts *n, const struct sim_access *a,
                      uint32_t lanes, enum sim_pattern pattern)
{
    const int64_t before = n->global_sectors;
    count_request(n, a, lanes, pattern);
    if (a->proxy || a->kind == SIM_ATOMIC)
        return;
    const bool load = a->kind == SIM_LOAD;
    *(load ? &n->load_requests : &n->store_requests) += 1;
    *(load ? &n->load_sectors : &n->store_sectors) +=
        n->global_sectors - before;
}

/* ---- shared memory ---- */

/* The different words that each bank has to give, once all are sorted. */
static int most_of_bank(uint64_t *words, int n)
{
    int in_bank[BANKS] = {0};
    int most = 0;
    qsort(words, (size_t)n, sizeof(words[0]), by_value);
    for (int k = 0; k < n; k++)
        if (k == 0 || words[k] != words[k - 1]) {
            int count = ++in_bank[words[k] % BANKS];
            most = count > most ? count : most;
        }
    return most;
}

/* Passes for `lanes`: the most words that one bank has to give. */
static int passes(const struct sim_access *a, uint32_t lanes)
{
    const int each = a->bytes > 4 ? a->bytes / 4 : 1;
    uint64_t words[SIM_LANES * 4];
    uint64_t highest[BANKS];
    int in_bank[BANKS] = {0};
    int n = 0;
    int most = 1;
    bool climbs = true; /* in each bank, as lanes go up: nothing to sort */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t word = a->addr[__builtin_ctz(rest)] / 4;
        for (int k = 0; k < each; k++, word++) {
            const uint64_t bank = word % BANKS;
            words[n++] = word;
            if (in_bank[bank] && word <= highest[bank]) {
                climbs &= word == highest[bank];
                continue;
            }
            highest[bank] = word;
            most = ++in_bank[bank] > most ? in_bank[bank] : most;
        }
    }
    return climbs ? most : most_of_bank(words, n);
}

/* Each lane of `lanes` has the address of lane ^ flip, or that one is off: of a store
 * none may be. */
static bool paired(const struct sim_access *a, uint32_t lanes, int flip)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        int other = lane ^ flip;
        if (lanes >> other & 1 ? a->addr[lane] != a->addr[other]
                               : a->kind == SIM_STORE)
            return false;
    }
    return true;
}

static void count_passes(struct lab_sim_counts *n, const struct sim_access *a,
                         uint32_t lanes)
{
    if (!lanes)
        return;
    int took = passes(a, lanes);
    n->shared_wavefronts += took;
    n->bank_conflicts += took - 1;
}

/* Two neighbouring groups of lanes, together if they can be. */
static void count_pair(struct lab_sim_counts *n, const struct sim_access *a,
                       uint32_t low, uint32_t high)
{
    if (low && high && (paired(a, low | high, 1) || paired(a, low | high, 2))) {
        count_passes(n, a, low | high);
        return;
    }
    count_passes(n, a, low);
    count_passes(n, a, high);
}

static void count_wavefronts(struct lab_sim_counts *n,
                             const struct sim_access *a, uint32_t lanes,
                             enum sim_pattern pattern)
{
    if (pattern != SIM_ANY && lanes == SIM_FULL && a->bytes <= 16) {
        /* No bank has two words to give in a group of lanes. */
        const int groups = a->bytes <= 4 ? 1 : a->bytes / 4;
        n->shared_wavefronts += pattern == SIM_ROW ? groups : (groups + 1) / 2;
        return;
    }
    if (a->bytes <= 4) {
        count_passes(n, a, lanes);
    } else if (a->bytes <= 8) {
        count_pair(n, a, lanes & 0xffff, lanes & 0xffff0000);
    } else {
        count_pair(n, a, lanes & 0xff, lanes & 0xff00);
        count_pair(n, a, lanes & 0xff0000, lanes & 0xff000000);
    }
}

void sim_count_shared(struct lab_sim_counts *n, const struct sim_instr *i,
                      const struct sim_access *a, uint32_t lanes,
                      enum sim_pattern pattern)
{
    n->shared_requests++;
    if (a->kind == SIM_ATOMIC)
        n->atomics += sim_count_lanes(lanes);
    if (i->wide == SIM_NOT_WIDE)
        return;
    if (!i->wide) {
        count_wavefronts(n, a, lanes, pattern);
        return;
    }
    struct sim_access joined = *a;
    joined.bytes = i->wide;
    for (int l = 0; l < SIM_LANES; l++)
        joined.addr[l] -= i->back;
    count_wavefronts(n, &joined, lanes,
                     pattern == SIM_SAME ? SIM_SAME : SIM_ANY);
}

/* ---- FLOP ---- */

/* Of mma.sp those of the product with zeros, twice those that are made: so a card
 * counts HMMA.SP. */
static int64_t shape_flops(const struct lab_ptx_instr *in)
{
    for (int i = 0; i < in->modifier_count; i++) {
        const char *s = in->modifiers[i];
        int64_t size[3] = {0, 0, 0};
        for (int k = 0; k < 3 && *s == "mnk"[k]; k++) {
            char *end;
            size[k] = strtol(s + 1, &end, 10);
            s = end;
        }
        if (size[2] > 0 && size[2] <= 1024)
            return 2 * size[0] * size[1] * size[2];
    }
    return 0;
}

enum { ADD, MUL, FMA, ARITHMETIC };

/* What the machine executes for an instruction: of add, mul and fma themselves, and
 * of those that ptxas makes of them, as it does for sm_75 and sm_90a alike (CUDA 13),
 * for normal numbers. The first row that fits holds. Near the ends
 * of the range a division goes through more: run_quotient() and run_f64() of math.c. */
static const struct {
    const char *opcode;
    const char *type;    /* NULL: any */
    const char *with;    /* a modifier; NULL: any */
    const char *without; /* NULL: none */
    int32_t part[ARITHMETIC];
    int32_t f32_fma; /* besides: a test of the result */
} arithmetic[] = {
    {"add", NULL, NULL, NULL, {1, 0, 0}},
    {"abs", "f64", NULL, NULL, {1, 0, 0}}, /* of operands see fuse.c */
    {"neg", "f64", NULL, NULL, {1, 0, 0}},
    {"sub", NULL, NULL, NULL, {1, 0, 0}},
    {"mul", NULL, NULL, NULL, {0, 1, 0}},
    {"fma", NULL, NULL, NULL, {0, 0, 1}},
    {"fma -c", NULL, NULL, NULL, {0, 0, 1}},
    {"fma -ab", NULL, NULL, NULL, {0, 0, 1}},
    {"mad", NULL, NULL, NULL, {0, 0, 1}},
    {"div", "f32", "rn", NULL, {0, 0, 5}},
    {"div", "f32", NULL, NULL, {0, 1, 0}},
    {"rcp", "f32", "rn", NULL, {1, 0, 2}},
    {"rcp", "f32", "approx", "ftz", {0, 2, 0}},
    {"sqrt", "f32", "rn", NULL, {0, 2, 2}},
    {"sin", "f32", NULL, NULL, {0, 1, 0}},
    {"cos", "f32", NULL, NULL, {0, 1, 0}},
    {"cvt", "f32", "sat", NULL, {1, 0, 0}},
    {"div", "f64", "rn", NULL, {0, 1, 7}, 1},
    {"rcp", "f64", "rn", NULL, {0, 0, 5}},
    {"sqrt", "f64", "rn", NULL, {0, 3, 5}},
    {"rsqrt", "f64", "approx", "ftz", {0, 2, 3}},
};

/* Where the FLOP of a type of numbers are counted. */
struct flop_counts {
    int64_t *flops; /* NULL: no such type */
    int64_t *part[ARITHMETIC];
    int each; /* of an operation of a lane */
};

static struct flop_counts flops_of(struct lab_sim_counts *n, const char *type)
{
    const int each = strstr(type, "x2") ? 2 : 1;
    if (strcmp(type, "f32") == 0 || strcmp(type, "f32x2") == 0)
        return (struct flop_counts){
            &n->flops, {&n->f32_adds, &n->f32_muls, &n->f32_fmas}, each};
    if (strcmp(type, "f64") == 0)
        return (struct flop_counts){
            &n->flops_f64, {&n->f64_adds, &n->f64_muls, &n->f64_fmas}, each};
    if (strncmp(type, "f16", 3) == 0 || strncmp(type, "bf16", 4) == 0)
        return (struct flop_counts){
            &n->flops_f16, {&n->f16_adds, &n->f16_muls, &n->f16_fmas}, each};
    return (struct flop_counts){.flops = NULL};
}

/* Of a product of matrices, by the type of its factors. wmma does not write fp16:
 * what names no other type has it. */
static void count_tensor(struct lab_sim_counts *n,
                         const struct lab_ptx_instr *in, int64_t flops)
{
    static const struct {
        const char *type;
        size_t at;
    } types[] = {{"tf32", offsetof(struct lab_sim_counts, tensor_tf32)},
                 {"bf16", offsetof(struct lab_sim_counts, tensor_bf16)},
                 {"f64", offsetof(struct lab_sim_counts, tensor_f64)}};
    bool integers = false;
    n->flops_tensor += flops;
    for (int m = 0; m < in->modifier_count; m++) {
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
            if (strcmp(in->modifiers[m], types[t].type) == 0) {
                *(int64_t *)(void *)((char *)n + types[t].at) += flops;
                return;
            }
        integers |= strcmp(in->modifiers[m], "s32") == 0;
    }
    if (!integers)
        n->tensor_f16 += flops;
}

void sim_count_flops(struct lab_sim_counts *n, const struct lab_sim_kernel *k,
                     const struct sim_instr *i, const struct sim_tally *tally)
{
    const struct lab_ptx_instr *in = i->ptx;
    const struct sim_tally *t = &tally[(i->with ? i->with : i) - k->instrs];
    const int64_t lanes = i->flop == SIM_FLOP_CHOSEN ? t->chosen : t->lanes;
    if (i->flop == SIM_FLOP_NONE)
        return;
    if (strcmp(in->opcode, "mma") == 0 || strcmp(in->opcode, "wmma") == 0) {
        if (in->modifier_count > 0 && strcmp(in->modifiers[0], "load") != 0 &&
            strcmp(in->modifiers[0], "store") != 0)
            count_tensor(n, in, t->warps * shape_flops(in));
        return;
    }
    if (strcmp(in->opcode, "wgmma") == 0) {
        /* Of four warps together. */
        count_tensor(n, in, t->warps * shape_flops(in) / 4);
        return;
    }
    if (in->modifier_count == 0)
        return;
    const char *type = in->modifiers[in->modifier_count - 1];
    const struct flop_counts to = flops_of(n, type);
    for (size_t row = 0;
         to.flops && row < sizeof(arithmetic) / sizeof(arithmetic[0]); row++) {
        const int32_t *part = arithmetic[row].part;
        if (strcmp(in->opcode, arithmetic[row].opcode) != 0 ||
            (arithmetic[row].type && strcmp(type, arithmetic[row].type) != 0) ||
            (arithmetic[row].with &&
             !lab_ptx_has_modifier(in, arithmetic[row].with)) ||
            (arithmetic[row].without &&
             lab_ptx_has_modifier(in, arithmetic[row].without)))
            continue;
        for (int p = ADD; p < ARITHMETIC; p++)
            *to.part[p] += lanes * part[p] * to.each;
        *to.flops += lanes * (part[ADD] + part[MUL] + 2 * part[FMA]) * to.each;
        n->f32_fmas += lanes * arithmetic[row].f32_fma;
        n->flops += 2 * lanes * arithmetic[row].f32_fma;
        return;
    }
}

/* ---- loads behind a branch to the end (fuse.c) ---- */

/* Of one place, executed by the lanes that come to `with`: one lane takes one pass. */
static void count_behind(struct lab_sim_counts *n, const struct sim_tally *all,
                         const struct sim_tally *with)
{
    const int64_t each = n->shared_wavefronts / all->warps;
    n->shared_requests = n->shared_requests / all->warps * with->warps;
    n->shared_wavefronts =
        (with->lanes == with->warps && each > 1 ? 1 : each) * with->warps;
}

/* ---- sums ---- */

static void add(struct lab_sim_counts *to, const struct lab_sim_counts *n)
{
#define X(key, title) to->key += n->key;
    LAB_SIM_COUNT_LIST(X)
    LAB_SIM_PART_LIST(X)
#undef X
}

static int by_line(const void *a, const void *b)
{
    const struct lab_sim_line *x = a;
    const struct lab_sim_line *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Adds rows of one line up; returns how many are left. */
static int32_t merge_lines(struct lab_sim_line *lines, int32_t n)
{
    int32_t kept = 0;
    qsort(lines, (size_t)n, sizeof(lines[0]), by_line);
    for (int32_t i = 0; i < n; i++)
        if (kept > 0 && by_line(&lines[kept - 1], &lines[i]) == 0)
            add(&lines[kept - 1].counts, &lines[i].counts);
        else
            lines[kept++] = lines[i];
    return kept;
}

enum lab_status sim_count_end(const struct sim_grid *g,
                              const struct sim_tally *tally,
                              const struct lab_sim_counts *counts,
                              struct lab_sim_result *out)
{
    const struct lab_sim_kernel *k = g->kernel;
    const struct lab_ptx *ptx = k->ptx;
    const size_t n = (size_t)k->instr_count;
    struct lab_sim_line *lines = NULL;
    int32_t line_count = 0;
    if (g->options->lines) {
        lines = lab_alloc_array(n, sizeof(lines[0]));
        if (!lines)
            return lab_no_memory("counts of source lines");
    }
    memset(&out->counts, 0, sizeof(out->counts));
    for (size_t i = 0; i < n; i++) {
        const struct lab_ptx_instr *in = k->instrs[i].ptx;
        struct lab_sim_counts c = counts[i];
        c.warp_instructions += tally[i].warps;
        c.lane_instructions += tally[i].lanes;
        c.divergent_branches += tally[i].divergent;
        if (in)
            sim_count_flops(&c, k, &k->instrs[i], tally);
        if (k->instrs[i].with && tally[i].warps > 0 && c.shared_requests > 0)
            count_behind(&c, &tally[i], &tally[k->instrs[i].with - k->instrs]);
        add(&out->counts, &c);
        /* What clang gives no line (.loc of line 0) is of the line before it. */
        if (!lines || !in || in->near < 0 || !c.warp_instructions)
            continue;
        const struct lab_ptx_place *p =
            &ptx->places[lab_ptx_user_place(ptx, in->near)];
        lines[line_count++] = (struct lab_sim_line){p->file, p->line, c};
    }
    if (lines)
        line_count = merge_lines(lines, line_count);
    out->lines = lines;
    out->line_count = line_count;
    return LAB_OK;
}
