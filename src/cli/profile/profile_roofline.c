/* profile roofline: every step and kernel of a run under its device's roofs.
 *
 * Prints what report/roofline.h has computed, as text or JSON Lines: the roofs,
 * a row a step and kernel, and the sentences that explain those that take
 * longest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "engine/ceiling.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "profile_cmd.h"
#include "report/missing.h"
#include "report/roofline.h"
#include "report/text_table.h"

enum { SENTENCES = 10 };

/* ---- JSON Lines ---- */

static enum lab_status print_head_json(const struct lab_roofline *r)
{
    json_t *o = lab_json_new("roofline");
    lab_json_int(o, "run", r->run);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "backend", r->device.backend);
    lab_json_text(o, "device", r->device.device);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "counters", r->counters);
    lab_json_text(o, "counters_reason", r->counters_reason);
    return lab_json_print(o);
}

static enum lab_status print_roof_json(const struct lab_roofline *r, int i)
{
    const struct lab_roof *roof = &r->roofs[i];
    bool memory = i == LAB_CEILING_COPY;
    json_t *o = lab_json_new("roof");
    lab_json_text(o, "name", lab_ceiling_name((enum lab_ceiling)i));
    lab_json_real(o, memory ? "bytes_per_s" : "flop_per_s", roof->per_s);
    lab_json_word(o, "origin", lab_roof_origin_text(roof->origin));
    lab_json_word(o, "source", roof->source);
    return lab_json_print(o);
}

static const char *ceiling_or_null(enum lab_ceiling ceiling)
{
    return ceiling < LAB_CEILING_COUNT ? lab_ceiling_name(ceiling) : NULL;
}

/* Of the SMs those that have a block, which alone are counted in an achieved
 * occupancy; NaN: unknown. */
static double busy_share(const struct lab_roofline_work *w)
{
    return w->blocks > 0 && w->sm_count > 0
               ? fmin(1, (double)w->blocks / (double)w->sm_count)
               : (double)NAN;
}

static enum lab_status print_row_json(const struct lab_roofline *r,
                                      const struct lab_roofline_row *row)
{
    const struct lab_time_sum *s = row->sum;
    const struct lab_roofline_point *p = &row->point;
    bool kernel = lab_roofline_is_kernel(row);
    json_t *o = lab_json_new("point");
    lab_json_int(o, "run", r->run);
    lab_json_text(o, "level", kernel ? "kernel" : "step");
    lab_json_int(o, "index", s->step_index);
    lab_json_text(o, "name", s->name);
    lab_json_text(o, "phase", s->phase);
    lab_json_text(o, "variant", s->variant);
    lab_json_text(o, "precision", NULL); /* of a lab there is one */
    lab_profile_add_bench_name(o, s->bench_name);
    lab_json_text(o, "kernel", kernel ? s->kernel : NULL);
    lab_json_real(o, "median_ns", s->median_ns);
    lab_json_real(o, "formula_flop", row->work.flop);
    lab_json_real(o, "formula_bytes", row->work.bytes);
    lab_json_real(o, "counted_flop", p->counted_flop);
    lab_json_real(o, "counted_flop_least", p->counted_least);
    lab_json_real(o, "counted_tensor_flop", row->work.counted.tensor_flop);
    lab_json_real(o, "dram_bytes", p->dram_bytes);
    lab_json_word(o, "flop_difference", row->flop_reason);
    lab_json_real(o, "intensity_flop_per_byte", lab_roofline_formula(row));
    lab_json_real(o, "counted_intensity_flop_per_byte", p->counted_intensity);
    lab_json_real(o, "flop_per_s", p->flop_s);
    lab_json_real(o, "bytes_per_s", p->bytes_s);
    lab_json_text(o, "roof", ceiling_or_null(p->roof));
    lab_json_real(o, "roof_per_s", p->roof_per_s);
    lab_json_real(o, "roof_flop_per_s", p->allowed_flop_s);
    lab_json_real(o, "roof_pct", 100 * p->share);
    lab_json_real(o, "best_ns", p->best_ns);
    lab_json_real(o, "occupancy_pct", row->work.occupancy_pct);
    lab_json_real(o, "achieved_occupancy_pct",
                  row->work.counted.achieved_occupancy_pct);
    lab_json_real(o, "achieved_device_occupancy_pct",
                  row->work.counted.achieved_occupancy_pct *
                      busy_share(&row->work));
    lab_json_word(o, "bound", lab_roofline_verdict_name(p->verdict));
    lab_json_text(o, "sentence", row->sentence);
    return lab_json_print(o);
}

static enum lab_status print_json(const struct lab_roofline *r)
{
    enum lab_status st = print_head_json(r);
    for (int i = 0; i < LAB_CEILING_ROOFS && st == LAB_OK; i++)
        st = print_roof_json(r, i);
    for (size_t i = 0; i < r->count && st == LAB_OK; i++)
        st = print_row_json(r, &r->rows[i]);
    return st;
}

/* ---- text ---- */

