/* lapenna-lab step LESSON: one iteration, every step and tensor.
 *
 * Walks one iteration (debug/lesson_run.h) and prints each step with its
 * outputs as text or JSON; --npy writes the tensors as NumPy's files. Variants
 * are those of kept times: nothing is measured here. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "debug/debugger.h"
#include "debug/sim_findings.h"
#include "debug/kernel_walk.h"
#include "debug/training.h"
#include "base/format.h"
#include "base/mem.h"
#include "report/json_line.h"
#include "report/print.h"
#include "base/signals.h"
#include "debug/step_print.h"

static const struct lab_command_line usage = {
    .name = "lapenna-lab step",
    .commands = LAB_FOR_STEP,
    .knows = LAB_FOR_SHARED,
    .args = "LESSON",
    .doc = "Walk one iteration of a lesson and show every step: its formula, "
           "what it cost, and every tensor that it wrote.\v"
           "LESSON is an id of `lapenna-lab lesson list` or a path. "
           "--iterations N walks N of them. --npy DIR writes NAME.npy for "
           "every tensor of the last one, and NAME.before.npy for parameters "
           "as it found them."};

/* ---- JSON ---- */

static void add_tensor(struct lab_str *line, const struct lab_tensor *t,
                       const void *data)
{
    json_t *object = json_object();
    lab_json_text(object, "name", t->name);
    lab_json_ints(object, "shape", t->shape.dim, (size_t)t->shape.rank);
    lab_json_text(object, "dtype", lab_dtype_name(t->dtype));
    lab_json_begin(line, object);
    lab_str_add(line, ",\"data\":[");
    for (int64_t i = 0; i < t->count; i++) {
        lab_str_add(line, i > 0 ? "," : "");
        lab_json_add_number(line, lab_number_at(data, t->dtype, i),
                            t->dtype == LAB_I32);
    }
    lab_str_add(line, "]}");
}

static enum lab_status add_outputs(struct lab_lesson_run *w,
                                   struct lab_str *line,
                                   const struct lab_step *step)
{
    enum lab_status st = LAB_OK;
    const char *before = "";
    lab_str_add(line, ",\"outputs\":[");
    for (int i = 0; i < step->n_out && !st; i++) {
        void *data;
        if (step->out[i] < 0)
            continue;
        st = lab_lesson_run_read(w, step->out[i], &data);
        if (st)
            break;
        lab_str_add(line, before);
        before = ",";
        add_tensor(line, &w->plan->tensors[step->out[i]], data);
        lab_free(data);
    }
    lab_str_add(line, "]");
    return st;
}

static enum lab_status print_run_json(struct lab_lesson_run *w)
{
    char schedule[LAB_RATE_TEXT];
    json_t *line = lab_json_new("run");
    lab_json_text(line, "lesson", w->lesson->id);
    lab_json_text(line, "title", w->lesson->title);
    lab_json_text(line, "backend", lab_walk_backend(w->walk)->ops->name);
    lab_json_text(line, "device", w->device.name);
    lab_json_text(line, "precision", lab_precision_name(w->spec.precision));
    lab_json_uint(line, "seed", w->plan->seed);
    lab_json_real(line, "learning_rate", lab_plan_lr(w->plan));
    lab_json_word(line, "schedule", lab_rate_text(&w->plan->rate, schedule));
    lab_json_int(line, "batch", w->plan->batch);
    lab_json_int(line, "parameters", w->plan->parameter_count);
    lab_json_int(line, "steps", lab_walk_schedule(w->walk)->n_steps);
    return lab_json_print(line);
}

static enum lab_status print_step_json(struct lab_lesson_run *w, int index)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    int64_t exec;
    int64_t wall_ns;
    lab_walk_step_status(w->walk, index, &exec, &wall_ns);
    json_t *line = lab_json_new("step");
    lab_json_int(line, "index", index);
    lab_json_int(line, "iteration", lab_walk_iteration(w->walk));
    lab_json_text(line, "name", s->step->name);
    lab_json_text(line, "node", w->plan->nodes[s->step->node].id);
    lab_json_text(line, "op", s->step->op->name);
    lab_json_text(line, "phase", lab_phase_name(s->step->phase));
    lab_json_text(line, "variant", s->variant->name);
    lab_json_text(line, "precision", lab_precision_name(s->variant->precision));
    lab_json_text(line, "backend", lab_walk_backend(w->walk)->ops->name);
    lab_json_real(line, "flop", s->step->flop);
    lab_json_real(line, "bytes", s->step->bytes);
    lab_json_int(line, "time_ns",
                 lab_step_text_time(lab_recording_live(w->recording), index,
                                    exec, wall_ns));
    lab_json_text(line, "formula", s->step->formula);
    struct lab_str text;
    lab_str_init(&text);
    lab_json_begin(&text, line);
    enum lab_status st = add_outputs(w, &text, s->step);
    if (!st)
        st = lab_json_end(stdout, &text);
    lab_str_release(&text);
    return st ? st : lab_print_check();
}

