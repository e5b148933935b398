/* step_print.c -- what a step did, for `step` and the walk without a terminal: as
 * lines of text, as JSON with every tensor, and as files of NumPy. */
#include "debug/step_print.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/format.h"
#include "base/mem.h"
#include "report/course_values.h"
#include "report/json_line.h"
#include "report/print.h"
#include "trace/intern.h"

/* ---- text ---- */

enum { FIRST_VALUES = 6, TERMS = 3 };

enum lab_status lab_step_text_run(struct lab_lesson_run *w, FILE *out)
{
    const struct lab_schedule *s = lab_walk_schedule(w->walk);
    char rate[LAB_WORK_LR_TEXT];
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(out, "%s\n", w->lesson->title);
    lab_printf(out,
               "backend %s (%s), seed %llu%s, batch %lld, %lld parameters, "
               "%d steps an iteration\n",
               lab_walk_backend(w->walk)->ops->name, w->device.name,
               (unsigned long long)w->plan->seed,
               lab_lesson_run_lr_text(w->options, rate),
               (long long)w->plan->batch, (long long)w->plan->parameter_count,
               s->n_steps);
    return ferror(out) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}

static void first_values(FILE *out, const struct lab_tensor *t,
                         const void *data)
{
    char value[LAB_FORMAT_BYTES];
    lab_printf(out, "      first:");
    for (int64_t i = 0; i < t->count && i < FIRST_VALUES; i++)
        lab_printf(out, " %s",
                   lab_format_value(lab_number_at(data, t->dtype, i), 10, value,
                                    sizeof(value)));
    lab_printf(out, "%s\n", t->count > FIRST_VALUES ? " ..." : "");
}

void lab_step_text_stats(const struct lab_tensor *t,
                         const struct lab_stats *stats, FILE *out)
{
    char shape[LAB_SHAPE_TEXT];
    lab_printf(out, "    %s %s  min %.5g  max %.5g  mean %.5g  std %.5g",
               t->name, lab_shape_text(&t->shape, shape), stats->min,
               stats->max, stats->mean, stats->std);
    if (stats->nan_count || stats->inf_count)
        lab_printf(out, "  %lld NaN, %lld infinite",
                   (long long)stats->nan_count, (long long)stats->inf_count);
    lab_printf(out, "\n");
}

/* The largest element says more than the first, which is often 0. */
static int64_t largest(const struct lab_tensor *t, const void *data)
{
    int64_t found = 0;
    double most = -1;
    for (int64_t i = 0; i < t->count; i++) {
        double v = fabs(lab_number_at(data, t->dtype, i));
        if (v > most) {
            most = v;
            found = i;
        }
    }
    return found;
}

static void explain_one(struct lab_lesson_run *w, int tensor, const void *data,
                        FILE *out)
{
    struct lab_explanation e;
    struct lab_str text;
    int64_t index = largest(&w->plan->tensors[tensor], data);
    if (lab_walk_explain(w->walk, tensor, index, &e))
        return;
    lab_str_init(&text);
    lab_explanation_text(&e, TERMS, &text);
    lab_printf(out, "      %s\n", lab_str_text(&text));
    lab_str_release(&text);
    lab_explanation_release(&e);
}

static enum lab_status print_tensor(struct lab_lesson_run *w, int tensor,
                                    FILE *out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_stats stats;
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!data)
        return lab_fail(LAB_E_NOMEM, "no memory to print %s", t->name);
    enum lab_status st = lab_walk_read(w->walk, tensor, false, data);
    if (!st) {
        lab_stats_compute(&stats, data, t->dtype, t->count);
        lab_step_text_stats(t, &stats, out);
        first_values(out, t, data);
        explain_one(w, tensor, data, out);
    }
    lab_free(data);
    return st;
}

void lab_step_text_kernels(struct lab_live *live, int64_t exec, FILE *out)
{
    enum { MOST = 8 };
    struct lab_kernel_record k[MOST];
    size_t n = lab_live_kernels(live, exec, k, MOST);
    for (size_t i = 0; i < n && i < MOST; i++) {
        char time[LAB_FORMAT_BYTES];
        char registers[LAB_FORMAT_BYTES];
        char share[LAB_FORMAT_BYTES];
        double ns = k[i].end_ns == LAB_UNKNOWN
                        ? NAN
                        : (double)(k[i].end_ns - k[i].start_ns);
        const struct lab_launch *l = &k[i].launch;
        lab_format_int(l->registers_per_thread, registers, sizeof(registers));
        lab_format_share((double)k[i].occupancy_pct / 100, share,
                         sizeof(share));
        lab_printf(out, "    kernel %s  %s", lab_intern_text(k[i].short_name),
                   lab_format_ns(ns, time, sizeof(time)));
        lab_printf(out, "  grid %" PRId64 ",%" PRId64 ",%" PRId64, l->grid[0],
                   l->grid[1], l->grid[2]);
        lab_printf(out, "  block %" PRId64 ",%" PRId64 ",%" PRId64, l->block[0],
                   l->block[1], l->block[2]);
        lab_printf(out, "  %s registers  occupancy %s\n", registers, share);
    }
}

