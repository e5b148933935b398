/* bench.c -- what a lab is going to measure: names, sizes, variants, predictions.
 *
 * Reads the words and options of `lapenna-lab lab` into one struct lab_bench,
 * checks them against the ladder and the backend, and opens it; run.c then
 * measures. The command, the screen of a lab and `gflops` open their labs here. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "report/suggest.h"
#include "bench/bench.h"
#include "engine/sim_backend.h"
#include "labs/cpu_variants.h"
#include "lesson/catalog.h"
#include "profiler/roofline.h"
#include "report/print.h"
#include "trace/intern.h"

enum { USUAL_REPEATS = 21 };

double lab_bench_scale(const struct lab_bench *lab)
{
    return lab->ladder->unit == LAB_UNIT_TIME ? 1e-9 : 1e9;
}

void lab_bench_shown_unit(const struct lab_bench *lab, char *out, size_t size)
{
    bool time = lab->ladder->unit == LAB_UNIT_TIME;
    snprintf(out, size, "%c%s", time ? 'n' : 'G', lab->unit);
}

bool lab_bench_is_one_kernel(const char *name)
{
    const struct lab_variant *first;
    for (int i = 0; name && (first = lab_cpu_variant("first", i)); i++)
        if (strcmp(first->name, name) == 0)
            return true;
    return false;
}

bool lab_bench_has_precisions(const struct lab_bench *lab)
{
    for (int i = 0; i < lab->n_variants; i++) {
        if (lab->variants[i]->precision != LAB_FP32)
            return true;
    }
    return false;
}

const char *lab_bench_precisions(const struct lab_bench *lab, char *out,
                                 size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        bool there = false;
        for (int i = 0; i < lab->n_variants; i++)
            there =
                there || lab->variants[i]->precision == (enum lab_precision)p;
        if (there && used < size)
            used += (size_t)snprintf(
                out + used, size - used, "%s%s", used ? ", " : "",
                lab_ladder_precision(lab->ladder, (enum lab_precision)p));
    }
    return out;
}

/* ---- the ladder ---- */

/* A lab's lesson that may have been meant, with or without its "lab-"; the
 * caller's, or NULL. */
static char *nearest_lab(const char *name)
{
    static const char prefix[] = "lab-";
    struct lab_catalog *c = NULL;
    char *found = NULL;
    struct lab_str whole;
    if (strchr(name, '/') || lab_catalog_list(&c, NULL))
        return NULL;
    lab_str_init(&whole);
    lab_str_addf(&whole, "%s%s", prefix, name);
    const char **ids = lab_alloc_array(c->count, sizeof(*ids));
    size_t n = 0;
    for (size_t i = 0; ids && i < c->count; i++)
        if (strncmp(c->items[i].id, prefix, strlen(prefix)) == 0)
            ids[n++] = c->items[i].id;
    const char *near = ids ? lab_nearest(name, ids, n) : NULL;
    if (!near && ids)
        near = lab_nearest(lab_str_text(&whole), ids, n);
    if (near)
        found = lab_strdup(near);
    lab_free(ids);
    lab_str_release(&whole);
    lab_catalog_free(c);
    return found;
}

/* Neither a ladder nor a lesson: the nearest ladder, else the nearest lesson of
 * a lab, else all the ladders. */
static enum lab_status unknown_lab(const char *name)
{
    const struct lab_operation *l;
    enum lab_status st = lab_ladder_find(name, &l);
    if (strstr(lab_error(), "did you mean"))
        return st;
    char *lesson = nearest_lab(name);
    if (lesson)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[lab.unknown-lesson] no lab %s; did you mean the lesson "
                      "%s?",
                      name, lesson);
    else
        st = lab_ladder_find(name, &l);
    lab_free(lesson);
    return st;
}

/* A ladder, else a lesson of that id; where there is neither, the words are
 * those that list the ladders. */