static enum lab_status print_end_json(struct lab_lesson_run *w)
{
    struct lab_recording_state kept;
    json_t *line = lab_json_new("end");
    lab_json_value(line, "loss", lab_walk_loss(w->walk));
    lab_json_int(line, "iterations", lab_walk_iteration(w->walk) + 1);
    lab_recording_get_state(w->recording, &kept);
    lab_json_int(line, "run", kept.run > 0 ? kept.run : LAB_UNKNOWN);
    return lab_json_print(line);
}

/* ---- NumPy's files: NAME.npy is a tensor as the iteration left it, NAME.before.npy,
 * of parameters and optimizer state, as the iteration found it ---- */

static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    bool empty = d != NULL;
    for (struct dirent *f = d ? readdir(d) : NULL; f && empty; f = readdir(d))
        empty = strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0;
    if (d)
        closedir(d);
    return empty;
}

/* Makes DIR, which holds nothing. */
static enum lab_status npy_open(const char *dir)
{
    if (mkdir(dir, 0777) == 0)
        return LAB_OK;
    if (errno != EEXIST)
        return lab_fail(LAB_E_IO, "[npy.directory] cannot make %s: %s", dir,
                        strerror(errno));
    if (!is_empty(dir))
        return lab_fail(LAB_E_IO,
                        "[npy.not-empty] %s is there already and holds "
                        "something: name a new or an empty directory",
                        dir);
    return LAB_OK;
}

/* '<f4', little-endian as the machines that the program is built for. NumPy has
 * no bf16: its bits are stored. */
static const char *descr_of(enum lab_dtype dtype)
{
    static const char *const descr[LAB_DTYPE_COUNT] = {[LAB_F32] = "<f4",
                                                       [LAB_F64] = "<f8",
                                                       [LAB_I32] = "<i4",
                                                       [LAB_F16] = "<f2",
                                                       [LAB_BFLOAT16] = "<u2"};
    return descr[dtype];
}

/* Magic, version 1.0, length, and a Python dictionary that is padded so that
 * the data starts at a multiple of 64. (NumPy, NEP 1.) */
static enum lab_status add_header(struct lab_str *out,
                                  const struct lab_tensor *t)
{
    enum { FIXED = 10, ALIGN = 64 };
    lab_str_addf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                 descr_of(t->dtype));
    for (int i = 0; i < t->shape.rank; i++)
        lab_str_addf(out, "%lld,", (long long)t->shape.dim[i]);
    lab_str_addf(out, "), }");
    while ((FIXED + out->len + 1) % ALIGN != 0)
        lab_str_addf(out, " ");
    lab_str_addf(out, "\n");
    return lab_str_check(out, "a header");
}

static enum lab_status write_file(const char *path, const struct lab_tensor *t,
                                  const void *data)
{
    struct lab_str header;
    lab_str_init(&header);
    enum lab_status st = add_header(&header, t);
    FILE *f = st ? NULL : fopen(path, "wb");
    if (!st && !f)
        st = lab_fail(LAB_E_IO, "[npy.write] cannot write %s: %s", path,
                      strerror(errno));
    if (f) {
        const char start[] = {'\x93',
                              'N',
                              'U',
                              'M',
                              'P',
                              'Y',
                              1,
                              0,
                              (char)(header.len & 255),
                              (char)(header.len >> 8)};
        size_t n = (size_t)t->count;
        size_t each = lab_dtype_bytes(t->dtype);
        bool whole =
            fwrite(start, 1, sizeof(start), f) == sizeof(start) &&
            fwrite(lab_str_text(&header), 1, header.len, f) == header.len &&
            fwrite(data, each, n, f) == n;
        if (fclose(f) != 0 || !whole)
            st = lab_fail(LAB_E_IO, "[npy.shape-write] cannot write %s: %s",
                          path, strerror(errno));
    }
    lab_str_release(&header);
    return st;
}

