/* lapenna-lab lab NAME: a ladder of kernels, checked, timed, and recorded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "bench/lab.h"
#include "bench/lab_calls.h"
#include "bench/lab_feed.h"
#include "bench/lab_first.h"
#include "bench/course_commands.h"
#include "report/print.h"
#include "base/signals.h"
#include "bench/sweep.h"
#include "lesson/catalog.h"

/* ---- the climb ---- */

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct lab_bench *lab = user;
    lab_bench_record_row(lab, row);
    lab_bench_model_row(&lab->ui, 0, lab, row);
    if (!row->status && lab_bench_trace_later(lab, row))
        return LAB_E_NOMEM;
    lab->place++;
    if (lab->options->json)
        return lab_bench_json_row(lab, row);
    lab->rows[lab->n_rows++] = *row;
    if (lab->n_rows < lab->n_rungs)
        return LAB_OK;
    enum lab_status st = lab_bench_print_size(lab);
    lab->n_rows = 0;
    return st;
}

/* A wrong rung is a failed check, but for one that is meant to be; where
 * nothing at all was timed, the machine lacks what was asked for. */
static void note_worst(const struct lab_ladder_row *row, enum lab_status *worst)
{
    bool on_purpose = row->rung->wrong_on_purpose && row->compared > 0;
    if (!on_purpose && (row->status == LAB_E_CHECK || !*worst))
        *worst = row->status;
}

struct watch {
    struct lab_bench *lab;
    lab_bench_see_fn *see;
    void *user;
};

static enum lab_status see_row(void *user, const struct lab_ladder_row *row)
{
    struct watch *w = user;
    note_worst(row, &w->lab->worst);
    if (w->see)
        w->see(w->user, row);
    return take_row(w->lab, row);
}

static const struct lab_rung *stands(void *user, const struct lab_rung *tuned,
                                     const struct lab_ladder_size *size,
                                     struct lab_rung_note *note)
{
    struct watch *w = user;
    return lab_bench_resolve_tuned(w->lab, tuned, size, note);
}

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

enum lab_status lab_bench_climb_all(struct lab_bench *lab, int first, int n,
                                    lab_bench_see_fn *see, void *user)
{
    struct watch watch = {lab, see, user};
    struct lab_ladder_run c = {.backend = lab->backend,
                               .ladder = lab->ladder,
                               .machine = &lab->machine,
                               .rungs = lab->rungs,
                               .n_rungs = lab->n_rungs,
                               .sizes = lab->sizes + first,
                               .n_sizes = n,
                               .repeats = lab->repeats,
                               .seed = lab->options->seed,
                               .stands = stands,
                               .row = see_row,
                               .stop = stop,
                               .user = &watch};
    enum lab_status st = lab_ladder_run(&c);
    /* What an interrupted size has is told too. */
    if (st && lab->n_rows > 0)
        lab_bench_print_size(lab);
    return st;
}

/* What is beside the rows. */
static enum lab_status tell_rest(struct lab_bench *lab)
{
    /* CPU and GPU in one picture: what was measured here earlier; and without a
     * GPU what was recorded on one. Neither need be there. */
    if (lab_bench_model_earlier(&lab->ui, lab) && lab->backend->host_memory) {
        enum lab_status read = lab_bench_model_recorded(&lab->ui, lab);
        if (read && read != LAB_E_NOTFOUND)
            lab_warn("the recorded results cannot be read: %s", lab_error());
    }
    lab_bench_model_beside(&lab->ui, lab->ladder);
    if (lab->options->json)
        return lab_bench_json_slides(lab);
    lab_bench_print_occupancy(lab);
    enum lab_status st = lab_bench_print_recorded(lab);
    lab_bench_print_slides(lab);
    return st ? st : lab_bench_print_chart(lab);
}

static enum lab_status run(struct lab_bench *lab)
{
    bool tune = lab->options->tune;
    enum lab_status st = lab_bench_ask(lab);
    if (!st && tune)
        st = lab_bench_tune_kept(lab);
    if (st || (tune && !lab->to_tune))
        return st;
    unsigned precisions = 0;
    for (int i = 0; i < lab->n_rungs; i++)
        precisions |= 1u << lab->rungs[i]->precision;
    lab_ladder_measure(lab->backend, precisions, &lab->machine);
    if (lab->options->predict) /* those that were asked for */
        lab_bench_model_prediction(&lab->ui, 0, lab->said, lab->n_said);
    lab_bench_model_ceilings(&lab->ui, 0, lab);
    st = lab_bench_record_begin(lab);
    if (!st && lab->options->json)
        st = lab_bench_json_run(lab);
    else if (!st)
        lab_bench_print_head(lab);
    if (!st && tune)
        st = lab_bench_tune(lab);
    else if (!st)
        st = lab_bench_climb_all(lab, 0, lab->n_sizes, NULL, NULL);
    if (!st && !tune)
        st = lab_bench_trace(lab);
    if (!st && !tune)
        st = tell_rest(lab);
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    lab_bench_record_end(lab, st);
    return st ? lab_fail(st, "%s", why) : LAB_OK;
}