static enum lab_status find(struct lab_bench *lab, const char *name)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_ladder_find(name, &lab->ladder);
    if (!st) {
        lab->title = lab->ladder->title;
        lab_str_release(&path);
        return LAB_OK;
    }
    enum lab_status found = lab_lesson_find(name, &path);
    if (!found)
        st = lab_lesson_load(&lab->lesson, lab_str_text(&path));
    else
        st = unknown_lab(name); /* its words, not the lesson's */
    lab_str_release(&path);
    if (st)
        return st;
    if (lab->lesson->kind != LAB_LESSON_LAB) {
        struct lab_str run =
            lab_suggest_command_text(lab->options->db, LAB_WORDS("run", name));
        st = lab_fail(LAB_E_USAGE,
                      "[lab.lesson] %s is a lesson with a network: `%s`", name,
                      lab_str_text(&run));
        lab_str_release(&run);
        return st;
    }
    if (lab_bench_is_one_kernel(lab->lesson->lab.ladder))
        return lab_fail(LAB_E_USAGE,
                        "[lab.one-kernel] %s is one kernel, not a ladder: "
                        "`lapenna-lab lab %s` runs it",
                        lab->lesson->lab.ladder, lab->lesson->lab.ladder);
    lab->title = lab->lesson->title;
    return lab_ladder_find(lab->lesson->lab.ladder, &lab->ladder);
}

/* ---- lists ---- */

/* The next word of a list with commas; NULL at its end. */
static const char *next_word(const char **at, size_t *bytes)
{
    const char *word = *at;
    if (!word)
        return NULL;
    *bytes = strcspn(word, ",");
    *at = word[*bytes] ? word + *bytes + 1 : NULL;
    return word;
}

static enum lab_status empty_word(const char *option, const char *list)
{
    return lab_fail(LAB_E_USAGE,
                    "[lab.list-comma] --%s %s: nothing between two commas, or "
                    "before or after one",
                    option, list);
}

enum lab_status lab_bench_take_sizes(struct lab_bench *lab, const char *list)
{
    struct lab_ladder_size sizes[LAB_BENCH_SIZES];
    const char *whole = list;
    const char *word;
    size_t n = 0;
    int count = 0;
    while ((word = next_word(&list, &n))) {
        if (n == 0)
            return empty_word("sizes", whole);
        if (count == LAB_BENCH_SIZES)
            return lab_fail(LAB_E_USAGE, "[lab.sizes] --sizes: more than %d",
                            LAB_BENCH_SIZES);
        enum lab_status st =
            lab_ladder_size(lab->ladder, word, n, &sizes[count]);
        if (st)
            return st;
        count++;
    }
    memcpy(lab->sizes, sizes, sizeof(sizes));
    lab->n_sizes = lab->course_from = count;
    return LAB_OK;
}

static bool has_size(const struct lab_bench *lab,
                     const struct lab_ladder_size *size)
{
    for (int i = 0; i < lab->n_sizes; i++)
        if (strcmp(lab->sizes[i].text, size->text) == 0)
            return true;
    return false;
}

/* Behind its own sizes those of the course's figures of a CPU. */
static enum lab_status add_course_sizes(struct lab_bench *lab)
{
    const struct lab_lesson_lab *from = &lab->lesson->lab;
    for (int i = 0; i < from->n_slides; i++) {
        const struct lab_lesson_slide *s = &from->slides[i];
        struct lab_ladder_size size;
        bool here = false;
        for (int r = 0; r < lab->n_variants && s->variant; r++)
            here = here || strcmp(lab->variants[r]->name, s->variant) == 0;
        if (!here || lab->n_sizes == LAB_BENCH_SIZES)
            continue;
        enum lab_status st =
            lab_ladder_size(lab->ladder, s->size, strlen(s->size), &size);
        if (st)
            return st;
        if (!has_size(lab, &size))
            lab->sizes[lab->n_sizes++] = size;
    }
    return LAB_OK;
}

