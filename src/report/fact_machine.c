/* fact_machine.c -- the machine at hand in a table of facts: its attributes, the
 * ceilings that were measured on it, and its number formats, tried out. */
#include "report/fact_machine.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/datadir.h"
#include "common/number.h"
#include "engine/backend.h"
#include "report/ceiling_cache.h"
#include "report/suggest.h"

const char lab_fact_machine_row[] = "this machine";

/* ---- processors ---- */

struct machine {
    bool gpu;
    struct lab_device_info info;
    bool among_gpus;     /* the table has GPUs alone */
    const double *roofs; /* of enum lab_ceiling; NaN: not measured */
    bool measured;       /* one of them */
};

static long double known(long double v)
{
    return v > 0 ? v : (long double)NAN;
}

static long double sms(const struct machine *m)
{
    return m->gpu ? known(m->info.sm_count) : (long double)NAN;
}

/* The fastest clock that the system states; a CPU behind a hypervisor often has
 * none. */
static long double clock_mhz(const struct machine *m)
{
    static const char path[] =
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq";
    long long khz = 0;
    FILE *f = m->gpu ? NULL : fopen(path, "r");
    if (f && fscanf(f, "%lld", &khz) != 1)
        khz = 0;
    if (f)
        fclose(f);
    return khz > 0 ? (long double)khz / 1000
                   : known((long double)m->info.clock_hz / 1e6L);
}

static long double memory_gb(const struct machine *m)
{
    return known((long double)m->info.memory_bytes / 1e9L);
}

static long double l2_kb(const struct machine *m)
{
    return known((long double)m->info.l2_bytes / 1024);
}

static long double bus_bits(const struct machine *m)
{
    return known(m->info.memory_bus_bits);
}

static long double threads_per_sm(const struct machine *m)
{
    return m->gpu ? known(m->info.max_threads_per_sm) : (long double)NAN;
}

static long double shared_per_sm_kb(const struct machine *m)
{
    return known((long double)m->info.max_shared_per_sm_bytes / 1024);
}

static long double registers_per_sm_kb(const struct machine *m)
{
    return known((long double)m->info.max_registers_per_sm * 4 / 1024);
}

/* 2 x lanes x clock is what the attributes give: the lanes are the rest. */
static long double lanes_per_sm(const struct machine *m)
{
    const struct lab_device_info *i = &m->info;
    if (!m->gpu || i->sm_count <= 0 || i->clock_hz <= 0)
        return NAN;
    return known(roundl((long double)i->peak_fp32_flops /
                        (2.0L * (long double)i->clock_hz * i->sm_count)));
}

static long double roof(const struct machine *m, enum lab_ceiling which,
                        long double unit)
{
    return (long double)m->roofs[which] / unit;
}

static long double fp32_tflop(const struct machine *m)
{
    return roof(m, LAB_CEILING_FP32, 1e12L);
}

static long double tf32_tflop(const struct machine *m)
{
    return roof(m, LAB_CEILING_TF32, 1e12L);
}

static long double bf16_tflop(const struct machine *m)
{
    return roof(m, LAB_CEILING_BF16, 1e12L);
}

static long double fp16_tflop(const struct machine *m)
{
    return roof(m, LAB_CEILING_FP16, 1e12L);
}

static long double copy_gb(const struct machine *m)
{
    return roof(m, LAB_CEILING_COPY, 1e9L);
}

/* Those of a GPU are its lanes, those of a CPU no cores of a GPU. */
static long double cores(const struct machine *m)
{
    if (m->gpu)
        return lanes_per_sm(m) * sms(m);
    return m->among_gpus ? (long double)NAN : known(m->info.sm_count);
}

/* What a column of these names gets. */
static const struct {
    const char *sql;
    long double (*value)(const struct machine *m);
} facts[] = {{"sms_count", sms},
             {"cores_count", cores},
             {"lanes_per_sm_count", lanes_per_sm},
             {"boost_mhz", clock_mhz},
             {"memory_gb", memory_gb},
             {"l2_kb", l2_kb},
             {"bus_bit", bus_bits},
             {"threads_per_sm_count", threads_per_sm},
             {"shared_per_sm_kb", shared_per_sm_kb},
             {"registers_per_sm_kb", registers_per_sm_kb},
             {"measured_fp32_tflop_s", fp32_tflop},
             {"measured_tf32_tflop_s", tf32_tflop},
             {"measured_bf16_tflop_s", bf16_tflop},
             {"measured_fp16_tflop_s", fp16_tflop},
             {"measured_bandwidth_gb_s", copy_gb}};