void lab_step_text_head(const struct lab_schedule_step *s, int index,
                        int64_t time_ns, FILE *out)
{
    char time[LAB_FORMAT_BYTES];
    char flop[LAB_FORMAT_BYTES];
    char bytes[LAB_FORMAT_BYTES];
    double ns = time_ns == LAB_UNKNOWN ? NAN : (double)time_ns;
    lab_printf(out, "%d. %s  (%s, %s)\n", index + 1, s->step->name,
               lab_phase_name(s->step->phase), s->variant->name);
    lab_printf(out, "    %s\n", s->step->formula);
    lab_printf(out, "    %s, %s, %s\n", lab_format_ns(ns, time, sizeof(time)),
               lab_format_flop(s->step->flop, flop, sizeof(flop)),
               lab_format_bytes(s->step->bytes, bytes, sizeof(bytes)));
}

enum lab_status lab_step_text(struct lab_lesson_run *w, int index, FILE *out)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    int64_t exec;
    int64_t ns;
    enum lab_status st = LAB_OK;
    lab_walk_step_status(w->walk, index, &exec, &ns);
    lab_printf(out, "\n");
    lab_step_text_head(s, index, ns, out);
    lab_step_text_kernels(lab_recording_live(w->recording), exec, out);
    for (int i = 0; i < s->step->n_out && !st; i++) {
        if (s->step->out[i] >= 0)
            st = print_tensor(w, s->step->out[i], out);
    }
    if (!st && ferror(out))
        st = lab_fail(LAB_E_IO, "cannot write");
    return st;
}

enum lab_status lab_step_text_end(struct lab_lesson_run *w, FILE *out)
{
    enum lab_status st = LAB_OK;
    if (lab_walk_iteration(w->walk) == 0 && w->spec.n_printed > 0) {
        lab_printf(out, "\n");
        st = lab_course_values_print(w->walk, &w->spec, out);
    }
    lab_printf(out, "\nloss %.9g\n", lab_walk_loss(w->walk));
    if (st)
        return st;
    return fflush(out) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}

/* ---- JSON ---- */

static json_t *shape_json(const struct lab_shape *shape)
{
    json_t *list = json_array();
    for (int i = 0; i < shape->rank; i++)
        json_array_append_new(list, json_integer(shape->dim[i]));
    return list;
}

/* JSON has no NaN and no infinities: they are words. */
static json_t *number_json(const void *data, enum lab_dtype dtype, int64_t i)
{
    double v = lab_number_at(data, dtype, i);
    if (dtype == LAB_I32)
        return json_integer((json_int_t)v);
    if (isnan(v))
        return json_string("nan");
    if (isinf(v))
        return json_string(v > 0 ? "inf" : "-inf");
    return json_real(v);
}

static json_t *tensor_json(struct lab_lesson_run *w, int tensor)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    json_t *object = NULL;
    if (!data) {
        lab_fail(LAB_E_NOMEM, "no memory to print %s", t->name);
    } else if (lab_walk_read(w->walk, tensor, false, data) == LAB_OK) {
        json_t *list = json_array();
        for (int64_t i = 0; i < t->count; i++)
            json_array_append_new(list, number_json(data, t->dtype, i));
        object = json_object();
        json_object_set_new(object, "name", json_string(t->name));
        json_object_set_new(object, "shape", shape_json(&t->shape));
        json_object_set_new(object, "dtype",
                            json_string(lab_dtype_name(t->dtype)));
        json_object_set_new(object, "data", list);
    }
    lab_free(data);
    return object;
}

static enum lab_status add_outputs(struct lab_lesson_run *w, json_t *line,
                                   const struct lab_step *step)
{
    json_t *outputs = json_array();
    for (int i = 0; i < step->n_out; i++) {
        if (step->out[i] < 0)
            continue;
        json_t *tensor = tensor_json(w, step->out[i]);
        if (!tensor) {
            json_decref(outputs);
            return LAB_E_DEVICE;
        }
        json_array_append_new(outputs, tensor);
    }
    json_object_set_new(line, "outputs", outputs);
    return LAB_OK;
}