/* Thread by thread, more work than this takes long: of the sizes that were read
 * the smaller ones are left, or the largest that the checks have. */
static enum lab_status keep_small(struct lab_bench *lab)
{
    const double most_work = 5e6;
    const struct lab_operation *l = lab->ladder;
    struct lab_ladder_size size;
    struct lab_ladder_size *kept = lab->sizes;
    double largest = 0;
    int n = 0;
    for (int i = 0; i < lab->n_sizes; i++)
        if (lab_ladder_work(l, &lab->sizes[i]) <= most_work)
            kept[n++] = lab->sizes[i];
    lab->small_sizes = n < lab->n_sizes;
    for (int i = 0; n == 0 && l->checks[i]; i++) {
        enum lab_status st =
            lab_ladder_size(l, l->checks[i], strlen(l->checks[i]), &size);
        if (st)
            return st;
        double work = lab_ladder_work(l, &size);
        if (i == 0 || (work > largest && work <= most_work)) {
            kept[0] = size;
            largest = work;
        }
    }
    lab->n_sizes = n ? n : 1;
    return LAB_OK;
}

/* --sizes all. A tuning has no sizes of the course's figures. */
static bool wants_all(const struct lab_options *o)
{
    return !o->tune && o->sizes && strcmp(o->sizes, "all") == 0;
}

/* Of --sizes; NULL: it is not given, or "all". */
static const char *given_sizes(const struct lab_options *o)
{
    return wants_all(o) ? NULL : o->sizes;
}

static enum lab_status read_sizes(struct lab_bench *lab)
{
    const char *given = given_sizes(lab->options);
    bool gpu = !lab->backend->host_memory && !lab->backend->untimed;
    const char *own = gpu ? lab->ladder->sizes_gpu : lab->ladder->sizes_cpu;
    const char *lesson = NULL;
    if (lab->lesson)
        lesson = gpu ? lab->lesson->lab.sizes : lab->lesson->lab.cpu_sizes;
    enum lab_status st = lab_bench_take_sizes(lab, given    ? given
                                                   : lesson ? lesson
                                                            : own);
    return st || given || !lab->backend->untimed ? st : keep_small(lab);
}

/* A name that this backend has not: another's, or unknown. */
static enum lab_status no_variant(const struct lab_bench *lab, const char *word,
                                  const struct lab_variant *const *all,
                                  int count)
{
    const char *names[LAB_BENCH_VARIANTS];
    const struct lab_cuda_module *module = NULL;
    const char *op = lab->ladder->name;
    struct lab_str list;
    if (lab->backend->host_memory && !lab_cuda_load(&module)) {
        const struct lab_variant *r;
        for (int i = 0; (r = module->backend->variant(NULL, op, i)); i++) {
            if (strcmp(r->name, word) == 0)
                return lab_fail(LAB_E_UNSUPPORTED,
                                "[lab.variant-gpu] variant %s of %s is a CUDA "
                                "kernel: it needs a GPU (--backend cuda)",
                                word, op);
        }
    }
    lab_str_init(&list);
    int kept = 0; /* a name once, whatever its precisions */
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < kept && strcmp(names[k], all[i]->name) != 0)
            k++;
        if (k < kept)
            continue;
        names[kept] = all[i]->name;
        lab_str_addf(&list, "%s%s", kept ? ", " : "", names[kept]);
        kept++;
    }
    const char *near = lab_nearest(word, names, (size_t)kept);
    enum lab_status st = lab_fail(
        LAB_E_USAGE, "[lab.variant] %s has no variant %s on the %s; %s%s%s",
        lab->ladder->name, word, lab->backend->ops->name,
        near ? "did you mean " : "there are ",
        near ? near : lab_str_text(&list), near ? "?" : "");
    lab_str_release(&list);
    return st;
}

