/* The chosen rung's kernel: its source, and what was measured of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/format.h"
#include "bench/text.h"
#include "ui/view_source.h"
#include "view_lab_priv.h"

enum { SYMBOLS = 128 };

/* ---- source ---- */

/* Nearest first: the name is the rung's, ends in it, holds it. */
static int likeness(const char *symbol, const char *rung)
{
    size_t n = strlen(symbol);
    size_t m = strlen(rung);
    if (strcmp(symbol, rung) == 0)
        return 3;
    if (n > m + 1 && symbol[n - m - 1] == '_' &&
        strcmp(symbol + n - m, rung) == 0)
        return 2;
    return strstr(symbol, rung) != NULL;
}

/* A kernel before its launcher: of equals the first counts. SYMBOLS: none. */
static size_t find_kernel(const struct lab_source_symbol *symbols, size_t n,
                          const char *rung)
{
    size_t found = n > 0 ? 0 : SYMBOLS;
    int best = 0;
    for (size_t i = 0; i < n; i++) {
        int like = likeness(symbols[i].name, rung);
        if (like > best) {
            best = like;
            found = i;
        }
    }
    return found;
}

int64_t lab_bench_kernel_find(const char *text, size_t bytes, const char *rung,
                              char *name, size_t cap)
{
    struct lab_source_symbol symbols[SYMBOLS];
    size_t n = lab_source_symbols(text, bytes, symbols, SYMBOLS);
    size_t at = find_kernel(symbols, n < SYMBOLS ? n : SYMBOLS, rung);
    snprintf(name, cap, "%s", at < SYMBOLS ? symbols[at].name : "");
    return at < SYMBOLS ? symbols[at].line : 1;
}

static void load_file(struct lab_bench_state *st,
                      const struct lab_bench_result *row)
{
    const char *text = NULL;
    size_t bytes = 0;
    st->kernel_problem[0] = '\0';
    lab_doc_clear(&st->kernel);
    if (st->model->source(st->model->user, row->source, &text, &bytes)) {
        snprintf(st->kernel_problem, sizeof(st->kernel_problem), "%s",
                 lab_error());
        return;
    }
    lab_source_write(&st->kernel, text, bytes, false);
    if (lab_doc_check(&st->kernel)) {
        lab_doc_clear(&st->kernel);
        snprintf(st->kernel_problem, sizeof(st->kernel_problem), "%s",
                 lab_error());
        return;
    }
    lab_pager_show(&st->kernel_pager, &st->kernel);
    char name[96];
    int64_t line =
        lab_bench_kernel_find(text, bytes, row->variant, name, sizeof(name));
    /* A line or two before: `template` and `__global__` stand there. */
    lab_pager_goto(&st->kernel_pager, (size_t)(line > 2 ? line - 3 : 0));
}

void lab_bench_kernel_load(struct lab_bench_state *st)
{
    const struct lab_bench_result *row = lab_bench_chosen(st);
    if (!row || (strcmp(st->kernel_of, row->source) == 0 &&
                 strcmp(st->kernel_rung, row->variant) == 0))
        return;
    snprintf(st->kernel_of, sizeof(st->kernel_of), "%s", row->source);
    snprintf(st->kernel_rung, sizeof(st->kernel_rung), "%s", row->variant);
    load_file(st, row);
}

void lab_bench_kernel_draw(struct lab_bench_state *st, struct lab_canvas *c,
                           struct lab_rect r)
{
    char title[128];
    snprintf(title, sizeof(title), "Kernel: %s",
             st->kernel_of[0] ? st->kernel_of : "none");
    lab_canvas_heading(c, &r, title, st->scrolling);
    if (st->kernel_problem[0])
        lab_canvas_paragraph(c, r, LAB_ROLE_BAD, st->kernel_problem);
    else
        lab_pager_draw(&st->kernel_pager, c, r);
}

/* ---- profile ---- */

struct page {
    struct lab_canvas *c;
    struct lab_rect r;
    bool counting; /* nothing is drawn: how many lines are there? */
    int lines;
    int spare; /* rows that long lines may take */
};