static enum lab_status write_roofs(const struct lab_roofline *r, const char *db,
                                   struct lab_str *out)
{
    static const char *const heads[] = {"roof", ">height", "from", "", NULL};
    struct lab_text_table t;
    bool any = false;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        enum lab_ceiling ceiling = (enum lab_ceiling)i;
        if (isnan(r->per_s[i]))
            continue;
        any = true;
        lab_text_table_add(&t, lab_ceiling_name(ceiling));
        lab_text_table_add(
            &t, LAB_AMOUNT_TEXT(r->per_s[i], lab_ceiling_unit(ceiling)));
        lab_text_table_add(&t, lab_roof_origin_text(r->roofs[i].origin));
        lab_text_table_add(&t, r->roofs[i].source);
    }
    enum lab_status st = LAB_OK;
    if (any)
        st = lab_text_table_format(&t, out);
    else
        lab_text_table_release(&t);
    if (strcmp(r->device.backend, "sim") == 0) {
        lab_str_add(out, "A simulated GPU has no times, and no ceilings.\n");
    } else if (!lab_roofline_measured(r)) {
        lab_str_add(out, "No ceiling of this device was measured: `");
        lab_suggest_command(out, db, LAB_WORDS("profile", "ceilings"));
        lab_str_add(out, "` does that, on it.\n");
    }
    return st;
}

static void add_row(struct lab_text_table *t,
                    const struct lab_roofline_row *row, size_t number)
{
    const struct lab_roofline_point *p = &row->point;
    bool kernel = lab_roofline_is_kernel(row);
    lab_text_table_addf(t, "%zu", number);
    lab_text_table_addf(t, "%s%.40s", kernel ? "  " : "",
                        lab_roofline_name(row));
    lab_text_table_add(t, row->sum->phase);
    lab_text_table_add_real_ns(t, row->sum->median_ns);
    lab_text_table_add(t, LAB_AMOUNT_TEXT(row->work.flop, ""));
    lab_text_table_add(t, LAB_AMOUNT_TEXT(p->counted_flop, ""));
    lab_text_table_add_real(t, lab_roofline_formula(row), 3);
    lab_text_table_add_real(t, p->counted_intensity, 3);
    lab_text_table_add(t, LAB_AMOUNT_TEXT(p->flop_s, ""));
    lab_text_table_add(t, ceiling_or_null(p->roof));
    lab_text_table_add_share(t, p->share);
    lab_text_table_add(t, p->verdict ? lab_roofline_verdict_name(p->verdict)
                                     : NULL);
}

/* A row of the text: a step's only kernel would repeat it. */
struct shown {
    const struct lab_roofline_row *row;
    size_t number;
};

static bool is_only_kernel(const struct lab_roofline *r, size_t i)
{
    const struct lab_roofline_row *row = &r->rows[i];
    if (i == 0 || !lab_roofline_is_kernel(row) ||
        lab_roofline_is_kernel(row - 1) ||
        (i + 1 < r->count && lab_roofline_is_kernel(row + 1)))
        return false;
    double step = row[-1].sum->median_ns;
    return fabs(row->sum->median_ns - step) <= 0.01 * step;
}

/* In `out`, which has room for all; returns how many. */
static size_t choose_rows(struct shown *out, const struct lab_roofline *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (is_only_kernel(r, i))
            continue;
        out[n] = (struct shown){&r->rows[i], n + 1};
        n++;
    }
    return n;
}

static enum lab_status write_rows(const struct shown *shown, size_t n,
                                  struct lab_str *out)
{
    static const char *const heads[] = {
        ">#",       "step, kernel", "phase",    ">median", ">FLOP",
        ">counted", ">FLOP/byte",   ">counted", ">FLOP/s", "roof",
        ">of roof", "bound",        NULL};
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (size_t i = 0; i < n; i++)
        add_row(&t, shown[i].row, shown[i].number);
    return lab_text_table_format(&t, out);
}

static bool same_sentence(const struct lab_roofline_row *a,
                          const struct lab_roofline_row *b)
{
    return !a->flop_reason[0] && !b->flop_reason[0] &&
           strcmp(a->sentence, b->sentence) == 0;
}

/* The sentence of row `i` and of the later rows that have the same one; nothing where
 * an earlier row has it. */
static void write_sentence(const struct shown *shown, size_t i, size_t n,
                           struct lab_str *out)
{
    const struct lab_roofline_row *row = shown[i].row;
    for (size_t k = 0; k < i; k++)
        if (same_sentence(row, shown[k].row))
            return;
    for (size_t k = i; k < n; k++) {
        const char *name = lab_roofline_name(shown[k].row);
        if (k > i && !same_sentence(row, shown[k].row))
            continue;
        lab_str_addf(out, "%s%zu ", k > i ? ", " : "", shown[k].number);
        lab_str_add_visible(out, name, strlen(name), false);
    }
    lab_str_addf(out, ": %s\n", row->sentence);
    if (row->flop_reason[0] && isnan(row->point.counted_flop)) {
        lab_str_addf(out, "   at least %s were counted; %s\n",
                     LAB_AMOUNT_TEXT(row->point.counted_least, "FLOP"),
                     row->flop_reason);
    } else if (row->flop_reason[0]) {
        lab_str_addf(out, "   counted FLOPs are %.3g times the formula's; %s\n",
                     row->point.counted_flop / row->work.flop,
                     row->flop_reason);
    }
}