static enum lab_status add_variant(struct lab_bench *lab, const char *word,
                                   const struct lab_variant *const *all,
                                   int count)
{
    for (int i = 0; i < lab->n_variants; i++) {
        if (strcmp(lab->variants[i]->name, word) == 0)
            return lab_fail(LAB_E_USAGE,
                            "[lab.variant-twice] --variants names %s twice",
                            word);
    }
    const int before = lab->n_variants;
    /* A name may stand for one variant of each precision. */
    for (int i = 0; i < count; i++) {
        if (strcmp(all[i]->name, word) == 0)
            lab->variants[lab->n_variants++] = all[i];
    }
    return lab->n_variants > before ? LAB_OK
                                    : no_variant(lab, word, all, count);
}

/* Only the variants of the precisions that were asked for. */
static enum lab_status keep_precisions(struct lab_bench *lab)
{
    unsigned wanted = lab->options->precisions;
    /* A lesson's choice, too, is of the GPU's variants. */
    if (!wanted && lab->lesson && !lab->backend->host_memory)
        wanted = lab->lesson->lab.precisions;
    struct lab_str asked;
    char there[64];
    int n = 0;
    lab_bench_precisions(lab, there, sizeof(there));
    for (int i = 0; i < lab->n_variants; i++)
        if (!wanted || wanted >> lab->variants[i]->precision & 1)
            lab->variants[n++] = lab->variants[i];
    lab->n_variants = n;
    if (n > 0)
        return LAB_OK;
    lab_str_init(&asked);
    for (int p = 0; p < LAB_PRECISION_COUNT; p++)
        if (wanted >> p & 1)
            lab_str_addf(&asked, "%s%s", asked.len ? "," : "",
                         lab_precision_name((enum lab_precision)p));
    enum lab_status st = lab_fail(
        LAB_E_NOT_BUILT,
        "[lab.precision] --precision %s: the variants of %s that are "
        "measured here compute in %s%s",
        lab_str_text(&asked), lab->ladder->name, there,
        lab->ladder->arithmetic ? ", which --precision calls fp32" : "");
    lab_str_release(&asked);
    return st;
}

static void keep_tuned(struct lab_bench *lab)
{
    int n = 0;
    for (int i = 0; i < lab->n_variants; i++) {
        if (lab->variants[i]->tuned)
            lab->variants[n++] = lab->variants[i];
    }
    lab->n_variants = n;
}

static enum lab_status read_variants(struct lab_bench *lab)
{
    const struct lab_variant *all[LAB_BENCH_VARIANTS];
    int count = lab_ladder_variants(lab->backend, lab->ladder, NULL, all,
                                    LAB_BENCH_VARIANTS);
    const char *at = lab->options->variants;
    const char *word;
    size_t n = 0;
    enum lab_status st = LAB_OK;
    /* A lesson's choice is of the GPU's variants; the CPU has few. */
    if (!at && lab->lesson && !lab->backend->host_memory)
        at = lab->lesson->lab.variants;
    if (lab->options->into)
        at = lab->options->into;
    if (!at || lab->options->tune) {
        memcpy(lab->variants, all, sizeof(all));
        lab->n_variants = count;
        at = NULL;
    }
    if (lab->options->tune)
        keep_tuned(lab);
    const char *whole = at;
    while (!st && (word = next_word(&at, &n))) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(n < 63 ? n : 63), word);
        st = n ? add_variant(lab, name, all, count)
               : empty_word("variants", whole);
    }
    if (!st && lab->n_variants == 0 && lab->options->tune)
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "[lab.no-tuned] %s has no variant of %s that is tuned; "
                      "gemm has one",
                      lab->backend->ops->name, lab->ladder->name);
    else if (!st && lab->n_variants == 0)
        st =
            lab_fail(LAB_E_UNSUPPORTED, "[lab.no-rung] %s has no variant of %s",
                     lab->backend->ops->name, lab->ladder->name);
    return st ? st : keep_precisions(lab);
}

