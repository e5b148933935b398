#include <math.h>
#include <string.h>

#include "export_html_priv.h"

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--fg:#1a1a1a;--bg:#fff;--dim:#666;"
    "--line:#ddd;--p0:#2b6cb0;--p1:#b7791f;--p2:#9b2c2c;--p3:#2f855a}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6e6e6;--bg:#151515;"
    "--dim:#999;--line:#333;--p0:#63b3ed;--p1:#ecc94b;--p2:#fc8181;"
    "--p3:#68d391}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1040px;margin:2em auto;"
    "padding:0 1em;color:var(--fg);background:var(--bg)}\n"
    "table{border-collapse:collapse;width:100%;margin:1em 0;font-size:13px}\n"
    "th,td{padding:3px 8px;border-bottom:1px solid var(--line);"
    "text-align:left;vertical-align:top}\n"
    "td{overflow-wrap:anywhere}td.k{min-width:8em}td.k:first-child{min-width:"
    "16em}\n"
    "td.k div{max-height:5.8em;overflow-y:auto}\n"
    "td.n,th.n{text-align:right}td.n,th.n,td.w{white-space:nowrap}\n"
    ".wide{overflow-x:auto}.wide svg{min-width:640px}\n"
    "svg{width:100%;height:auto;margin:.5em 0}\n"
    "svg text{font:11px system-ui,sans-serif;fill:var(--fg)}\n"
    ".grid{stroke:var(--line)}.box{stroke:var(--fg);stroke-width:2}\n"
    ".curve,.roof,.sheet{fill:none;stroke:var(--p0);stroke-width:1.5}\n"
    ".roof{stroke:var(--fg)}.sheet{stroke:var(--dim);stroke-dasharray:5 4}\n"
    ".p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}"
    ".p3{fill:var(--p3)}\n"
    ".key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}"
    "\n.dim{color:var(--dim)}\n"
    "</style>\n";

static const char key[] =
    "<p class=\"key\"><span style=\"background:var(--p0)\"></span>forward"
    "<span style=\"background:var(--p1)\"></span>loss"
    "<span style=\"background:var(--p2)\"></span>backward"
    "<span style=\"background:var(--p3)\"></span>update; a bar is the median, "
    "the stroke on it holds half of the times.</p>\n";

static void fact(struct lab_str *s, const char *name, const char *value)
{
    if (!value)
        return;
    lab_str_addf(s, "<tr><th>%s</th><td>", name);
    lab_export_text(s, value, LAB_ESCAPE_HTML);
    lab_str_add(s, "</td></tr>\n");
}

static void number_fact(struct lab_str *s, const char *name, double v,
                        const char *unit)
{
    if (!isnan(v))
        lab_str_addf(s, "<tr><th>%s</th><td>%.6g%s</td></tr>\n", name, v, unit);
}

/* What a median of so few iterations, and a rate made of it, has in it. */
static void add_few(struct lab_str *s, const struct lab_run_row *run)
{
    enum { FEW = 5 };
    bool gpu = run->backend && strcmp(run->backend, "cuda") == 0;
    if (run->iterations < 1 || run->iterations >= FEW)
        return;
    lab_str_addf(s, " <span class=\"dim\">(of %lld iteration%s",
                 (long long)run->iterations, run->iterations == 1 ? "" : "s");
    lab_str_add(s, run->iterations == 1 ? ", the first"
                                        : ", the first among them");
    if (gpu)
        lab_str_addf(s, ": loading kernels and libraries is in %s",
                     run->iterations == 1 ? "it" : "that one");
    lab_str_add(s, ")</span>");
}

static void put_speed(struct lab_str *s, const struct lab_run_row *run)
{
    if (run->iteration_median_ns != LAB_UNKNOWN) {
        lab_str_add(s, "<tr><th>iteration (median wall time)</th><td>");
        lab_str_add(s, LAB_NS_TEXT((double)run->iteration_median_ns));
        add_few(s, run);
        lab_str_add(s, "</td></tr>\n");
    }
    if (!isnan(run->samples_per_s)) {
        lab_str_addf(s, "<tr><th>samples a second (mean)</th><td>%.6g",
                     run->samples_per_s);
        add_few(s, run);
        lab_str_add(s, "</td></tr>\n");
    }
}

