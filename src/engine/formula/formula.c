/* Formulas in index notation (the grammar is in engine/formula.h): parses them,
 * finds out over what each letter runs, computes elements and counts FLOPs.
 * walk/explain.c makes explanations of them. */
#include "formula_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

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

const char *lab_formula_function(int id)
{
    return functions[id].name;
}

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
        p->status = lab_fail(LAB_E_PARSE, "formula '%s', column %d: %s",
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

static unsigned lab_formula_letters(const struct lab_formula *f, int node)
{
    const struct lab_formula_node *n = &f->nodes[node];
    unsigned mask = 0;
    if (n->kind == F_TENSOR)
        return ref_letters(&f->refs[n->id]);
    if (n->kind == F_LETTER)
        return 1u << n->id;
    if (n->a >= 0)
        mask |= lab_formula_letters(f, n->a);
    if (n->b >= 0)
        mask |= lab_formula_letters(f, n->b);
    return n->kind >= F_SUM ? mask & ~(unsigned)n->id : mask;
}

/* Batch axes that the result lacks are summed over by the outermost sums. */
static void sum_batch(struct lab_formula *f, int node, unsigned open)
{
    struct lab_formula_node *n = &f->nodes[node];
    if (n->kind >= F_SUM) {
        n->id |= (int)(open & lab_formula_letters(f, n->a));
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
    if (lab_formula_letters(f, root) & ~left)
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

int lab_formula_statement(const struct lab_formula *f, int out_slot)
{
    for (int i = 0; i < f->n_statements; i++) {
        if (f->statements[i].slot == out_slot)
            return i;
    }
    return -1;
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

void lab_formula_at(struct formula_element *e, const struct lab_formula *f,
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

int64_t lab_formula_index(struct formula_element *e,
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

/* Another output of the step is computed and not read. */
static double tensor_at(struct formula_element *e,
                        const struct lab_formula_ref *r)
{
    struct formula_element inner;
    int64_t index = lab_formula_index(e, r);
    if (e->outside)
        return 0;
    if (!r->out || r->slot == e->slot)
        return e->read(e->user, r->out, r->slot, index);
    if (!e->last[r->slot].known || e->last[r->slot].index != index) {
        int other = lab_formula_statement(e->f, r->slot);
        lab_formula_at(&inner, e->f, other, index);
        inner.read = e->read;
        inner.user = e->user;
        e->last[r->slot].value =
            lab_formula_eval(&inner, e->f->statements[other].root);
        e->last[r->slot].index = index;
        e->last[r->slot].known = true;
    }
    return e->last[r->slot].value;
}

void lab_formula_first(struct formula_element *e, unsigned letters)
{
    for (int i = 0; i < LAB_FORMULA_LETTERS; i++)
        e->at[i] = letters >> i & 1 ? 0 : e->at[i];
}

bool lab_formula_next(struct formula_element *e, unsigned letters)
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
    lab_formula_first(e, (unsigned)n->id);
    do {
        e->outside = false;
        double v = lab_formula_eval(e, n->a);
        sum += e->outside ? 0 : v;
        count++;
    } while (lab_formula_next(e, (unsigned)n->id));
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

double lab_formula_eval(struct formula_element *e, int node)
{
    const struct lab_formula_node *n = &e->f->nodes[node];
    if (n->kind >= F_SUM)
        return reduce(e, n);
    double a = n->a < 0 ? 0 : lab_formula_eval(e, n->a);
    double b = n->b < 0 ? 0 : lab_formula_eval(e, n->b);
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
    lab_formula_at(&e, f, s, index);
    e.read = read;
    e.user = user;
    double v = lab_formula_eval(&e, f->statements[s].root);
    *outside = e.outside;
    return v;
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
        lab_formula_index(&e, &r);
        n += !e.outside;
    } while (lab_formula_next(&e, letters));
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

bool lab_formula_constant(const struct lab_formula *f, int node)
{
    const struct lab_formula_node *n = &f->nodes[node];
    return n->kind != F_TENSOR && n->kind != F_LETTER && n->kind < F_SUM &&
           (n->a < 0 || lab_formula_constant(f, n->a)) &&
           (n->b < 0 || lab_formula_constant(f, n->b));
}

double lab_formula_combinations(const struct lab_formula *f, unsigned letters)
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
    double n = lab_formula_constant(f, node) ? 0 : restricted(f, node, &mask);
    return n * lab_formula_combinations(f, mask);
}

/* bound: the letters of the sum whose terms this product is; 0: of none. */
static double count(const struct lab_formula *f, int node, unsigned bound)
{
    const struct lab_formula_node *n = &f->nodes[node];
    unsigned mask = lab_formula_letters(f, node);
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
    if (product && !(lab_formula_letters(f, n->b) & bound))
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