/* Beside its name and renamed: no file is there by half. */
static enum lab_status write_tensor(struct lab_lesson_run *w, const char *dir,
                                    int tensor, bool before)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_str path;
    struct lab_str partial;
    void *data = NULL;
    lab_str_init(&path);
    lab_str_init(&partial);
    lab_str_addf(&path, "%s/%s%s.npy", dir, t->name, before ? ".before" : "");
    lab_str_addf(&partial, "%s.part", lab_str_text(&path));
    enum lab_status st = lab_str_check(&partial, "a file's name");
    if (!st)
        st = lab_lesson_run_read(w, tensor, &data);
    if (!st)
        st = write_file(lab_str_text(&partial), t, data);
    if (!st && rename(lab_str_text(&partial), lab_str_text(&path)) != 0)
        st = lab_fail(LAB_E_IO, "[npy.index-write] cannot write %s: %s",
                      lab_str_text(&path), strerror(errno));
    if (st)
        remove(lab_str_text(&partial));
    lab_str_release(&path);
    lab_str_release(&partial);
    lab_free(data);
    return st;
}

/* Patterns are separated by commas, which no name holds. */
static bool matches(const char *patterns, const char *name)
{
    char one[256];
    for (const char *p = patterns; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(one, sizeof(one), "%.*s", n < sizeof(one) ? (int)n : 0, p);
        if (fnmatch(one, name, 0) == 0)
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

/* The tensors of the walk with names that match one of `patterns` (NULL: all);
 * `before`: the persistent ones. Adds to *count. */
static enum lab_status npy_write(struct lab_lesson_run *w, const char *dir,
                                 const char *patterns, bool before,
                                 int64_t *count)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (before ? !t->persistent : !lab_walk_written(w->walk, i))
            continue;
        if (patterns && !matches(patterns, t->name))
            continue;
        st = write_tensor(w, dir, i, before);
        *count += !st;
    }
    return st;
}

/* A pattern that matches nothing is a typing error. */
static enum lab_status check_patterns(const struct lab_lesson_run *w)
{
    const char *patterns = w->options->tensors;
    bool any = !patterns;
    for (int i = 0; i < w->plan->n_tensors && !any; i++)
        any = matches(patterns, w->plan->tensors[i].name);
    return any ? LAB_OK
               : lab_fail(LAB_E_USAGE,
                          "[npy.tensors] --tensors '%s': %s has no tensor with "
                          "such a name",
                          patterns, w->lesson->id);
}

/* ---- the walk ---- */

static enum lab_status print_step(struct lab_lesson_run *w, int index)
{
    return w->options->json ? print_step_json(w, index)
                            : lab_step_text(w, index);
}

/* One iteration with its tensors as files: nothing is printed on the way. */
static enum lab_status walk_to_files(struct lab_lesson_run *w,
                                     int64_t iterations)
{
    const struct lab_options *o = w->options;
    int64_t count = 0;
    enum lab_status st = check_patterns(w);
    if (!st)
        st = npy_open(o->npy);
    lab_walk_run_begin(w->walk, w->lesson->title);
    for (int64_t i = 0; i < iterations && !st; i++) {
        st = lab_walk_begin(w->walk);
        if (!st && i + 1 == iterations)
            st = npy_write(w, o->npy, o->tensors, true, &count);
        do {
            if (!st)
                st = lab_walk_step(w->walk);
            if (!st && lab_signals_caught())
                st = lab_fail(LAB_E_CANCELLED, "interrupted");
        } while (!st && !lab_walk_at_end(w->walk));
    }
    if (!st)
        st = npy_write(w, o->npy, o->tensors, false, &count);
    lab_walk_run_end(w->walk);
    if (!st)
        lab_printf(stdout, "%lld files in %s; loss %s\n", (long long)count,
                   o->npy, LAB_DIGITS_TEXT(lab_walk_loss(w->walk), 9));
    return st;
}

/* The kernels of --into's step are walked. */
static enum lab_status run_step(struct lab_lesson_run *w, int index,
                                const struct lab_ui_command *into)
{
    const struct lab_step *s = lab_walk_schedule(w->walk)->steps[index].step;
    bool here = strcmp(into->arg, s->name) == 0 &&
                (into->phase < 0 || into->phase == (int)s->phase);
    struct lab_backend *be = lab_walk_backend(w->walk);
    enum lab_status st =
        here ? lab_kernel_walk_launches(be, true, isatty(STDIN_FILENO) != 0)
             : LAB_OK;
    if (!st)
        st = lab_walk_step(w->walk);
    if (here)
        (void)lab_kernel_walk_launches(be, false, false);
    return st;
}

/* `c` names a node, or a step that a group computes: step `at` is the first that it
 * stands for. */
