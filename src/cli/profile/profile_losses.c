/* profile_losses.c -- `profile compare --loss`: the losses of runs laid over each
 * other, with a row for each run. Unlike times they can be compared between
 * lessons: runs of one network with other optimizers, rates or batches. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "profile_cmd.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"
#include "ui/chart.h"

enum { POINTS = 400, HEIGHT = 18 }; /* drawn of a run; of the picture */
enum { A_BIN = 4, LEAST = 64 };     /* fewer: drawn as they are */

struct curve {
    int64_t run;
    char lesson[64];
    char name[96];  /* "optimizer-adam, run 2" */
    char label[32]; /* "run 2" */
    double x[POINTS];
    double y[POINTS];
    int n;
    /* As drawn: of many, the means of neighbours, so that noise covers nothing. */
    double at[POINTS];
    double drawn[POINTS];
    int n_drawn;
    int each; /* points of a mean */
    int now; /* the mean that the next loss belongs to, and its losses so far */
    int64_t summed;
    /* Of all losses, not of those that are drawn. */
    double first;
    double last;
    double least; /* NaN: none is finite */
    int64_t least_at;
    double held; /* the last validation loss; NaN: none */
    int64_t iterations;
};

struct curves {
    struct curve *list;
    int count;
    struct curve *now;
};

static bool take_run(void *user, const struct lab_run_row *row)
{
    struct curves *c = user;
    snprintf(c->now->lesson, sizeof(c->now->lesson), "%s",
             row->lesson ? row->lesson : "");
    snprintf(c->now->label, sizeof(c->now->label), "run %lld",
             (long long)row->id);
    snprintf(c->now->name, sizeof(c->now->name), "%s, run %lld", c->now->lesson,
             (long long)row->id);
    return true;
}

static bool take_figures(void *user, const struct lab_loss_row *row)
{
    struct curve *c = ((struct curves *)user)->now;
    if (c->iterations == 0)
        c->first = row->loss;
    if (!isnan(row->held_loss))
        c->held = row->held_loss;
    if (isfinite(row->loss) && !(row->loss >= c->least)) {
        c->least = row->loss;
        c->least_at = row->iteration;
    }
    while (c->now + 1 < c->n_drawn &&
           (double)row->iteration > c->x[(c->now + 1) * c->each - 1]) {
        c->now++;
        c->summed = 0;
    }
    c->summed++;
    c->drawn[c->now] += (row->loss - c->drawn[c->now]) / (double)c->summed;
    c->last = row->loss;
    c->iterations = row->iteration + 1;
    return true;
}

static bool take_point(void *user, const struct lab_loss_row *row)
{
    struct curve *c = ((struct curves *)user)->now;
    if (c->n < POINTS) {
        c->x[c->n] = (double)row->iteration;
        c->y[c->n++] = row->loss;
    }
    return true;
}

/* Of the points that were read; take_figures() fills in the means. */
static void begin_means(struct curve *c)
{
    c->each = c->n < LEAST ? 1 : A_BIN;
    for (int from = 0; from < c->n; from += c->each) {
        int end = from + c->each < c->n ? from + c->each : c->n;
        c->at[c->n_drawn++] = c->x[from == 0 ? 0 : end - 1];
    }
}

static enum lab_status read_curve(struct curves *all, struct lab_database *db,
                                  const char *word)
{
    struct curve *c = &all->list[all->count];
    all->now = c;
    *c = (struct curve){.least = NAN, .held = NAN};
    enum lab_status st = lab_profile_find_run(db, word, &c->run);
    if (!st)
        st = lab_query_run(db, c->run, take_run, all);
    if (!st)
        st = lab_query_losses_thinned(db, c->run, POINTS, take_point, all);
    if (!st) {
        begin_means(c);
        st = lab_query_losses(db, c->run, take_figures, all);
    }
    if (!st && c->n == 0)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[compare.no-losses] run %lld has no losses: it is a "
                      "lab's, or it ended before its first iteration",
                      (long long)c->run);
    if (!st) {
        all->count++;
    }
    return st;
}

/* Losses that fall by decades need a logarithmic axis. */
static bool wants_log(const struct curves *all)
{
    double low = INFINITY;
    double high = 0;
    for (int k = 0; k < all->count; k++)
        for (int i = 0; i < all->list[k].n; i++) {
            low = fmin(low, all->list[k].y[i]);
            high = fmax(high, all->list[k].y[i]);
        }
    return low > 0 && high > 20 * low;
}

