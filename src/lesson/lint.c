/* lint.c -- what is wrong or unwise in a lesson beyond its syntax.
 *
 * `lesson lint` calls it for a lesson that could be read: steps, tensors and
 * variants that its text names and its network lacks, shapes that do not fit,
 * odd headings. Each finding has its place in the file. */
#include "lesson/lint.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/backend.h"
#include "common/kernel.h"
#include "base/mem.h"
#include "engine/data.h"

struct linter {
    const struct lab_lesson *lesson;
    const struct lab_catalog *catalog;
    const struct lab_plan *plan; /* NULL: the network could not be built */
    struct lab_findings *found;
};

#define error(l, at, ...)                                                      \
    lab_findings_add((l)->found, at, LAB_E_PARSE, __VA_ARGS__)
#define warn(l, at, ...) lab_findings_add((l)->found, at, LAB_OK, __VA_ARGS__)

/* "START WORD END; did you mean X?" */
static void no_such(struct linter *l, struct lab_place at, const char *start,
                    const char *word, const char *end, const char *const *names,
                    size_t count)
{
    const char *near = lab_nearest(word, names, count);
    error(l, at, "[lint.name] %s %s%s%s%s%s", start, word, end,
          near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* The name of the i-th step, tensor or node. */
typedef const char *name_fn(const struct linter *l, int i);

static void unknown(struct linter *l, struct lab_place at, const char *what,
                    const char *word, int count, name_fn *name)
{
    const char **names = lab_alloc_array((size_t)count, sizeof(*names));
    char start[16];
    l->found->failed = l->found->failed || !names;
    for (int i = 0; names && i < count; i++)
        names[i] = name(l, i);
    snprintf(start, sizeof(start), "no %s", what);
    if (names)
        no_such(l, at, start, word, " in this lesson", names, (size_t)count);
    lab_free(names);
}

static const char *step_name(const struct linter *l, int i)
{
    return l->plan->steps[i].name;
}

static const char *tensor_name(const struct linter *l, int i)
{
    return l->plan->tensors[i].name;
}

static const char *node_name(const struct linter *l, int i)
{
    return i == 0 ? "loss" : l->lesson->spec.nodes[i - 1].id;
}

static const char *phase_name(const struct linter *l, int i)
{
    (void)l;
    return lab_phase_name((enum lab_phase)i);
}

/* ---- the lesson that is measured ---- */

static void check_kind(struct linter *l, const struct lab_lesson *of)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    if (of && of->kind == LAB_LESSON_LAB)
        error(l, lab->of_place,
              "[lint.of.lab] of: %s is a lab and has no network: name a lesson "
              "that has one",
              lab->of);
}

/* The lesson beside the lab, else the one that the program finds by its path or
 * among the installed ones. */
static void check_of(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    const struct lab_catalog_entry *beside =
        l->catalog ? lab_catalog_find(l->catalog, lab->of) : NULL;
    struct lab_lesson *of = NULL;
    bool all = strcmp(lab->of, "all") == 0;
    if (beside) {
        check_kind(l, beside->lesson);
    } else if (all && (lab->measures == LAB_MEASURE_BATCH ||
                       lab->measures == LAB_MEASURE_NETWORK)) {
        error(l, lab->of_place,
              "[lint.of.all] of: %s is of one lesson, not of all: name one",
              lab_measure_name(lab->measures));
    } else if (!all) {
        enum lab_status st = lab_lesson_open(&of, lab->of);
        if (st == LAB_E_NOMEM)
            l->found->failed = true;
        else if (st)
            error(l, lab->of_place, "of: %s", lab_error());
        check_kind(l, of);
        lab_lesson_free(of);
    }
}

/* ---- variants ---- */

enum { VARIANTS = 256 };

static size_t add_variants(struct lab_backend *cpu,
                           const struct lab_cuda_module *gpu, const char *op,
                           const char **names, size_t n)
{
    const struct lab_variant *r;
    for (int i = 0; n < VARIANTS; i++) {
        r = cpu ? lab_backend_variant_at(cpu, op, i)
                : gpu->backend->variant(NULL, op, i);
        if (!r)
            break;
        if (!r->family) /* else a candidate of a tuned variant: not listed */
            names[n++] = r->name;
    }
    return n;
}

/* The variants of the ladder, a name as often as it has precisions. Those of a GPU
 * are in the CUDA module: without it they are not known, and the answer is
 * 0. */
static size_t find_variants(const char *op, bool with_cpu, const char **names)
{
    const struct lab_cuda_module *module = NULL;
    struct lab_backend *cpu = NULL;
    if (lab_cuda_load(&module))
        return 0;
    size_t n = add_variants(NULL, module, op, names, 0);
    if (with_cpu && !lab_backend_open(&cpu, "cpu", 0))
        n = add_variants(cpu, NULL, op, names, n);
    lab_backend_close(cpu);
    return n;
}

static void check_variant(struct linter *l, struct lab_place at,
                          const char *key, const char *word,
                          const char *const *names, size_t n)
{
    char start[96];
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], word) == 0)
            return;
    }
    snprintf(start, sizeof(start), "%s: %s has no variant", key,
             l->lesson->lab.ladder);
    no_such(l, at, start, word, "", names, n);
}

