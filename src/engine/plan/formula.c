/* formula.c -- formulas in index notation, and explanations by them (the
 * grammar is in engine/formula.h).
 *
 * * First parsing: over what each letter runs; elements, and FLOPs. Then one
 * element explained: its formula, its terms and its value in double, and
 * whether the tensor's value is that but for rounding. What rounding can do is
 * not guessed from the largest number around: of a sum it follows from its
 * terms, of another formula from computing it again with its inputs changed by
 * a rounding error. */
#include "engine/formula.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/explain.h"

enum {
    F_NUMBER,
    F_TENSOR,
    F_LETTER,
    F_KEY,
    F_NEGATE,
    F_ADD,
    F_SUBTRACT,
    F_MULTIPLY,
    F_DIVIDE,
    F_POWER,
    F_CALL,
    F_EQUAL,
    F_SUM,
    F_MEAN
};

/* One element of a statement, while it is computed. */
struct formula_element {
    const struct lab_formula *f;
    int slot;
    int64_t flat;
    int64_t at[LAB_FORMULA_LETTERS]; /* of the letters that have a value */
    lab_formula_read_fn *read;
    void *user;
    bool outside; /* the term reads outside a tensor */
    struct {      /* the last element of an output, computed on the way */
        bool known;
        int64_t index;
        double value;
    } last[LAB_STEP_OUT];
};

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* What a function costs: a sigmoid is a change of sign, an exp, an addition and
 * a division. */
static const struct {
    const char *name;
    double (*value)(double); /* NULL: of two arguments */
    int flop;
} functions[] = {{"exp", exp, 1},        {"log", log, 1}, {"sqrt", sqrt, 1},
                 {"tanh", tanh, 1},      {"erf", erf, 1}, {"max", NULL, 1},
                 {"sigmoid", sigmoid, 4}};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

/* ---- parsing ---- */

struct parser {
    const char *s; /* the rest of the text */
    struct lab_formula *f;
    const struct lab_formula_step *step;
    struct lab_formula_ref axes; /* the step's */
    unsigned named; /* letters of this statement's brackets and sums */
    enum lab_status status;
};

static int fail(struct parser *p, const char *what)
{
    if (!p->status)
        p->status = lab_fail(LAB_E_PARSE,
                             "[formula.syntax] formula '%s', column %d: %s",
                             p->f->text, (int)(p->s - p->f->text) + 1, what);
    return 0;
}

static char peek(struct parser *p)
{
    p->s += strspn(p->s, " ");
    return *p->s;
}

static bool take(struct parser *p, char c)
{
    if (p->status || peek(p) != c)
        return false;
    p->s++;
    return true;
}

static void want(struct parser *p, char c)
{
    char what[] = "' ' is missing";
    what[1] = c;
    if (!take(p, c))
        fail(p, what);
}

static int new_node(struct parser *p, int kind, int a, int b)
{
    struct lab_formula *f = p->f;
    if (f->n_nodes == LAB_FORMULA_NODES)
        return fail(p, "too long");
    f->nodes[f->n_nodes] = (struct lab_formula_node){
        .kind = (unsigned char)kind, .a = (short)a, .b = (short)b};
    return f->n_nodes++;
}

static int leaf(struct parser *p, int kind, int id)
{
    int node = new_node(p, kind, -1, -1);
    p->f->nodes[node].id = id;
    return node;
}

static const char LOWER[] = "abcdefghijklmnopqrstuvwxyz";

static int find_letter(const struct lab_formula *f, const char *s, size_t n)
{
    for (int i = LAB_MAX_RANK; i < f->n_letters; i++) {
        if (strlen(f->letters[i].name) == n &&
            memcmp(f->letters[i].name, s, n) == 0)
            return i;
    }
    return -1;
}

static int read_letter(struct parser *p)
{
    struct lab_formula *f = p->f;
    size_t n = strspn(p->s, LOWER);
    int found = find_letter(f, p->s, n);
    if (n == 0 || n >= sizeof(f->letters->name))
        return fail(p, "expected a letter");
    if (found < 0 && f->n_letters == LAB_FORMULA_LETTERS)
        return fail(p, "too many letters");
    if (found < 0) {
        found = f->n_letters++;
        memcpy(f->letters[found].name, p->s, n);
    }
    p->s += n;
    return found;
}

static int64_t read_digits(struct parser *p)
{
    char *end;
    long long v = strtoll(p->s, &end, 10);
    if (!isdigit((unsigned char)*p->s) || v > INT32_MAX)
        return fail(p, "expected a whole number");
    p->s = end;
    return v;
}

static void read_index(struct parser *p, struct lab_formula_ref *r)
{
    int64_t sign = take(p, '-') ? -1 : 1;
    do {
        bool digits = isdigit((unsigned char)peek(p));
        int64_t coef = digits ? read_digits(p) : 1;
        int k = r->index[r->n].n;
        if (digits && !take(p, '*')) {
            r->index[r->n].constant += sign * coef;
        } else if (k == 3) {
            fail(p, "more than three letters in an index");
        } else {
            peek(p);
            r->index[r->n].coef[k] = sign * coef;
            r->index[r->n].letter[k] = read_letter(p);
            p->named |= 1u << r->index[r->n].letter[k];
            r->index[r->n].n++;
        }
        sign = peek(p) == '-' ? -1 : 1;
    } while (take(p, '+') || take(p, '-'));
    r->n++;
}

static const struct lab_shape *shape_of(const struct parser *p,
                                        const struct lab_formula_ref *r)
{
    return r->out ? p->step->out[r->slot] : p->step->in[r->slot];
}

/* "$i0[n,k]" */
static int read_tensor(struct parser *p)
{
    struct lab_formula *f = p->f;
    struct lab_formula_ref *r = &f->refs[f->n_refs];
    if (f->n_refs == LAB_FORMULA_REFS)
        return fail(p, "too many tensors");
    *r = (struct lab_formula_ref){.out = p->s[1] == 'o'};
    if (!take(p, '$') || (*p->s != 'i' && *p->s != 'o'))
        return fail(p, "expected $i or $o");
    p->s++;
    r->slot = (int)read_digits(p);
    if (r->slot >= (r->out ? LAB_STEP_OUT : LAB_STEP_IN) || !shape_of(p, r))
        return fail(p, "the step has no such tensor");
    r->flat = *p->s != '[';
    if (!r->flat) {
        p->s++;
        do {
            if (r->n == LAB_MAX_RANK)
                return fail(p, "too many indices");
            read_index(p, r);
        } while (take(p, ','));
        want(p, ']');
    }
    return f->n_refs++;
}

static int read_sum(struct parser *p);
static int read_product(struct parser *p);

/* "sum_c,kh,kw", behind the word. */
static int read_reduction(struct parser *p, int kind)
{
    int letters = 0;
    if (*p->s == '_') {
        do {
            p->s++;
            letters |= 1 << read_letter(p);
        } while (!p->status && *p->s == ',');
        p->named |= (unsigned)letters;
    }
    int node = new_node(p, kind, read_product(p), -1);
    p->f->nodes[node].id = letters;
    return node;
}