/* Why there are no columns of them, where there are none. */
static void put_counters(struct lab_str *s, const struct lab_run_row *run)
{
    const char *reason = run->counters_reason;
    lab_str_add(s, "<tr><th>hardware counters</th><td>");
    lab_export_text(s, run->counters ? run->counters : LAB_NA, LAB_ESCAPE_HTML);
    lab_str_add(s, reason ? ": " : "");
    lab_export_text(s, reason, LAB_ESCAPE_HTML);
    lab_str_add(s, "</td></tr>\n");
}

/* A run of no kind is another tool's, and was imported. */
static void put_origin(struct lab_str *s, const struct lab_run_row *run)
{
    if (run->kind || !run->imported_from)
        lab_str_add(s, ", recorded by lapenna-lab");
    if (run->imported_from) {
        lab_str_add(s, ", imported from ");
        lab_export_text(s, run->imported_from, LAB_ESCAPE_HTML);
    }
}

static void put_facts(struct lab_str *s, const struct lab_run_row *run)
{
    char rate[LAB_RUN_LR_TEXT];
    lab_str_add(s, "<table>\n");
    fact(s, "lesson", run->lesson);
    fact(s, "backend", run->backend);
    fact(s, "driver", run->driver);
    fact(s, "learning rate", *lab_run_lr_text(run, rate) ? rate : NULL);
    number_fact(s, "batch", lab_to_real(run->batch), "");
    number_fact(s, "iterations", lab_to_real(run->iterations), "");
    fact(s, "status", run->status);
    fact(s, "started", run->started);
    fact(s, "times from", run->time_source);
    put_counters(s, run);
    fact(s, "machine", run->hostname);
    fact(s, "user", run->user);
    fact(s, "label", run->label);
    fact(s, "imported", run->imported);
    fact(s, "version", run->version);
    fact(s, "commit", run->commit);
    fact(s, "uuid", run->uuid);
    lab_str_add(s, "</table>\n");
}

static bool put_run(void *user, const struct lab_run_row *run)
{
    struct lab_report *r = user;
    struct lab_str *s = &r->text;
    lab_str_add(s, "<title>");
    lab_export_text(s, run->title ? run->title : run->lesson, LAB_ESCAPE_HTML);
    lab_str_addf(s, " (run %lld)</title>\n", (long long)run->id);
    lab_str_add(s, style);
    lab_str_add(s, "</head>\n<body>\n<h1>");
    lab_export_text(s, run->title ? run->title : run->lesson, LAB_ESCAPE_HTML);
    lab_str_addf(s, "</h1>\n<p class=\"dim\">Run %lld", (long long)run->id);
    put_origin(s, run);
    lab_str_add(s, ".</p>\n<table>\n");
    fact(s, "device", run->device);
    fact(s, "precision", run->precision);
    fact(s, "variants", run->variants);
    put_speed(s, run);
    number_fact(s, "first loss", run->loss_first, "");
    number_fact(s, "last loss", run->loss_last, "");
    number_fact(s, "accuracy, held back", 100 * run->accuracy, " %");
    lab_str_add(s, "</table>\n");
    put_facts(&r->facts, run);
    snprintf(r->precision, sizeof(r->precision), "%s",
             run->precision ? run->precision : "");
    return true;
}

static bool take_loss(void *user, const struct lab_loss_row *row)
{
    struct lab_report *r = user;
    if (r->losses == r->room) {
        size_t room = r->room ? r->room * 2 : 1024;
        double *loss = lab_realloc_array(r->loss, room, sizeof(*loss));
        r->loss = loss ? loss : r->loss;
        int64_t *iteration =
            loss ? lab_realloc_array(r->iteration, room, sizeof(*iteration))
                 : NULL;
        if (!iteration) {
            r->st = lab_no_memory("a loss curve");
            return false;
        }
        r->iteration = iteration;
        r->room = room;
    }
    r->loss[r->losses] = row->loss;
    r->iteration[r->losses++] = row->iteration;
    return true;
}

