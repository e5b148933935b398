/* Explains an element by the formula of its step. A sum of products is explained
 * by its terms, anything else by the formula with numbers put in. Short names
 * that the step gives its inputs, and keys of the op, are defined behind it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/explain.h"
#include "formula_priv.h"

enum { FACTORS = 12 };

struct writer {
    struct formula_element e;
    struct lab_explainer *ex;
    const struct lab_formula *f;
    const char *names; /* of the step's inputs */
    int root;
    struct lab_str *out;
    bool numbers;   /* values in place of names */
    bool averaging; /* within "mean(...)" */
    unsigned bound; /* letters of the sums around */
    char letter[LAB_FORMULA_LETTERS][8];
};

static double read_tensor(void *user, bool old, int slot, int64_t index)
{
    struct lab_explainer *ex = user;
    return old ? lab_explain_old(ex, slot, index)
               : lab_explain_in(ex, slot, index);
}

/* ---- short names ---- */

/* Word number `slot` of the names; NULL: it has none. */
static const char *short_name(const struct writer *w,
                              const struct lab_formula_ref *r)
{
    const char *s = r->out ? NULL : w->names;
    for (int i = 0; s && i < r->slot; i++) {
        s = strchr(s, ' ');
        s = s ? s + 1 : NULL;
    }
    return s && *s != '-' ? s : NULL;
}

/* NULL: the node is no tensor. */
static const struct lab_formula_ref *tensor_of(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    return n->kind == F_TENSOR ? &w->f->refs[n->id] : NULL;
}

/* Does the formula read one element of the input, outside of all sums? */
static bool alone(const struct writer *w, int node, int slot)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    const struct lab_formula_ref *r = tensor_of(w, node);
    if (r)
        return !r->out && r->slot == slot;
    return n->kind < F_SUM && ((n->a >= 0 && alone(w, n->a, slot)) ||
                               (n->b >= 0 && alone(w, n->b, slot)));
}

static bool named(const struct writer *w, const struct lab_formula_ref *r)
{
    return short_name(w, r) && alone(w, w->root, r->slot);
}

static bool all_named(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (n->kind == F_TENSOR)
        return named(w, &w->f->refs[n->id]);
    return (n->a < 0 || all_named(w, n->a)) && (n->b < 0 || all_named(w, n->b));
}

/* ---- the formula as text ---- */

/* "3", "k", "4+e", "t-1", "2*oh+1", "5-2*oh" */
static void put_index(struct writer *w, const struct lab_formula_ref *r,
                      int axis)
{
    int64_t number = r->index[axis].constant;
    size_t start = w->out->len;
    for (int k = 0; k < r->index[axis].n; k++) {
        int letter = r->index[axis].letter[k];
        if (!(w->bound >> letter & 1))
            number += r->index[axis].coef[k] * w->e.at[letter];
    }
    if (number > 0)
        lab_str_addf(w->out, "%lld", (long long)number);
    for (int k = 0; k < r->index[axis].n; k++) {
        long long coef = (long long)r->index[axis].coef[k];
        int letter = r->index[axis].letter[k];
        if (!(w->bound >> letter & 1))
            continue;
        if (coef < 0 && w->out->len == start)
            lab_str_add(w->out, "0");
        lab_str_add(w->out, coef < 0 ? "-" : w->out->len == start ? "" : "+");
        lab_str_add(w->out, w->letter[letter]);
        if (coef != 1 && coef != -1)
            lab_str_addf(w->out, "*%lld", coef < 0 ? -coef : coef);
    }
    if (number < 0 || w->out->len == start)
        lab_str_addf(w->out, "%lld", (long long)number);
}