static int read_call(struct parser *p, int function)
{
    want(p, '(');
    int a = read_sum(p);
    int b = -1;
    if (!functions[function].value) {
        want(p, ',');
        b = read_sum(p);
    }
    want(p, ')');
    int node = new_node(p, F_CALL, a, b);
    p->f->nodes[node].id = function;
    return node;
}

static int read_word(struct parser *p)
{
    static const char *const sums[] = {"sum", "mean"};
    const char *s = p->s;
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] == '_' && n > 0))
        n++;
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(sums[i]);
        if (strncmp(s, sums[i], len) == 0 && (n == len || s[len] == '_')) {
            p->s += len;
            return read_reduction(p, F_SUM + i);
        }
    }
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strlen(functions[i].name) == n && s[n] == '(' &&
            memcmp(s, functions[i].name, n) == 0) {
            p->s += n;
            return read_call(p, i);
        }
    }
    for (int i = 0; i < p->step->n_keys; i++) {
        if (strlen(p->step->keys[i].name) == n &&
            memcmp(s, p->step->keys[i].name, n) == 0) {
            p->s += n;
            return leaf(p, F_KEY, i);
        }
    }
    int letter = find_letter(p->f, s, n);
    if (letter < 0)
        return fail(p, "a word that is no function, key or letter");
    p->s += n;
    return leaf(p, F_LETTER, letter);
}

static int read_value(struct parser *p)
{
    char *end;
    int node;
    switch (peek(p)) {
    case '$':
        return leaf(p, F_TENSOR, read_tensor(p));
    case '(':
        p->s++;
        node = read_sum(p);
        want(p, ')');
        p->f->nodes[node].paren = true;
        return node;
    case '[':
        p->s++;
        node = read_sum(p);
        want(p, '=');
        node = new_node(p, F_EQUAL, node, read_sum(p));
        want(p, ']');
        return node;
    default:
        if (isalpha((unsigned char)*p->s))
            return read_word(p);
        if (!isdigit((unsigned char)*p->s))
            return fail(p, "expected a value");
        node = leaf(p, F_NUMBER, 0);
        p->f->nodes[node].number = strtod(p->s, &end);
        p->s = end;
        return node;
    }
}

static int read_power(struct parser *p)
{
    bool negative = take(p, '-');
    int node = p->status ? 0 : read_value(p);
    if (!p->status && *p->s == '^') {
        p->s++;
        double n = (double)read_digits(p);
        node = new_node(p, F_POWER, node, -1);
        p->f->nodes[node].number = n;
    }
    return negative ? new_node(p, F_NEGATE, node, -1) : node;
}

static int read_product(struct parser *p)
{
    int node = read_power(p);
    while (!p->status) {
        bool spaced = *p->s == ' ';
        char c = peek(p);
        bool sign = c == '*' || c == '~' || c == '/';
        if (!sign && !isalnum((unsigned char)c) && (!c || !strchr("$([", c)))
            break;
        p->s += sign;
        int b = read_power(p);
        node = new_node(p, c == '/' ? F_DIVIDE : F_MULTIPLY, node, b);
        p->f->nodes[node].spelled = sign ? c : ' ';
        p->f->nodes[node].spaced = spaced;
    }
    return node;
}

static int read_sum(struct parser *p)
{
    int node = read_product(p);
    while (!p->status && (peek(p) == '+' || *p->s == '-')) {
        int kind = *p->s++ == '+' ? F_ADD : F_SUBTRACT;
        int b = read_product(p);
        node = new_node(p, kind, node, b);
    }
    return node;
}

/* ---- over what the letters run ---- */

/* An index for each axis of the tensor, batch axes first. */
static void place_ref(struct parser *p, struct lab_formula_ref *r, bool left)
{
    const struct lab_shape *shape = shape_of(p, r);
    struct lab_formula_ref given = r->flat ? p->axes : *r;
    r->flat = r->flat && given.n == 0 && !left;
    r->n = shape->rank;
    for (int i = 0; i < shape->rank; i++) {
        int from = given.n - shape->rank + i;
        r->index[i] = given.index[from < 0 ? 0 : from];
        if (from < 0) {
            r->index[i].constant = 0;
            r->index[i].n = !r->flat;
            r->index[i].coef[0] = 1;
            r->index[i].letter[0] = LAB_MAX_RANK + from;
        }
        r->index[i].dim = shape->dim[i];
    }
}

static bool plain(const struct lab_formula_ref *r, int axis)
{
    return r->index[axis].n == 1 && r->index[axis].coef[0] == 1 &&
           r->index[axis].constant == 0;
}

/* A letter that is an axis' whole index runs over the axis; "e" of "4*h+e", the
 * columns of a head, over 4. */
static void measure(struct parser *p, const struct lab_formula_ref *r,
                    bool joined)
{
    for (int i = 0; i < r->n; i++) {
        int last = r->index[i].letter[joined];
        int64_t *extent = &p->f->letters[last].extent;
        if (!joined && plain(r, i) && *extent == 0)
            *extent = r->index[i].dim;
        if (joined && r->index[i].n == 2 && r->index[i].constant == 0 &&
            r->index[i].coef[1] == 1 && *extent == 0)
            *extent = r->index[i].coef[0];
    }
}

/* An index on the left gives its letters their values. */
static void check_left(struct parser *p, const struct lab_formula_ref *r)
{
    for (int i = 0; i < r->n; i++) {
        if (r->index[i].n == 0 || r->index[i].constant != 0 ||
            r->index[i].coef[r->index[i].n - 1] != 1)
            fail(p, "an index on the left is no letter");
    }
}

static unsigned ref_letters(const struct lab_formula_ref *r)
{
    unsigned mask = 0;
    for (; r->flat; r--) /* its statement's first is on the left */
        ;
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < r->index[i].n; k++)
            mask |= 1u << r->index[i].letter[k];
    return mask;
}

static unsigned formula_letters(const struct lab_formula *f, int node)
{
    const struct lab_formula_node *n = &f->nodes[node];
    unsigned mask = 0;
    if (n->kind == F_TENSOR)
        return ref_letters(&f->refs[n->id]);
    if (n->kind == F_LETTER)
        return 1u << n->id;
    if (n->a >= 0)
        mask |= formula_letters(f, n->a);
    if (n->b >= 0)
        mask |= formula_letters(f, n->b);
    return n->kind >= F_SUM ? mask & ~(unsigned)n->id : mask;
}

/* Batch axes that the result lacks are summed over by the outermost sums. */
static void sum_batch(struct lab_formula *f, int node, unsigned open)
{
    struct lab_formula_node *n = &f->nodes[node];
    if (n->kind >= F_SUM) {
        n->id |= (int)(open & formula_letters(f, n->a));
        return;
    }
    if (n->a >= 0)
        sum_batch(f, n->a, open);
    if (n->b >= 0)
        sum_batch(f, n->b, open);
}

