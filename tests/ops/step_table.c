/* The table of every op's steps with small shapes; step_table.h has the
 * columns. */
#include "ops/step_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "activation/activation.h"
#include "attention/attention.h"
#include "dropout/dropout.h"
#include "flatten/flatten.h"
#include "layer_norm/layer_norm.h"
#include "loss/loss.h"
#include "optimizer/optimizer.h"

static const struct lab_leaky_relu_params leaky = {.slope = 0.01};
static const struct lab_elu_params elu = {.alpha = 0.8};
static const struct lab_gelu_params gelu_tanh = {.tanh = true};
static const struct lab_gelu_params gelu_erf = {.tanh = false};
static const struct lab_flatten_params plain = {.permute = false};
static const struct lab_flatten_params channel_first = {.permute = true};
static const struct lab_dropout_params third = {.p = 0.3};
static const struct lab_layer_norm_params norm = {.eps = 1e-5};
static const struct lab_attention_params one_head = {.heads = 1};
static const struct lab_attention_params causal = {.heads = 1, .causal = true};
static const struct lab_attention_params two_heads = {.heads = 2};
static const struct lab_attention_params two_causal = {.heads = 2,
                                                       .causal = true};
static const struct lab_mse_params mse_mean = {LAB_MSE_MEAN};
static const struct lab_mse_params mse_half = {LAB_MSE_HALF_SUM};
static const struct lab_mse_params mse_per = {LAB_MSE_HALF_SUM_PER_SAMPLE};
static const struct lab_sgd_params sgd = {.lr = 0.1, .weight_decay = 0.01};
static const struct lab_sgd_params heavy = {.lr = 0.1, .momentum = 0.9};
static const struct lab_sgd_params nesterov = {
    .lr = 0.1, .momentum = 0.9, .nesterov = true};
static const struct lab_adam_params adam = {
    .lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.1};
static const struct lab_sgd_params clipped = {
    .lr = 0.1, .weight_decay = 0.01, .clip = 0.05};
static const struct lab_sgd_params clipped_heavy = {
    .lr = 0.1, .momentum = 0.9, .clip = 0.05};
static const struct lab_adam_params clipped_adam = {.lr = 0.01,
                                                    .beta1 = 0.9,
                                                    .beta2 = 0.999,
                                                    .eps = 1e-8,
                                                    .weight_decay = 0.1,
                                                    .clip = 0.05};

#define ACTIVATION(op, params)                                                 \
    {op, op, LAB_FORWARD, "y:NM", "x:NM", params},                             \
    {                                                                          \
        op, op, LAB_BACKWARD, "dx:NM", "dy:NM x:NM y:NM", params               \
    }
#define SCE "softmax_cross_entropy"

#define SDPA "scaled_dot_attention"
#define BAHDANAU "bahdanau_attention"
/* The steps of attention; q is 2 sequences of N, k and v of K, heads M wide. */
#define ATTEND(op, p, scores, width)                                           \
    {op, "scores", LAB_FORWARD, "scores:" scores, "q:2N" width " k:2K" width,  \
     p},                                                                       \
        {op, "softmax", LAB_FORWARD, "probs:" scores, "scores:" scores, p},    \
        {op,                                                                   \
         "context",                                                            \
         LAB_FORWARD,                                                          \
         "ctx:2N" width,                                                       \
         "probs:" scores " v:2K" width,                                        \
         p},                                                                   \
        {op,                                                                   \
         "context",                                                            \
         LAB_BACKWARD,                                                         \
         "dprobs:" scores " dv:2K" width,                                      \
         "dctx:2N" width " probs:" scores " v:2K" width,                       \
         p},                                                                   \
        {op,                                                                   \
         "softmax",                                                            \
         LAB_BACKWARD,                                                         \
         "dscores:" scores,                                                    \
         "dprobs:" scores " probs:" scores,                                    \
         p},                                                                   \
    {                                                                          \
        op, "scores", LAB_BACKWARD, "dq:2N" width " dk:2K" width,              \
            "dscores:" scores " q:2N" width " k:2K" width, p                   \
    }
