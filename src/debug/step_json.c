/* `step --json`: every step with every tensor that it wrote. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/json_line.h"
#include "debug/step_json.h"

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
