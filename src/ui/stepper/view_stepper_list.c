/* `:list`: what there is, as a text that scrolls. */
#include <stdio.h>
#include <string.h>

#include "engine/setup.h"
#include "trace/record.h"
#include "report/doc.h"
#include "report/format.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "view_stepper_priv.h"

static void start_row(struct lab_doc *d)
{
    lab_doc_para(d, 0, 0, false);
}

static enum lab_status write_steps(void *user, struct lab_doc *d)
{
    const struct lab_stepper *v = user;
    const struct lab_snapshot *s = &v->snap;
    char time[LAB_FORMAT_BYTES];
    for (int i = 0; i < s->schedule->n_steps; i++) {
        const struct lab_schedule_step *step = &s->schedule->steps[i];
        bool ran = s->steps[i].done && s->steps[i].exec > 0 &&
                   s->steps[i].time_ns != LAB_UNKNOWN;
        if (ran)
            lab_format_ns((double)s->steps[i].time_ns, time, sizeof(time));
        start_row(d);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%s%4d. %-28s %-9s %-10s %s",
                     i == s->position ? ">" : " ", i + 1, step->step->name,
                     lab_phase_name(step->step->phase), step->variant->name,
                     ran ? time : "");
    }
    return LAB_OK;
}

static enum lab_status write_breaks(void *user, struct lab_doc *d)
{
    static const char *const kinds[] = {"step", "phase", "NaN", "Inf",
                                        "loss above"};
    const struct lab_stepper *v = user;
    start_row(d);
    if (v->snap.n_breaks == 0)
        lab_doc_add(d, LAB_ROLE_NORMAL, "no breakpoints and no watches");
    for (int i = 0; i < v->snap.n_breaks; i++) {
        const struct lab_break_info *b = &v->snap.breaks[i];
        if (i)
            start_row(d);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%3d  %s %s", b->number,
                     b->watch ? "watch" : kinds[b->kind], b->step);
        if (b->kind == LAB_BREAK_LOSS_ABOVE && !b->watch)
            lab_doc_addf(d, LAB_ROLE_NORMAL, "%g", b->value);
        else if (b->phase >= 0)
            lab_doc_addf(d, LAB_ROLE_NORMAL, "%s%s", b->step[0] ? " " : "",
                         lab_phase_name((enum lab_phase)b->phase));
        if (b->hits)
            lab_doc_addf(d, LAB_ROLE_DIM, "  (hit %lld time%s)",
                         (long long)b->hits, b->hits == 1 ? "" : "s");
    }
    return LAB_OK;
}

static enum lab_status write_tensors(void *user, struct lab_doc *d)
{
    static const char *const roles[] = {"data", "parameter", "state",
                                        "activation", "gradient"};
    const struct lab_stepper *v = user;
    const struct lab_plan *plan = v->snap.plan;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        char shape[LAB_SHAPE_TEXT];
        start_row(d);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%-28s %-16s %s", t->name,
                     lab_shape_text(&t->shape, shape), roles[t->role]);
    }
    return LAB_OK;
}

static enum lab_status write_words(void *user, struct lab_doc *d)
{
    const struct lab_stepper *v = user;
    const struct lab_vocabulary *words = v->snap.words;
    for (int64_t i = 0; words && i < words->n; i++) {
        start_row(d);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%6lld  %-24s", (long long)i,
                     words->word[i]);
        if (words->times[i])
            lab_doc_addf(d, LAB_ROLE_DIM, "%lld times",
                         (long long)words->times[i]);
    }
    if (!words) {
        start_row(d);
        lab_doc_add(d, LAB_ROLE_NORMAL, "this lesson's data has no words");
    }
    return LAB_OK;
}

static const char *runs_as(const struct lab_stepper *v, int node)
{
    const struct lab_schedule *s = v->snap.schedule;
    for (int i = 0; i < s->n_steps; i++)
        if (s->steps[i].step->node == node)
            return s->steps[i].variant->name;
    return "(inside another)";
}

static enum lab_status write_variants(void *user, struct lab_doc *d)
{
    const struct lab_stepper *v = user;
    const struct lab_plan *plan = v->snap.plan;
    for (int i = 0; i < plan->n_nodes && v->model.variant_names; i++) {
        const char *names[LAB_STEPPER_VARIANTS];
        int n = v->model.variant_names(v->model.user, i, names,
                                       LAB_STEPPER_VARIANTS);
        if (n == 0 || !plan->nodes[i].op)
            continue;
        start_row(d);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%-20s runs %-10s has",
                     plan->nodes[i].id, runs_as(v, i));
        for (int k = 0; k < n && k < LAB_STEPPER_VARIANTS; k++)
            lab_doc_addf(d, LAB_ROLE_NORMAL, "%s %s", k ? "," : "", names[k]);
    }
    return LAB_OK;
}

/* What was withdrawn or left out. */
static enum lab_status write_notes(void *user, struct lab_doc *d)
{
    const struct lab_stepper *v = user;
    const char *line = lab_setup_notice_rest(v->snap.notice);
    if (!line[0]) {
        start_row(d);
        lab_doc_add(d, LAB_ROLE_NORMAL, "nothing was left out or withdrawn");
    }
    while (line[0]) {
        int n = (int)strcspn(line, "\n");
        lab_doc_para(d, 0, 0, true);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%.*s", n, line);
        line += line[n] ? n + 1 : n;
    }
    return LAB_OK;
}

void lab_stepper_list(struct lab_stepper *v, const char *what)
{
    static const struct {
        const char *word;
        const char *title;
        enum lab_status (*write)(void *user, struct lab_doc *out);
    } lists[] = {{"steps", "Steps", write_steps},
                 {"breaks", "Breakpoints and watches", write_breaks},
                 {"tensors", "Tensors", write_tensors},
                 {"variants", "Variants", write_variants},
                 {"words", "Words and their numbers", write_words},
                 {"notes", "Notes", write_notes}};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct lab_text_args args = {lists[i].title, v, lists[i].write};
        if (strncmp(lists[i].word, what, strlen(what)) != 0)
            continue; /* "" means the first */
        if (lab_ui_push(v->ui, &lab_view_text, &args))
            lab_ui_error(v->ui);
        return;
    }
    lab_ui_message(v->ui, LAB_ROLE_BAD,
                   "list: no \"%s\": steps, breaks, tensors, variants, "
                   "words or notes",
                   what);
}
