/* What stands below a lab's table: pictures, the course's figures, and what was
 * recorded on another machine. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/json_line.h"
#include "bench/lab.h"
#include "bench/lab_feed.h"
#include "report/print.h"
#include "report/text_table.h"
#include "ui/lab_chart.h"
#include "bench/lab_words.h"

enum { USUAL_COLUMNS = 80, MOST_COLUMNS = 120, RATE_COLUMNS = 8 };

static int columns_of_terminal(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
        return USUAL_COLUMNS;
    return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
}

enum lab_status lab_bench_print_chart(const struct lab_bench *lab)
{
    struct lab_str text;
    bool plain = lab_print_is_ascii() || !lab_table_locale_is_utf8();
    if (!lab->options->chart && !isatty(STDOUT_FILENO))
        return LAB_OK;
    lab_str_init(&text);
    lab_str_add(&text, "\n");
    enum lab_status st =
        lab_bench_chart_text(&lab->ui, 0, columns_of_terminal(), plain, &text);
    if (!st && text.len > 1 &&
        (fputs(lab_str_text(&text), stdout) < 0 || fflush(stdout)))
        st = lab_fail(LAB_E_IO, "cannot write");
    lab_str_release(&text);
    return st;
}

/* ---- recorded elsewhere ---- */

/* The rates of a rung at the columns' sizes. */
static void add_rates(struct lab_text_table *t, const struct lab_ui_lab *ui,
                      const struct lab_ui_lab_row *of, const int *sizes, int n)
{
    lab_text_table_add(t, of->rung);
    lab_text_table_add(t, of->precision);
    for (int c = 0; c < n; c++) {
        char text[64] = LAB_NA;
        for (int64_t i = 0; i < ui->row_count; i++) {
            const struct lab_ui_lab_row *r = &ui->rows[i];
            if (r->size == sizes[c] && strcmp(r->rung, of->rung) == 0 &&
                strcmp(r->precision, of->precision) == 0)
                lab_bench_rate_text(ui, r->rate, text, sizeof(text));
        }
        lab_text_table_add(t, text);
    }
}

/* Is row `i` the first of its rung and precision in its set? */
static bool first_of_rung(const struct lab_ui_lab *ui, int64_t i)
{
    const struct lab_ui_lab_row *r = &ui->rows[i];
    for (int64_t k = 0; k < i; k++)
        if (ui->rows[k].set == r->set &&
            strcmp(ui->rows[k].rung, r->rung) == 0 &&
            strcmp(ui->rows[k].precision, r->precision) == 0)
            return false;
    return true;
}

/* The sizes from `at` on that fit side by side; moves `at` behind them. */
static enum lab_status print_columns(const struct lab_ui_lab *ui, int set,
                                     int *at)
{
    const char *heads[RATE_COLUMNS + 3] = {"rung", "in"};
    char names[RATE_COLUMNS][LAB_UI_LAB_NAME + 1];
    int sizes[RATE_COLUMNS];
    struct lab_text_table t;
    struct lab_str text;
    int n = 0;
    for (; *at < ui->size_count && n < RATE_COLUMNS; ++*at) {
        if (ui->sizes[*at].set != set)
            continue;
        snprintf(names[n], sizeof(names[n]), ">%s", ui->sizes[*at].text);
        heads[2 + n] = names[n];
        sizes[n++] = *at;
    }
    if (n == 0)
        return LAB_OK;
    lab_str_init(&text);
    lab_text_table_init(&t, heads);
    for (int64_t i = 0; i < ui->row_count; i++)
        if (ui->rows[i].set == set && first_of_rung(ui, i))
            add_rates(&t, ui, &ui->rows[i], sizes, n);
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st) {
        lab_printf(stdout, "\n");
        if (lab_print_is_ascii())
            lab_table_make_ascii(&text);
        fputs(lab_str_text(&text), stdout);
    }
    lab_text_table_release(&t);
    lab_str_release(&text);
    return st;
}