/* ---- tables ---- */

/* Names are as long as a template makes them: they break, and scroll. */
static void name_cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td class=\"k\"><div>");
    lab_export_text(s, text ? text : LAB_NA, LAB_ESCAPE_HTML);
    lab_str_add(s, "</div></td>");
}

static const char counted_head[] =
    "<th class=\"n\">achieved %</th><th class=\"n\">DRAM read</th>"
    "<th class=\"n\">DRAM written</th><th class=\"n\">fp32 FLOP, "
    "counted</th><th class=\"n\">tensor FLOP, counted</th>"
    "<th class=\"n\">IPC</th>";

static const char counted_step[] =
    "<p class=\"dim\">Achieved occupancy, DRAM, the counted FLOP and IPC are "
    "the hardware counters of one execution.</p>\n";
static const char counted_kernel[] =
    "<p class=\"dim\">The hardware counters are those of one launch.</p>\n";

/* Where the run was counted at all. */
static void put_counted(struct lab_report *r, const struct lab_counters *c)
{
    struct lab_str *s = &r->text;
    if (r->counted.count == 0)
        return;
    lab_report_number_cell(s, c->achieved_occupancy_pct, "");
    lab_report_text_cell(s, LAB_BYTES_TEXT(c->dram_read_bytes));
    lab_report_text_cell(s, LAB_BYTES_TEXT(c->dram_write_bytes));
    lab_report_amount_cell(s, c->fp32_flop, "FLOP");
    lab_report_amount_cell(s, c->tensor_flop, "FLOP");
    lab_report_number_cell(s, c->ipc, "");
}

static void put_step_row(struct lab_report *r, const struct lab_time_sum *t)
{
    struct lab_str *s = &r->text;
    const struct lab_counted_item *item =
        lab_counted_step(&r->counted, t->step_index, t->variant);
    struct lab_counters none;
    lab_counters_init(&none);
    lab_str_add(s, "<tr>");
    lab_report_number_cell(s, lab_to_real(t->step_index), "");
    lab_report_word_cell(s, t->phase);
    name_cell(s, lab_time_sum_step(t));
    lab_report_word_cell(s, t->variant);
    lab_report_number_cell(s, (double)t->timed, "");
    lab_report_ns_cell(s, t->median_ns);
    lab_report_ns_cell(s, t->mad_ns);
    lab_report_number_cell(s, t->flop, "");
    lab_report_number_cell(s, t->flop / t->median_ns, "");
    lab_report_number_cell(s, t->bytes / t->median_ns, "");
    put_counted(r, item ? &item->counters : &none);
    lab_str_add(s, "</tr>\n");
}

static void put_kernel_row(struct lab_report *r, const struct lab_time_sum *t)
{
    struct lab_str *s = &r->text;
    struct lab_counters counted;
    lab_counted_launch(&r->counted, t->step_index, t->variant, t->kernel,
                       &counted);
    lab_str_add(s, "<tr>");
    name_cell(s, t->kernel ? t->kernel : t->kernel_short);
    name_cell(s, lab_time_sum_step(t));
    lab_report_word_cell(s, t->phase);
    lab_report_number_cell(s, (double)t->count, "");
    lab_report_ns_cell(s, t->median_ns);
    lab_report_ns_cell(s, t->mad_ns);
    lab_report_text_cell(s, LAB_DIMS_TEXT(t->grid));
    lab_report_text_cell(s, LAB_DIMS_TEXT(t->block));
    lab_report_number_cell(s, lab_to_real(t->registers_per_thread), "");
    lab_report_number_cell(s, t->occupancy_pct, "");
    put_counted(r, &counted);
    lab_str_add(s, "</tr>\n");
}