static enum lab_status list_labs(const struct lab_bench_options *o)
{
    enum lab_status st = LAB_OK;
    const struct lab_operation *op;
    for (int i = 0; !st && (op = lab_ladder_at(i)); i++) {
        if (!o->json) {
            lab_printf(stdout, LAB_BENCH_LINE, op->name, op->shape, op->title);
            continue;
        }
        char unit[LAB_BENCH_UNIT];
        json_t *line = lab_json_new("operation");
        lab_ladder_unit(op, unit, sizeof(unit));
        lab_json_text(line, "lab", op->name);
        lab_json_text(line, "title", op->title);
        lab_json_text(line, "shape", op->shape);
        lab_json_text(line, "unit", unit);
        st = lab_json_print(line);
    }
    if (!st)
        st = lab_first_list(o->json);
    if (!st && !o->json)
        lab_bench_words_list();
    if (!st && fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write");
    return st;
}

/* A lesson of kind lab that measures something else than a ladder: the same as
 * the words and options that it stands for. *lesson must outlive `o`. */
static enum lab_status follow_lesson(struct lab_bench_options *o,
                                     struct lab_lesson **lesson)
{
    const struct lab_operation *op = NULL;
    struct lab_str path;
    if (lab_bench_has_word(o) || !lab_ladder_find(o->name, &op))
        return LAB_OK;
    lab_str_init(&path);
    if (lab_lesson_find(o->name, &path)) {
        lab_str_release(&path);
        return LAB_OK; /* told when it is opened */
    }
    enum lab_status st = lab_lesson_load(lesson, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        return st;
    const struct lab_lesson_lab *lab = &(*lesson)->lab;
    if ((*lesson)->kind != LAB_LESSON_LAB ||
        lab->measures == LAB_MEASURE_LADDER)
        return LAB_OK;
    if (lab->measures == LAB_MEASURE_CALLS) {
        o->calls = true;
        o->lesson_sizes = lab->sizes;
        return LAB_OK;
    }
    if (lab->measures == LAB_MEASURE_TUNE) {
        o->tune = true;
        return LAB_OK;
    }
    o->sweep = (int)lab->measures - LAB_MEASURE_BATCH;
    o->name = lab->of;
    o->lesson_sizes = lab->sizes;
    o->lesson_cpu_sizes = lab->cpu_sizes;
    if (o->repeat == 0)
        o->repeat = (int)lab->repeat;
    return LAB_OK;
}

static int climb_or_tune(const struct lab_bench_options *o)
{
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    lab_signals_say(LAB_SIGNALS_STOPPING);
    enum lab_status st = lab ? lab_bench_open(lab, o)
                             : lab_fail(LAB_E_NOMEM, "no memory for a lab");
    if (!st && o->device > 0 && lab->backend->host_memory)
        lab_warn("--device %d is not used: this is measured on the CPU",
                 o->device);
    if (!st) {
        lab->stop = stop;
        st = run(lab);
        if (!st && !o->json && lab->run) {
            lab_printf(stdout, "\n");
            lab_print_recorded(o->db, lab->run, true);
        }
        bool measured = !o->tune || lab->to_tune > 0;
        if (!st && measured && (lab->worst == LAB_E_CHECK || lab->timed == 0))
            st = lab_fail(lab->worst ? lab->worst : LAB_E_CHECK,
                          "not everything was timed: the rows say why");
        lab_bench_close(lab);
    }
    lab_free(lab);
    return lab_exit_error(st);
}

static enum lab_bench_kind kind_of(const struct lab_bench_options *o,
                                   const char *kernel)
{
    if (o->list)
        return LAB_BENCH_LIST;
    if (kernel[0])
        return strcmp(kernel, "index") == 0     ? LAB_BENCH_INDEX
               : strcmp(kernel, "vectors") == 0 ? LAB_BENCH_VECTORS
                                                : LAB_BENCH_ONE_KERNEL;
    if (o->calls)
        return LAB_BENCH_CALLS;
    if (o->sweep != LAB_SWEEP_KINDS)
        return o->sweep <= LAB_SWEEP_NETWORK ? LAB_BENCH_SIZED
                                             : LAB_BENCH_PARTS;
    return o->tune ? LAB_BENCH_TUNE : LAB_BENCH_LADDER;
}

static int measure(const struct lab_bench_options *o, enum lab_bench_kind kind,
                   const char *kernel)
{
    switch (kind) {
    case LAB_BENCH_LIST:
        return lab_exit_error(list_labs(o));
    case LAB_BENCH_ONE_KERNEL:
    case LAB_BENCH_VECTORS:
    case LAB_BENCH_INDEX:
        return lab_exit_error(lab_first_run(o, kernel));
    case LAB_BENCH_CALLS:
        return lab_calls_run(o->sizes ? o->sizes : o->lesson_sizes, o->device,
                             o->json);
    case LAB_BENCH_SIZED:
    case LAB_BENCH_PARTS:
        return lab_sweep_run(o, (enum lab_sweep_kind)o->sweep);
    default:
        return climb_or_tune(o);
    }
}

int lab_cmd_lab(int argc, char **argv)
{
    struct lab_bench_options o;
    int code = 0;
    if (lab_bench_word(argc, argv, &code))
        return code;
    lab_bench_parse(argc, argv, &o);
    if (o.ascii)
        lab_print_ascii(true);
    lab_signals_catch();
    struct lab_lesson *lesson = NULL;
    char kernel[32] = "";
    const char *name = o.list   ? "--list"
                       : o.tune ? "tune"
                       : o.sweep != LAB_SWEEP_KINDS
                           ? lab_sweep_name((enum lab_sweep_kind)o.sweep)
                           : o.name;
    enum lab_status st = LAB_OK;
    if (!o.list && (lab_bench_has_word(&o) ||
                    !lab_first_of(o.name, kernel, sizeof(kernel))))
        st = follow_lesson(&o, &lesson);
    enum lab_bench_kind kind = kind_of(&o, kernel);
    if (!st)
        st = lab_bench_refuse_unused(&o, kind, name);
    code = st ? lab_exit_error(st) : measure(&o, kind, kernel);
    lab_lesson_free(lesson);
    return code;
}