#define PROJECT(step)                                                          \
    {"attention", step, LAB_FORWARD, "y:NM", "x:NK W:KM b:M", NULL},           \
        {"attention", step, LAB_FORWARD, "y:NM", "x:NK W:KM -", NULL},         \
        {"attention",       step, LAB_BACKWARD, "dW:KM db:M dx:NK",            \
         "dy:NM x:NK W:KM", NULL},                                             \
    {                                                                          \
        "attention", step, LAB_BACKWARD, "dW:KM - -", "dy:NM x:NK W:KM", NULL  \
    }

const struct step_case step_cases[] = {
    {"dense", "matmul", LAB_FORWARD, "xW:NM", "x:NK W:KM", NULL},
    {"dense", "matmul", LAB_FORWARD, "xW:M", "x:K W:KM", NULL},
    {"dense", "bias", LAB_FORWARD, "out:NM", "xW:NM b:M", NULL},
    {"dense", "bias", LAB_BACKWARD, "db:M", "dout:NM", NULL},
    {"dense", "matmul", LAB_BACKWARD, "dW:KM dx:NK", "dxW:NM x:NK W:KM", NULL},
    {"dense", "matmul", LAB_BACKWARD, "dW:KM dx:2NK", "dxW:2NM x:2NK W:KM",
     NULL},
    {"dense", "matmul", LAB_BACKWARD, "dW:KM -", "dxW:NM x:NK W:KM", NULL},
    ACTIVATION("relu", NULL),
    ACTIVATION("leaky_relu", &leaky),
    ACTIVATION("elu", &elu),
    ACTIVATION("sigmoid", NULL),
    ACTIVATION("tanh", NULL),
    ACTIVATION("gelu", &gelu_tanh),
    ACTIVATION("gelu", &gelu_erf),
    ACTIVATION("softplus", NULL),
    ACTIVATION("swish", NULL),
    {"softmax", "softmax", LAB_FORWARD, "y:NM", "x:NM", NULL},
    {"softmax", "softmax", LAB_FORWARD, "y:M", "x:M", NULL},
    {"softmax", "softmax", LAB_BACKWARD, "dx:NM", "dy:NM y:NM", NULL},
    {"flatten", "flatten", LAB_FORWARD, "y:NP", "x:NKM", &plain},
    {"flatten", "flatten", LAB_BACKWARD, "dx:NKM", "dy:NP", &plain},
    {"flatten", "flatten", LAB_FORWARD, "y:NP", "x:NKM", &channel_first},
    {"flatten", "flatten", LAB_BACKWARD, "dx:NKM", "dy:NP", &channel_first},
    {"dropout", "dropout", LAB_FORWARD, "y:NM mask:NM", "x:NM", &third},
    {"dropout", "dropout", LAB_BACKWARD, "dx:NM", "dy:NM mask:NM", &third},
    {"layer_norm", "stats", LAB_FORWARD, "mean:N rstd:N", "x:NM", &norm},
    {"layer_norm", "normalize", LAB_FORWARD, "xhat:NM", "x:NM mean:N rstd:>N",
     &norm},
    {"layer_norm", "scale", LAB_FORWARD, "y:NM", "xhat:NM gamma:M beta:M",
     &norm},
    {"layer_norm", "scale", LAB_BACKWARD, "dxhat:NM dgamma:M dbeta:M",
     "dy:NM xhat:NM gamma:M", &norm},
    {"layer_norm", "normalize", LAB_BACKWARD, "dx:NM",
     "dxhat:NM xhat:NM rstd:>N", &norm},
    {"embedding", "gather", LAB_FORWARD, "out:NK", "ids:#N W:MK", NULL},
    {"embedding", "gather", LAB_BACKWARD, "dW:MK", "dout:NK ids:#N", NULL},
    {"positional_embedding", "add", LAB_FORWARD, "out:NKM", "x:NKM W:KM", NULL},
    {"positional_embedding", "add", LAB_BACKWARD, "dW:KM", "dout:NKM", NULL},
    {"sequence_mean", "mean", LAB_FORWARD, "y:NM", "x:NKM", NULL},
    {"sequence_mean", "mean", LAB_BACKWARD, "dx:NKM", "dy:NM", NULL},
    ATTEND(SDPA, &one_head, "2NK", "M"),
    ATTEND(SDPA, &causal, "2NK", "M"),
    ATTEND("attention", &two_heads, "22NK", "D"),
    ATTEND("attention", &two_causal, "22NK", "D"),
    PROJECT("q"),
    PROJECT("k"),
    PROJECT("v"),
    PROJECT("output"),
    {BAHDANAU, "u", LAB_FORWARD, "u:2NM", "s:2K h:2N3 Ws:KM Wh:3M b:M", NULL},
    {BAHDANAU, "t", LAB_FORWARD, "t:NM", "u:NM", NULL},
    {BAHDANAU, "e", LAB_FORWARD, "e:2N", "t:2NM v:M", NULL},
    {BAHDANAU, "a", LAB_FORWARD, "a:NM", "e:NM", NULL},
    {BAHDANAU, "context", LAB_FORWARD, "out:2M", "a:2N h:2NM", NULL},
    {BAHDANAU, "context", LAB_BACKWARD, "da:2N dh:2NM", "dout:2M a:2N h:2NM",
     NULL},
    {BAHDANAU, "context", LAB_BACKWARD, "da:2N -", "dout:2M a:2N h:2NM", NULL},
    {BAHDANAU, "a", LAB_BACKWARD, "de:NM", "da:NM a:NM", NULL},
    {BAHDANAU, "e", LAB_BACKWARD, "dt:2NM dv:M", "de:2N t:2NM v:M", NULL},
    {BAHDANAU, "t", LAB_BACKWARD, "du:NM", "dt:NM t:NM", NULL},
    {BAHDANAU, "u", LAB_BACKWARD, "dWs:KM dWh:3M db:M ds:2K dh:2N3",
     "du:2NM s:2K h:2N3 Ws:KM Wh:3M", NULL},
    {"rnn", "input", LAB_FORWARD, "xs:3NK", "x:N3K", NULL},
    {"rnn", "return", LAB_FORWARD, "out:N3M", "h:3NM", NULL},
    {"rnn", "return", LAB_FORWARD, "out:NM", "h:NM", NULL},
    {"rnn", "return", LAB_BACKWARD, "dh:3NM", "dout:N3M", NULL},
    {"rnn", "sum", LAB_FORWARD, "z:NM", "x:NK hp:NM Wx:KM Wh:MM b:M", NULL},
    {"rnn", "sum", LAB_FORWARD, "z:NM", "x:NK hp:NM Wx:KM Wh:MM -", NULL},
    {"rnn", "tanh", LAB_FORWARD, "h:NM", "z:NM", NULL},
    {"rnn", "tanh", LAB_BACKWARD, "dz:NM dh:NM", "dr:NM ds:NM h:NM", NULL},
    {"rnn", "tanh", LAB_BACKWARD, "dz:NM dh:NM", "- ds:NM h:NM", NULL},
    {"rnn", "tanh", LAB_BACKWARD, "dz:NM dh:NM", "dr:NM - h:NM", NULL},
    {"rnn", "sum", LAB_BACKWARD, "dhp:NM", "dz:NM Wh:MM", NULL},
    {"rnn", "weights", LAB_BACKWARD, "dWx:KM dWh:MM db:M",
     "dz:3NM xs:3NK h:3NM h0:NM", NULL},
    {"rnn", "weights", LAB_BACKWARD, "dWx:KM dWh:MM -",
     "dz:1NM xs:1NK h:1NM h0:NM", NULL},
    {"rnn", "input", LAB_BACKWARD, "dx:N3K", "dz:3NM Wx:KM", NULL},
    {"lstm", "input", LAB_FORWARD, "xs:3NK", "x:N3K", NULL},
    {"lstm", "return", LAB_FORWARD, "out:N3M", "h:3NM", NULL},
    {"lstm", "return", LAB_FORWARD, "out:NM", "h:NM", NULL},
    {"lstm", "return", LAB_BACKWARD, "dh:3NM", "dout:N3M", NULL},
    {"lstm", "gates", LAB_FORWARD, "z:NQ", "x:NK hp:NM W:QK U:QM b:Q", NULL},
    {"lstm", "cell", LAB_FORWARD, "a:NM i:NM f:NM o:NM c:NM h:NM", "z:NQ cp:NM",
     NULL},
    {"lstm", "cell", LAB_BACKWARD, "dz:NQ dh:NM dc:NM -",
     "dr:NM dg:NM dcn:NM fn:NM a:NM i:NM f:NM o:NM c:NM cp:NM", NULL},
    {"lstm", "cell", LAB_BACKWARD, "dz:NQ dh:NM dc:NM dcp:NM",
     "- dg:NM dcn:NM fn:NM a:NM i:NM f:NM o:NM c:NM cp:NM", NULL},
    {"lstm", "cell", LAB_BACKWARD, "dz:NQ dh:NM dc:NM -",
     "dr:NM - - - a:NM i:NM f:NM o:NM c:NM cp:NM", NULL},
    {"lstm", "gates", LAB_BACKWARD, "dhp:NM", "dz:NQ U:QM", NULL},
    {"lstm", "weights", LAB_BACKWARD, "dW:QK dU:QM db:Q",
     "dz:3NQ xs:3NK h:3NM h0:NM", NULL},
    {"lstm", "weights", LAB_BACKWARD, "dW:QK dU:QM db:Q",
     "dz:1NQ xs:1NK h:1NM h0:NM", NULL},
    {"lstm", "input", LAB_BACKWARD, "dx:N3K", "dz:3NQ W:QK", NULL},
    {"grad_sum", "sum", LAB_BACKWARD, "dx:NM", "a:NM b:NM c:NM", NULL},
    {"grad_sum", "sum", LAB_BACKWARD, "dx:NM", "a:NM b:NM c:NM d:NM", NULL},
    {"grad_sum", "norm", LAB_UPDATE, "norm: all:", "g:KM -", NULL},
    {"grad_sum", "norm", LAB_UPDATE, "norm: all:", "g:KM before:>", NULL},
    {SCE, "softmax", LAB_LOSS, "probs:NM", "z:NM", NULL},
    {SCE, "sample", LAB_LOSS, "sample:N", "z:NM y:#N", NULL},
    {SCE, "mean", LAB_LOSS, "loss:", "sample:N", NULL},
    {SCE, "softmax", LAB_BACKWARD, "dz:NM", "probs:NM y:#N", NULL},
    {"mse", "sample", LAB_LOSS, "sample:N", "h:NM y:NM", &mse_mean},
    {"mse", "sample", LAB_LOSS, "sample:N", "h:NKM y:NKM", &mse_half},
    {"mse", "sample", LAB_LOSS, "sample:N", "h:N y:N", &mse_per},
    {"mse", "reduce", LAB_LOSS, "loss:", "sample:N", &mse_mean},
    {"mse", "reduce", LAB_LOSS, "loss:", "sample:N", &mse_half},
    {"mse", "reduce", LAB_LOSS, "loss:", "sample:N", &mse_per},
    {"mse", "sample", LAB_BACKWARD, "dh:NM", "h:NM y:NM", &mse_mean},
    {"mse", "sample", LAB_BACKWARD, "dh:NM", "h:NM y:NM", &mse_half},
    {"mse", "sample", LAB_BACKWARD, "dh:N", "h:N y:N", &mse_per},
    {"weighted_sum", "sample", LAB_LOSS, "sample:N", "h:NM y:NM", NULL},
    {"weighted_sum", "reduce", LAB_LOSS, "loss:", "sample:N", NULL},
    {"weighted_sum", "sample", LAB_BACKWARD, "dh:NM", "y:NM", NULL},
    {"sgd", "update", LAB_UPDATE, "+p:KM -", "g:KM", &sgd},
    {"sgd", "update", LAB_UPDATE, "+p:KM +velocity:KM", "g:KM", &heavy},
    {"sgd", "update", LAB_UPDATE, "+p:KM +velocity:KM", "g:KM", &nesterov},
    {"adam", "update", LAB_UPDATE, "+p:KM +m:KM +v:>KM", "g:KM", &adam},
    {"adamw", "update", LAB_UPDATE, "+p:KM +m:KM +v:>KM", "g:KM", &adam},
    {"sgd", "update", LAB_UPDATE, "+p:KM -", "g:KM norm:>", &clipped},
    {"sgd", "update", LAB_UPDATE, "+p:KM +velocity:KM", "g:KM norm:>",
     &clipped_heavy},
    {"adam", "update", LAB_UPDATE, "+p:KM +m:KM +v:>KM", "g:KM norm:>",
     &clipped_adam},
    {"adamw", "update", LAB_UPDATE, "+p:KM +m:KM +v:>KM", "g:KM norm:>",
     &clipped_adam},
};
const int step_case_count = sizeof(step_cases) / sizeof(step_cases[0]);

