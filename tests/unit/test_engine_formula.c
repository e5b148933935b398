/* Formulas: what the parser refuses, what a formula counts, and every op of the
 * program by its formulas alone, in double: the backward formulas against central
 * differences of the forward ones. No kernel runs. */
#include "test.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/explain.h"
#include "engine/formula.h"
#include "engine/op.h"
#include "common/random.h"
#include "unit/net.h"

/* ---- the parser ---- */

static const struct lab_shape matrix = {2, {3, 5}};
static const struct lab_shape square = {2, {5, 5}};
static const struct lab_shape row = {1, {5}};
static const struct lab_key_def eps_key[] = {{"eps", LAB_KEY_FLOAT}};
static const struct lab_attr eps_attr[] = {{.f = 0.5}};
/* $i0 [3,5], $i1 [5,5], $i2 [5]; $o0 [3,5], $o1 [5] */
static const struct lab_formula_step small = {.in = {&matrix, &square, &row},
                                              .out = {&matrix, &row},
                                              .keys = eps_key,
                                              .n_keys = 1,
                                              .attr = eps_attr};

TEST_CASE(what_makes_no_sense_is_refused)
{
    static const struct {
        const char *text;
        int column;
    } bad[] = {
        {"$o0", 4},
        {"$o0 =", 6},
        {"$o0[n,m] = ", 12},
        {"$o0 = $i7", 10},
        {"$o0 = $i99", 11},
        {"$o0 = $o7", 10},
        {"$o0 = $x1", 8},
        {"$o0 = $i", 9},
        {"$o0[n,m = $i0[n,m]", 9},
        {"$o0[n,] = $i0[n,m]", 7},
        {"$o0[n,m] = $i0[n,m", 19},
        {"$o0[n,m] = ($i0[n,m]", 21},
        {"$o0[n,m] = $i0[n,m])", 20},
        {"$o0[n,m] = $i0[n,m] +", 22},
        {"$o0[n,m] = $i0[n,m] * * 2", 23},
        {"$o0[n,m] = $i0[n,m]^x", 21},
        {"$o0[n,m] = tanh($i0[n,m]", 25},
        {"$o0[n,m] = max($i0[n,m])", 24},
        {"$o0[n,m] = cosh($i0[n,m])", 12},
        {"$o0[n,m] = $i0[n,m] + beta", 23},
        {"$o0[n,m] = $i0[n,k]", 20},
        {"$o0[n,m] = sum_k $i0[n,m] + $i0[n,k]", 37},
        {"$o0[n,m] = sum_ $i0[n,m]", 16},
        {"$o0[n,m] = $i0[n,2*q]", 22},
        {"$o0[n,m+1] = $i0[n,m]", 22},
        {"$o0[n,2] = $i0[n,2]", 20},
        {"$o0[n,m] = $i0[n,a+b+c+d]", 24},
        {"$o0[n,m] = $i0[a,b,c,d,e,f,g,h,i]", 28},
        {"$o0[n,thisletteristoolong] = $i0[n,m]", 7},
        {"$o0 = $i0; $o0 = $i0", 15},
        {"$o0[n,m] = $i0[n,m] \"no end", 28},
        {"$o0[n,m] = $i0[n,m] @", 21},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct lab_formula f;
        char error[160];
        if (lab_formula_parse(&f, bad[i].text, &small) != LAB_E_PARSE)
            fail_msg("'%s' is taken for a formula", bad[i].text);
        snprintf(error, sizeof(error),
                 "[formula.syntax] '%s', column %d: ", bad[i].text,
                 bad[i].column);
        assert_true(error_is(error));
    }
    /* Too much of anything ends in a message, too. */
    for (int kind = 0; kind < 3; kind++) {
        static const char *const more[] = {"+$i0", "+1", "+(("};
        struct lab_formula f;
        struct lab_str text;
        lab_str_init(&text);
        lab_str_add(&text, "$o0 = 1");
        for (int i = 0; i < 200; i++)
            lab_str_add(&text, more[kind]);
        assert_int_equal(lab_formula_parse(&f, lab_str_text(&text), &small),
                         LAB_E_PARSE);
        lab_str_release(&text);
    }
}