/* The longest first; unknown times last. */
static int by_time(const void *a, const void *b)
{
    const struct shown *x = a;
    const struct shown *y = b;
    double s = x->row->sum->median_ns;
    double t = y->row->sum->median_ns;
    int order = isnan(s) || isnan(t) ? (isnan(s) != 0) - (isnan(t) != 0)
                                     : (s < t) - (s > t);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Of the `most` rows that take longest; 0: of all, in their order. */
static void write_sentences(struct shown *shown, size_t n, size_t most,
                            struct lab_str *out)
{
    bool cut = most > 0 && n > most;
    if (cut)
        qsort(shown, n, sizeof(*shown), by_time);
    for (size_t i = 0; i < (cut ? most : n); i++)
        write_sentence(shown, i, cut ? most : n, out);
    if (cut)
        lab_str_addf(out,
                     "These are the %zu that take longest of %zu: --limit 0 "
                     "has a sentence for each.\n",
                     most, n);
}

static void write_head(const struct lab_roofline *r, struct lab_str *out)
{
    const char *const parts[] = {r->lesson, r->device.backend, r->device.device,
                                 r->precision};
    lab_str_addf(out, "run %lld", (long long)r->run);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i][0])
            continue;
        lab_str_add(out, ", ");
        lab_str_add_visible(out, parts[i], strlen(parts[i]), false);
    }
    lab_str_add(out, "\ncounters: ");
    lab_str_add(out, r->counters[0] ? r->counters : LAB_NA);
    if (r->counters_reason) {
        lab_str_add(out, ": ");
        lab_str_add_visible(out, r->counters_reason, strlen(r->counters_reason),
                            false);
    }
    lab_str_add(out, "\n\n");
}

/* What the words of the last column mean, of those that are there. */
static void write_words(const struct lab_roofline *r, struct lab_str *out)
{
    bool dram = false;
    lab_str_add(out, "\n");
    for (int v = 1; v < LAB_ROOFLINE_VERDICTS; v++) {
        bool there = false;
        for (size_t i = 0; i < r->count; i++)
            there = there || (int)r->rows[i].point.verdict == v;
        if (there)
            lab_str_addf(
                out, "%s\n",
                lab_roofline_verdict_text((enum lab_roofline_verdict)v));
    }
    for (size_t i = 0; i < r->count; i++)
        dram = dram || !isnan(r->rows[i].point.dram_bytes);
    if (dram)
        lab_str_add(out, "Counted bytes are those of DRAM with warm caches: "
                         "what a step before has left in them is not counted."
                         "\n");
    lab_str_add(out, "\n");
}

static enum lab_status write_points(const struct lab_roofline *r, size_t most,
                                    struct lab_str *out)
{
    struct shown *shown = lab_alloc_array(r->count + 1, sizeof(*shown));
    if (!shown)
        return lab_no_memory("a table");
    size_t n = choose_rows(shown, r);
    lab_str_add(out, "\n");
    enum lab_status st = write_rows(shown, n, out);
    write_words(r, out);
    /* Of a simulation each would be that no time is known. */
    if (strcmp(r->device.backend, "sim") == 0)
        lab_str_add(out, "Without times no bound is known: `profile show` has "
                         "what was counted.\n");
    else
        write_sentences(shown, n, most, out);
    lab_free(shown);
    return st;
}

static enum lab_status print_text(const struct lab_roofline *r,
                                  const struct lab_options *o)
{
    struct lab_str text;
    lab_str_init(&text);
    size_t most = o->given.limit ? (size_t)o->limit : SENTENCES;
    write_head(r, &text);
    enum lab_status st = write_roofs(r, o->db, &text);
    if (st == LAB_OK && r->count > 0)
        st = write_points(r, most, &text);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_print_str(&text);
}

static enum lab_status run_roofline(const struct lab_options *o,
                                    struct lab_database *db)
{
    struct lab_roofline r;
    int64_t run;
    enum lab_status st = lab_profile_find_run(db, o->words[0], &run);
    if (st == LAB_OK)
        st = lab_roofline_load(&r, db, run);
    if (st)
        return st;
    st = o->json ? print_json(&r) : print_text(&r, o);
    lab_roofline_release(&r);
    return st ? st : lab_warn_missing(db, run, LAB_HAS_STEPS);
}

const struct lab_profile_command lab_profile_roofline = {
    .name = "roofline",
    .run = run_roofline,
    .least = 1,
    .most = 1,
    .takes = "takes one run",
    .options = LAB_FOR_ROOFLINE,
    .args = "RUN",
    .doc =
        "Steps and kernels under the roofs of their device: what bounds them."
        "\vExample:\n  lapenna-lab profile roofline last\n"};