/* The statement's refs and nodes from `ref` and `node` on. */
static void resolve(struct parser *p, int ref, int node, int root)
{
    struct lab_formula *f = p->f;
    unsigned axes = ref_letters(&p->axes) & ~p->named;
    unsigned used = 0;
    for (int i = ref; i < f->n_refs; i++)
        place_ref(p, &f->refs[i], i == ref);
    for (int joined = 0; joined < 2; joined++)
        for (int i = ref; i < f->n_refs; i++)
            measure(p, &f->refs[i], joined);
    check_left(p, &f->refs[ref]);
    for (int i = ref; i < f->n_refs; i++)
        used |= ref_letters(&f->refs[i]);
    for (int i = 0; i < f->n_letters; i++) {
        if (used >> i & 1 && f->letters[i].extent == 0)
            fail(p, "a letter has no axis of its own");
    }
    for (int i = node; i < f->n_nodes; i++) {
        if (f->nodes[i].kind >= F_SUM && f->nodes[i].id == 0)
            f->nodes[i].id = (int)axes;
    }
    unsigned left = ref_letters(&f->refs[ref]);
    sum_batch(f, root, ((1u << LAB_MAX_RANK) - 1) & ~left);
    if (formula_letters(f, root) & ~left)
        fail(p, "a letter is neither on the left nor under a sum");
}

/* ---- statements ---- */

/* Past quotes, to `stop` or the end. */
static const char *skip_to(const char *s, char stop)
{
    for (bool quoted = false; *s && (quoted || *s != stop); s++)
        quoted ^= *s == '"';
    return s;
}

/* "$o0 ...", where the step has no such output. */
static bool not_wanted(const char *s, const struct lab_formula_step *step)
{
    s += strspn(s, " !");
    return strncmp(s, "$o", 2) == 0 && s[2] >= '0' &&
           s[2] < '0' + LAB_STEP_OUT && !step->out[s[2] - '0'];
}

int lab_formula_statement(const struct lab_formula *f, int out_slot)
{
    for (int i = 0; i < f->n_statements; i++) {
        if (f->statements[i].slot == out_slot)
            return i;
    }
    return -1;
}

static void read_statement(struct parser *p)
{
    struct lab_formula *f = p->f;
    int ref = f->n_refs;
    int node = f->n_nodes;
    const char *note = NULL;
    p->named = 0;
    read_tensor(p);
    if (!p->status && !f->refs[ref].out)
        fail(p, "an input is not computed");
    if (!p->status && lab_formula_statement(f, f->refs[ref].slot) >= 0)
        fail(p, "an output is given twice");
    want(p, '=');
    int root = p->status ? 0 : read_sum(p);
    if (take(p, '"')) {
        note = p->s;
        p->s += strcspn(p->s, "\"");
        want(p, '"');
    }
    if (!p->status && !strchr(",;", peek(p)))
        fail(p, "not understood");
    if (p->status)
        return;
    resolve(p, ref, node, root);
    f->statements[f->n_statements].slot = f->refs[ref].slot;
    f->statements[f->n_statements].left = ref;
    f->statements[f->n_statements].root = root;
    f->statements[f->n_statements++].note = note;
}

void lab_formula_shapes(struct lab_formula_step *out,
                        const struct lab_plan *plan,
                        const struct lab_step *step)
{
    const struct lab_node *node = &plan->nodes[step->node];
    *out = (struct lab_formula_step){.axes = step->axes};
    for (int i = 0; i < step->n_in; i++)
        out->in[i] = step->in[i] < 0 ? NULL : &plan->tensors[step->in[i]].shape;
    for (int i = 0; i < step->n_out; i++)
        out->out[i] =
            step->out[i] < 0 ? NULL : &plan->tensors[step->out[i]].shape;
    if (step->op == node->op) { /* no optimizer's */
        out->keys = node->op->keys;
        out->n_keys = node->op->n_keys;
        out->attr = node->attr;
    }
}

enum lab_status lab_formula_of(struct lab_formula *f,
                               const struct lab_plan *plan,
                               const struct lab_step *step)
{
    struct lab_formula_step shapes;
    lab_formula_shapes(&shapes, plan, step);
    return lab_formula_parse(f, step->source ? step->source : "", &shapes);
}

enum lab_status lab_formula_parse(struct lab_formula *f, const char *text,
                                  const struct lab_formula_step *step)
{
    struct parser p = {.s = step->axes, .f = f, .step = step};
    memset(f->letters, 0, sizeof(f->letters));
    f->n_nodes = f->n_refs = f->n_statements = 0;
    f->text = text;
    f->attr = step->attr;
    f->n_letters = LAB_MAX_RANK;
    if (step->axes)
        do
            read_index(&p, &p.axes);
        while (take(&p, ','));
    for (const char *s = text; *s && !p.status; s += *s == ';') {
        p.s = s;
        if (strncmp(p.s += strspn(p.s, " "), "$o", 2) != 0)
            break;
        if (!not_wanted(s, step))
            read_statement(&p);
        s = skip_to(s, ';');
    }
    for (int i = 0; i < f->n_refs; i++) {
        if (f->refs[i].out && lab_formula_statement(f, f->refs[i].slot) < 0)
            fail(&p, "it reads an output that it does not give");
    }
    return p.status;
}

char *lab_formula_display(const char *text, const struct lab_formula_step *step)
{
    struct lab_str out;
    lab_str_init(&out);
    for (const char *end; *text; text = end + (*end == ';')) {
        end = skip_to(text, ';');
        if (not_wanted(text, step))
            continue;
        lab_str_add(&out, out.len ? "; " : "");
        text += strspn(text, " !");
        while (text < end) { /* blank and "~", and a note, are not shown */
            size_t n = strcspn(text, " ~\"");
            n = n < (size_t)(end - text) ? n : (size_t)(end - text);
            lab_str_add_bytes(&out, text, n);
            text += n;
            if (text < end && *text == ' ' && text[1] != '~' && text[1] != '"')
                lab_str_add_char(&out, ' ');
            text +=
                text < end && *text == '"' ? 1 + strcspn(text + 1, "\"") : 0;
            text += text < end;
        }
    }
    return lab_str_detach(&out);
}

/* ---- elements ---- */

static void formula_at(struct formula_element *e, const struct lab_formula *f,
                       int statement, int64_t index)
{
    const struct lab_formula_ref *r = &f->refs[f->statements[statement].left];
    *e = (struct formula_element){.f = f, .slot = r->slot, .flat = index};
    for (int i = r->n - 1; i >= 0; i--) {
        int64_t v = index % r->index[i].dim;
        index /= r->index[i].dim;
        for (int k = 0; k < r->index[i].n; k++) {
            e->at[r->index[i].letter[k]] = v / r->index[i].coef[k];
            v %= r->index[i].coef[k];
        }
    }
}

/* The flat index of a tensor's element. */
static int64_t formula_index(struct formula_element *e,
                             const struct lab_formula_ref *r)
{
    int64_t flat = 0;
    for (int i = 0; i < r->n && !r->flat; i++) {
        int64_t v = r->index[i].constant;
        for (int k = 0; k < r->index[i].n; k++)
            v += r->index[i].coef[k] * e->at[r->index[i].letter[k]];
        e->outside |= v < 0 || v >= r->index[i].dim;
        flat = flat * r->index[i].dim + v;
    }
    return r->flat ? e->flat : flat;
}

