/* From a lesson's bytes to one walked iteration: data, plan, labels, every step
 * with its explanation, back to the start, and the same numbers again. Only
 * small networks are walked. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "engine/walk.h"
#include "lesson/lesson.h"

enum {
    MOST_BYTES = 1 << 20,
    MOST_FLOP = 2000000,
    MOST_ROWS = 1000,
    MOST_STEPS = 400
};

/* The values of a loss and of all parameters after an iteration. */
static uint64_t sum_of(struct lab_walk *w)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    uint64_t sum = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (i != plan->loss && t->role != LAB_TENSOR_PARAM)
            continue;
        unsigned char *bytes = calloc((size_t)t->count, sizeof(double));
        fuzz_check(bytes && !lab_walk_read(w, i, false, bytes),
                   "a tensor cannot be read");
        for (size_t k = 0; k < (size_t)t->count * sizeof(double); k++)
            sum = (sum >> 1) ^ (sum & 1 ? 0xD800000000000000u : 0) ^ bytes[k];
        free(bytes);
    }
    return sum;
}

static void explain(struct lab_walk *w, const struct lab_step *step)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    for (int i = 0; i < step->n_out; i++) {
        struct lab_explanation e;
        int t = step->out[i];
        if (t == LAB_NO_TENSOR)
            continue;
        int64_t last = plan->tensors[t].count - 1;
        if (lab_walk_explain(w, t, last, &e) == LAB_OK) {
            struct lab_str text;
            lab_str_init(&text);
            lab_explanation_text(&e, 5, &text);
            fuzz_check(text.len > 0, "an explanation is empty");
            lab_str_release(&text);
            lab_explanation_release(&e);
        }
    }
}

/* false: a step refused, which it must say. */
static bool walk(struct lab_walk *w, bool say)
{
    const struct lab_schedule *s = lab_walk_schedule(w);
    while (lab_walk_position(w) < s->n_steps) {
        int at = lab_walk_position(w);
        if (lab_walk_step(w)) {
            fuzz_check(lab_error()[0], "a step fails without a reason");
            return false;
        }
        fuzz_check(lab_walk_position(w) > at, "a step leads nowhere");
        if (say)
            explain(w, s->steps[at].step);
    }
    return true;
}

static void walk_there_and_back(struct lab_walk *w)
{
    double accuracy;
    double loss;
    if (!walk(w, true))
        return;
    uint64_t sum = sum_of(w);
    fuzz_check(!lab_walk_back(w, lab_walk_schedule(w)->n_steps) &&
                   lab_walk_position(w) == 0,
               "it does not come back");
    fuzz_check(walk(w, false) && sum_of(w) == sum,
               "the second time the numbers are others");
    fuzz_accepted();
    lab_walk_evaluate(w, &accuracy, &loss);
    lab_walk_iterate(w);
}

static bool is_small(const struct lab_plan *plan)
{
    double flop = 0;
    for (int i = 0; i < plan->n_steps; i++)
        flop += plan->steps[i].flop;
    return plan->arena_bytes < MOST_BYTES && flop < MOST_FLOP &&
           plan->n_steps < MOST_STEPS;
}

static void open_and_walk(const struct lab_network_spec *spec)
{
    struct lab_data *data = NULL;
    struct lab_plan *plan = NULL;
    struct lab_backend *be = NULL;
    struct lab_walk *w = NULL;
    struct lab_data_shapes shapes;
    enum lab_status st = lab_data_open(&data, spec, NULL, 0, NULL);
    if (!st) {
        lab_data_get_shapes(data, &shapes);
        st = lab_plan_build(&plan, spec, &shapes, LAB_F32);
    }
    fuzz_check(!st || lab_error()[0], "no plan, and no reason");
    if (!st)
        st = lab_data_check_labels(data, plan);
    if (!st && is_small(plan) && !lab_backend_open(&be, "cpu", 0) &&
        !lab_walk_new(&w, plan, be, data, NULL)) {
        walk_there_and_back(w);
        lab_walk_free(w);
    } else {
        lab_data_free(data);
        lab_backend_close(be);
    }
    lab_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    lab_findings_init(&found);
    lab_lesson_parse(&lesson, "/nowhere/10-fuzz.md", (const char *)data, size,
                     &found);
    /* The course's text and the digits are whole files: fuzz_data reads such. */
    if (lesson && lesson->kind == LAB_LESSON_NETWORK &&
        lesson->spec.data.source != LAB_DATA_TEXT &&
        lesson->spec.data.source != LAB_DATA_DIGITS &&
        lesson->spec.data.rows <= MOST_ROWS)
        open_and_walk(&lesson->spec);
    lab_lesson_free(lesson);
    lab_findings_release(&found);
    return 0;
}