enum lab_status lab_step_json_run(struct lab_lesson_run *w)
{
    json_t *line = lab_json_new("run");
    lab_json_text(line, "lesson", w->lesson->id);
    lab_json_text(line, "title", w->lesson->title);
    lab_json_text(line, "backend", lab_walk_backend(w->walk)->ops->name);
    lab_json_text(line, "device", w->device.name);
    lab_json_text(line, "precision", lab_precision_name(w->spec.precision));
    lab_json_uint(line, "seed", w->plan->seed);
    lab_json_real(line, "learning_rate", lab_plan_lr(w->plan));
    lab_json_int(line, "batch", w->plan->batch);
    lab_json_int(line, "parameters", w->plan->parameter_count);
    lab_json_int(line, "steps", lab_walk_schedule(w->walk)->n_steps);
    return lab_json_print(line);
}

/* Device time where it is known, else the time around the call. */
static int64_t step_time(struct lab_lesson_run *w, int index, int64_t wall_ns)
{
    struct lab_step_record record;
    struct lab_live *live = lab_recording_live(w->recording);
    if (lab_live_step(live, index, &record) && record.time_ns != LAB_UNKNOWN)
        return record.time_ns;
    return wall_ns;
}

enum lab_status lab_step_json(struct lab_lesson_run *w, int index)
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
    lab_json_text(line, "backend", lab_walk_backend(w->walk)->ops->name);
    lab_json_real(line, "flop", s->step->flop);
    lab_json_real(line, "bytes", s->step->bytes);
    lab_json_int(line, "time_ns", step_time(w, index, wall_ns));
    lab_json_text(line, "formula", s->step->formula);
    enum lab_status st = add_outputs(w, line, s->step);
    if (st) {
        json_decref(line);
        return st;
    }
    return lab_json_print(line);
}

enum lab_status lab_step_json_end(struct lab_lesson_run *w)
{
    json_t *line = lab_json_new("end");
    lab_json_value(line, "loss", lab_walk_loss(w->walk));
    lab_json_int(line, "iterations", lab_walk_iteration(w->walk) + 1);
    int64_t run = lab_recording_run(w->recording);
    lab_json_int(line, "run", run > 0 ? run : LAB_UNKNOWN);
    return lab_json_print(line);
}

/* ---- NumPy's files ---- */

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

enum lab_status lab_npy_open(const char *dir)
{
    if (mkdir(dir, 0777) == 0)
        return LAB_OK;
    if (errno != EEXIST)
        return lab_fail(LAB_E_IO, "cannot make %s: %s", dir, strerror(errno));
    if (!is_empty(dir))
        return lab_fail(LAB_E_IO,
                        "%s is there already and holds something: name a new "
                        "or an empty directory",
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
        st = lab_fail(LAB_E_IO, "cannot write %s: %s", path, strerror(errno));
    if (f) {
        unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   (unsigned char)(header.len & 255),
                                   (unsigned char)(header.len >> 8)};
        size_t n = (size_t)t->count;
        size_t each = lab_dtype_bytes(t->dtype);
        bool whole =
            fwrite(start, 1, sizeof(start), f) == sizeof(start) &&
            fwrite(lab_str_text(&header), 1, header.len, f) == header.len &&
            fwrite(data, each, n, f) == n;
        if (fclose(f) != 0 || !whole)
            st = lab_fail(LAB_E_IO, "cannot write %s: %s", path,
                          strerror(errno));
    }
    lab_str_release(&header);
    return st;
}

static enum lab_status write_tensor(struct lab_lesson_run *w, const char *dir,
                                    int tensor, bool before)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_str path;
    struct lab_str partial;
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    enum lab_status st = LAB_OK;
    lab_str_init(&path);
    lab_str_init(&partial);
    lab_str_addf(&path, "%s/%s%s.npy", dir, t->name, before ? ".before" : "");
    lab_str_addf(&partial, "%s.part", lab_str_text(&path));
    if (!data || path.failed || partial.failed)
        st = lab_fail(LAB_E_NOMEM, "no memory to write %s", t->name);
    if (!st)
        st = lab_walk_read(w->walk, tensor, false, data);
    if (!st)
        st = write_file(lab_str_text(&partial), t, data);
    if (!st && rename(lab_str_text(&partial), lab_str_text(&path)) != 0)
        st = lab_fail(LAB_E_IO, "cannot write %s: %s", lab_str_text(&path),
                      strerror(errno));
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

enum lab_status lab_npy_write(struct lab_lesson_run *w, const char *dir,
                              const char *patterns, bool before, int64_t *count)
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