static void find_machine(struct machine *m, const char *db,
                         struct lab_ceiling_cache *cache)
{
    struct lab_backend *be = NULL;
    m->gpu = lab_backend_open(&be, "cuda", 0) == LAB_OK;
    if (!m->gpu && lab_backend_open(&be, "cpu", 0))
        be = NULL;
    if (be)
        lab_backend_info(be, &m->info);
    lab_backend_close(be);
    m->roofs =
        lab_ceiling_cache_find(cache, db, m->gpu ? "cuda" : "cpu", &m->info);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        m->measured = m->measured || !isnan(m->roofs[i]);
}

static enum lab_status add_processor(struct lab_fact_table *t, const char *db,
                                     struct lab_str *note)
{
    struct machine m = {0};
    struct lab_ceiling_cache cache = {0};
    enum lab_status st = lab_fact_add_row(t, lab_fact_machine_row);
    if (st)
        return st;
    int row = t->rows - 1;
    m.among_gpus = strcmp(t->column[0].name, "gpu") == 0;
    find_machine(&m, db, &cache);
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        int column = lab_fact_column(t, facts[i].sql);
        if (column > 0 && !t->column[column].formula)
            lab_fact_at(t, row, column)->value = facts[i].value(&m);
    }
    int device = lab_fact_column(t, "device");
    int source = lab_fact_column(t, "source");
    if (device > 0)
        st = lab_fact_put_text(t, row, device, m.info.name);
    if (!st && source > 0)
        st =
            lab_fact_put_text(t, row, source,
                              m.measured ? "the machine, and ceilings measured "
                                           "on it"
                                         : "the machine");
    lab_str_addf(note, "%s is %s.%s%s", lab_fact_machine_row, m.info.name,
                 m.gpu ? ""
                       : " There is no GPU here: what only a GPU has is n/a.",
                 m.measured ? " Its rates are the largest that were measured."
                            : " Its rates were not measured yet: `lapenna-lab "
                              "profile ceilings` measures them.");
    return st;
}

/* ---- number formats ---- */

/* The nearest number of the format. */
typedef long double round_fn(long double v);

static long double round_bf16(long double v)
{
    return lab_bf16_value(lab_bf16_of((double)v));
}

static long double round_half(long double v)
{
    return lab_f16_value(lab_f16_of((double)v));
}

static long double round_single(long double v)
{
    volatile float f = (float)v;
    return f;
}

static long double round_double(long double v)
{
    volatile double d = (double)v;
    return d;
}

static const struct {
    const char *name;
    round_fn *round;
    int least; /* exponents that are tried */
} formats[] = {{"bfloat16", round_bf16, -200},
               {"half", round_half, -200},
               {"single", round_single, -200},
               {"double", round_double, -1100}};

/* The distance from 1 to the next number. */
static long double find_epsilon(round_fn *round)
{
    long double e = 1;
    while (round(1 + e / 2) > 1)
        e /= 2;
    return e;
}

/* The smallest power of two that keeps all its digits: one and a half spacings
 * of it still differ from one. */
static long double find_least(round_fn *round, long double epsilon, int least)
{
    long double v = 1;
    for (int i = 0; i > least; i--) {
        long double next = v / 2;
        if (round(next * (1 + epsilon)) != next * (1 + epsilon))
            return v;
        v = next;
    }
    return NAN;
}

/* The largest number below infinity: all digits, the largest exponent. */
static long double find_most(round_fn *round, long double epsilon)
{
    long double v = 2 - epsilon;
    while (isfinite(round(2 * v)) && round(2 * v) == 2 * v)
        v *= 2;
    return v;
}

/* What quadruple precision is called here, where there is one. */
#if LDBL_MANT_DIG == 113
typedef long double quad;
#define HAS_QUAD 1
#elif defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#define HAS_QUAD 1
#endif