static void check_variants(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    const char *names[VARIANTS];
    const char *at = lab->variants;
    size_t n = find_variants(lab->ladder, false, names);
    while (n > 0 && at) {
        char word[64];
        size_t len = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), at);
        check_variant(l, lab->variants_place, "variants", word, names, n);
        at = at[len] ? at + len + 1 : NULL;
    }
    n = find_variants(lab->ladder, true, names);
    for (int i = 0; n > 0 && i < lab->n_slides; i++) {
        if (lab->slides[i].variant)
            check_variant(l, lab->slides[i].place, "slide",
                          lab->slides[i].variant, names, n);
    }
}

/* ---- the network ---- */

/* MNIST's shapes are known without its files, which a lesson does not bring
 * along, and so are those of a text's windows; false for sources with shapes
 * that only their files have. */
static bool known_shapes(const struct lab_data_spec *d,
                         struct lab_data_shapes *out)
{
    enum { SIDE = 28 };
    if (d->source == LAB_DATA_TEXT) {
        int64_t window[] = {d->batch ? d->batch : 32,
                            d->context ? d->context : 64};
        struct lab_shape ids = lab_shape_make(2, window);
        *out = (struct lab_data_shapes){
            .batch = window[0], .x = ids, .y = ids, .y_integers = true};
        return true;
    }
    if (d->source != LAB_DATA_MNIST)
        return false;
    int64_t n = d->batch ? d->batch : 10;
    int64_t image[] = {n, 1, SIDE, SIDE};
    int64_t flat[] = {n, SIDE * SIDE};
    *out = (struct lab_data_shapes){.batch = n,
                                    .x_image = lab_shape_make(4, image),
                                    .x = lab_shape_make(2, flat),
                                    .y = lab_shape_make(1, &n),
                                    .y_integers = true};
    return true;
}

/* An error of the engine. One that begins with "FILE:LINE:COLUMN: " of this
 * lesson has its own place; another is put at `at`. */
static void add_engine_error(struct linter *l, struct lab_place at,
                             enum lab_severity severity)
{
    const char *text = lab_error();
    const char *file = l->lesson->spec.file;
    size_t len = strlen(file);
    struct lab_place own;
    int used = 0;
    if (strncmp(text, file, len) == 0 && text[len] == ':') {
        text += len + 1;
        if (sscanf(text, "%d:%d:%n", &own.line, &own.column, &used) == 2 &&
            used > 0) {
            text += used;
            at = own;
        }
        text += strspn(text, " ");
    }
    if (severity == LAB_SEVERITY_ERROR)
        error(l, at, "%s", text);
    else
        warn(l, at, "%s", text);
}

/* What this machine or this version lacks is not the lesson's fault. */
static enum lab_severity severity_of(enum lab_status st)
{
    bool lacks = st == LAB_E_NOT_BUILT || st == LAB_E_UNSUPPORTED ||
                 st == LAB_E_IO || st == LAB_E_NOTFOUND;
    return lacks ? LAB_SEVERITY_WARNING : LAB_SEVERITY_ERROR;
}

/* The plan, or NULL. Names of tensors and steps are checked later, all of them
 * and each at its place: the plan is built without them. */