static double formula_eval(struct formula_element *e, int node);

/* Another output of the step is computed and not read. */
static double tensor_at(struct formula_element *e,
                        const struct lab_formula_ref *r)
{
    struct formula_element inner;
    int64_t index = formula_index(e, r);
    if (e->outside)
        return 0;
    if (!r->out || r->slot == e->slot)
        return e->read(e->user, r->out, r->slot, index);
    if (!e->last[r->slot].known || e->last[r->slot].index != index) {
        int other = lab_formula_statement(e->f, r->slot);
        formula_at(&inner, e->f, other, index);
        inner.read = e->read;
        inner.user = e->user;
        e->last[r->slot].value =
            formula_eval(&inner, e->f->statements[other].root);
        e->last[r->slot].index = index;
        e->last[r->slot].known = true;
    }
    return e->last[r->slot].value;
}

/* The first combination of these letters, all 0; then the next, the last letter
 * fastest. false: that was the last. */
static void formula_first(struct formula_element *e, unsigned letters)
{
    for (int i = 0; i < LAB_FORMULA_LETTERS; i++)
        e->at[i] = letters >> i & 1 ? 0 : e->at[i];
}

static bool formula_next(struct formula_element *e, unsigned letters)
{
    for (int i = LAB_FORMULA_LETTERS - 1; i >= 0; i--) {
        if (!(letters >> i & 1))
            continue;
        if (++e->at[i] < e->f->letters[i].extent)
            return true;
        e->at[i] = 0;
    }
    return false;
}

static double reduce(struct formula_element *e,
                     const struct lab_formula_node *n)
{
    bool was_outside = e->outside;
    int64_t at[LAB_FORMULA_LETTERS];
    double sum = 0;
    double count = 0;
    memcpy(at, e->at, sizeof(at)); /* a bound letter may be free outside */
    formula_first(e, (unsigned)n->id);
    do {
        e->outside = false;
        double v = formula_eval(e, n->a);
        sum += e->outside ? 0 : v;
        count++;
    } while (formula_next(e, (unsigned)n->id));
    e->outside = was_outside;
    memcpy(e->at, at, sizeof(at));
    return n->kind == F_MEAN ? sum / count : sum;
}

static double power(double x, double n)
{
    double v = 1;
    for (; n > 0; n--)
        v *= x;
    return v;
}

static double formula_eval(struct formula_element *e, int node)
{
    const struct lab_formula_node *n = &e->f->nodes[node];
    if (n->kind >= F_SUM)
        return reduce(e, n);
    double a = n->a < 0 ? 0 : formula_eval(e, n->a);
    double b = n->b < 0 ? 0 : formula_eval(e, n->b);
    switch (n->kind) {
    case F_NUMBER:
        return n->number;
    case F_TENSOR:
        return tensor_at(e, &e->f->refs[n->id]);
    case F_LETTER:
        return (double)e->at[n->id];
    case F_KEY:
        return e->f->attr[n->id].f;
    case F_NEGATE:
        return -a;
    case F_ADD:
        return a + b;
    case F_SUBTRACT:
        return a - b;
    case F_MULTIPLY:
        return a * b;
    case F_DIVIDE:
        return a / b;
    case F_POWER:
        return power(a, n->number);
    case F_EQUAL:
        return a == b;
    default: /* the larger of two, a NaN of b stays */
        return functions[n->id].value ? functions[n->id].value(a)
               : b < a                ? a
                                      : b;
    }
}

double lab_formula_value(const struct lab_formula *f, int out_slot,
                         int64_t index, lab_formula_read_fn *read, void *user,
                         bool *outside)
{
    struct formula_element e;
    int s = lab_formula_statement(f, out_slot);
    if (s < 0)
        return NAN;
    formula_at(&e, f, s, index);
    e.read = read;
    e.user = user;
    double v = formula_eval(&e, f->statements[s].root);
    *outside = e.outside;
    return v;
}

static void bound_under(const struct lab_formula *f, int node, unsigned mask,
                        unsigned *bound)
{
    const struct lab_formula_node *n = &f->nodes[node];
    if (n->kind == F_TENSOR)
        bound[n->id] = mask;
    if (n->kind >= F_SUM)
        mask |= (unsigned)n->id;
    if (n->a >= 0)
        bound_under(f, n->a, mask, bound);
    if (n->b >= 0)
        bound_under(f, n->b, mask, bound);
}

void lab_formula_bound(const struct lab_formula *f, int statement,
                       unsigned bound[LAB_FORMULA_REFS])
{
    memset(bound, 0, LAB_FORMULA_REFS * sizeof(*bound));
    bound_under(f, f->statements[statement].root, 0, bound);
}

/* ---- FLOPs ---- */

/* Combinations of the letters of one index with which it is within its axis. */
static double inside(const struct lab_formula *f, struct lab_formula_ref r,
                     int axis, unsigned letters)
{
    struct formula_element e = {.f = f};
    double n = 0;
    r.index[0] = r.index[axis];
    r.n = 1;
    do {
        e.outside = false;
        formula_index(&e, &r);
        n += !e.outside;
    } while (formula_next(&e, letters));
    return n;
}

/* How many combinations of the letters in *mask the tensors under the node
 * allow, of those letters that are not free to run; these leave the mask. */
static double restricted(const struct lab_formula *f, int node, unsigned *mask)
{
    const struct lab_formula_node *n = &f->nodes[node];
    double count = n->a >= 0 ? restricted(f, n->a, mask) : 1;
    if (n->b >= 0)
        count *= restricted(f, n->b, mask);
    const struct lab_formula_ref *r =
        n->kind == F_TENSOR ? &f->refs[n->id] : NULL;
    for (int i = 0; r && i < r->n; i++) {
        unsigned own = 0;
        for (int k = 0; k < r->index[i].n; k++)
            own |= 1u << r->index[i].letter[k];
        bool all = plain(r, i) &&
                   f->letters[r->index[i].letter[0]].extent <= r->index[i].dim;
        if (own && !all && (own & *mask) == own) {
            count *= inside(f, *r, i, own);
            *mask &= ~own;
        }
    }
    return count;
}

/* No tensor and no letter is in it. */
static bool formula_constant(const struct lab_formula *f, int node)
{
    const struct lab_formula_node *n = &f->nodes[node];
    return n->kind != F_TENSOR && n->kind != F_LETTER && n->kind < F_SUM &&
           (n->a < 0 || formula_constant(f, n->a)) &&
           (n->b < 0 || formula_constant(f, n->b));
}

/* Of the values of these letters. */
static double formula_combinations(const struct lab_formula *f,
                                   unsigned letters)
{
    double n = 1;
    for (int i = 0; i < f->n_letters; i++) {
        if (letters >> i & 1 && f->letters[i].extent > 0)
            n *= (double)f->letters[i].extent;
    }
    return n;
}

/* How often an operation on what is under the node is done. */
static double times(const struct lab_formula *f, int node, unsigned mask)
{
    double n = formula_constant(f, node) ? 0 : restricted(f, node, &mask);
    return n * formula_combinations(f, mask);
}

