/* Checks an explanation as a reader would: evaluates the texts of its terms and
 * compares them with the values; explained.h has the rules. */
#include "unit/explained.h"

#include "test.h"

/* "0.5*2/1.41", "x*y*(1 - t^2)": what a term's text comes to; NaN where it is
 * none of these. */
static double text_value(const char *text)
{
    double v = 1;
    char op = '*';
    for (char *end; *text; text = end) {
        double x = strtod(text, &end);
        if (end == text) { /* (1 - t^2) */
            double t;
            int n = 0;
            if (sscanf(text, "(1 - %lf^2)%n", &t, &n) != 1 || n == 0)
                return NAN;
            x = 1 - t * t;
            end += n;
        }
        v = op == '*' ? v * x : v / x;
        op = *end;
        if (op == '\0')
            return v;
        if (op != '*' && op != '/')
            return NAN;
        end++;
    }
    return NAN;
}

/* Numbers of a text have six digits. */
static void check_text(const struct lab_explanation *e,
                       const struct lab_term *t)
{
    double v = text_value(t->text);
    if (!isnan(v) && isfinite(t->value) &&
        fabs(v - t->value) > 1e-4 * fabs(t->value) + 1e-30)
        fail_msg("%s: the term %s is %g, and counts as %g", e->name, t->text, v,
                 t->value);
}

/* Words of a formula that need no definition: functions, and the words in which
 * some formulas are put. */
static bool known_word(const char *word)
{
    static const char *const words[] = {
        "exp",       "log",       "sqrt",       "tanh",     "sigmoid",
        "erf",       "Phi",       "phi",        "max",      "mean",
        "sum",       "pi",        "nan",        "inf",      "before",
        "from",      "the",       "a",          "data",     "initial",
        "value",     "unchanged", "passes",     "its",      "gradient",
        "on",        "where",     "else",       "here",     "it",
        "is",        "of",        "over",       "channel",  "row",
        "means",     "keys",      "query",      "that",     "sees",
        "and",       "random",    "number",     "as",       "last",
        "iteration", "left",      "place",      "places",   "in",
        "largest",   "rows",      "columns",    "x",        "windows",
        "won",       "hold",      "id",         "outputs",  "read",
        "weight",    "was",       "with",       "not",      "computed",
        "yet",       "elements",  "window",     "does",     "see",
        "later",     "key",       "mask",       "hides",    "all",
        "others",    "relu",      "leaky_relu", "gelu",     "softplus",
        "swish",     "no",        "holds",      "positions"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i], word) == 0)
            return true;
    }
    return false;
}

/* "k" of "sum_k", "kh" of "sum_kh,kw,c": bound by a sum. */
static bool bound(const char *formula, const char *word)
{
    size_t len = strlen(word);
    for (const char *s = formula; (s = strstr(s, "sum_")); s++) {
        const char *p = s + 4;
        for (;;) {
            size_t n = strcspn(p, ", []()");
            if (n == len && strncmp(p, word, n) == 0)
                return true;
            if (p[n] != ',')
                break;
            p += n + 1;
        }
    }
    return false;
}

static bool defined(const struct lab_explanation *e, const char *word)
{
    char text[80];
    static const char *const forms[] = {"%s = ", "%s is ", "%s[", "%s("};
    for (size_t i = 0; e->where && i < 4; i++) {
        snprintf(text, sizeof(text), forms[i], word);
        for (const char *at = e->where; (at = strstr(at, text)); at++) {
            if (at == e->where || at[-1] == ' ')
                return true;
        }
    }
    return false;
}

/* "q[0,t,4+e]" has as many indices as q has axes. */
static void check_indices(const struct net *n, const struct lab_explanation *e,
                          const char *word, const char *after)
{
    int tensor = lab_plan_tensor(n->plan, word);
    int given = 1;
    if (tensor < 0 || *after != '[')
        return;
    for (int depth = 0; *after; after++) {
        depth += (*after == '[') - (*after == ']');
        if (depth == 0)
            break;
        given += *after == ',';
    }
    if (given != n->plan->tensors[tensor].shape.rank)
        fail_msg("%s = %s: %s has %d indices, and %d axes", e->name,
                 e->symbolic, word, given, n->plan->tensors[tensor].shape.rank);
}