static struct lab_plan *build(struct linter *l)
{
    struct lab_network_spec s = l->lesson->spec;
    struct lab_data_shapes shapes;
    struct lab_data *data = NULL;
    struct lab_plan *plan = NULL;
    s.n_watch = 0;
    s.n_breaks = 0;
    s.n_printed = 0;
    enum lab_status st = lab_data_open(&data, &s, NULL, 0, NULL);
    if (!st) {
        lab_data_get_shapes(data, &shapes);
    } else if (st != LAB_E_NOMEM) {
        add_engine_error(l, s.data.place, severity_of(st));
        if (!known_shapes(&s.data, &shapes))
            return NULL;
        st = LAB_OK;
    }
    if (!st)
        st = lab_plan_build(&plan, &s, &shapes, LAB_F32);
    if (!st && data)
        st = lab_data_check_labels(data, plan);
    if (st == LAB_E_NOMEM)
        l->found->failed = true;
    else if (st)
        add_engine_error(l, s.data.place,
                         st == LAB_E_NOT_BUILT || st == LAB_E_UNSUPPORTED
                             ? LAB_SEVERITY_WARNING
                             : LAB_SEVERITY_ERROR);
    lab_data_free(data);
    return plan;
}

/* ---- headings ---- */

static struct lab_place at_line(int line)
{
    return (struct lab_place){line, 1};
}

/* "lstm1.cell" is the text of "lstm1.cell.0", "lstm1.cell.1" ... */
static bool names_step(const char *section, const char *step)
{
    size_t len = strlen(section);
    if (strncmp(section, step, len) != 0)
        return false;
    if (step[len] == '\0')
        return true;
    const char *rest = step + len + 1;
    return step[len] == '.' && *rest && !rest[strspn(rest, "0123456789")];
}

static void check_step_heading(struct linter *l, const struct lab_section *s)
{
    const struct lab_plan *p = l->plan;
    bool known = !p;
    for (int i = 0; !known && i < p->n_steps; i++)
        known = names_step(s->name, p->steps[i].name);
    if (!known)
        unknown(l, at_line(s->line), "step", s->name, p->n_steps, step_name);
}

static void check_node_heading(struct linter *l, const struct lab_section *s)
{
    int count = l->lesson->spec.n_nodes + 1;
    bool known = l->plan && lab_plan_node(l->plan, s->name) >= 0;
    for (int i = 0; !known && i < count; i++)
        known = strcmp(node_name(l, i), s->name) == 0;
    if (!known)
        unknown(l, at_line(s->line), "node", s->name, count, node_name);
}

static void check_phase_heading(struct linter *l, const struct lab_section *s)
{
    bool known = false;
    for (int i = 0; !known && i < LAB_PHASE_COUNT; i++)
        known = strcmp(phase_name(l, i), s->name) == 0;
    if (!known)
        unknown(l, at_line(s->line), "phase", s->name, LAB_PHASE_COUNT,
                phase_name);
}

/* "## Step fc1" was meant to be "## step: fc1". */
static void check_other_heading(struct linter *l, const struct lab_section *s)
{
    static const char *const words[] = {"step", "node", "phase"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t len = strlen(words[i]);
        bool colon = strncasecmp(s->title, words[i], len) == 0 &&
                     s->title[len + strspn(s->title + len, " ")] == ':';
        if (colon)
            warn(l, at_line(s->line),
                 "[lint.heading.other] this heading is read in order; one that "
                 "belongs to a %s begins with \"%s: \"",
                 words[i], words[i]);
    }
}

static void check_twice(struct linter *l, const struct lab_section *s)
{
    const struct lab_section *first =
        lab_lesson_section(l->lesson, s->kind, s->name);
    if (first && first != s)
        error(l, at_line(s->line),
              "[lint.heading.twice] a second text for %s; the one in line %d "
              "is shown",
              s->title, first->line);
}