/* bound: the letters of the sum that this product is a term of; 0: of none. */
static double count(const struct lab_formula *f, int node, unsigned bound)
{
    const struct lab_formula_node *n = &f->nodes[node];
    unsigned mask = formula_letters(f, node);
    bool product = n->kind == F_MULTIPLY || n->kind == F_DIVIDE;
    double flop = 0;
    if (n->kind >= F_SUM) {
        bool inner = f->nodes[n->a].kind == n->kind;
        return count(f, n->a, (unsigned)n->id | bound) +
               (inner ? 0 : times(f, n->a, mask | (unsigned)n->id));
    }
    if (n->a >= 0)
        flop += count(f, n->a, product ? bound : 0);
    if (n->b >= 0)
        flop += count(f, n->b, product ? bound : 0);
    if (n->kind < F_NEGATE || n->kind == F_EQUAL ||
        (n->kind == F_ADD && f->nodes[n->b].kind == F_SUM))
        return flop;
    if (product && !(formula_letters(f, n->b) & bound))
        mask &= ~bound; /* once, after the sum */
    double each = n->kind == F_POWER  ? n->number - 1
                  : n->kind == F_CALL ? functions[n->id].flop
                                      : 1;
    return flop + each * times(f, node, mask);
}

double lab_formula_flop(const struct lab_formula *f)
{
    double flop = 0;
    for (int i = 0; i < f->n_statements; i++)
        flop += count(f, f->statements[i].root, 0);
    return flop;
}

/* ---- explanations ---- */

/* A sum of a million products is explained by its largest terms. */
enum { TERMS_KEPT = 256 };

struct lab_explainer {
    struct lab_explanation *out;
    const struct lab_plan *plan;
    const struct lab_step *step;
    const struct lab_formula *formula; /* of the step */
    int64_t iteration;
    enum lab_precision ran_as;
    lab_explain_read_fn *read;
    void *user;
    enum lab_status status;
    const void *in[LAB_STEP_IN];
    const void *old[LAB_STEP_OUT];
    size_t room;
    double sum;     /* of all terms, kept or not */
    double sizes;   /* of the absolute values of all terms */
    double rounded; /* the largest size given to lab_explain_rounds() */
    int64_t reads;
    uint64_t shake;     /* not 0: all are read with a rounding error */
    int64_t shake_read; /* not 0: the read of this number alone is */
    bool value_given;
    bool term_is_last; /* the last term of the list takes sources */
};

/* Half a unit in the last place of 1. */
static double rounding(const struct lab_plan *plan)
{
    return (plan->real == LAB_F64 ? DBL_EPSILON : (double)FLT_EPSILON) / 2;
}

/* The rounding error that this read is to have. */
static double shake(const struct lab_explainer *ex, int tensor, int64_t index)
{
    if (ex->shake_read)
        return ex->shake_read == ex->reads ? rounding(ex->plan) : 0;
    if (!ex->shake)
        return 0;
    uint64_t bits =
        ((uint64_t)index + 1 + ((uint64_t)tensor << 40)) * ex->shake;
    bits ^= bits >> 29;
    bool up = bits * 0x9E3779B97F4A7C15u >> 63;
    return up ? rounding(ex->plan) : -rounding(ex->plan);
}

static double read_slot(struct lab_explainer *ex, const void **cache,
                        int tensor, bool old, int64_t index)
{
    if (tensor < 0 || ex->status)
        return NAN;
    const struct lab_tensor *t = &ex->plan->tensors[tensor];
    if (index < 0 || index >= t->count)
        return NAN;
    if (!*cache)
        ex->status = ex->read(ex->user, tensor, old, cache);
    if (ex->status)
        return NAN;
    double v = lab_number_at(*cache, t->dtype, index);
    ex->reads++;
    return t->dtype == LAB_I32 ? v : v * (1 + shake(ex, tensor, index));
}

double lab_explain_in(struct lab_explainer *ex, int slot, int64_t index)
{
    int tensor = ex->step->in[slot];
    /* A parameter that the update has changed since: as the step read it. */
    bool old = tensor >= 0 && ex->plan->tensors[tensor].persistent &&
               ex->step->phase != LAB_UPDATE;
    return read_slot(ex, &ex->in[slot], tensor, old, index);
}

double lab_explain_old(struct lab_explainer *ex, int out_slot, int64_t index)
{
    return read_slot(ex, &ex->old[out_slot], ex->step->out[out_slot], true,
                     index);
}

bool lab_explain_has_in(const struct lab_explainer *ex, int slot)
{
    return slot < ex->step->n_in && ex->step->in[slot] >= 0;
}

const struct lab_shape *lab_explain_in_shape(const struct lab_explainer *ex,
                                             int slot)
{
    return &ex->plan->tensors[ex->step->in[slot]].shape;
}

const struct lab_shape *lab_explain_out_shape(const struct lab_explainer *ex,
                                              int slot)
{
    return &ex->plan->tensors[ex->step->out[slot]].shape;
}

const char *lab_explain_in_name(const struct lab_explainer *ex, int slot)
{
    int id = ex->step->in[slot];
    return id < 0 ? "?" : ex->plan->tensors[id].name;
}

static const char *explain_out_name(const struct lab_explainer *ex, int slot)
{
    int id = ex->step->out[slot];
    return id < 0 ? "?" : ex->plan->tensors[id].name;
}

const struct lab_step *lab_explain_step(const struct lab_explainer *ex)
{
    return ex->step;
}

const struct lab_plan *lab_explain_plan(const struct lab_explainer *ex)
{
    return ex->plan;
}

int64_t lab_explain_iteration(const struct lab_explainer *ex)
{
    return ex->iteration;
}

const char *lab_explain_at(const struct lab_shape *shape, int64_t index,
                           char buf[LAB_SHAPE_TEXT])
{
    int64_t at[LAB_MAX_RANK];
    size_t n = 0;
    buf[0] = '\0';
    lab_shape_unravel(shape, index, at);
    for (int i = 0; i < shape->rank; i++)
        n += (size_t)snprintf(buf + n, LAB_SHAPE_TEXT - n, "%s%lld",
                              i ? "," : "", (long long)at[i]);
    return buf;
}

const char *lab_explain_row(const struct lab_shape *shape, int64_t index,
                            char buf[LAB_SHAPE_TEXT])
{
    lab_explain_at(shape, index, buf);
    char *comma = strrchr(buf, ',');
    *(comma ? comma + 1 : buf) = '\0';
    return buf;
}

const char *lab_explain_axes(int axes)
{
    static const char *const letters[] = {"", "n", "n,t", "n,h,t"};
    return letters[axes < 0 ? 0 : axes <= 3 ? axes : 3];
}

static char *format(const char *fmt, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof(text), fmt, args);
    return lab_strdup(text);
}

static void keep_text(struct lab_explainer *ex, char **slot, const char *fmt,
                      va_list args)
{
    lab_free(*slot);
    *slot = format(fmt, args);
    if (!*slot)
        ex->status = lab_fail(LAB_E_NOMEM, "no memory to explain");
}