static void put_table(struct lab_report *r, enum lab_sum_level level,
                      const char *head, const char *none)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->sums.count; i++)
        rows += r->sums.items[i].level == level;
    if (rows == 0) {
        lab_str_addf(&r->text, "<p>%s</p>\n", none);
        return;
    }
    if (r->counted.count > 0)
        lab_str_add(&r->text,
                    level == LAB_SUM_STEP ? counted_step : counted_kernel);
    lab_str_addf(&r->text, "<div class=\"wide\"><table>\n<tr>%s%s</tr>\n", head,
                 r->counted.count > 0 ? counted_head : "");
    for (size_t i = 0; i < r->sums.count; i++) {
        if (r->sums.items[i].level != level)
            continue;
        if (level == LAB_SUM_STEP)
            put_step_row(r, &r->sums.items[i]);
        else
            put_kernel_row(r, &r->sums.items[i]);
    }
    lab_str_add(&r->text, "</table></div>\n");
}

static void put_body(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    lab_report_lab(r);
    if (r->sums.rungs.count == 0) { /* a lab has none of these */
        lab_report_answer(r);
        lab_str_add(s, "<h2>Phases of an iteration</h2>\n");
        lab_report_phases(r);
        lab_str_add(s, "<h2>Loss</h2>\n");
        lab_report_loss(r);
    }
    lab_str_add(s, "<h2>Steps</h2>\n");
    lab_str_add(s, key);
    lab_report_step_bars(r);
    put_table(r, LAB_SUM_STEP,
              "<th class=\"n\">#</th><th>phase</th><th>step</th>"
              "<th>variant</th><th class=\"n\">times</th>"
              "<th class=\"n\">median</th><th class=\"n\">MAD</th>"
              "<th class=\"n\">FLOP</th><th class=\"n\">GFLOP/s</th>"
              "<th class=\"n\">GB/s</th>",
              "No step was recorded.");
    lab_str_add(s, "<h2>Kernels</h2>\n");
    put_table(r, LAB_SUM_KERNEL,
              "<th>kernel</th><th>step</th><th>phase</th>"
              "<th class=\"n\">launches</th><th class=\"n\">median</th>"
              "<th class=\"n\">MAD</th><th class=\"n\">grid</th>"
              "<th class=\"n\">block</th><th class=\"n\">registers</th>"
              "<th class=\"n\">occupancy %</th>",
              "No kernel was recorded: the run was on the CPU, or without a "
              "kernel trace.");
    lab_str_add(s, "<h2>Roofline</h2>\n");
    lab_report_roofline(r);
    lab_str_add(s, "<h2>The run</h2>\n");
    lab_str_add(s, lab_str_text(&r->facts));
    s->failed |= r->facts.failed;
    lab_str_add(s, "</body>\n</html>\n");
}

enum lab_status lab_export_html(FILE *to, struct lab_database *db, int64_t run)
{
    struct lab_report r = {.to = to, .db = db, .run = run};
    lab_str_init(&r.text);
    lab_str_init(&r.facts);
    lab_str_add(&r.text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                         "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                         "content=\"width=device-width\">\n");
    enum lab_status st = lab_query_run(db, run, put_run, &r);
    if (st == LAB_OK)
        st = lab_query_losses(db, run, take_loss, &r);
    if (st == LAB_OK)
        st = r.st;
    if (st == LAB_OK)
        st = lab_time_sums_load(&r.sums, db, run, ~0u);
    if (st == LAB_OK)
        st = lab_counted_load(&r.counted, db, run);
    if (st == LAB_OK)
        st = lab_report_roofs_find(&r);
    if (st == LAB_OK) {
        put_body(&r);
        st = r.st ? r.st : lab_export_put(to, &r.text);
    }
    lab_counted_release(&r.counted);
    lab_time_sums_release(&r.sums);
    lab_free(r.loss);
    lab_free(r.iteration);
    lab_str_release(&r.facts);
    lab_str_release(&r.text);
    return st;
}