/* ---- predictions ---- */

/* A time follows from the size: of several sizes it predicts nothing. */
static enum lab_status fits(const struct lab_bench *lab,
                            const struct lab_prediction *p)
{
    bool known = strcmp(p->variant, "best") == 0;
    bool sized = !p->size;
    for (int i = 0; i < lab->n_variants; i++)
        known = known || strcmp(lab->variants[i]->name, p->variant) == 0;
    for (int i = 0; i < lab->n_sizes; i++)
        sized = sized || (p->size && strcmp(lab->sizes[i].text, p->size) == 0);
    if (!known)
        return lab_fail(LAB_E_USAGE,
                        "[predict.variant] --predict: %s is not measured here",
                        p->variant);
    if (!sized)
        return lab_fail(
            LAB_E_USAGE,
            "[predict.size] --predict: size %s is not measured here", p->size);
    if (!isnan(p->time_ns) && !p->size && lab->n_sizes > 1)
        return lab_fail(LAB_E_USAGE,
                        "[predict.time-size] --predict %s: a time is of one "
                        "size: %s@%s=...",
                        p->variant, p->variant, lab->sizes[0].text);
    return LAB_OK;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* In the place of an earlier one of the same variant, precision and size. */
static enum lab_status set_prediction(struct lab_prediction *list, int *n,
                                      const struct lab_prediction *one)
{
    int i = 0;
    while (i < *n && !(same(list[i].variant, one->variant) &&
                       same(list[i].precision, one->precision) &&
                       same(list[i].size, one->size)))
        i++;
    if (i == LAB_BENCH_PREDICTIONS)
        return lab_fail(LAB_E_USAGE, "[predict.count] --predict: more than %d",
                        LAB_BENCH_PREDICTIONS);
    *n += i == *n;
    list[i] = *one;
    list[i].place = i;
    return LAB_OK;
}

enum lab_status lab_bench_predict(struct lab_bench *lab,
                                  const struct lab_prediction *p)
{
    enum lab_status st = fits(lab, p);
    return st ? st : set_prediction(lab->predictions, &lab->n_predictions, p);
}

static const char *part(const char *from, const char *to)
{
    char text[96];
    snprintf(text, sizeof(text), "%.*s", (int)(to - from), from);
    return lab_intern_text(lab_intern(text));
}

enum lab_status lab_prediction_pair(enum lab_bench_unit unit, const char *pair,
                                    struct lab_prediction *out)
{
    const char *equals = strchr(pair, '=');
    struct lab_prediction one;
    if (!equals || equals == pair)
        return lab_fail(LAB_E_USAGE,
                        "[predict.form] --predict %s: ask, or VARIANT=WHAT,...",
                        pair);
    const char *at = memchr(pair, '@', (size_t)(equals - pair));
    enum lab_status st = lab_prediction_parse(unit, equals + 1, &one);
    if (!st && !lab_prediction_any(&one))
        st = lab_fail(LAB_E_USAGE,
                      "[predict.number] --predict %s: a number above "
                      "0; " LAB_ROOFLINE_WORDS "; or 50%%",
                      pair);
    if (st)
        return lab_fail_context(st, "--predict");
    one.variant = part(pair, at ? at : equals);
    one.size = at && at + 1 < equals ? part(at + 1, equals) : NULL;
    *out = one;
    return LAB_OK;
}

static enum lab_status read_predictions(struct lab_bench *lab)
{
    const char *at = lab->options->predict;
    enum lab_status st = LAB_OK;
    if (!at || strcmp(at, "ask") == 0)
        return LAB_OK;
    while (!st && at) {
        char pair[160];
        struct lab_prediction p;
        size_t n = strcspn(at, ",");
        snprintf(pair, sizeof(pair), "%.*s", (int)(n < 150 ? n : 150), at);
        at = at[n] ? at + n + 1 : NULL;
        st = lab_prediction_pair(lab->ladder->unit, pair, &p);
        if (!st)
            st = lab_bench_predict(lab, &p);
    }
    return st;
}

static enum lab_status take_line(struct lab_bench *lab, const char *variant,
                                 const char *line)
{
    struct lab_prediction p;
    enum lab_status st = lab_prediction_parse(lab->ladder->unit, line, &p);
    p.variant = variant;
    if (st || !lab_prediction_any(&p))
        return st;
    return lab_bench_predict(lab, &p);
}

enum lab_status lab_bench_ask(struct lab_bench *lab)
{
    char unit[LAB_BENCH_UNIT];
    if (!lab->options->predict || strcmp(lab->options->predict, "ask") != 0)
        return LAB_OK;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return lab_fail(LAB_E_USAGE, "[predict.terminal] --predict ask needs a "
                                     "terminal: --predict VARIANT=WHAT,...");
    lab_bench_shown_unit(lab, unit, sizeof(unit));
    lab_printf(
        stdout,
        "What do you expect? A number of %s, or a time; " LAB_ROOFLINE_WORDS
        "; an occupancy, 50%%. Empty: no idea.\n",
        unit);
    for (int i = 0; i <= lab->n_variants;) {
        char line[96];
        bool best = i == lab->n_variants;
        const char *variant = best ? "best" : lab->variants[i]->name;
        lab_printf(stdout, "  %-10s %s: ", variant,
                   best ? "the fastest of them" : lab->variants[i]->idea);
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin))
            return LAB_OK;
        line[strcspn(line, "\n")] = '\0';
        if (take_line(lab, variant, line))
            lab_printf(stdout, "  %s\n", lab_error());
        else
            i++;
    }
    return LAB_OK;
}