void lab_explain_symbolic(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->symbolic, fmt, args);
    va_end(args);
}

void lab_explain_numeric(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->numeric, fmt, args);
    va_end(args);
}

/* For the order of terms: a NaN or an infinity is what the learner looks
 * for. */
static double size_of(double v)
{
    return isnan(v) ? INFINITY : fmin(fabs(v), DBL_MAX);
}

void lab_explain_through(struct lab_explainer *ex, const char *function,
                         double (*value)(double, const void *),
                         const void *params)
{
    char *inner = ex->out->symbolic;
    ex->out->symbolic = NULL;
    lab_explain_symbolic(ex, "%s(%s)", function, inner ? inner : "");
    lab_free(inner);
    lab_explain_value(ex, value(ex->sum, params));
}

/* Where the next term goes: a new place, or the smallest kept one when the
 * list is full; NULL: it is smaller than all of them. */
static struct lab_term *term_place(struct lab_explainer *ex, double value)
{
    struct lab_explanation *e = ex->out;
    if (e->n_terms < TERMS_KEPT) {
        ex->status = lab_grow(&e->terms, (size_t)e->n_terms, &ex->room,
                              sizeof(*e->terms), "the terms");
        if (ex->status)
            return NULL;
        return &e->terms[e->n_terms++];
    }
    struct lab_term *least = &e->terms[0];
    for (int64_t i = 1; i < e->n_terms; i++) {
        if (size_of(e->terms[i].value) < size_of(least->value))
            least = &e->terms[i];
    }
    if (size_of(value) <= size_of(least->value)) {
        e->rest += value;
        return NULL;
    }
    e->rest += least->value;
    return least;
}

char *lab_explain_term(struct lab_explainer *ex, double value, const char *fmt,
                       ...)
{
    va_list args;
    ex->sum += value;
    ex->sizes += fabs(value);
    ex->out->n_terms_all++;
    if (ex->status)
        return NULL;
    struct lab_term *t = term_place(ex, value);
    ex->term_is_last = t != NULL;
    if (!t)
        return NULL;
    *t = (struct lab_term){.value = value};
    va_start(args, fmt);
    vsnprintf(t->text, sizeof(t->text), fmt, args);
    va_end(args);
    /* Sources that follow belong to this term: keep it last in the list. */
    struct lab_explanation *e = ex->out;
    struct lab_term last = e->terms[e->n_terms - 1];
    e->terms[e->n_terms - 1] = *t;
    if (t != &e->terms[e->n_terms - 1])
        *t = last;
    return e->terms[e->n_terms - 1].text;
}

static void add_source(struct lab_explainer *ex, int tensor, int64_t index)
{
    struct lab_explanation *e = ex->out;
    if (ex->status || tensor < 0)
        return;
    if (e->n_terms_all == 0) { /* a formula without terms: one silent term */
        if (e->n_terms == 0)
            lab_explain_term(ex, 0, "%s", "");
        if (ex->status)
            return;
        e->n_terms_all = 0;
        ex->term_is_last = true;
        ex->out->n_terms = 1;
    }
    if (!ex->term_is_last || e->n_terms == 0)
        return;
    struct lab_term *t = &e->terms[e->n_terms - 1];
    if (t->n_sources < LAB_TERM_SOURCES)
        t->source[t->n_sources++] =
            (struct lab_element){.tensor = tensor, .index = index};
}

void lab_explain_source(struct lab_explainer *ex, int slot, int64_t index)
{
    add_source(ex, ex->step->in[slot], index);
}

void lab_explain_source_out(struct lab_explainer *ex, int slot, int64_t index)
{
    add_source(ex, ex->step->out[slot], index);
}

/* ---- what short names are ---- */

void lab_explain_where(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    struct lab_str all;
    lab_str_init(&all);
    if (ex->out->where)
        lab_str_addf(&all, "%s; ", ex->out->where);
    va_start(args, fmt);
    lab_str_addv(&all, fmt, args);
    va_end(args);
    lab_free(ex->out->where);
    ex->out->where = lab_str_detach(&all);
    if (!ex->out->where)
        ex->status = lab_fail(LAB_E_NOMEM, "no memory to explain");
}

static void let(struct lab_explainer *ex, const char *name, int tensor,
                int64_t index, const char *when, double value)
{
    const struct lab_tensor *t = tensor < 0 ? NULL : &ex->plan->tensors[tensor];
    char at[LAB_SHAPE_TEXT];
    if (!t)
        return;
    lab_explain_at(&t->shape, index, at);
    lab_explain_where(ex, "%s = %s%s%s%s%s = %.6g", name, t->name,
                      *at ? "[" : "", at, *at ? "]" : "", when, value);
}

void lab_explain_let(struct lab_explainer *ex, const char *name, int slot,
                     int64_t index)
{
    let(ex, name, ex->step->in[slot], index, "",
        lab_explain_in(ex, slot, index));
}

void lab_explain_let_out(struct lab_explainer *ex, const char *name, int slot,
                         int64_t index, double value)
{
    let(ex, name, ex->step->out[slot], index, "", value);
}

void lab_explain_let_old(struct lab_explainer *ex, const char *name,
                         int out_slot, int64_t index)
{
    let(ex, name, ex->step->out[out_slot], index, " before",
        lab_explain_old(ex, out_slot, index));
}

void lab_explain_rounds(struct lab_explainer *ex, double size)
{
    if (fabs(size) > ex->rounded)
        ex->rounded = fabs(size);
}

void lab_explain_value(struct lab_explainer *ex, double value)
{
    ex->out->value = value;
    ex->value_given = true;
}

void lab_explain_as_shown(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->symbolic, fmt, args);
    va_end(args);
    lab_explain_value(ex, ex->out->shown);
}

/* By the formula of the step, or by its function. */
static void explain_slot(struct lab_explainer *ex, int slot, int64_t index)
{
    if (lab_formula_statement(ex->formula, slot) >= 0)
        lab_explain_formula(ex, slot, index);
    else if (ex->step->explain)
        ex->step->explain(ex, slot, index);
}

static int by_size(const void *a, const void *b)
{
    double x = size_of(((const struct lab_term *)a)->value);
    double y = size_of(((const struct lab_term *)b)->value);
    return (x < y) - (x > y);
}

/* What a tensor holds that no step has written. */
static void explain_unwritten(struct lab_explainer *ex)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    const char *what = "not computed yet";
    if (t->role == LAB_TENSOR_DATA)
        what = "from the data";
    else if (t->role == LAB_TENSOR_PARAM && ex->iteration == 0)
        what = "the initial value";
    else if (t->persistent)
        what = "as the last iteration left it";
    lab_explain_symbolic(ex, "%s", what);
    lab_explain_value(ex, ex->out->shown);
}

static enum lab_status name_element(struct lab_explainer *ex)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    char at[LAB_SHAPE_TEXT];
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add(&s, t->name);
    if (t->shape.rank > 0)
        lab_str_addf(&s, "[%s]", lab_explain_at(&t->shape, ex->out->index, at));
    ex->out->name = lab_str_detach(&s);
    return ex->out->name ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory");
}