/* An element's place: tensors hold it. */
static double place(void *user, bool old, int slot, int64_t index)
{
    (void)user;
    (void)slot;
    return (double)index + (old ? 100 : 0);
}

TEST_CASE(a_formula_counts_and_computes)
{
    static const struct {
        const char *text;
        double flop;
        int64_t index;
        double value;
    } good[] = {
        {"$o0 = $i0", 0, 7, 7},
        {"$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]", 2 * 75, 6,
         5 * 1 + 6 * 6 + 7 * 11 + 8 * 16 + 9 * 21},
        {"$o0[n,m] = sum_k $i0[n,k] * $i1[k,m] / sqrt(4)", 2 * 75 + 15, 6,
         (5 * 1 + 6 * 6 + 7 * 11 + 8 * 16 + 9 * 21) / 2.0},
        {"$o0[n,m] = sum_k $i0[n,k] + sum_k $i1[k,m] + $i2[m]", 15 + 25 + 15, 6,
         35 + 1 + 6 + 11 + 16 + 21 + 1},
        /* the mean once a row */
        {"$o0[n,m] = $i0[n,m] - mean_m $i0[n,m]", 15 + 15, 6, 6 - 7},
        {"$o0[n,m] = ($i0[n,m] + eps)^3", 3 * 15, 2, 2.5 * 2.5 * 2.5},
        {"$o0[n,m] = sigmoid(-$i0[n,m])", 5 * 15, 0, 0.5},
        {"$o0[n,m] = max(4, $i0[n,m])", 15, 3, 4},
        {"$o0[n,m] = 2 $i0[n,m] [m = $i2[m]] [n = 1]", 3 * 15, 6, 12},
        {"$o0 = 0.5 * $o0 + $i0", 30, 3, 0.5 * 103 + 3},
        {"$o1[m] = $i2[m]; $o0[n,m] = $i0[n,m] - $o1[m]", 15, 9, 5},
        /* padding: 15 pairs of m and k are inside */
        {"$o0[n,m] = sum_k $i1[k,m] $i0[n,m+k-4]", 2 * 3 * 15, 4,
         9 * 1 + 14 * 2 + 19 * 3 + 24 * 4},
        {"$o0[n,m] = $i0[n,m] \"a note; with one\", a remark (even", 0, 4, 4},
        {"$o0 = $i0; !$o1 = prose of ($i0", 0, 4, 4},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct lab_formula f;
        bool outside = false;
        assert_ok(lab_formula_parse(&f, good[i].text, &small));
        double v =
            lab_formula_value(&f, 0, good[i].index, place, NULL, &outside);
        if (fabs(v - good[i].value) > 1e-12 || outside)
            fail_msg("%s is %g", good[i].text, v);
        if (lab_formula_flop(&f) != good[i].flop)
            fail_msg("%s: %g FLOPs", good[i].text, lab_formula_flop(&f));
    }
}

