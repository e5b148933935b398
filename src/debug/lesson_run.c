/* Opens a lesson for the commands and the screens, and closes it. */
#include "debug/lesson_run.h"

#include <math.h>
#include <stdio.h>

#include "report/exit.h"
#include "engine/generate.h"
#include "engine/setup.h"
#include "report/suggest.h"
#include "lesson/catalog.h"
#include "base/mem.h"
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

const char *lab_lesson_run_lr_text(const struct lab_options *o,
                                   char out[LAB_WORK_LR_TEXT])
{
    out[0] = '\0';
    if (o->lr > 0)
        snprintf(out, LAB_WORK_LR_TEXT, ", learning rate %g", o->lr);
    return out;
}

/* The lesson with the options' seed, learning rate and precision, and its
 * recording. */
static enum lab_status read_lesson(struct lab_lesson_run *w,
                                   const struct lab_options *o,
                                   const char *name, bool eager, bool whole)
{
    *w = (struct lab_lesson_run){.options = o};
    lab_str_init(&w->notice);
    enum lab_status st = lab_lesson_run_lesson(name, o->db, &w->lesson);
    if (st)
        return st;
    w->spec = w->lesson->spec;
    if (o->given.seed)
        w->spec.seed = o->seed;
    if (o->lr > 0)
        lab_network_set_lr(&w->spec, o->lr);
    if (o->precision)
        w->spec.precision = lab_precision_find(o->precision);
    const struct lab_recording_options how = {.lesson = w->lesson,
                                              .spec = &w->spec,
                                              .run = o,
                                              .eager = eager,
                                              .whole = whole};
    return lab_recording_new(&w->recording, &how);
}

static struct lab_setup setup_of(const struct lab_lesson_run *w)
{
    const struct lab_options *o = w->options;
    return (struct lab_setup){.spec = &w->spec,
                              .backend = o->backend,
                              .device = o->device,
                              .batch = o->batch,
                              .data = o->data,
                              .choices = o->choices,
                              .n_choices = o->n_choices};
}

static enum lab_status open_walk(struct lab_lesson_run *w,
                                 lab_lesson_run_check_fn *check)
{
    struct lab_setup setup = setup_of(w);
    setup.stop = (struct lab_stop){lab_signals_asked, NULL};
    setup.prepare = lab_recording_prepare;
    setup.user = w->recording;
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
    enum lab_status st = read_lesson(w, options, lesson, true, false);
    if (!st)
        st = open_walk(w, check);
    if (st)
        lab_lesson_run_close(w);
    return st;
}

enum lab_status lab_lesson_run_start(struct lab_lesson_run *w,
                                     const struct lab_options *options,
                                     const char *lesson, bool whole,
                                     void (*wake)(void *user), void *user)
{
    enum lab_status st = read_lesson(w, options, lesson, false, whole);
    if (st)
        return st;
    struct lab_session_config config = {
        .setup = setup_of(w), .wake = wake, .wake_user = user};
    lab_recording_attach(w->recording, &config);
    return lab_session_new(&w->session, &config);
}

void lab_lesson_run_finish(struct lab_lesson_run *w,
                           const struct lab_run_summary *summary,
                           struct lab_recording_state *out)
{
    lab_recording_closing(w->recording, w->walk);
    lab_recording_finish(w->recording, summary);
    lab_recording_get_state(w->recording, out);
    if (out->run == 0 || out->whole)
        return; /* there was a warning at the start */
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

enum lab_status lab_lesson_run_read(struct lab_lesson_run *w, int tensor,
                                    void **data)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!*data)
        return lab_fail(LAB_E_NOMEM, "no memory to read %s", t->name);
    enum lab_status st = lab_walk_read(w->walk, tensor, false, *data);
    if (st) {
        lab_free(*data);
        *data = NULL;
    }
    return st;
}

void lab_lesson_run_close(struct lab_lesson_run *w)
{
    lab_session_free(w->session);
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