/* Parentheses close, and each name is a tensor's, bound or defined. */
static void check_formula(const struct net *n, const struct lab_explanation *e,
                          const char *formula)
{
    int depth = 0;
    for (const char *p = formula; *p;) {
        char word[80];
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        if (depth < 0)
            fail_msg("%s = %s: a bracket closes that none opens", e->name,
                     formula);
        size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.0123456789");
        bool number = *p == '.' || (*p >= '0' && *p <= '9');
        if (len == 0 || number) {
            p += number ? strspn(p, "0123456789.e") : 1;
            continue;
        }
        assert_true(len < sizeof(word));
        snprintf(word, sizeof(word), "%.*s", (int)len, p);
        p += len;
        while (len > 0 && word[len - 1] == '.')
            word[--len] = '\0';
        if (!defined(e, word))
            check_indices(n, e, word, p);
        if (strncmp(word, "sum_", 4) != 0 && !known_word(word) &&
            lab_plan_tensor(n->plan, word) < 0 && !bound(formula, word) &&
            !defined(e, word))
            fail_msg("%s = %s, where %s: what is %s?", e->name, formula,
                     e->where ? e->where : "(nothing)", word);
    }
    if (depth != 0)
        fail_msg("%s = %s: a bracket is not closed", e->name, formula);
}

static void check_source(const struct net *n, const struct lab_explanation *e,
                         const struct lab_element *s)
{
    const struct lab_step *step =
        lab_walk_schedule(n->walk)->steps[e->step].step;
    bool read = false;
    for (int i = 0; i < step->n_in; i++)
        read = read || step->in[i] == s->tensor;
    /* The formula of c names the gates, which the same step has written. */
    for (int i = 0; i < step->n_out; i++)
        read = read || step->out[i] == s->tensor;
    if (!read || s->index < 0 || s->index >= n->plan->tensors[s->tensor].count)
        fail_msg("%s comes from tensor %d, element %lld", e->name, s->tensor,
                 (long long)s->index);
}

/* Terms come by size; what is not a number is larger than all. */
static double size_of(double v)
{
    return isnan(v) ? INFINITY : fabs(v);
}

static void check_terms(const struct net *n, const struct lab_explanation *e)
{
    /* A group's terms may come from what it computes and does not write. */
    const bool group = lab_walk_schedule(n->walk)->steps[e->step].step->group;
    double sum = e->rest;
    for (int64_t i = 0; i < e->n_terms; i++) {
        const struct lab_term *t = &e->terms[i];
        sum += t->value;
        assert_true(i == 0 ||
                    size_of(t->value) <= size_of(e->terms[i - 1].value));
        for (int k = 0; k < t->n_sources; k++)
            check_source(n, e, &t->source[k]);
        if (e->n_terms_all > 0) {
            assert_true(t->text[0] != '\0');
            /* A constant, and what a persistent tensor held before, are of no
             * tensor now. */
            if (!group && t->n_sources == 0 && !strstr(e->symbolic, " old") &&
                strncmp(e->symbolic, "k + ", 4) != 0)
                fail_msg("%s = %s: no source of %s", e->name, e->symbolic,
                         t->text);
        }
    }
    if (e->n_terms_all > 0 && !e->numeric &&
        fabs(sum - e->value) > 1e-9 * (1 + fabs(sum)) && !group)
        fail_msg("%s: the terms sum to %g, the value is %g", e->name, sum,
                 e->value);
}

static void agrees(const struct net *n, const struct lab_explanation *e)
{
    if (!e->agrees)
        fail_msg("%lld:%d %s = %s: %.9g, and the tensor holds %.9g",
                 (long long)lab_walk_iteration(n->walk),
                 lab_walk_position(n->walk), e->name, e->symbolic, e->value,
                 e->shown);
    for (int64_t i = 0; e->n_terms_all > 0 && i < e->n_terms; i++)
        check_text(e, &e->terms[i]);
    /* Prose about what another variant would have written. */
    if (strstr(e->symbolic, "variant"))
        return;
    check_formula(n, e, e->symbolic);
    if (e->numeric)
        check_formula(n, e, e->numeric);
}

int net_explain(const struct net *n, int tensor, int64_t index)
{
    struct lab_explanation e;
    assert_ok(lab_walk_explain(n->walk, tensor, index, &e));
    const int step = e.step;
    const struct lab_tensor *t = &n->plan->tensors[tensor];
    assert_int_equal(strncmp(e.name, t->name, strlen(t->name)), 0);
    assert_true(e.symbolic && e.symbolic[0]);
    assert_null(strchr(e.symbolic, '$'));
    if (e.step >= 0)
        check_terms(n, &e);
    agrees(n, &e);
    struct lab_str text;
    lab_str_init(&text);
    lab_explanation_text(&e, 3, &text);
    assert_int_equal(strncmp(lab_str_text(&text), e.name, strlen(e.name)), 0);
    lab_str_release(&text);
    lab_explanation_release(&e);
    return step;
}

void net_explain_all(const struct net *n, bool written_only)
{
    for (int t = 0; t < n->plan->n_tensors; t++) {
        if (written_only && !lab_walk_written(n->walk, t))
            continue;
        for (int64_t i = 0; i < n->plan->tensors[t].count; i++)
            (void)net_explain(n, t, i);
    }
}