/* ---- life ---- */

enum lab_status lab_bench_open(struct lab_bench *lab,
                               const struct lab_options *options)
{
    *lab = (struct lab_bench){.options = options, .repeats = USUAL_REPEATS};
    lab_bench_data_init(&lab->data);
    enum lab_status st = find(lab, options->lesson);
    if (!st) {
        lab_ladder_unit(lab->ladder, lab->unit, sizeof(lab->unit));
        st = lab_sim_backend_model(options->device_model);
        lab_sim_backend_budget(options->given.budget ? options->budget
                                                     : LAB_SIM_LAB_BUDGET);
    }
    if (!st)
        st = lab_backend_open(&lab->backend, options->backend, options->device);
    if (!st)
        st = read_sizes(lab);
    if (!st)
        st = read_variants(lab);
    lab->however_long = wants_all(options);
    if (!st && lab->lesson && lab->backend->host_memory &&
        !given_sizes(options) && !options->tune && !options->into)
        st = add_course_sizes(lab);
    if (!st)
        st = read_predictions(lab);
    if (!st && lab_bench_model_add_set(&lab->data,
                                       lab->backend->untimed       ? "simulated"
                                       : lab->backend->host_memory ? "CPU"
                                                                   : "GPU",
                                       "") == 0)
        lab->data.sets[0].runs = true;
    if (!st)
        st = lab_bench_model_plan(&lab->data, 0, lab);
    if (!st)
        st = lab_bench_model_slides(&lab->data, lab);
    if (st) {
        lab_bench_close(lab);
        return st;
    }
    if (lab->lesson && lab->lesson->lab.repeat)
        lab->repeats = (int)lab->lesson->lab.repeat;
    if (options->repeat)
        lab->repeats = options->repeat;
    return LAB_OK;
}

void lab_bench_close(struct lab_bench *lab)
{
    lab_database_close(lab->db);
    lab->db = NULL;
    lab_backend_close(lab->backend);
    lab_bench_data_release(&lab->data);
    lab_lesson_free(lab->lesson);
    lab_free(lab->to_trace);
    lab->backend = NULL;
    lab->lesson = NULL;
    lab->to_trace = NULL;
}
