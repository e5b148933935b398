/* stepper_kernels.c -- the pane of a step's kernels, the list of its variants, and
 * the lesson's text about it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/record.h"
#include "report/counters_text.h"
#include "base/format.h"
#include "stepper_priv.h"

/* The pane of kernels: what really ran, how long, how full the device was, and
 * how far that is from its limit. Also the list of variants and the source. */

enum { NAME_W = 9 };

struct sheet { /* what is written, and how wide */
    struct lab_stepper_text *text;
    int columns;
};

static void add_pair(const struct sheet *s, const char *name, const char *value)
{
    char line[32];
    snprintf(line, sizeof(line), "%-*s", NAME_W, name);
    lab_stepper_text_line(s->text);
    lab_stepper_text_add(s->text, LAB_ROLE_DIM, line);
    lab_stepper_text_flow(s->text, LAB_ROLE_NORMAL, value, s->columns, NAME_W);
}

/* ---- the step as a whole ---- */

/* Device time: the kernels' sum where they are known, else the step's time. */
static double step_ns(const struct lab_stepper *v)
{
    const struct lab_step_status *s = &v->snap.steps[v->step];
    double sum = 0;
    for (int i = 0; i < v->n_kernels && i < LAB_STEPPER_KERNELS; i++) {
        if (v->kernels[i].time_ns == LAB_UNKNOWN)
            return s->time_ns == LAB_UNKNOWN ? NAN : (double)s->time_ns;
        sum += (double)v->kernels[i].time_ns;
    }
    if (v->n_kernels > 0 && v->n_kernels <= LAB_STEPPER_KERNELS)
        return sum;
    return s->exec > 0 && s->time_ns != LAB_UNKNOWN ? (double)s->time_ns : NAN;
}

const char *lab_stepper_untimed(const struct lab_step_status *s)
{
    return s->exec == LAB_EXEC_UNOBSERVED ? "not recorded" : "not run yet";
}

static void add_time(const struct lab_stepper *v, const struct sheet *o,
                     double ns)
{
    const struct lab_step_status *s = &v->snap.steps[v->step];
    char time[LAB_FORMAT_BYTES];
    char wall[LAB_FORMAT_BYTES];
    char line[256];
    const char *note = v->model.time_note ? v->model.time_note : "";
    if (s->exec <= 0) {
        add_pair(o, "time", lab_stepper_untimed(s));
        return;
    }
    lab_format_ns(ns, time, sizeof(time));
    lab_format_ns(s->time_ns == LAB_UNKNOWN ? NAN : (double)s->time_ns, wall,
                  sizeof(wall));
    if (v->n_kernels > 0)
        snprintf(line, sizeof(line), "%s in kernels, %s around the step", time,
                 wall);
    else
        snprintf(line, sizeof(line), "%s%s%s%s", time, note[0] ? " (" : "",
                 note, note[0] ? ")" : "");
    add_pair(o, "time", line);
}

/* Shares of a peak are small for small tensors: two digits, however small. What
 * was measured comes before the peak that the device's attributes give. */
static void add_share(char *line, size_t cap, double rate, double measured,
                      const char *what, double peak, const char *what_peak)
{
    size_t used = strlen(line);
    bool known = measured > 0;
    double share = 100 * rate / (known ? measured : peak);
    if (isnan(rate))
        return;
    if (!known && !(peak > 0))
        snprintf(line + used, cap - used, ", %s n/a here", what_peak);
    else
        snprintf(line + used, cap - used,
                 share >= 99.5 ? ", %.0f %% of %s" : ", %.2g %% of %s", share,
                 known ? what : what_peak);
}

static struct lab_stepper_roofs roofs_of(const struct lab_stepper *v)
{
    struct lab_stepper_roofs r = {NAN, NAN, ""};
    if (v->model.roofs)
        v->model.roofs(v->model.user, &v->snap, &r);
    return r;
}

