/* neighbours.c -- finds the words with the embeddings nearest to that of a word
 * or of a sum of words. */
#include "engine/vocabulary.h"
#include "engine/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

double lab_cosine(const double *a, const double *b, int64_t n)
{
    double ab = 0;
    double aa = 0;
    double bb = 0;
    for (int64_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    double length = sqrt(aa) * sqrt(bb);
    return length > 0 && isfinite(length) ? ab / length : NAN;
}

/* ---- the question ---- */

struct question {
    const struct lab_vocabulary *v;
    struct lab_near_term *terms;
    int n;
    double sign;
};

static enum lab_status take_word(void *user, const char *word, size_t len)
{
    struct question *q = user;
    int64_t id = lab_vocabulary_find(q->v, word);
    (void)len;
    if (id < 0) {
        const char *near =
            lab_nearest(word, (const char *const *)q->v->word, (size_t)q->v->n);
        return near ? lab_fail(LAB_E_NOTFOUND,
                               "[near.word] the text has no word '%s'; did you "
                               "mean '%s'?",
                               word, near)
                    : lab_fail(LAB_E_NOTFOUND,
                               "[near.word] the text has no word '%s': the "
                               "network has never seen it",
                               word);
    }
    if (q->n == LAB_NEAR_WORDS)
        return lab_fail(LAB_E_PARSE,
                        "[near.words] at most %d words in one question",
                        LAB_NEAR_WORDS);
    q->terms[q->n++] = (struct lab_near_term){id, q->sign};
    return LAB_OK;
}

enum lab_status lab_near_parse(const struct lab_vocabulary *v,
                               const char *question,
                               struct lab_near_term terms[LAB_NEAR_WORDS],
                               int *n)
{
    struct question q = {.v = v, .terms = terms, .sign = 1};
    enum lab_status st = LAB_OK;
    for (const char *p = question; *p && !st;) {
        size_t len = strcspn(p, "+-");
        st = lab_tokenize(p, len, take_word, &q);
        p += len;
        if (*p)
            q.sign = *p++ == '-' ? -1 : 1;
    }
    if (!st && q.n == 0)
        st = lab_fail(LAB_E_PARSE, "[near.empty] near which word? `near king`, "
                                   "or a sum: `near king - man + woman`");
    if (!st)
        *n = q.n;
    return st;
}

/* ---- the answer ---- */

/* Adds the row to `sum`, as a vector of length 1. */
static void add_unit(double *sum, const float *row, int64_t dim, double sign)
{
    double length = 0;
    for (int64_t i = 0; i < dim; i++)
        length += (double)row[i] * row[i];
    length = sqrt(length);
    for (int64_t i = 0; i < dim && length > 0; i++)
        sum[i] += sign * row[i] / length;
}

static void keep(struct lab_neighbours *out, const struct lab_neighbour *one)
{
    int at = out->n;
    while (at > 0 && out->near[at - 1].similarity < one->similarity)
        at--;
    if (at == LAB_NEAR_MOST)
        return;
    out->n += out->n < LAB_NEAR_MOST;
    for (int i = out->n - 1; i > at; i--)
        out->near[i] = out->near[i - 1];
    out->near[at] = *one;
}

/* Between two points; from 0 where `a` is NULL. */
static double distance(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = (a ? a[i] : 0) - b[i];
        sum += d * d;
    }
    return sqrt(sum);
}

static bool is_term(int64_t id, const struct lab_near_term *terms, int n)
{
    bool found = false;
    for (int i = 0; i < n; i++)
        found = found || terms[i].id == id;
    return found;
}

enum lab_status lab_near_find(const float *table, int64_t rows, int64_t dim,
                              int64_t first, const struct lab_near_term *terms,
                              int n_terms, struct lab_neighbours *out)
{
    double *sum = lab_alloc_array((size_t)dim, sizeof(*sum));
    double *row = lab_alloc_array((size_t)dim, sizeof(*row));
    double *raw = lab_alloc_array((size_t)dim, sizeof(*raw)); /* no units */
    out->n = 0;
    for (int i = 0; sum && raw && i < n_terms; i++) {
        add_unit(sum, table + terms[i].id * dim, dim, terms[i].sign);
        for (int64_t k = 0; k < dim; k++)
            raw[k] += terms[i].sign * (double)table[terms[i].id * dim + k];
    }
    for (int64_t id = first; sum && row && raw && id < rows; id++) {
        for (int64_t i = 0; i < dim; i++)
            row[i] = table[id * dim + i];
        double similarity = lab_cosine(sum, row, dim);
        if (!isnan(similarity) && !is_term(id, terms, n_terms))
            keep(out, &(struct lab_neighbour){id, similarity,
                                              distance(raw, row, dim),
                                              distance(NULL, row, dim)});
    }
    bool done = sum && row && raw;
    lab_free(raw);
    lab_free(sum);
    lab_free(row);
    return done ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory to compare words");
}

