/* What a lab names: a lesson, and rungs of its ladder. */
#include <stdio.h>
#include <string.h>

#include "engine/backend.h"
#include "labs/rung.h"
#include "lint_priv.h"

/* ---- the lesson that is measured ---- */

static void check_kind(struct linter *l, const struct lab_lesson *of)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    if (of && of->kind == LAB_LESSON_LAB)
        lab_lint_add(l, lab->of_place, LAB_SEVERITY_ERROR,
                     "of: %s is a lab and has no network: name a lesson that "
                     "has one",
                     lab->of);
}

/* One that does not stand beside the lab: the program finds it by its path, or
 * among the lessons that are installed. */
static enum lab_status check_elsewhere(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    struct lab_lesson *of = NULL;
    enum lab_status st = lab_lesson_open(&of, lab->of);
    if (st && st != LAB_E_NOMEM)
        lab_lint_add(l, lab->of_place, LAB_SEVERITY_ERROR, "of: %s",
                     lab_error());
    check_kind(l, of);
    lab_lesson_free(of);
    return st == LAB_E_NOMEM ? st : LAB_OK;
}

static enum lab_status check_of(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    const struct lab_catalog_entry *beside =
        l->catalog ? lab_catalog_find(l->catalog, lab->of) : NULL;
    bool one = lab->measures == LAB_MEASURE_BATCH ||
               lab->measures == LAB_MEASURE_NETWORK;
    if (strcmp(lab->of, "all") != 0 && !beside)
        return check_elsewhere(l);
    if (beside)
        check_kind(l, beside->lesson);
    else if (one)
        lab_lint_add(l, lab->of_place, LAB_SEVERITY_ERROR,
                     "of: %s is of one lesson, not of all: name one",
                     lab_measure_name(lab->measures));
    return LAB_OK;
}

/* ---- rungs ---- */

enum { RUNGS = 256 };

static size_t add_rungs(struct lab_backend *cpu,
                        const struct lab_cuda_module *gpu, const char *op,
                        const char **names, size_t n)
{
    const struct lab_rung *r;
    for (int i = 0; n < RUNGS; i++) {
        r = cpu ? lab_backend_rung(cpu, op, i)
                : gpu->backend->rung(NULL, op, i);
        if (!r)
            break;
        if (!r->family) /* a candidate: listed by nobody */
            names[n++] = r->name;
    }
    return n;
}

/* The rungs of the ladder, a name as often as it has precisions. Those of a GPU
 * stand in the CUDA module: without it nobody knows which there are, and the
 * answer is 0. */
static size_t find_rungs(const char *op, bool with_cpu, const char **names)
{
    const struct lab_cuda_module *module = NULL;
    struct lab_backend *cpu = NULL;
    if (lab_cuda_load(&module))
        return 0;
    size_t n = add_rungs(NULL, module, op, names, 0);
    if (with_cpu && !lab_backend_open(&cpu, "cpu", 0))
        n = add_rungs(cpu, NULL, op, names, n);
    lab_backend_close(cpu);
    return n;
}

static void check_rung(struct linter *l, struct lab_place at, const char *key,
                       const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], word) == 0)
            return;
    }
    const char *near = lab_nearest(word, names, n);
    lab_lint_add(l, at, LAB_SEVERITY_ERROR, "%s: %s has no rung %s%s%s%s", key,
                 l->lesson->lab.ladder, word, near ? "; did you mean " : "",
                 near ? near : "", near ? "?" : "");
}

static void check_rungs(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    const char *names[RUNGS];
    const char *at = lab->variants;
    size_t n = find_rungs(lab->ladder, false, names);
    while (n > 0 && at) {
        char word[64];
        size_t len = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(len < 63 ? len : 63), at);
        check_rung(l, lab->variants_place, "variants", word, names, n);
        at = at[len] ? at + len + 1 : NULL;
    }
    n = find_rungs(lab->ladder, true, names);
    for (int i = 0; n > 0 && i < lab->n_slides; i++) {
        if (lab->slides[i].rung)
            check_rung(l, lab->slides[i].place, "slide", lab->slides[i].rung,
                       names, n);
    }
}

enum lab_status lab_lint_lab(struct linter *l)
{
    const struct lab_lesson_lab *lab = &l->lesson->lab;
    if (lab->ladder)
        check_rungs(l);
    return lab->of ? check_of(l) : LAB_OK;
}