static void add_work(const struct lab_stepper *v, const struct sheet *o,
                     const struct lab_step *step, double ns)
{
    const struct lab_device_info *d = &v->snap.device;
    char amount[LAB_FORMAT_BYTES];
    char rate[LAB_FORMAT_BYTES];
    char line[256];
    const char *sep = isnan(ns) ? "" : ", ";
    struct lab_stepper_roofs roofs = roofs_of(v);
    char products[64];
    snprintf(products, sizeof(products), "what products in %.8s reach",
             roofs.precision);
    lab_format_flop(step->flop, amount, sizeof(amount));
    lab_format_flops(step->flop > 0 ? step->flop : NAN, ns, rate, sizeof(rate));
    snprintf(line, sizeof(line), "%s by its formula%s%s", amount, sep,
             isnan(ns) ? "" : rate);
    add_share(line, sizeof(line), step->flop > 0 ? step->flop / ns * 1e9 : NAN,
              roofs.flop_per_s, products, d->peak_fp32_flops, "peak fp32");
    add_pair(o, "work", line);
    lab_format_bytes(step->bytes, amount, sizeof(amount));
    lab_format_rate(step->bytes > 0 ? step->bytes : NAN, ns, rate,
                    sizeof(rate));
    snprintf(line, sizeof(line), "%s at least%s%s", amount, sep,
             isnan(ns) ? "" : rate);
    add_share(line, sizeof(line),
              step->bytes > 0 ? step->bytes / ns * 1e9 : NAN, roofs.bytes_per_s,
              "a copy's rate", d->peak_dram_bytes_s, "peak memory");
    add_pair(o, "memory", line);
}

static void add_variant(const struct lab_stepper *v, const struct sheet *o,
                        const struct lab_schedule_step *s)
{
    const char *names[LAB_STEPPER_VARIANTS];
    char line[256];
    int n = 0;
    if (v->model.variant_names)
        n = v->model.variant_names(v->model.user, s->depth_node, names,
                                   LAB_STEPPER_VARIANTS);
    const char *now = s->variant ? s->variant->name : "?";
    const char *ran = v->snap.steps[v->step].ran;
    if (ran && strcmp(ran, now) != 0)
        snprintf(line, sizeof(line), "%s on %s; what is shown ran as %s", now,
                 v->snap.backend, ran);
    else
        snprintf(line, sizeof(line), "%s on %s", now, v->snap.backend);
    add_pair(o, "variant", line);
    if (n > 1)
        lab_stepper_text_flow(o->text, LAB_ROLE_DIM, "  v:", o->columns,
                              NAME_W);
    for (int i = 0; i < n && n > 1; i++) {
        snprintf(line, sizeof(line), " %s", names[i]);
        lab_stepper_text_flow(o->text, LAB_ROLE_KEY, line, o->columns, NAME_W);
    }
    if (s->variant && s->variant->source) {
        snprintf(line, sizeof(line), "%s", s->variant->source);
        add_pair(o, "source", line);
        lab_stepper_text_flow(o->text, LAB_ROLE_DIM, "  o opens it", o->columns,
                              NAME_W);
    }
    if (s->step->group) {
        snprintf(line, sizeof(line), "one kernel for %d steps", s->hides_count);
        add_pair(o, "fused", line);
    }
}

/* ---- kernels ---- */

static void limit_text(int limit, char *out, size_t cap)
{
    static const struct {
        int bit;
        const char *name;
    } names[] = {
        {LAB_LIMIT_REGISTERS, "registers"}, {LAB_LIMIT_SHARED, "shared memory"},
        {LAB_LIMIT_BLOCKS, "blocks"},       {LAB_LIMIT_BARRIERS, "barriers"},
        {LAB_LIMIT_GRID, "too few blocks"}, {LAB_LIMIT_WARPS, "warps: full"},
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((limit & names[i].bit) && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s",
                                     used ? ", " : "", names[i].name);
}

static void add_kernel(const struct sheet *o,
                       const struct lab_stepper_kernel *k)
{
    char a[64];
    char b[64];
    char line[512];
    size_t used;
    lab_format_ns(k->time_ns == LAB_UNKNOWN ? NAN : (double)k->time_ns, a,
                  sizeof(a));
    snprintf(line, sizeof(line), "%10s  %s", a, k->name);
    lab_stepper_text_line(o->text);
    lab_stepper_text_add(o->text, LAB_ROLE_CODE, line);
    used =
        (size_t)snprintf(line, sizeof(line), "grid %s, block %s",
                         LAB_DIMS32_TEXT(k->grid), LAB_DIMS32_TEXT(k->block));
    if (k->registers_per_thread != INT32_MIN)
        snprintf(a, sizeof(a), "%d", k->registers_per_thread);
    else
        snprintf(a, sizeof(a), LAB_NA);
    lab_format_bytes(k->shared_bytes == LAB_UNKNOWN ? NAN
                                                    : (double)k->shared_bytes,
                     b, sizeof(b));
    used += (size_t)snprintf(line + used, sizeof(line) - used,
                             ", registers %s, shared %s", a, b);
    if (isnan(k->occupancy_pct)) {
        snprintf(line + used, sizeof(line) - used, ", occupancy n/a");
    } else {
        limit_text(k->occupancy_limit, a, sizeof(a));
        snprintf(line + used, sizeof(line) - used,
                 ", occupancy %.0f %% (limit: %s)", k->occupancy_pct,
                 a[0] ? a : "none");
    }
    lab_stepper_text_wrap(o->text, LAB_ROLE_NORMAL, line, o->columns, NAME_W);
}

static void add_counted(void *user, const char *name, const char *text)
{
    const struct sheet *o = user;
    char line[512];
    snprintf(line, sizeof(line), "%-*s%s", NAME_W, name, text);
    lab_stepper_text_wrap(o->text, LAB_ROLE_NORMAL, line, o->columns, NAME_W);
}

/* Counters stand beside a formula where the step is one kernel. */
static void add_counters(const struct lab_stepper *v, const struct sheet *o,
                         const struct lab_stepper_kernel *k)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    bool alone = v->n_kernels == 1 && s;
    struct lab_counters_beside beside = {.occupancy_pct = k->occupancy_pct,
                                         .flop = alone ? s->step->flop : NAN,
                                         .bytes = alone ? s->step->bytes : NAN,
                                         .update =
                                             s && s->step->phase == LAB_UPDATE};
    lab_counters_lines(&k->counters, &beside, add_counted, (void *)o);
}