enum { LAB_NEAR_NAME_BYTES = 256 };

/* The table of the first node that looks ids up; -1: none. */
static int find_table(const struct lab_plan *plan)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        char name[LAB_NEAR_NAME_BYTES];
        const struct lab_node *node = &plan->nodes[i];
        if (!node->op->takes_ids)
            continue;
        snprintf(name, sizeof(name), "%s.W", node->id);
        int table = lab_plan_tensor(plan, name);
        if (table >= 0 && plan->tensors[table].shape.rank == 2)
            return table;
    }
    return -1;
}

/* A question, read, and the table that it is asked of. */
struct asked {
    const struct lab_vocabulary *v;
    struct lab_near_term terms[LAB_NEAR_WORDS];
    int n;
    int64_t rows; /* of words, and numbers in each */
    int64_t dim;
    float *values; /* the table; the caller's (lab_free) */
};

static enum lab_status read_table(struct lab_walk *w, int table,
                                  struct asked *out)
{
    const struct lab_near_term *terms = out->terms;
    const struct lab_tensor *t = &lab_walk_plan(w)->tensors[table];
    int64_t rows = t->shape.dim[0] < out->v->n ? t->shape.dim[0] : out->v->n;
    int n_terms = out->n;
    for (int i = 0; i < n_terms; i++) {
        if (terms[i].id >= rows)
            return lab_fail(
                LAB_E_RANGE,
                "[near.row] %s has %lld rows: none for the word number %lld",
                t->name, (long long)t->shape.dim[0], (long long)terms[i].id);
    }
    float *values = lab_alloc_array((size_t)t->count, sizeof(*values));
    if (!values)
        return lab_fail(LAB_E_NOMEM, "no memory for %s", t->name);
    enum lab_status st = lab_walk_read(w, table, false, values);
    if (st) {
        lab_free(values);
        return st;
    }
    out->values = values;
    out->rows = rows;
    out->dim = t->shape.dim[1];
    return LAB_OK;
}

static enum lab_status read_question(struct lab_walk *w, const char *question,
                                     struct asked *out)
{
    const struct lab_vocabulary *v = lab_data_words(lab_walk_data(w));
    int table = find_table(lab_walk_plan(w));
    if (!v)
        return lab_fail(
            LAB_E_NOTFOUND,
            "[near.no-words] near: this lesson's data has no words");
    if (table < 0)
        return lab_fail(
            LAB_E_NOTFOUND,
            "[near.no-embedding] near: this network has no embedding of words");
    *out = (struct asked){.v = v};
    enum lab_status st = lab_near_parse(v, question, out->terms, &out->n);
    return st ? st : read_table(w, table, out);
}

enum lab_status lab_near_vector(struct lab_walk *w, const char *question,
                                double **out, int64_t *n)
{
    struct asked a;
    enum lab_status st = read_question(w, question, &a);
    if (st)
        return st;
    double *sum = lab_alloc_array((size_t)a.dim, sizeof(*sum));
    for (int i = 0; sum && i < a.n; i++)
        for (int64_t k = 0; k < a.dim; k++)
            sum[k] +=
                a.terms[i].sign * (double)a.values[a.terms[i].id * a.dim + k];
    lab_free(a.values);
    if (!sum)
        return lab_no_memory("a word's vector");
    *out = sum;
    *n = a.dim;
    return LAB_OK;
}

enum lab_status lab_near_ask(struct lab_walk *w, const char *question,
                             struct lab_neighbours *out)
{
    struct lab_neighbours answer = {.n = 0};
    struct asked a;
    enum lab_status st = read_question(w, question, &a);
    if (st)
        return st;
    st = lab_near_find(a.values, a.rows, a.dim, a.v->unknown > 0 ? 2 : 1,
                       a.terms, a.n, &answer);
    lab_free(a.values);
    if (st)
        return st;
    snprintf(answer.question, sizeof(answer.question), "%s", question);
    *out = answer;
    return LAB_OK;
}

void lab_near_text(const struct lab_vocabulary *v,
                   const struct lab_neighbours *n, struct lab_str *out)
{
    lab_str_addf(out, "near %s:", n->question);
    for (int i = 0; i < n->n; i++)
        lab_str_addf(out, "%s %s %.3f", i ? "," : "",
                     lab_vocabulary_word(v, n->near[i].id),
                     n->near[i].similarity);
    if (n->n == 0)
        lab_str_add(out, " no other word");
}
