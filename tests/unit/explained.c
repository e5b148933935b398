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

void net_explained(const struct net *n, const struct lab_explanation *e)
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