static void line_of(struct page *p, const char *name, const char *text)
{
    enum { LABEL_W = 13 };
    int more =
        lab_canvas_paragraph_rows(p->c, p->r.w - LABEL_W, p->spare + 1, text) -
        1;
    more = more > 0 ? more : 0;
    p->lines++;
    if (p->counting)
        return;
    p->spare -= more;
    struct lab_rect row = lab_rect_cut_top(&p->r, 1 + more);
    if (lab_rect_empty(row))
        return;
    struct lab_rect label = lab_rect_cut_left(&row, LABEL_W);
    lab_canvas_text(p->c, label.y, label.x, label.w, LAB_ROLE_DIM, name);
    lab_canvas_paragraph(p->c, row, LAB_ROLE_NORMAL, text);
}

static void times_line(struct page *p, const struct lab_bench_result *r)
{
    char text[200];
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    char m[LAB_FORMAT_BYTES];
    char z[LAB_FORMAT_BYTES];
    snprintf(text, sizeof(text), "median %s, IQR %s to %s, least %s",
             lab_format_ns(r->median_ns, m, sizeof(m)),
             lab_format_ns(r->quarter_ns, a, sizeof(a)),
             lab_format_ns(r->three_quarters_ns, b, sizeof(b)),
             lab_format_ns(r->min_ns, z, sizeof(z)));
    line_of(p, "time", text);
}

static void model_line(struct page *p, const struct lab_bench_data *lab,
                       const struct lab_bench_result *r)
{
    char text[220];
    char rate[48];
    const char *why = lab_bench_model_passed(lab->unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    if (isnan(r->rate_model))
        snprintf(text, sizeof(text), "none");
    else
        snprintf(text, sizeof(text), "%s%s%s",
                 lab_bench_rate_text(lab, r->rate_model, rate, sizeof(rate)),
                 why ? ", passed: " : "", why ? why : "");
    line_of(p, "model", text);
}

static void rate_line(struct page *p, const struct lab_bench_data *lab,
                      const struct lab_bench_result *r)
{
    const struct lab_bench_set *set = &lab->sets[r->set];
    char text[280];
    char rate[48];
    char share[200] = "";
    const char *passed = lab_bench_ceiling_passed(lab->unit, r->share);
    lab_bench_rate_text(lab, r->rate, rate, sizeof(rate));
    if (passed)
        snprintf(share, sizeof(share), "; %s", passed);
    else if (!isnan(r->share))
        snprintf(share, sizeof(share), ", %.1f %% of the ceiling (%s)",
                 100 * r->share, set->ceiling_name);
    snprintf(text, sizeof(text), "%s%s", rate, share);
    line_of(p, "rate", text);
    model_line(p, lab, r);
}

static void gain_line(struct page *p, const struct lab_bench_data *lab,
                      const struct lab_bench_result *r)
{
    char text[120];
    const struct lab_bench_result *over = lab_bench_gain_over(lab, r);
    if (isnan(r->gain))
        return;
    int n = snprintf(text, sizeof(text), "%.3g x over %s", r->gain,
                     over ? over->variant : "the rung before");
    if (!isnan(r->gain_model))
        snprintf(text + n, sizeof(text) - (size_t)n, "; the model: %.3g x",
                 r->gain_model);
    line_of(p, "gain", text);
}

static void work_line(struct page *p, const struct lab_bench_result *r)
{
    char text[200];
    char flop[LAB_FORMAT_BYTES];
    char bytes[LAB_FORMAT_BYTES];
    char traffic[LAB_FORMAT_BYTES];
    int n = snprintf(text, sizeof(text), "%s, %s needed",
                     lab_format_flop(r->flop, flop, sizeof(flop)),
                     lab_format_bytes(r->bytes, bytes, sizeof(bytes)));
    if (!isnan(r->traffic_bytes))
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; asked of L2 and memory by the model: %s",
                 lab_format_bytes(r->traffic_bytes, traffic, sizeof(traffic)));
    line_of(p, "work", text);
}