static void add_advice(void *to, const char *rule, const char *evidence,
                       const char *remedy)
{
    const struct sheet *o = to;
    char line[1024];
    snprintf(line, sizeof(line), "%-*s%s: %s. Try %s.", NAME_W, "advice", rule,
             evidence, remedy);
    lab_stepper_text_wrap(o->text, LAB_ROLE_NORMAL, line, o->columns, NAME_W);
}

static void add_counting_hint(const struct lab_stepper *v,
                              const struct sheet *o)
{
    for (int i = 0; i < v->n_kernels && i < LAB_STEPPER_KERNELS; i++) {
        if (v->kernels[i].counted)
            return;
    }
    add_pair(o, "counters",
             "not taken: m takes those of this step, M of all "
             "that has run");
}

static void add_kernels(const struct lab_stepper *v, const struct sheet *o)
{
    char line[128];
    bool cpu = strcmp(v->snap.backend, "cuda") != 0;
    const struct lab_step_status *s = &v->snap.steps[v->step];
    if (v->n_kernels > 0) {
        snprintf(line, sizeof(line), "%d launch%s", v->n_kernels,
                 v->n_kernels == 1 ? "" : "es");
        add_pair(o, "kernels", line);
        for (int i = 0; i < v->n_kernels && i < LAB_STEPPER_KERNELS; i++) {
            add_kernel(o, &v->kernels[i]);
            if (v->kernels[i].counted)
                add_counters(v, o, &v->kernels[i]);
            if (v->model.advise)
                v->model.advise(v->model.user, &v->snap, v->step, i, add_advice,
                                (void *)o);
        }
        if (v->n_kernels > LAB_STEPPER_KERNELS)
            add_pair(o, "", "... and more");
        add_counting_hint(v, o);
        return;
    }
    add_pair(o, "kernels",
             cpu                 ? "none: a C function ran, no GPU"
             : s->exec <= 0      ? lab_stepper_untimed(s)
             : v->n_kernels == 0 ? "no launch was recorded"
                                 : "records not there yet");
    if (!cpu)
        add_pair(o, "counters", "n/a: no kernel is known");
}

void lab_stepper_draw_kernels(struct lab_stepper *v, struct lab_canvas *c,
                              struct lab_rect r)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    if (!s)
        return;
    double ns = step_ns(v);
    struct sheet o = {&v->lines, r.w - 2};
    lab_stepper_text_clear(&v->lines);
    add_time(v, &o, ns);
    add_work(v, &o, s->step, ns);
    add_variant(v, &o, s);
    add_kernels(v, &o);
    lab_stepper_draw_lines(c, r, &v->lines, &v->top[LAB_PANE_KERNELS], -1,
                           false);
}

/* ---- the list of variants ---- */

/* What the node itself runs: an update step belongs to its optimizer. */
static const char *runs_now(const struct lab_stepper *v, int node)
{
    const struct lab_schedule *s = v->snap.schedule;
    const struct lab_schedule_step *chosen = lab_stepper_now(v);
    const char *name = "";
    for (int i = 0; i < s->n_steps; i++) {
        const struct lab_schedule_step *at = &s->steps[i];
        if (at->depth_node != node || !at->variant ||
            at->step->op != v->snap.plan->nodes[node].op)
            continue;
        if (!name[0] || at == chosen)
            name = at->variant->name;
    }
    return name;
}