static void put_tensor(struct writer *w, const struct lab_formula_ref *r)
{
    const char *name = named(w, r) || (w->bound == 0 && short_name(w, r))
                           ? short_name(w, r)
                           : NULL;
    char at[LAB_SHAPE_TEXT];
    const char *before = "[";
    if (r->out && r->slot == w->e.slot) {
        lab_str_add(w->out, "old");
        return;
    }
    if (name)
        lab_str_add_bytes(w->out, name, strcspn(name, " "));
    else
        lab_str_add(w->out, r->out ? lab_explain_out_name(w->ex, r->slot)
                                   : lab_explain_in_name(w->ex, r->slot));
    if (name && (w->bound == 0 || w->averaging))
        return;
    if (r->flat) {
        lab_explain_at(r->out ? lab_explain_out_shape(w->ex, r->slot)
                              : lab_explain_in_shape(w->ex, r->slot),
                       w->e.flat, at);
        lab_str_addf(w->out, *at ? "[%s]" : "%s", at);
        return;
    }
    for (int i = 0; i < r->n; i++) {
        bool bound = false;
        for (int k = 0; k < r->index[i].n; k++)
            bound |= w->bound >> r->index[i].letter[k] & 1;
        if (name && !bound)
            continue;
        lab_str_add(w->out, before);
        before = ",";
        put_index(w, r, i);
    }
    lab_str_add(w->out, *before == ',' ? "]" : "");
}

static void put(struct writer *w, int node);

/* The letters of a sum under their names: batch axes and the first of the sum
 * together are "n,t" or "n,h,t". */
static void name_letters(struct writer *w, unsigned letters)
{
    int batch = 0;
    for (int i = 0; i < LAB_MAX_RANK; i++)
        batch += letters >> i & 1;
    const char *axes = lab_explain_axes(batch + 1);
    for (int i = 0, k = 0; i < w->f->n_letters; i++) {
        if (!(letters >> i & 1))
            continue;
        if (batch > 0 && k <= batch)
            snprintf(w->letter[i], sizeof(w->letter[i]), "%c", axes[2 * k++]);
        else
            memcpy(w->letter[i], w->f->letters[i].name, sizeof(w->letter[i]));
    }
}

static void put_sum(struct writer *w, const struct lab_formula_node *n)
{
    unsigned around = w->bound;
    const char *before = "sum_";
    if (n->kind == F_MEAN && all_named(w, n->a)) {
        w->averaging = true;
        w->bound |= (unsigned)n->id;
        lab_str_add(w->out, w->f->nodes[n->a].paren ? "mean" : "mean(");
        put(w, n->a);
        lab_str_add(w->out, w->f->nodes[n->a].paren ? "" : ")");
        w->averaging = false;
        w->bound = around;
        return;
    }
    name_letters(w, (unsigned)n->id);
    for (int i = 0; i < w->f->n_letters; i++) {
        if (!((unsigned)n->id >> i & 1) || w->f->letters[i].extent == 0)
            continue;
        lab_str_addf(w->out, "%s%s", before, w->letter[i]);
        before = ",";
    }
    lab_str_add(w->out, *before == ',' ? " " : "");
    w->bound |= (unsigned)n->id;
    put(w, n->a);
    w->bound = around;
    if (n->kind == F_MEAN)
        lab_str_addf(w->out, " / %.0f",
                     lab_formula_combinations(w->f, (unsigned)n->id));
}

static void put_product(struct writer *w, const struct lab_formula_node *n)
{
    const struct lab_formula_node *b = &w->f->nodes[n->b];
    bool blank = n->spelled == ' ' && (b->paren || !w->numbers);
    put(w, n->a);
    if (n->kind == F_DIVIDE)
        lab_str_add(w->out, n->spaced ? " / " : "/");
    else
        lab_str_add(w->out, blank ? " " : " * ");
    put(w, n->b);
}