/* The output of the step that holds the element, and its position in it: a
 * slice, or the whole that it is a slice of, is another view of the same. */
static int written_slot(const struct lab_explainer *ex, int64_t *index)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    for (int i = 0; ex->step && i < ex->step->n_out; i++) {
        int id = ex->step->out[i];
        if (id < 0)
            continue;
        const struct lab_tensor *o = &ex->plan->tensors[id];
        if (id == ex->out->tensor ||
            (o->alias_of == ex->out->tensor && !o->slice))
            return i;
        if (t->slice && t->alias_of == id) {
            *index += t->first;
            return i;
        }
        if (o->slice && o->alias_of == ex->out->tensor && *index >= o->first &&
            *index < o->first + o->count) {
            *index -= o->first;
            return i;
        }
    }
    return -1;
}

/* A kernel adds n numbers in any order: the error grows with their number, at
 * worst like n, mostly like its root. The rest is for functions that are exact
 * to some units in the last place. */
static double roundings(int64_t n)
{
    double count = (double)n;
    return 8 + fmin(count / 2, 32 * sqrt(count));
}

/* How far the value moves with those rounding errors. */
static double moved_by(const struct lab_explainer *ex, uint64_t all,
                       int64_t one)
{
    const struct lab_explanation *e = ex->out;
    struct lab_explanation scratch = {.tensor = e->tensor,
                                      .index = e->index,
                                      .step = e->step,
                                      .shown = e->shown};
    struct lab_explainer again = {.out = &scratch,
                                  .plan = ex->plan,
                                  .step = ex->step,
                                  .formula = ex->formula,
                                  .iteration = ex->iteration,
                                  .read = ex->read,
                                  .user = ex->user,
                                  .shake = all,
                                  .shake_read = one};
    int64_t index = e->index;
    int slot = written_slot(&again, &index);
    if (slot >= 0)
        explain_slot(&again, slot, index);
    bool valid = again.value_given && !again.status;
    double off = valid ? fabs(scratch.value - e->value) : 0;
    lab_explanation_release(&scratch);
    return off;
}

/* Of a few inputs what each does is added up, of many all change at random. */
static double shaken(const struct lab_explainer *ex)
{
    const int64_t few = 24;
    double most = 0;
    for (int64_t k = 1; k <= ex->reads && ex->reads <= few; k++)
        most += moved_by(ex, 0, k);
    for (uint64_t turn = 1; turn <= 3 && ex->reads > few; turn++)
        most = fmax(most, moved_by(ex, turn * 0xD1B54A32D192ED03u, 0));
    return most;
}

static void judge(struct lab_explainer *ex)
{
    struct lab_explanation *e = ex->out;
    /* TF32 keeps 11 bits of each factor. */
    double eps = ex->ran_as == LAB_TF32 ? 1.0 / (1 << 11) : rounding(ex->plan);
    int64_t n = ex->value_given ? ex->reads : e->n_terms_all;
    double size = fabs(e->value) + ex->rounded;
    double moved = ex->value_given && ex->step ? shaken(ex) : 0;
    if (!ex->value_given)
        size += ex->sizes;
    /* What is too small for a normal float may become 0. */
    e->tolerance = roundings(n) * (eps * size + moved) +
                   (ex->plan->real == LAB_F64 ? DBL_MIN : (double)FLT_MIN);
    e->cancels = !ex->value_given && e->n_terms_all > 1 && ex->sizes > 0 &&
                 fabs(e->value) <= 16 * eps * ex->sizes;
    if (!isfinite(e->tolerance))
        e->tolerance = eps * fabs(e->shown);
    bool both_nan = isnan(e->value) && isnan(e->shown);
    bool same = e->value == e->shown;
    /* A value too large for float is inf there. */
    bool overflow = isinf(e->shown) && fabs(e->value) > 3.4e38;
    e->agrees = both_nan || same || overflow ||
                fabs(e->value - e->shown) <= e->tolerance;
}

static enum lab_status run_explainer(struct lab_explainer *ex)
{
    struct lab_explanation *e = ex->out;
    const struct lab_tensor *t = &ex->plan->tensors[e->tensor];
    const void *data = NULL;
    enum lab_status st = ex->read(ex->user, e->tensor, false, &data);
    if (st)
        return st;
    e->shown = lab_number_at(data, t->dtype, e->index);
    st = name_element(ex);
    if (st)
        return st;
    int64_t index = e->index;
    int slot = written_slot(ex, &index);
    if (slot < 0)
        explain_unwritten(ex);
    else
        explain_slot(ex, slot, index);
    return ex->status;
}

/* A NaN has no sign that means something: "nan", also where the bits have one; and 0
 * without one. */
static double unsigned_nan(double v)
{
    return isnan(v) ? (double)NAN : v + 0.0;
}

static void drop_signs(char *text)
{
    for (char *at = text; at && (at = strstr(at, "-nan"));)
        memmove(at, at + 1, strlen(at));
}

static void drop_nan_signs(struct lab_explanation *e)
{
    drop_signs(e->numeric);
    drop_signs(e->where);
    for (int64_t i = 0; i < e->n_terms; i++)
        drop_signs(e->terms[i].text);
}

enum lab_status lab_explain(struct lab_explanation *out,
                            const struct lab_plan *plan,
                            const struct lab_step *step, int tensor,
                            int64_t index, int64_t iteration,
                            enum lab_precision ran_as,
                            lab_explain_read_fn *read, void *user)
{
    struct lab_explanation e = {.tensor = tensor, .index = index, .step = -1};
    struct lab_formula formula;
    struct lab_explainer ex = {.out = &e,
                               .plan = plan,
                               .step = step,
                               .formula = &formula,
                               .iteration = iteration,
                               .ran_as = ran_as,
                               .read = read,
                               .user = user};
    if (tensor < 0 || tensor >= plan->n_tensors)
        return lab_fail(LAB_E_ARG, "[formula.tensor] no such tensor");
    if (index < 0 || index >= plan->tensors[tensor].count) {
        char shape[LAB_SHAPE_TEXT];
        return lab_fail(LAB_E_RANGE,
                        "[formula.element] %s is %s: it has no such element",
                        plan->tensors[tensor].name,
                        lab_shape_text(&plan->tensors[tensor].shape, shape));
    }
    enum lab_status st = step ? lab_formula_of(&formula, plan, step) : LAB_OK;
    if (!st)
        st = run_explainer(&ex);
    if (st) {
        lab_explanation_release(&e);
        return st;
    }
    if (!ex.value_given)
        e.value = ex.sum;
    drop_nan_signs(&e);
    judge(&ex);
    if (e.n_terms > 1)
        qsort(e.terms, (size_t)e.n_terms, sizeof(*e.terms), by_size);
    *out = e;
    return LAB_OK;
}

void lab_explanation_release(struct lab_explanation *e)
{
    lab_free(e->name);
    lab_free(e->symbolic);
    lab_free(e->numeric);
    lab_free(e->where);
    lab_free(e->terms);
    *e = (struct lab_explanation){.tensor = -1, .step = -1};
}