static void launch_lines(struct page *p, const struct lab_bench_result *r)
{
    char text[200];
    char shared[LAB_FORMAT_BYTES];
    char dram[LAB_FORMAT_BYTES];
    char achieved[48] = "";
    char occupancy[48] = "n/a";
    char registers[48] = "n/a";
    if (isnan(r->occupancy_pct) && isnan(r->registers))
        return;
    snprintf(text, sizeof(text), "%s, %s", r->kernel, r->launch);
    line_of(p, r->kernels > 1 ? "longest of" : "kernel", text);
    if (!isnan(r->achieved_pct))
        snprintf(achieved, sizeof(achieved), ", %.4g %% achieved",
                 r->achieved_pct);
    if (!isnan(r->occupancy_pct))
        snprintf(occupancy, sizeof(occupancy), "%.4g %%", r->occupancy_pct);
    if (!isnan(r->registers))
        snprintf(registers, sizeof(registers), "%.0f", r->registers);
    snprintf(text, sizeof(text),
             "%s%s: %s registers a thread, %s shared a block", occupancy,
             achieved, registers,
             lab_format_bytes(r->shared_bytes, shared, sizeof(shared)));
    line_of(p, "occupancy", text);
    if (isnan(r->dram_bytes))
        return;
    snprintf(text, sizeof(text), "%s counted",
             lab_format_bytes(r->dram_bytes, dram, sizeof(dram)));
    line_of(p, "DRAM", text);
}

static void state_line(struct page *p, const struct lab_bench_result *r)
{
    char text[160];
    int n = snprintf(text, sizeof(text), "error at %.3g %% of tolerance",
                     100 * r->check_error);
    if (!isnan(r->sm_clock_after_hz))
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; SM clock %.0f MHz, %.0f C, %.0f W",
                 r->sm_clock_after_hz / 1e6, r->temperature_c, r->power_w);
    line_of(p, "checked", text);
}

static void said_lines(struct page *p, const struct lab_bench_data *lab,
                       const struct lab_bench_result *r)
{
    char text[300];
    if (!lab_prediction_any(&r->predicted))
        return;
    line_of(p, "predicted",
            lab_prediction_text(lab, &r->predicted, text, sizeof(text)));
    lab_prediction_ratio_text(lab->unit, &r->predicted, r, text, sizeof(text));
    if (text[0])
        line_of(p, "measured", text);
}

static void profile_lines(struct page *p, const struct lab_bench_data *lab,
                          const struct lab_bench_result *row)
{
    line_of(p, "idea", row->idea);
    if (row->state == LAB_BENCH_FAILED)
        return;
    if (row->state != LAB_BENCH_DONE) {
        line_of(p, "time", lab_bench_state_text(row->state));
        said_lines(p, lab, row);
        return;
    }
    if (row->note)
        line_of(p, "note", row->note);
    times_line(p, row);
    rate_line(p, lab, row);
    gain_line(p, lab, row);
    line_of(p, "bound by",
            row->bound ? row->bound
                       : "not known: its ceiling was not measured");
    said_lines(p, lab, row);
    work_line(p, row);
    launch_lines(p, row);
    state_line(p, row);
}

void lab_bench_profile_draw(const struct lab_bench_state *st,
                            struct lab_canvas *c, struct lab_rect r)
{
    const struct lab_bench_result *row = lab_bench_chosen(st);
    struct page p = {.c = c, .r = r, .counting = true};
    char title[160];
    if (!row || lab_rect_empty(r))
        return;
    snprintf(title, sizeof(title), "Profile: %s, %s, size %s", row->variant,
             row->precision, row->size);
    lab_canvas_heading(c, &p.r, title, false);
    profile_lines(&p, &st->lab, row);
    bool failed = row->state == LAB_BENCH_FAILED;
    p.counting = false;
    p.spare = p.r.h > p.lines && !failed ? p.r.h - p.lines : 0;
    profile_lines(&p, &st->lab, row);
    if (failed)
        lab_canvas_paragraph(c, p.r, LAB_ROLE_BAD,
                             row->reason ? row->reason : "");
}