/* "### bacward" was meant to divide a step's text; "### Why" was not. */
static void check_part_headings(struct linter *l, const struct lab_section *s)
{
    const char *names[LAB_PHASE_COUNT];
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        names[i] = phase_name(l, i);
    for (size_t i = 0; i < s->doc.n_blocks; i++) {
        const struct lab_md_block *b = &s->doc.blocks[i];
        if (b->kind != LAB_MD_HEADING || b->level != 3 || b->n_spans != 1)
            continue;
        const char *word = b->spans[0].text;
        const char *near = lab_nearest(word, names, LAB_PHASE_COUNT);
        if (near && strncasecmp(word, near, strlen(near)) != 0)
            warn(l, at_line(b->line),
                 "[lint.heading.part] this heading is no phase, and begins no "
                 "part; did you mean \"### %s\"?",
                 near);
    }
}

static void check_headings(struct linter *l)
{
    static void (*const checks[])(struct linter *,
                                  const struct lab_section *) = {
        [LAB_SECTION_STEP] = check_step_heading,
        [LAB_SECTION_NODE] = check_node_heading,
        [LAB_SECTION_PHASE] = check_phase_heading,
        [LAB_SECTION_OTHER] = check_other_heading,
    };
    for (int i = 0; i < l->lesson->n_sections; i++) {
        const struct lab_section *s = &l->lesson->sections[i];
        if (s->kind == LAB_SECTION_INTRO)
            continue;
        checks[s->kind](l, s);
        if (s->kind == LAB_SECTION_STEP || s->kind == LAB_SECTION_NODE)
            check_part_headings(l, s);
        if (*s->name)
            check_twice(l, s);
        if (s->doc.n_blocks == 0)
            warn(l, at_line(s->line),
                 "[lint.heading.empty] no text under this heading");
    }
}

static bool has_step_texts(const struct lab_lesson *lesson)
{
    for (int i = 0; i < lesson->n_sections; i++) {
        if (*lesson->sections[i].name)
            return true;
    }
    return false;
}

static void check_step_texts(struct linter *l)
{
    const struct lab_plan *p = l->plan;
    const struct lab_place whole = {0, 0};
    if (!has_step_texts(l->lesson)) {
        warn(l, whole,
             "[lint.text.none] no step has a text: add ## phase: forward and "
             "others");
        return;
    }
    for (int i = 0; p && i < p->n_steps; i++) {
        const struct lab_step *s = &p->steps[i];
        const struct lab_node *n = s->node >= 0 ? &p->nodes[s->node] : NULL;
        const char *id = n ? n->id : NULL;
        const char *phase = lab_phase_name(s->phase);
        if (!lab_lesson_text_for(l->lesson, s->name, id, phase))
            warn(l, n ? n->place : whole,
                 "[lint.text.step] no text for the step %s (%s): add ## step: "
                 "%s, ## node: %s or ## phase: %s",
                 s->name, phase, s->name, id ? id : "ID", phase);
    }
}

/* ---- names of tensors and steps in the front matter ---- */

static void check_printed_place(struct linter *l,
                                const struct lab_course_values_spec *p,
                                const struct lab_tensor *t)
{
    char shape[LAB_SHAPE_TEXT];
    int64_t start = 0;
    if (p->at.rank > 0)
        start = lab_shape_ravel(&t->shape, p->at.dim, p->at.rank);
    if (start < 0 || start + p->n_values > t->count)
        error(l, p->place,
              "[lint.printed.shape] %d printed values do not fit into %s, "
              "which has the shape %s",
              p->n_values, p->tensor, lab_shape_text(&t->shape, shape));
}

static void check_break(struct linter *l, const struct lab_break_spec *b)
{
    const struct lab_plan *p = l->plan;
    bool named = b->kind != LAB_BREAK_STEP || lab_plan_node(p, b->step) >= 0;
    bool reached = named;
    for (int i = 0; !reached && i < p->n_steps; i++) {
        bool same = strcmp(p->steps[i].name, b->step) == 0;
        named = named || same;
        reached = same && (b->phase < 0 || b->phase == (int)p->steps[i].phase);
    }
    if (!named)
        unknown(l, b->place, "step", b->step, p->n_steps, step_name);
    else if (!reached)
        error(l, b->place, "[lint.break.phase] the step %s has no phase %s",
              b->step, lab_phase_name((enum lab_phase)b->phase));
}