/* One number that is no product: the value is the same. */
static bool plain_number(const struct lab_explanation *e)
{
    char *end = NULL;
    if (e->n_terms_all != 1)
        return false;
    strtod(e->terms[0].text, &end);
    return *end == '\0';
}

static void add_terms(const struct lab_explanation *e, int max_terms,
                      struct lab_str *out)
{
    double rest = e->rest;
    if (plain_number(e))
        return;
    int64_t shown = e->n_terms < max_terms ? e->n_terms : max_terms;
    lab_str_add(out, " = ");
    for (int64_t i = 0; i < shown; i++)
        lab_str_addf(out, "%s%s", i ? " + " : "", e->terms[i].text);
    for (int64_t i = shown; i < e->n_terms; i++)
        rest += e->terms[i].value;
    if (e->n_terms_all > shown)
        lab_str_addf(out, " + (%lld %s: %.6g)",
                     (long long)(e->n_terms_all - shown),
                     size_of(e->terms[0].value) > 0 ? "smaller" : "more",
                     unsigned_nan(rest));
}

void lab_explanation_text(const struct lab_explanation *e, int max_terms,
                          struct lab_str *out)
{
    lab_str_addf(out, "%s = %s", e->name ? e->name : "?",
                 e->symbolic ? e->symbolic : "");
    if (e->n_terms_all > 0)
        add_terms(e, max_terms, out);
    if (e->numeric)
        lab_str_addf(out, " = %s", e->numeric);
    if (e->unwritten)
        return;
    lab_str_addf(out, " = %.9g%s", unsigned_nan(e->value),
                 e->cancels ? ", 0 but for rounding" : "");
    if (e->where)
        lab_str_addf(out, ", where %s", e->where);
    if (!e->agrees)
        lab_str_addf(out, "  (the tensor holds %.9g: off by more than %.2g)",
                     e->shown, e->tolerance);
}

/* ---- explained by the formula: a sum of products by its terms, anything else
 * by the formula with numbers put in; short names that the step gives its
 * inputs, and keys of the op, are defined behind it ---- */

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

static double read_element(void *user, bool old, int slot, int64_t index)
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
        lab_str_add(w->out, r->out ? explain_out_name(w->ex, r->slot)
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
                     formula_combinations(w->f, (unsigned)n->id));
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
                     formula_eval(&w->e, node));
    } else if (n->kind == F_TENSOR) {
        put_tensor(w, &w->f->refs[n->id]);
    } else if (n->kind >= F_SUM) {
        put_sum(w, n);
    } else if (n->kind == F_MULTIPLY || n->kind == F_DIVIDE) {
        put_product(w, n);
    } else if (n->kind == F_LETTER) {
        lab_str_addf(w->out, "%lld", (long long)w->e.at[n->id]);
    } else if (n->kind == F_KEY) {
        lab_str_add(w->out, w->ex->step->op->keys[n->id].name);
    } else if (n->kind == F_NEGATE) {
        lab_str_add(w->out, "-");
        put(w, n->a);
    } else if (n->kind == F_POWER) {
        put(w, n->a);
        lab_str_addf(w->out, "^%g", n->number);
    } else if (n->kind == F_CALL) {
        lab_str_addf(w->out, "%s(", functions[n->id].name);
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
        lab_explain_source_out(w->ex, r->slot, formula_index(&w->e, r));
    else if (r && !old)
        lab_explain_source(w->ex, r->slot, formula_index(&w->e, r));
    if (n->kind >= F_SUM) {
        struct formula_element outside = w->e;
        int found = 0;
        formula_first(&w->e, (unsigned)n->id);
        do
            found += sums ? add_sources(w, n->a, true) : 0;
        while (found < LAB_TERM_SOURCES && sums &&
               formula_next(&w->e, (unsigned)n->id));
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
        lab_explain_let(w->ex, name, r->slot, formula_index(&w->e, r));
    }
}

/* What the formula's words are, in their order: short names and keys, then,
 * with `sums`, the sums over what has a short name. */
static void define(struct writer *w, int node, bool sums, unsigned *done)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (n->kind == F_TENSOR && !sums) {
        define_tensor(w, tensor_of(w, node), done);
    } else if (n->kind == F_KEY && !sums && !(*done >> (16 + n->id) & 1)) {
        *done |= 1u << (16 + n->id);
        lab_explain_where(w->ex, "%s = %g", w->ex->step->op->keys[n->id].name,
                          formula_eval(&w->e, node));
    } else if (n->kind >= F_SUM && sums && all_named(w, n->a)) {
        struct lab_str text;
        lab_str_init(&text);
        w->out = &text;
        put(w, node);
        lab_explain_where(w->ex, "%s = %.6g", lab_str_text(&text),
                          formula_eval(&w->e, node));
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
    if (formula_constant(w->f, node))
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
        !formula_constant(w->f, node)) {
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
    p->factor[p->n].count = formula_combinations(w->f, (unsigned)n->id);
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
        if (node >= 0 && !formula_constant(w->f, node)) {
            put(w, node);
            add_sources(w, node, true);
            continue;
        }
        v = node < 0 ? v : formula_eval(&w->e, node);
        lab_str_addf(&text, v == floor(v) && v < 1e15 ? "%.0f" : "%.6g", v);
    }
    w->numbers = false;
    snprintf(term, LAB_TERM_TEXT, "%s", lab_str_text(&text));
    lab_str_release(&text);
}

static void add_product_terms(struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    struct product p = {.n = 0};
    if (n->kind == F_ADD) {
        add_product_terms(w, n->a);
        add_product_terms(w, n->b);
        return;
    }
    add_factors(w, &p, node, false);
    struct formula_element outside = w->e;
    formula_first(&w->e, p.letters);
    do {
        double value = 1;
        w->e.outside = false;
        for (int i = 0; i < p.n; i++) {
            double v = p.factor[i].node < 0
                           ? p.factor[i].count
                           : formula_eval(&w->e, p.factor[i].node);
            value = p.factor[i].divide ? value / v : value * v;
        }
        if (!w->e.outside)
            add_term(w, &p, value);
    } while (formula_next(&w->e, p.letters));
    w->e = outside;
}

void lab_explain_formula(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_formula *f = ex->formula;
    int s = lab_formula_statement(f, out_slot);
    struct writer w = {.ex = ex,
                       .f = f,
                       .names = ex->step->names,
                       .root = f->statements[s].root};
    const char *note = f->statements[s].note;
    struct lab_str text;
    unsigned done = 0;
    formula_at(&w.e, f, s, index);
    w.e.read = read_element;
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
        add_product_terms(&w, w.root);
    } else {
        lab_str_clear(&text);
        w.numbers = true;
        put(&w, w.root);
        w.numbers = false;
        lab_explain_numeric(ex, "%s", lab_str_text(&text));
        if (add_sources(&w, w.root, false) == 0)
            add_sources(&w, w.root, true);
        lab_explain_value(ex, formula_eval(&w.e, w.root));
    }
    lab_str_release(&text);
    define(&w, w.root, false, &done);
    define(&w, w.root, true, &done);
}