TEST_CASE(what_is_displayed_is_what_is_wanted)
{
    static const struct lab_formula_step one = {.in = {&matrix, NULL, &row},
                                                .out = {NULL, &row}};
    static const char *const texts[][2] = {
        {"$o0 = $i0; $o1 = $i2 \"passed on\"", "$o1 = $i2"},
        {"$o1[m] = sum_n $i0[n,m] ~ $i2[m], over n",
         "$o1[m] = sum_n $i0[n,m] $i2[m], over n"},
        {"!$o1 = a word; $o0 = another", "$o1 = a word"},
        {"words alone", "words alone"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *text = lab_formula_display(texts[i][0], &one);
        assert_string_equal(text, texts[i][1]);
        lab_free(text);
    }
}

/* ---- every op ---- */

/* Inputs of a node, the node, and what it gives; "w" first: images with their
 * channels last. Sizes are 1 and small primes. */
static const char *const cases[] = {
    "x 5,7|dense units=3|5,3",
    "x 1,1|dense units=1|1,1",
    "x 2,3,5|dense units=7 bias=false|2,3,7",
    "x 2,3,5|dense units=1|2,3,1",
    "x 3,5|relu|3,5",
    "x 3,5|leaky_relu slope=0.3|3,5",
    "x 3,5|elu alpha=0.7|3,5",
    "x 3,1|sigmoid|3,1",
    "x 2,3,2|tanh|2,3,2",
    "x 3,5|gelu|3,5",
    "x 3,5|gelu approximate=erf|3,5",
    "x 5|softplus|5",
    "x 3,5|swish|3,5",
    "x 3,5|softmax|3,5",
    "x 3,1|softmax|3,1",
    "x 2,3,5|softmax|2,3,5",
    "x 7|softmax|7",
    "x 2,3,5,2|flatten|2,30",
    "wx 2,3,5,2|flatten order=channel_first|2,30",
    "wx 1,1,3,5|flatten order=channel_first|1,15",
    "x 5,3|dropout p=0.4|5,3",
    "x 3,5|layer_norm|3,5",
    "x 2,3,7|layer_norm eps=0.1|2,3,7",
    "x 5|layer_norm|5",
    "x 3,1|layer_norm|3,1",
    "x 2,3,5,7|conv2d filters=2 kernel=3,2 stride=2,1 padding=same|2,2,3,7",
    "wx 2,5,7,3|conv2d filters=2 kernel=3,2 stride=2,1 padding=same|2,3,7,2",
    "x 1,1,5,3|conv2d filters=1 kernel=5,3 bias=false|1,1,1,1",
    "wx 1,3,5,2|conv2d filters=3 kernel=4,4 stride=3 padding=3|1,2,3,3",
    "x 2,4,5,6|conv2d filters=6 kernel=3,2 groups=2 stride=2 padding=1|2,6,3,4",
    ("wx 1,5,6,2|conv2d filters=4 kernel=3,2 dilation=2 groups=2 "
     "padding=same|1,5,6,4"),
    "x 1,2,6,5|conv2d filters=2 kernel=2,3 dilation=3,2 bias=false|1,2,3,1",
    "x 2,3,7,5|max_pool2d size=3,2 stride=2 padding=same|2,3,4,3",
    "wx 1,7,5,3|max_pool2d size=2,2|1,3,2,3",
    "x 2,3,7,5|avg_pool2d size=3,2 stride=2 padding=1|2,3,4,3",
    "wx 1,7,5,3|avg_pool2d size=3,3 stride=1 padding=same|1,7,5,3",
    "x 5,3|batch_norm|5,3",
    "x 2,3,1,5|batch_norm momentum=0.3|2,3,1,5",
    "wx 3,2,1,5|batch_norm eps=0.1|3,2,1,5",
    "x 5,3+z 5,3|add|5,3",
    "x 5,3+z 5,3|multiply|5,3",
    "x 5,3+z 5,2|concat|5,5",
    "x 2,3,2,3+z 2,1,2,3|concat|2,4,2,3",
    "wx 2,2,3,3+z 2,2,3,1|concat|2,2,3,4",
    "x 2,4,2,3|local_response_norm alpha=0.5|2,4,2,3",
    "x 2,2,4,3|local_contrast_norm eps=0.1|2,2,4,3",
    "wx 1,5,3,2|local_contrast_norm size=5 eps=0.1|1,5,3,2",
    "wx 1,2,3,5|local_response_norm size=3 alpha=0.5 beta=0.5|1,2,3,5",
    "x 2,3,5|rnn hidden=2|2,3,2",
    "x 3,1,2|rnn hidden=1 bias=false return=last|3,1",
    "x 2,3,5|lstm hidden=2|2,3,2",
    "x 1,2,3|lstm hidden=3 return=last|1,3",
    "i 3,5|embedding vocab=5 dim=7|3,5,7",
    "i 1|embedding vocab=3 dim=1|1,1",
    "x 2,3,5|positional_embedding max_length=5|2,3,5",
    "x 3,5|positional_embedding max_length=3|3,5",
    "x 2,3,5|sequence_mean|2,5",
    "x 1,1,1|sequence_mean|1,1",
    "q 2,3,5+k 2,7,5+v 2,7,2|scaled_dot_attention|2,3,2",
    "q 3,1+k 3,1+v 3,2|scaled_dot_attention causal=true|3,2",
    "x 2,3,6|attention heads=3 causal=true|2,3,6",
    "x 3,5|attention heads=1 bias=false|3,5",
    "x 2,1,6|attention heads=2|2,1,6",
    "s 2,3+h 2,5,2|bahdanau_attention align=7|2,2",
    "s 3+h 5,2|bahdanau_attention align=1|2",
};
static const char *const losses[] = {
    "softmax_cross_entropy", "mse", "mse reduction=half_sum",
    "mse reduction=half_sum_per_sample", "weighted_sum"};
static const char *const loss_shapes[] = {"5,3", "1,2", "2,3,5"};

/* A plan in double and the values of its tensors. */
struct sums {
    struct net net;
    struct lab_plan *plan;
    void **data; /* by tensor: doubles, or the ids of I32 */
};

static void describe(struct net *n, const char *text)
{
    char copy[200];
    char node[200];
    char from[64] = "";
    snprintf(copy, sizeof(copy), "%s", text);
    char *key = strchr(copy, '|');
    *key++ = '\0';
    char *y = strchr(key, '|');
    *y++ = '\0';
    net_init(n);
    char *tensor = copy;
    if (*tensor == 'w' && tensor[1] == 'x') {
        n->spec.layout = LAB_NHWC;
        tensor++;
    }
    while (tensor) {
        char *next = strchr(tensor, '+');
        if (next)
            *next++ = '\0';
        if (*tensor == 'i')
            net_labels(n, tensor, 3);
        else
            net_tensor(n, tensor, NULL);
        snprintf(from + strlen(from), sizeof(from) - strlen(from), "%s%c",
                 *from ? "," : "", *tensor);
        tensor = next;
    }
    snprintf(node, sizeof(node), "node %s from=%s", key, from);
    net_node(n, node);
    net_loss(n, "weighted_sum");
    snprintf(copy, sizeof(copy), "y %s", y);
    net_tensor(n, copy, NULL);
    n->spec.data.gradient = true;
}

static void start(struct sums *s)
{
    struct net *n = &s->net;
    assert_ok(net_build(n));
    assert_ok(lab_plan_build(&s->plan, &n->spec, &n->shapes, LAB_F64));
    s->data = lab_alloc_array((size_t)s->plan->n_tensors, sizeof(*s->data));
    assert_non_null(s->data);
    for (int t = 0; t < s->plan->n_tensors; t++) {
        const struct lab_tensor *tensor = &s->plan->tensors[t];
        double *v = lab_alloc_array((size_t)tensor->count, sizeof(double));
        assert_non_null(v);
        s->data[t] = v;
        if (tensor->persistent)
            assert_ok(lab_plan_init_tensor(s->plan, t, v, NULL));
        for (int64_t i = 0; i < tensor->count; i++) {
            uint32_t word = lab_random_word(3, (uint32_t)t, 1, (uint64_t)i);
            double random = 2 * (double)lab_random_unit(word) - 1;
            if (tensor->dtype == LAB_I32)
                ((int32_t *)s->data[t])[i] = (int32_t)(i * 2 % 3);
            else if (tensor->persistent)
                v[i] += 0.3 * random; /* no bias is 0 */
            else
                v[i] = random;
        }
    }
}

static void finish(struct sums *s)
{
    for (int t = 0; t < s->plan->n_tensors; t++)
        lab_free(s->data[t]);
    lab_free(s->data);
    lab_plan_free(s->plan);
    net_free(&s->net);
}

struct reading {
    struct sums *s;
    const struct lab_step *step;
};

static double read_element(void *user, bool old, int slot, int64_t index)
{
    const struct reading *r = user;
    int t = old ? r->step->out[slot] : r->step->in[slot];
    assert_true(t >= 0);
    assert_in_range(index, 0, r->s->plan->tensors[t].count - 1);
    return lab_number_at(r->s->data[t], r->s->plan->tensors[t].dtype, index);
}

static enum lab_status read_whole(void *user, int tensor, bool old,
                                  const void **data)
{
    struct sums *s = user;
    (void)old;
    *data = s->data[tensor];
    return LAB_OK;
}

/* An output that a function explains: its value. */
static double explained(struct sums *s, const struct lab_step *step, int tensor,
                        int64_t index)
{
    struct lab_explanation e;
    assert_ok(lab_explain(&e, s->plan, step, tensor, index, 0, LAB_FP32,
                          read_whole, s));
    double v = e.value;
    lab_explanation_release(&e);
    return v;
}

static void compute(struct sums *s, const struct lab_step *step)
{
    struct lab_formula f;
    struct reading r = {s, step};
    double *made[LAB_STEP_OUT] = {NULL};
    assert_ok(lab_formula_of(&f, s->plan, step));
    assert_true(lab_formula_flop(&f) >= 0 && isfinite(lab_formula_flop(&f)));
    for (int o = 0; o < step->n_out; o++) {
        int t = step->out[o];
        int64_t count = t < 0 ? 0 : s->plan->tensors[t].count;
        bool given = lab_formula_statement(&f, o) >= 0;
        made[o] = lab_alloc_array((size_t)count + 1, sizeof(double));
        for (int64_t i = 0; i < count; i++) {
            bool outside = false;
            made[o][i] =
                given ? lab_formula_value(&f, o, i, read_element, &r, &outside)
                      : explained(s, step, t, i);
            if (outside)
                fail_msg("%s: %s reads outside", step->name, step->source);
        }
    }
    for (int o = 0; o < step->n_out; o++) {
        int t = step->out[o];
        const struct lab_tensor *tensor = t < 0 ? NULL : &s->plan->tensors[t];
        for (int64_t i = 0; tensor && !tensor->persistent && i < tensor->count;
             i++) {
            if (tensor->dtype == LAB_I32)
                ((int32_t *)s->data[t])[i] = (int32_t)made[o][i];
            else
                ((double *)s->data[t])[i] = made[o][i];
        }
        lab_free(made[o]);
    }
}

/* What shares memory with a slice or a copy has the same values. */
static void share(struct sums *s, const struct lab_step *step)
{
    for (int o = 0; o < step->n_out; o++) {
        int t = step->out[o];
        if (t < 0)
            continue;
        int owner = s->plan->tensors[t].alias_of;
        const struct lab_tensor *part = &s->plan->tensors[t];
        if (owner >= 0)
            memcpy((double *)s->data[owner] + part->first, s->data[t],
                   (size_t)part->count * sizeof(double));
        for (int k = 0; k < s->plan->n_tensors; k++) {
            const struct lab_tensor *other = &s->plan->tensors[k];
            int whole = owner >= 0 ? owner : t;
            if (other->alias_of == whole && k != t)
                memcpy(s->data[k], (double *)s->data[whole] + other->first,
                       (size_t)other->count * sizeof(double));
        }
    }
}

static double walk(struct sums *s, bool back)
{
    for (int i = 0; i < s->plan->n_steps; i++) {
        const struct lab_step *step = &s->plan->steps[i];
        if (step->phase == LAB_UPDATE || (!back && step->phase == LAB_BACKWARD))
            continue;
        compute(s, step);
        share(s, step);
    }
    return *(double *)s->data[s->plan->loss];
}

/* The gradient of one tensor against central differences; returns how many
 * elements were compared. */
static int compare(struct sums *s, const char *what, int grad)
{
    const struct lab_tensor *g = &s->plan->tensors[grad];
    double *x = s->data[g->gradient_of];
    double *want = lab_alloc_array((size_t)g->count, sizeof(double));
    assert_non_null(want);
    memcpy(want, s->data[grad], (size_t)g->count * sizeof(double));
    for (int64_t i = 0; i < g->count; i++) {
        double was = x[i];
        double h = 1e-5;
        x[i] = was + h;
        double above = walk(s, false);
        x[i] = was - h;
        double below = walk(s, false);
        x[i] = was;
        double slope = (above - below) / (2 * h);
        if (!(fabs(slope - want[i]) <= 1e-6 * (1 + fabs(slope))))
            fail_msg("%s: %s, element %lld is %.9g; the forward formulas' "
                     "slope is %.9g",
                     what, g->name, (long long)i, want[i], slope);
    }
    lab_free(want);
    return (int)g->count;
}

/* Data and parameters: whatever the loss follows from. */
static void check(struct sums *s, const char *what)
{
    int compared = 0;
    start(s);
    walk(s, true);
    for (int t = 0; t < s->plan->n_tensors; t++) {
        int of = s->plan->tensors[t].gradient_of;
        enum lab_tensor_role role =
            of < 0 ? LAB_TENSOR_GRADIENT : s->plan->tensors[of].role;
        const char *suffix = strrchr(s->plan->tensors[t].name, '.');
        if ((role == LAB_TENSOR_DATA || role == LAB_TENSOR_PARAM) &&
            s->plan->tensors[of].dtype != LAB_I32 &&
            strcmp(suffix, ".grad") == 0)
            compared += compare(s, what, t);
    }
    if (compared == 0)
        fail_msg("%s has no gradient", what);
    finish(s);
}

static bool in_cases(const char *op)
{
    size_t len = strlen(op);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *at = strchr(cases[i], '|') + 1;
        if (strncmp(at, op, len) == 0 && strchr(" |", at[len]))
            return true;
    }
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        if (strncmp(losses[i], op, len) == 0 && strchr(" ", losses[i][len]))
            return true;
    }
    return false;
}