const struct step_sizes step_sizes[] = {
    {1, 1, 1},   {1, 7, 1},     {2, 1, 13},   {65, 33, 17},
    {3, 65, 31}, {31, 257, 10}, {10, 64, 16}, {1, 784, 2},
};
const int step_size_count = sizeof(step_sizes) / sizeof(step_sizes[0]);

void step_describe(char *text, size_t bytes, const struct step_case *c,
                   const struct step_sizes *s)
{
    snprintf(text, bytes, "%s.%s %s (%s <- %s), N %d K %d M %d", c->op,
             c->step ? c->step : "group", lab_phase_name(c->phase), c->outs,
             c->ins, (int)s->N, (int)s->K, (int)s->M);
}

static int64_t side(char letter, const struct step_sizes *s)
{
    switch (letter) {
    case 'N':
        return s->N;
    case 'K':
        return s->K;
    case 'M':
        return s->M;
    case 'P':
        return s->K * s->M;
    case 'Q':
        return 4 * s->M;
    case 'D':
        return 2 * s->M;
    default:
        return letter - '0';
    }
}

static void fill(struct rig *r, const char *p, const struct step_sizes *sizes,
                 uint64_t *seed)
{
    char word[24];
    int used;
    while (sscanf(p, " %23[^: ]%n", word, &used) == 1) {
        const char *name = word + (word[0] == '+');
        p += used;
        if (*p != ':')
            continue; /* "-" */
        p++;
        bool labels = *p == '#';
        bool positive = *p == '>';
        p += labels || positive;
        int64_t dim[LAB_MAX_RANK];
        int rank = 0;
        for (; isalnum((unsigned char)*p); p++) {
            dim[rank] = side(*p, sizes);
            rank++;
        }
        if (labels)
            rig_add_labels(r, name, dim[0]);
        else
            rig_add(r, name, rank, dim);
        ++*seed;
        if (labels)
            rig_random(r, name, *seed, 0, (double)sizes->M);
        else
            rig_random(r, name, *seed, positive ? 0.1 : -2, 2);
    }
}

void step_fill(struct rig *r, const struct step_case *c,
               const struct step_sizes *sizes, uint64_t seed)
{
    fill(r, c->outs, sizes, &seed);
    fill(r, c->ins, sizes, &seed);
    rig_call(r)->iteration = 4;
}

void step_run(struct rig *r, const struct step_case *c)
{
    rig_run(r, c->op, c->step, c->phase, c->outs, c->ins, c->params);
}

void step_compare(const char *what, const struct step_case *c,
                  const struct rig *got, const struct rig *ref,
                  double tolerance)
{
    char name[24];
    int used;
    for (const char *p = c->outs; sscanf(p, " %23s%n", name, &used) == 1;
         p += used) {
        if (strcmp(name, "-") != 0)
            rig_compare_rigs(what, got, ref, name + (name[0] == '+'),
                             tolerance);
    }
}