/* A format's epsilon, least and most. */
struct limits {
    long double epsilon;
    long double least;
    long double most;
};

#ifdef HAS_QUAD
/* The same three, in its own arithmetic. The largest may be above the largest
 * long double by less than half a last digit: it is that one then. */
static struct limits find_quad(void)
{
    volatile quad e = 1;
    volatile quad v = 1;
    while ((quad)(1 + e / 2) > 1)
        e /= 2;
    for (;;) { /* multiplying and dividing by what has all digits */
        volatile quad next = v / 2;
        volatile quad digits = next * (1 + e);
        if (digits / next != 1 + e)
            break;
        v = next;
    }
    volatile quad most = 2 - e;
    for (volatile quad next = 2 * most; next - next == 0; next = 2 * most)
        most = next;
    long double shown = (long double)most;
    return (struct limits){(long double)e, (long double)v,
                           isfinite(shown) ? shown : LDBL_MAX};
}
#endif

/* A number is the sum of two doubles, the second the rest of the first. Just
 * above 1 the rest is below half of a spacing, and has 53 bits of its own: halving
 * until 1 + r + e is 1 + r. The exponents are the double's. */
static struct limits find_double_double(void)
{
    const double rest = ldexp(1, -54);
    double e = rest;
    for (;;) {
        volatile double sum = rest + e / 2;
        if (!(sum > rest))
            break;
        e /= 2;
    }
    long double one = find_epsilon(round_double);
    return (struct limits){e, find_least(round_double, one, -1100),
                           find_most(round_double, one)};
}

static void put(struct lab_fact_table *t, int row, const char *column,
                long double v)
{
    int at = lab_fact_column(t, column);
    if (at > 0)
        lab_fact_at(t, row, at)->value = v;
}

static void put_limits(struct lab_fact_table *t, int row, struct limits of)
{
    put(t, row, "measured_epsilon", of.epsilon);
    put(t, row, "measured_least", of.least);
    put(t, row, "measured_most", of.most);
}

static enum lab_status add_formats(struct lab_fact_table *t,
                                   struct lab_str *note)
{
    for (int row = 0; row < t->rows; row++) {
        const char *key = lab_fact_key(t, row);
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
            if (strcmp(formats[i].name, key) != 0)
                continue;
            long double epsilon = find_epsilon(formats[i].round);
            put_limits(t, row,
                       (struct limits){epsilon,
                                       find_least(formats[i].round, epsilon,
                                                  formats[i].least),
                                       find_most(formats[i].round, epsilon)});
        }
        if (strcmp(key, "double-double") == 0)
            put_limits(t, row, find_double_double());
#ifdef HAS_QUAD
        if (strcmp(key, "quad") == 0)
            put_limits(t, row, find_quad());
#endif
    }
    lab_str_add(note,
                "The measured columns are found on this machine: halving "
                "until 1 + e rounds to 1, until a digit is lost, doubling "
                "until infinity. Two doubles are computed with as two, "
                "quadruple precision by the compiler's own functions; only a "
                "tensor core rounds to TF32.");
    return LAB_OK;
}

/* Without the runs that ship their numbers are not known. */
static enum lab_status take_recorded(struct lab_fact_table *t,
                                     struct lab_str *note)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = lab_fact_take_recorded(t, lab_str_text(&path), note);
    lab_str_release(&path);
    return st == LAB_E_NOTFOUND ? LAB_OK : st;
}

int lab_fact_rows_with_machine(const struct lab_fact_table *t)
{
    return t->rows + (strcmp(t->machine, "processor") == 0);
}

enum lab_status lab_fact_add_machine(struct lab_fact_table *t, const char *db,
                                     struct lab_str *note)
{
    enum lab_status st = take_recorded(t, note);
    if (st || !t->machine[0])
        return st;
    if (strcmp(t->machine, "processor") == 0)
        st = add_processor(t, db, note);
    else if (strcmp(t->machine, "formats") == 0)
        st = add_formats(t, note);
    else
        return lab_fail(LAB_E_PARSE,
                        "[table.machine] %s: \"#:machine %s\": there are "
                        "processor and formats",
                        t->path, t->machine);
    return st ? st : lab_fact_compute(t);
}