static enum lab_status print_set(const struct lab_ui_lab *ui, int set)
{
    enum lab_status st = LAB_OK;
    bool shipped = strncmp(ui->sets[set].badge, "recorded", 8) == 0;
    lab_printf(stdout, "\n%s, %s%s:", ui->sets[set].badge, ui->sets[set].note,
               shipped ? " (the lesson's text may have figures of another run)"
                       : "");
    for (int at = 0; at < ui->size_count && !st;)
        st = print_columns(ui, set, &at);
    return st;
}

static bool runs_here(const struct lab_bench *lab, const char *rung)
{
    for (int i = 0; i < lab->n_rungs; i++)
        if (strcmp(lab->rungs[i]->name, rung) == 0)
            return true;
    return false;
}

/* Is row `i` the first of a rung that this machine has not? */
static bool first_of_missing(const struct lab_bench *lab, int64_t i)
{
    const struct lab_ui_lab *ui = &lab->ui;
    const struct lab_ui_lab_row *r = &ui->rows[i];
    if (ui->sets[r->set].runs || runs_here(lab, r->rung))
        return false;
    for (int64_t k = 0; k < i; k++)
        if (!ui->sets[ui->rows[k].set].runs &&
            strcmp(ui->rows[k].rung, r->rung) == 0)
            return false;
    return true;
}

/* A lesson names the GPU's rungs too: which of them the table above lacks. */
static void print_missing(const struct lab_bench *lab)
{
    const char *before = "\nThese rungs need a GPU: ";
    for (int64_t i = 0; i < lab->ui.row_count; i++) {
        if (!first_of_missing(lab, i))
            continue;
        lab_printf(stdout, "%s%s", before, lab->ui.rows[i].rung);
        before = ", ";
    }
    if (before[0] == ',')
        lab_printf(stdout, ".\n");
}

enum lab_status lab_bench_print_recorded(const struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    if (lab->backend->host_memory && !lab->options->variants)
        print_missing(lab);
    for (int s = 0; s < lab->ui.set_count && !st; s++)
        if (!lab->ui.sets[s].runs)
            st = print_set(&lab->ui, s);
    return st;
}

/* ---- occupancy that was predicted ---- */

void lab_bench_print_occupancy(const struct lab_bench *lab)
{
    const struct lab_ui_lab *ui = &lab->ui;
    bool any = false;
    for (int64_t i = 0; i < ui->row_count; i++) {
        const struct lab_ui_lab_row *r = &ui->rows[i];
        char text[160];
        struct lab_ui_prediction said = r->said;
        said.rate = NAN;
        said.time_ns = NAN;
        said.bound[0] = '\0';
        lab_prediction_ratio_text(ui->unit, &said, r, text, sizeof(text));
        if (r->set == 0 && text[0])
            lab_printf(stdout, "%s  %s at %s: %s\n", any ? "" : "\n", r->rung,
                       ui->sizes[r->size].text, text);
        any = any || text[0];
    }
}

/* ---- the course's figures ---- */

void lab_bench_print_slides(const struct lab_bench *lab)
{
    for (int i = 0; i < lab->ui.slide_count; i++) {
        const struct lab_ui_lab_slide *s = &lab->ui.slides[i];
        char text[LAB_BENCH_SLIDE_TEXT];
        lab_printf(stdout, "%s%s\n", i ? "" : "\n",
                   lab_bench_slide_text(s, text, sizeof(text)));
    }
}

enum lab_status lab_bench_json_slides(const struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->ui.slide_count && !st; i++) {
        const struct lab_ui_lab_slide *s = &lab->ui.slides[i];
        json_t *line = lab_json_new("slide");
        lab_json_text(line, "lab", lab->ladder->name);
        lab_json_text(line, "label", s->label);
        lab_json_text(line, "size", s->size);
        lab_json_real(line, "value", s->value);
        lab_json_text(line, "unit", s->unit);
        lab_json_text(line, "machine", s->machine);
        lab_json_text(line, "source", s->source);
        lab_json_text(line, "rung", s->rung[0] ? s->rung : NULL);
        bool there = s->recorded_on[0];
        lab_json_text(line, "this_machine", there ? NULL : s->here);
        lab_json_text(line, "recorded", there ? s->here : NULL);
        lab_json_text(line, "recorded_on", there ? s->recorded_on : NULL);
        st = lab_json_print(line);
    }
    return st;
}
