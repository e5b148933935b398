/* The pane with the lesson's text: its introduction until a step has run, then
 * that of the chosen step in its phase. */
#include "view_stepper_priv.h"

struct lab_stepper_topic lab_stepper_topic(const struct lab_stepper *v)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    bool opening =
        v->step <= 0 && v->snap.position == 0 && v->snap.iteration == 0;
    if (opening || !s)
        return (struct lab_stepper_topic){0};
    return (struct lab_stepper_topic){s->step->name,
                                      lab_stepper_node(v, v->step),
                                      lab_phase_name(s->step->phase)};
}

static void fetch(struct lab_stepper *v, int columns)
{
    struct lab_stepper_topic topic = lab_stepper_topic(v);
    int step = topic.step ? v->step : LAB_TEXT_OPENING;
    if (v->text_step == step && v->text_columns == columns)
        return;
    lab_stepper_text_clear(&v->text);
    if (v->text_step != step)
        v->top[LAB_PANE_TEXT] = 0;
    v->text_step = step;
    v->text_columns = columns;
    if (v->model.text_for)
        v->model.text_for(v->model.user, topic.step, topic.node, topic.phase,
                          columns, &v->text);
    if (v->text.line_count == 0)
        lab_stepper_text_wrap(&v->text, LAB_ROLE_DIM,
                              "This lesson says nothing about this step. Its "
                              "formula stands above; point at a number to "
                              "see where it comes from.",
                              columns, 0);
}

void lab_stepper_draw_text(struct lab_stepper *v, struct lab_canvas *c,
                           struct lab_rect r)
{
    fetch(v, r.w - 2); /* the last column shows that there is more */
    lab_stepper_draw_lines(c, r, &v->text, &v->top[LAB_PANE_TEXT], -1, false);
}