static void put(struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    static const char *const sign[] = {
        [F_ADD] = " + ", [F_SUBTRACT] = " - ", [F_EQUAL] = " = "};
    bool value = w->numbers && (n->kind == F_TENSOR || n->kind == F_KEY ||
                                n->kind == F_EQUAL || n->kind >= F_SUM);
    lab_str_add(w->out, n->paren ? "(" : "");
    if (value || n->kind == F_NUMBER) {
        lab_str_addf(w->out,
                     n->kind == F_TENSOR || n->kind >= F_SUM ? "%.6g" : "%g",
                     lab_formula_eval(&w->e, node));
    } else if (n->kind == F_TENSOR) {
        put_tensor(w, &w->f->refs[n->id]);
    } else if (n->kind >= F_SUM) {
        put_sum(w, n);
    } else if (n->kind == F_MULTIPLY || n->kind == F_DIVIDE) {
        put_product(w, n);
    } else if (n->kind == F_LETTER) {
        lab_str_addf(w->out, "%lld", (long long)w->e.at[n->id]);
    } else if (n->kind == F_KEY) {
        lab_str_add(w->out, lab_explain_op(w->ex)->keys[n->id].name);
    } else if (n->kind == F_NEGATE) {
        lab_str_add(w->out, "-");
        put(w, n->a);
    } else if (n->kind == F_POWER) {
        put(w, n->a);
        lab_str_addf(w->out, "^%g", n->number);
    } else if (n->kind == F_CALL) {
        lab_str_addf(w->out, "%s(", lab_formula_function(n->id));
        put(w, n->a);
        if (n->b >= 0) {
            lab_str_add(w->out, ", ");
            put(w, n->b);
        }
        lab_str_add(w->out, ")");
    } else {
        lab_str_add(w->out, n->kind == F_EQUAL ? "[" : "");
        put(w, n->a);
        lab_str_add(w->out, sign[n->kind]);
        put(w, n->b);
        lab_str_add(w->out, n->kind == F_EQUAL ? "]" : "");
    }
    lab_str_add(w->out, n->paren ? ")" : "");
}

/* ---- sources and definitions ---- */

/* The tensors under the node; those of a sum only when `sums`. Returns how many
 * there are. */
static int add_sources(struct writer *w, int node, bool sums)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    const struct lab_formula_ref *r = tensor_of(w, node);
    bool old = r && r->out && r->slot == w->e.slot;
    if (r && r->out && !old)
        lab_explain_source_out(w->ex, r->slot, lab_formula_index(&w->e, r));
    else if (r && !old)
        lab_explain_source(w->ex, r->slot, lab_formula_index(&w->e, r));
    if (n->kind >= F_SUM) {
        struct formula_element outside = w->e;
        int found = 0;
        lab_formula_first(&w->e, (unsigned)n->id);
        do
            found += sums ? add_sources(w, n->a, true) : 0;
        while (found < LAB_TERM_SOURCES && sums &&
               lab_formula_next(&w->e, (unsigned)n->id));
        w->e = outside;
        return found;
    }
    return (r != NULL) + (n->a < 0 ? 0 : add_sources(w, n->a, sums)) +
           (n->b < 0 ? 0 : add_sources(w, n->b, sums));
}

static void define_tensor(struct writer *w, const struct lab_formula_ref *r,
                          unsigned *done)
{
    const char *s = short_name(w, r);
    char name[24];
    if (r->out && r->slot == w->e.slot) {
        lab_explain_let_old(w->ex, "old", r->slot, w->e.flat);
    } else if (s && !(*done >> r->slot & 1)) {
        *done |= 1u << r->slot;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(s, " "), s);
        lab_explain_let(w->ex, name, r->slot, lab_formula_index(&w->e, r));
    }
}

/* What the formula's words are, in their order: short names and keys, then, with
 * `sums`, the sums over what has a short name. */
static void define(struct writer *w, int node, bool sums, unsigned *done)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (n->kind == F_TENSOR && !sums) {
        define_tensor(w, tensor_of(w, node), done);
    } else if (n->kind == F_KEY && !sums && !(*done >> (16 + n->id) & 1)) {
        *done |= 1u << (16 + n->id);
        lab_explain_where(w->ex, "%s = %g",
                          lab_explain_op(w->ex)->keys[n->id].name,
                          lab_formula_eval(&w->e, node));
    } else if (n->kind >= F_SUM && sums && all_named(w, n->a)) {
        struct lab_str text;
        lab_str_init(&text);
        w->out = &text;
        put(w, node);
        lab_explain_where(w->ex, "%s = %.6g", lab_str_text(&text),
                          lab_formula_eval(&w->e, node));
        lab_str_release(&text);
    }
    if (n->kind < F_SUM && n->a >= 0)
        define(w, n->a, sums, done);
    if (n->kind < F_SUM && n->b >= 0)
        define(w, n->b, sums, done);
}

/* ---- terms ---- */

/* Is it a sum of products? What is under a sum may be anything. */
static bool sum_of_products(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (lab_formula_constant(w->f, node))
        return true;
    if (n->kind == F_ADD || n->kind == F_MULTIPLY || n->kind == F_DIVIDE)
        return !(n->paren && n->kind == F_ADD) && sum_of_products(w, n->a) &&
               sum_of_products(w, n->b);
    return n->kind == F_TENSOR || n->kind >= F_SUM;
}