/* Whether all curves' names fit into one row, or their labels. */
static bool fits_a_legend(const struct curves *all, int width, bool names)
{
    enum { TITLE_W = 11, SIGN_VALUE_W = 14 };
    int w = TITLE_W;
    for (int k = 0; k < all->count; k++) {
        const struct curve *c = &all->list[k];
        w += (int)strlen(names ? c->name : c->label) + SIGN_VALUE_W;
    }
    return w <= width;
}

static enum lab_status put_chart(const struct curves *all, bool ascii,
                                 bool color)
{
    struct lab_series series[LAB_CHART_SERIES];
    struct lab_canvas canvas;
    const size_t columns = lab_print_columns();
    const int width = columns > 0 ? (int)columns : 80;
    const bool names = fits_a_legend(all, width, true);
    bool means = false;
    for (int k = 0; k < all->count; k++)
        means = means || all->list[k].each > 1;
    for (int k = 0; k < all->count; k++)
        series[k] = (struct lab_series){
            .x = all->list[k].at,
            .y = all->list[k].drawn,
            .n = all->list[k].n_drawn,
            .name = names ? all->list[k].name : all->list[k].label,
            .role = (enum lab_role)(LAB_ROLE_SERIES_1 + k % 4)};
    const struct lab_chart chart = {
        .title = means ? "mean loss" : "loss",
        .series = series,
        .count = all->count,
        .y_min = NAN,
        .y_max = NAN,
        .log_y = wants_log(all),
        .zero_x = true,
        .unlisted = !names && !fits_a_legend(all, width, false)};
    enum lab_status st = lab_canvas_init(&canvas, HEIGHT, width, ascii);
    if (st)
        return st;
    lab_chart_draw(&canvas, (struct lab_rect){0, 0, HEIGHT, width}, &chart);
    char *text =
        color ? lab_canvas_dump_colored(&canvas) : lab_canvas_dump(&canvas);
    if (text) {
        lab_print_text(stdout, text);
        lab_print_text(stdout, "\n");
    }
    lab_canvas_release(&canvas);
    st = text ? lab_print_check() : lab_no_memory("a chart");
    lab_free(text);
    return st;
}

static enum lab_status put_table(const struct curves *all)
{
    static const char *const heads[] = {"curve",  "run",         ">iterations",
                                        ">first", ">least",      ">at",
                                        ">last",  ">validation", NULL};
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int k = 0; k < all->count; k++) {
        const struct curve *c = &all->list[k];
        lab_text_table_addf(&t, "%c", lab_chart_sign(k));
        lab_text_table_add(&t, c->name);
        lab_text_table_add_int(&t, c->iterations);
        lab_text_table_add_real(&t, c->first, 4);
        lab_text_table_add_real(&t, c->least, 4);
        if (isnan(c->least))
            lab_text_table_add(&t, NULL);
        else
            lab_text_table_add_int(&t, c->least_at);
        lab_text_table_add_real(&t, c->last, 4);
        lab_text_table_add_real(&t, c->held, 4);
    }
    return lab_text_table_put(&t, "");
}

static enum lab_status print_lines(const struct curves *all)
{
    enum lab_status st = LAB_OK;
    for (int k = 0; k < all->count && !st; k++) {
        const struct curve *c = &all->list[k];
        json_t *line = lab_json_new("losses");
        json_t *at = json_array();
        for (int i = 0; i < c->n; i++)
            json_array_append_new(at, json_integer((json_int_t)c->x[i]));
        lab_json_int(line, "run", c->run);
        lab_json_text(line, "lesson", c->lesson);
        lab_json_int(line, "iterations", c->iterations);
        lab_json_real(line, "validation_loss", c->held);
        json_object_set_new(line, "iteration", at);
        lab_json_reals(line, "loss", c->y, (size_t)c->n);
        st = lab_json_print(line);
    }
    return st;
}

enum lab_status lab_profile_losses(const struct lab_options *o,
                                   struct lab_database *db)
{
    struct curves all = {.count = 0};
    enum lab_status st = LAB_OK;
    if (o->n_words > LAB_CHART_SERIES)
        return lab_fail(LAB_E_USAGE,
                        "[compare.many-losses] %d runs: a picture has room for "
                        "%d curves",
                        o->n_words, LAB_CHART_SERIES);
    all.list = lab_alloc_array((size_t)o->n_words, sizeof(*all.list));
    if (!all.list)
        return lab_no_memory("losses");
    for (int i = 0; i < o->n_words && !st; i++)
        st = read_curve(&all, db, o->words[i]);
    if (!st && o->json)
        st = print_lines(&all);
    else if (!st)
        st = put_chart(&all, lab_print_is_ascii(), lab_print_is_styled());
    if (!st && !o->json)
        st = put_table(&all);
    lab_free(all.list);
    return st;
}