/* "3,5" */
static const char *plain_shape(const struct lab_shape *shape, char *text)
{
    int used = 0;
    for (int i = 0; i < shape->rank; i++)
        used += snprintf(text + used, LAB_SHAPE_TEXT - (size_t)used, "%s%lld",
                         i ? "," : "", (long long)shape->dim[i]);
    return text;
}

/* A case for a layer without one above: its own test network, or one input of
 * 3 x 5 and a result of the same shape. */
static void derive(char *text, size_t bytes, const struct lab_op_def *op)
{
    static const struct lab_op_test_network same = {.in = {{2, {3, 5}}},
                                                    .out = {2, {3, 5}}};
    const struct lab_op_test_network *t = op->n_trials ? op->trials : &same;
    char shape[LAB_SHAPE_TEXT];
    struct lab_str s;
    lab_str_init(&s);
    for (int i = 0; i < 4 && t->in[i].rank; i++)
        lab_str_addf(&s, "%s%c %s", i ? "+" : "", "xzuv"[i],
                     plain_shape(&t->in[i], shape));
    lab_str_addf(&s, "|%s", op->name);
    for (int i = 0; i < 4 && t->keys[i].key; i++)
        lab_str_addf(&s, " %s=%g", t->keys[i].key, t->keys[i].value);
    lab_str_addf(&s, "|%s", plain_shape(&t->out, shape));
    snprintf(text, bytes, "%s", lab_str_text(&s));
    lab_str_release(&s);
}