static enum lab_status fail_several(const struct lab_lesson_run *w,
                                    const struct lab_ui_command *c, int at)
{
    const struct lab_schedule *s = lab_walk_schedule(w->walk);
    struct lab_str names;
    lab_str_init(&names);
    for (int first = at; at >= 0;
         at = lab_schedule_find(s, w->plan, c->arg, c->phase, at + 1)) {
        const char *name = s->steps[at].step->name;
        int same = first;
        while (strcmp(s->steps[same].step->name, name) != 0)
            same++;
        if (same == at)
            lab_str_addf(&names, "%s%s", names.len ? ", " : "", name);
    }
    enum lab_status st = lab_fail(LAB_E_USAGE,
                                  "[usage.step-into] --into: '%s' is not a "
                                  "step that runs; take one of %s",
                                  c->arg, lab_str_text(&names));
    lab_str_release(&names);
    return st;
}

/* "STEP" or "STEP PHASE" of --into, as the stepper's word takes it. */
static enum lab_status read_into(const struct lab_lesson_run *w,
                                 struct lab_ui_command *out)
{
    const struct lab_schedule *s = lab_walk_schedule(w->walk);
    char line[512];
    char list[512];
    int at;
    *out = (struct lab_ui_command){.phase = -1};
    if (!w->options->into)
        return LAB_OK;
    if (w->options->json)
        return lab_kernel_walk_option("sim", true);
    snprintf(line, sizeof(line), "into %s", w->options->into);
    snprintf(list, sizeof(list), "lapenna-lab step %s", w->options->lesson);
    enum lab_status st = lab_ui_command_parse(line, out);
    if (!st)
        st = lab_debugger_find_step(s, w->plan, out->arg, out->phase, 0, list,
                                    &at);
    if (!st)
        return strcmp(s->steps[at].step->name, out->arg) == 0
                   ? LAB_OK
                   : fail_several(w, out, at);
    lab_fail_context(st, "--into");
    return LAB_E_USAGE;
}

static enum lab_status walk(struct lab_lesson_run *w, int64_t iterations)
{
    struct lab_ui_command into;
    enum lab_status st = read_into(w, &into);
    if (st)
        return st;
    st = w->options->json ? print_run_json(w) : lab_step_text_run(w);
    lab_walk_run_begin(w->walk, w->lesson->title);
    for (int64_t i = 0; i < iterations && !st; i++) {
        do {
            int at = lab_walk_at_end(w->walk) ? 0 : lab_walk_position(w->walk);
            st = run_step(w, at, &into);
            if (!st)
                st = print_step(w, at);
            if (lab_signals_caught()) /* which may have cut a line short */
                st = lab_fail(LAB_E_CANCELLED, "interrupted");
        } while (!st && !lab_walk_at_end(w->walk));
    }
    if (!st && lab_recording_counts(w->recording))
        st = lab_run_counters_iteration(w);
    lab_walk_run_end(w->walk);
    if (!st)
        st = w->options->json ? print_end_json(w) : lab_step_text_end(w);
    return st;
}

static int cmd_step(int argc, char **argv)
{
    struct lab_options o;
    struct lab_lesson_run w;
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_options_parse(&o, argc, argv, &usage);
    if (!o.lesson)
        return lab_exit_error(lab_fail(LAB_E_USAGE,
                                       "[usage.step-lesson] which LESSON? "
                                       "`lapenna-lab lesson list` shows them"));
    lab_signals_catch();
    enum lab_status st = lab_lesson_run_open(&w, &o, o.lesson, NULL);
    if (st)
        return lab_exit_error(st);
    lab_lesson_run_warn(&w);
    int64_t iterations = o.iterations > 0 ? o.iterations : 1;
    st = o.npy ? walk_to_files(&w, iterations) : walk(&w, iterations);
    if (st == LAB_E_CHECK && o.json)
        lab_sim_findings_print(lab_walk_backend(w.walk), NULL);
    if (st == LAB_E_CANCELLED)
        lab_sim_findings_stopped(lab_walk_backend(w.walk), o.json);
    int code = st == LAB_E_CANCELLED ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                     : lab_exit_error(st);
    lab_run_summary_init(&summary);
    summary.status = lab_run_ended(st);
    summary.iterations = lab_walk_iteration(w.walk) + 1;
    summary.loss_first = summary.loss_last = lab_walk_loss(w.walk);
    lab_lesson_run_finish(&w, &summary, &kept);
    lab_lesson_run_close(&w);
    return lab_lesson_run_code(code, &kept);
}

const struct lab_cmd lab_cmd_step = {
    .name = "step",
    .run = cmd_step,
    .help = "LESSON: one iteration, every step and tensor"};