void lab_stepper_open_variants(struct lab_stepper *v)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    if (!s || !v->model.variant_names) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "nothing can be switched here");
        return;
    }
    v->variants.node = s->depth_node;
    v->variants.n = v->model.variant_names(
        v->model.user, s->depth_node, v->variants.name, LAB_STEPPER_VARIANTS);
    v->variants.cursor = 0;
    for (int i = 0; i < v->variants.n; i++)
        if (strcmp(v->variants.name[i], runs_now(v, s->depth_node)) == 0)
            v->variants.cursor = i;
    v->variants.open = v->variants.n > 0;
    if (v->variants.n == 0)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "this node has one implementation");
}

static void take_variant(struct lab_stepper *v)
{
    struct lab_command cmd = {.kind = LAB_DO_VARIANT};
    const char *node = v->snap.plan->nodes[v->variants.node].id;
    const char *name = v->variants.name[v->variants.cursor];
    snprintf(cmd.text, sizeof(cmd.text), "%s", node);
    snprintf(cmd.text2, sizeof(cmd.text2), "%s", name);
    v->variants.open = false;
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "%s runs %s from its next step on; B steps back to compare",
                   node, name);
    lab_stepper_post(v, &cmd);
}

void lab_stepper_click_variants(struct lab_stepper *v, int y, int x)
{
    int row = v->variants.first + y - v->variants.inner.y;
    if (!lab_rect_has(v->variants.inner, y, x)) {
        v->variants.open = false;
    } else if (row < v->variants.n) {
        v->variants.cursor = row;
        take_variant(v);
    }
}

bool lab_stepper_variants_action(struct lab_stepper *v, int action)
{
    switch (action) {
    case LAB_ACT_UP:
        v->variants.cursor -= v->variants.cursor > 0;
        return true;
    case LAB_ACT_DOWN:
        v->variants.cursor += v->variants.cursor + 1 < v->variants.n;
        return true;
    case LAB_ACT_OPEN:
        take_variant(v);
        return true;
    case LAB_STEPPER_ACT_VARIANT:
    case LAB_ACT_CANCEL:
    case LAB_ACT_BACK:
        v->variants.open = false;
        return true;
    default:
        return false;
    }
}

void lab_stepper_draw_variants(struct lab_stepper *v, struct lab_canvas *c,
                               struct lab_rect body)
{
    const char *current = runs_now(v, v->variants.node);
    const struct lab_node *node = &v->snap.plan->nodes[v->variants.node];
    char title[96];
    int h = v->variants.n + 2 < body.h ? v->variants.n + 2 : body.h;
    int w = body.w < 44 ? body.w : 44;
    struct lab_rect r = {body.y + (body.h - h) / 2, body.x + (body.w - w) / 2,
                         h, w};
    snprintf(title, sizeof(title), "how %s (%s) runs", node->id,
             node->op ? node->op->name : "?");
    lab_canvas_fill(c, r, " ", LAB_ROLE_NORMAL);
    lab_canvas_box(c, r, title, true);
    r = lab_rect_inner(r);
    int first = v->variants.cursor >= r.h ? v->variants.cursor - r.h + 1 : 0;
    v->variants.first = first;
    v->variants.inner = r;
    for (int y = 0; y < r.h && first + y < v->variants.n; y++) {
        const char *name = v->variants.name[first + y];
        bool now = strcmp(current, name) == 0;
        bool chosen = first + y == v->variants.cursor;
        lab_canvas_textf(c, r.y + y, r.x, r.w, LAB_ROLE_NORMAL, "%s %-12s %s",
                         chosen ? ">" : " ", name, now ? "runs now" : "");
        if (chosen)
            lab_canvas_paint(c, (struct lab_rect){r.y + y, r.x, 1, r.w},
                             LAB_ROLE_SELECTED);
    }
}

void lab_stepper_open_source(struct lab_stepper *v)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    if (!s || !s->variant || !s->variant->source || !v->model.open_source) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "the source of this step is not at hand");
        return;
    }
    if (v->model.open_source(v->model.user, v->ui, s->variant->source,
                             s->variant->symbol))
        lab_ui_error(v->ui);
}

/* The pane with the lesson's text: its introduction until a step has run, then
 * that of the chosen step in its phase. */

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