struct product {
    struct {
        int node; /* -1: the number of a mean's terms */
        bool divide;
        double count;
    } factor[FACTORS];
    int n;
    unsigned letters;
};

static void add_factors(struct writer *w, struct product *p, int node,
                        bool divide)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (!divide && (n->kind == F_MULTIPLY || n->kind == F_DIVIDE) &&
        !lab_formula_constant(w->f, node)) {
        add_factors(w, p, n->a, false);
        add_factors(w, p, n->b, n->kind == F_DIVIDE);
        return;
    }
    if (!divide && n->kind >= F_SUM) {
        p->letters |= (unsigned)n->id;
        add_factors(w, p, n->a, false);
        node = -1;
        divide = true;
        if (n->kind == F_SUM)
            return;
    }
    if (p->n == FACTORS)
        return;
    p->factor[p->n].node = node;
    p->factor[p->n].count = lab_formula_combinations(w->f, (unsigned)n->id);
    p->factor[p->n++].divide = divide;
}

/* "0.5*2/3", and the elements that it is made of. */
static void add_term(struct writer *w, const struct product *p, double value)
{
    struct lab_str text;
    char *term = lab_explain_term(w->ex, value, "%s", "");
    if (!term)
        return;
    lab_str_init(&text);
    w->out = &text;
    w->numbers = true;
    for (int i = 0; i < p->n; i++) {
        int node = p->factor[i].node;
        double v = node < 0 ? p->factor[i].count : 0;
        lab_str_add(&text, i == 0 ? "" : p->factor[i].divide ? "/" : "*");
        if (node >= 0 && !lab_formula_constant(w->f, node)) {
            put(w, node);
            add_sources(w, node, true);
            continue;
        }
        v = node < 0 ? v : lab_formula_eval(&w->e, node);
        lab_str_addf(&text, v == floor(v) && v < 1e15 ? "%.0f" : "%.6g", v);
    }
    w->numbers = false;
    snprintf(term, LAB_TERM_TEXT, "%s", lab_str_text(&text));
    lab_str_release(&text);
}

static void add_terms(struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    struct product p = {.n = 0};
    if (n->kind == F_ADD) {
        add_terms(w, n->a);
        add_terms(w, n->b);
        return;
    }
    add_factors(w, &p, node, false);
    struct formula_element outside = w->e;
    lab_formula_first(&w->e, p.letters);
    do {
        double value = 1;
        w->e.outside = false;
        for (int i = 0; i < p.n; i++) {
            double v = p.factor[i].node < 0
                           ? p.factor[i].count
                           : lab_formula_eval(&w->e, p.factor[i].node);
            value = p.factor[i].divide ? value / v : value * v;
        }
        if (!w->e.outside)
            add_term(w, &p, value);
    } while (lab_formula_next(&w->e, p.letters));
    w->e = outside;
}

void lab_explain_formula(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_formula *f = lab_explain_parsed(ex);
    int s = lab_formula_statement(f, out_slot);
    struct writer w = {.ex = ex,
                       .f = f,
                       .names = lab_explain_short_names(ex),
                       .root = f->statements[s].root};
    const char *note = f->statements[s].note;
    struct lab_str text;
    unsigned done = 0;
    lab_formula_at(&w.e, f, s, index);
    w.e.read = read_tensor;
    w.e.user = ex;
    lab_str_init(&text);
    w.out = &text;
    put(&w, w.root);
    if (note) {
        lab_str_add(&text, ", ");
        lab_str_add_bytes(&text, note, strcspn(note, "\""));
    }
    lab_explain_symbolic(ex, "%s", lab_str_text(&text));
    if (sum_of_products(&w, w.root)) {
        add_terms(&w, w.root);
    } else {
        lab_str_clear(&text);
        w.numbers = true;
        put(&w, w.root);
        w.numbers = false;
        lab_explain_numeric(ex, "%s", lab_str_text(&text));
        if (add_sources(&w, w.root, false) == 0)
            add_sources(&w, w.root, true);
        lab_explain_value(ex, lab_formula_eval(&w.e, w.root));
    }
    lab_str_release(&text);
    define(&w, w.root, false, &done);
    define(&w, w.root, true, &done);
}
