#include "debug/lesson_run.h"

#include <math.h>
#include <stdio.h>

#include "report/exit.h"
#include "engine/generate.h"
#include "engine/setup.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "base/signals.h"

enum lab_status lab_lesson_run_lesson(const char *name, const char *db,
                                      struct lab_lesson **out)
{
    enum lab_status st = lab_lesson_open(out, name);
    if (st || (*out)->kind == LAB_LESSON_NETWORK)
        return st;
    struct lab_str run = lab_suggest_command_text(db, LAB_WORDS("lab", name));
    st = lab_fail(LAB_E_USAGE, "%s is a lab and has no network to walk: `%s`",
                  name, lab_str_text(&run));
    lab_str_release(&run);
    lab_lesson_free(*out);
    *out = NULL;
    return st;
}

struct lab_network_spec lab_lesson_run_spec(const struct lab_options *o,
                                            const struct lab_lesson *lesson)
{
    struct lab_network_spec spec = lesson->spec;
    if (o->seed_given)
        spec.seed = o->seed;
    if (o->lr > 0)
        lab_network_set_lr(&spec, o->lr);
    if (o->precision)
        spec.precision = lab_precision_find(o->precision);
    return spec;
}

const char *lab_lesson_run_lr_text(const struct lab_options *o,
                                   char out[LAB_WORK_LR_TEXT])
{
    out[0] = '\0';
    if (o->lr > 0)
        snprintf(out, LAB_WORK_LR_TEXT, ", learning rate %g", o->lr);
    return out;
}

static enum lab_status open_lesson(struct lab_lesson_run *w, const char *name)
{
    enum lab_status st =
        lab_lesson_run_lesson(name, w->options->db, &w->lesson);
    if (!st)
        w->spec = lab_lesson_run_spec(w->options, w->lesson);
    return st;
}

struct lab_recording_options
lab_lesson_run_recording(const struct lab_options *o,
                         const struct lab_lesson *lesson)
{
    return (struct lab_recording_options){
        .lesson = lesson,
        .db = o->db,
        .seed = o->seed_given ? o->seed : lesson->spec.seed,
        .counters = o->counters,
        .no_trace = o->no_trace,
        .trace_kernels = o->trace_kernels,
        .trace_asked = o->trace_asked,
        .graph_nodes = o->graph_nodes};
}

static enum lab_status open_recording(struct lab_lesson_run *w)
{
    struct lab_recording_options options =
        lab_lesson_run_recording(w->options, w->lesson);
    options.eager = true;
    return lab_recording_new(&w->recording, &options);
}

static enum lab_status open_walk(struct lab_lesson_run *w,
                                 lab_lesson_run_check_fn *check)
{
    struct lab_setup setup = {.spec = &w->spec,
                              .backend = w->options->backend,
                              .device = w->options->device,
                              .batch = w->options->batch,
                              .data = w->options->data,
                              .stop = {lab_signals_asked, NULL},
                              .choices = w->options->choices,
                              .n_choices = w->options->n_choices,
                              .prepare = lab_recording_prepare,
                              .user = w->recording};
    enum lab_status st = lab_setup_open(&setup, &w->walk, &w->plan, &w->notice);
    if (!st && w->options->lr > 0 && isnan(lab_plan_lr(w->plan)))
        st = lab_fail(LAB_E_USAGE,
                      "--lr: %s has no parameter that is updated, and no "
                      "learning rate",
                      w->lesson->id);
    if (!st && check)
        st = check(w);
    if (st)
        return st;
    lab_walk_use_graph(w->walk, !w->options->no_graph);
    lab_backend_info(lab_walk_backend(w->walk), &w->device);
    if (w->options->device > 0 && lab_walk_backend(w->walk)->host_memory)
        lab_warn("--device %d is not used: the lesson runs on the CPU",
                 w->options->device);
    lab_recording_opened(w->recording, w->walk);
    /* Without CUPTI a graph's steps would have no times. */
    lab_walk_graph_nodes(w->walk, w->options->graph_nodes &&
                                      lab_recording_time_source(w->recording) ==
                                          LAB_TIME_CUPTI);
    return lab_recording_status(w->recording);
}

enum lab_status lab_lesson_run_open(struct lab_lesson_run *w,
                                    const struct lab_options *options,
                                    const char *lesson,
                                    lab_lesson_run_check_fn *check)
{
    *w = (struct lab_lesson_run){.options = options};
    lab_str_init(&w->notice);
    enum lab_status st = open_lesson(w, lesson);
    if (!st)
        st = open_recording(w);
    if (!st)
        st = open_walk(w, check);
    if (st)
        lab_lesson_run_close(w);
    return st;
}

void lab_lesson_run_finish(struct lab_lesson_run *w,
                           const struct lab_run_summary *summary,
                           struct lab_recording_state *out)
{
    lab_recording_closing(w->recording, w->walk);
    lab_recording_finish(w->recording, summary);
    lab_recording_get_state(w->recording, out);
    if (out->run == 0 || out->whole)
        return; /* that nothing is recorded was said at the start */
    if (out->empty)
        lab_warn("recording has stopped: nothing of run %lld is stored: %s",
                 (long long)out->run, out->error);
    else
        lab_warn("recording has stopped: run %lld lacks %lld records: %s",
                 (long long)out->run, (long long)out->lost, out->error);
}

int lab_lesson_run_code(int code, const struct lab_recording_state *kept)
{
    return code == LAB_EXIT_DONE && kept->empty ? LAB_EXIT_INPUT : code;
}

void lab_lesson_run_close(struct lab_lesson_run *w)
{
    if (w->recording)
        lab_recording_closing(w->recording, w->walk);
    lab_generator_free(w->generator);
    lab_walk_free(w->walk);
    lab_plan_free(w->plan);
    lab_recording_free(w->recording);
    lab_lesson_free(w->lesson);
    lab_str_release(&w->notice);
    *w = (struct lab_lesson_run){0};
}

void lab_lesson_run_warn(struct lab_lesson_run *w)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_note(w->recording, &text);
    /* Without a GPU `auto` is no reason for a warning on every run. */
    const char *notice = lab_setup_notice_rest(lab_str_text(&w->notice));
    if (notice[0])
        lab_warn("%s", notice);
    lab_warn_lines(lab_str_text(&text));
    lab_str_release(&text);
}