TEST_CASE(backward_is_the_slope_of_forward)
{
    int n;
    const struct lab_op_def *const *ops = lab_op_table(&n);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sums s = {.plan = NULL};
        describe(&s.net, cases[i]);
        check(&s, cases[i]);
    }
    for (int i = 0; i < n; i++) {
        struct sums s = {.plan = NULL};
        char text[200];
        if (!ops[i]->forward || ops[i]->internal || in_cases(ops[i]->name))
            continue;
        if (ops[i]->kind != LAB_KIND_LAYER)
            fail_msg("%s has no case above", ops[i]->name);
        derive(text, sizeof(text), ops[i]);
        describe(&s.net, text);
        check(&s, text);
    }
    for (int i = 0; i < 15; i++) {
        struct sums s = {.plan = NULL};
        const char *shape = loss_shapes[i % 3];
        char text[64];
        net_init(&s.net);
        s.net.spec.data.gradient = true;
        snprintf(text, sizeof(text), "x %s", shape);
        net_tensor(&s.net, text, NULL);
        net_node(&s.net, "node tanh");
        net_loss(&s.net, losses[i / 3]);
        bool labels = s.net.spec.loss.op->labels;
        snprintf(text, sizeof(text), "y %.*s",
                 (int)(labels ? strrchr(shape, ',') - shape : 9), shape);
        if (labels)
            net_labels(&s.net, text, 2);
        else
            net_tensor(&s.net, text, NULL);
        check(&s, losses[i / 3]);
    }
}

RUN_TESTS()