/* The tensor of that name, or NULL and an error at `at`. */
static const struct lab_tensor *
check_tensor(struct linter *l, struct lab_place at, const char *name)
{
    const struct lab_plan *p = l->plan;
    int t = lab_plan_tensor(p, name);
    if (t < 0)
        unknown(l, at, "tensor", name, p->n_tensors, tensor_name);
    return t < 0 ? NULL : &p->tensors[t];
}

static void check_names(struct linter *l)
{
    const struct lab_network_spec *s = &l->lesson->spec;
    for (int i = 0; i < s->n_watch; i++)
        check_tensor(l, l->lesson->watch_places[i], s->watch[i]);
    for (int i = 0; i < s->n_printed; i++) {
        const struct lab_course_values_spec *p = &s->printed[i];
        const struct lab_tensor *t = check_tensor(l, p->place, p->tensor);
        if (t)
            check_printed_place(l, p, t);
    }
    for (int i = 0; i < s->n_breaks; i++)
        check_break(l, &s->breaks[i]);
}

/* ---- the course ---- */

/* One that is neither beside the lesson nor installed, and the nearest. */
static void no_lesson(struct linter *l, struct lab_place at, const char *id,
                      const struct lab_catalog *installed)
{
    const struct lab_catalog *from[] = {l->catalog, installed};
    size_t n = 0;
    size_t count = l->catalog->count + (installed ? installed->count : 0);
    const char **names = lab_alloc_array(count, sizeof(*names));
    l->found->failed = l->found->failed || !names;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; names && from[k] && i < from[k]->count; i++)
            names[n++] = from[k]->items[i].id;
    if (names)
        no_such(l, at, "no lesson", id, "", names, n);
    lab_free(names);
}

static void check_prerequisite(struct linter *l, struct lab_place at,
                               const char *id)
{
    struct lab_catalog *installed = NULL;
    if (strcmp(id, l->lesson->id) == 0) {
        error(l, at,
              "[lint.prerequisite.self] the lesson is its own prerequisite");
        return;
    }
    if (!l->catalog || lab_catalog_find(l->catalog, id))
        return;
    if (lab_catalog_list(&installed, NULL) == LAB_E_NOMEM)
        l->found->failed = true;
    else if (!installed || !lab_catalog_find(installed, id))
        no_lesson(l, at, id, installed);
    lab_catalog_free(installed);
}

static void check_course(struct linter *l)
{
    const struct lab_lesson *lesson = l->lesson;
    if (!*lesson->summary)
        warn(l, lesson->title_place,
             "[lint.summary] no summary: add one line on what the "
             "learner will see");
    for (int i = 0; i < lesson->n_prerequisites; i++)
        check_prerequisite(l, lesson->prerequisite_places[i],
                           lesson->prerequisites[i]);
    if (!l->catalog || lesson->order == LAB_LESSON_NO_ORDER)
        return;
    for (size_t i = 0; i < l->catalog->count; i++) {
        const struct lab_lesson *other = l->catalog->items[i].lesson;
        if (other && strcmp(other->id, lesson->id) != 0 &&
            other->order == lesson->order)
            error(l, lesson->order_place,
                  "[lint.order] order %lld is also that of the lesson %s (%s)",
                  (long long)lesson->order, other->id,
                  l->catalog->items[i].path);
    }
}

enum lab_status lab_lesson_lint(const char *path,
                                const struct lab_catalog *catalog,
                                struct lab_findings *found)
{
    struct lab_lesson *lesson = NULL;
    enum lab_status st = lab_lesson_check(&lesson, path, found);
    if (st)
        return st == LAB_E_NOMEM ? st : LAB_OK;
    struct linter l = {.lesson = lesson, .catalog = catalog, .found = found};
    if (lesson->kind == LAB_LESSON_LAB) { /* it has no nodes and steps */
        check_course(&l);
        if (lesson->lab.ladder)
            check_variants(&l);
        if (lesson->lab.of)
            check_of(&l);
    } else {
        struct lab_plan *plan = build(&l);
        l.plan = plan;
        check_course(&l);
        check_headings(&l);
        if (plan)
            check_names(&l);
        check_step_texts(&l);
        lab_plan_free(plan);
    }
    lab_lesson_free(lesson);
    lab_findings_sort(found);
    return found->failed
               ? lab_fail(LAB_E_NOMEM, "no memory left to check %s", path)
               : LAB_OK;
}
