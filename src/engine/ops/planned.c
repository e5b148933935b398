/* Keys of the ops that this version checks but does not run (planned.def). */
#include "engine/op.h"

#define KEYS(list) .keys = list, .n_keys = sizeof(list) / sizeof((list)[0])

static const char *const returns[] = {"sequence", "last", NULL};
static const char *const gelus[] = {"tanh", "erf", NULL};

#define MANY 1073741824.0

static const struct lab_key_def embedding_keys[] = {
    {"vocab", LAB_KEY_INT, true, 0, 1, MANY},
    {"dim", LAB_KEY_INT, true, 0, 1, MANY},
};
const struct lab_op_def lab_op_embedding = {.name = "embedding",
                                            KEYS(embedding_keys),
                                            .min_inputs = 1,
                                            .max_inputs = 1};

static const struct lab_key_def position_keys[] = {
    {"max_length", LAB_KEY_INT, true, 0, 1, MANY},
};
const struct lab_op_def lab_op_positional_embedding = {
    .name = "positional_embedding",
    KEYS(position_keys),
    .min_inputs = 1,
    .max_inputs = 1};

static const struct lab_key_def rnn_keys[] = {
    {"hidden", LAB_KEY_INT, true, 0, 1, MANY},
    {"bias", LAB_KEY_BOOL, false, 1},
    {"return", LAB_KEY_CHOICE, false, 0, .choices = returns},
};
const struct lab_op_def lab_op_rnn = {
    .name = "rnn", KEYS(rnn_keys), .min_inputs = 1, .max_inputs = 1};

static const struct lab_key_def lstm_keys[] = {
    {"hidden", LAB_KEY_INT, true, 0, 1, MANY},
    {"return", LAB_KEY_CHOICE, false, 0, .choices = returns},
};
const struct lab_op_def lab_op_lstm = {
    .name = "lstm", KEYS(lstm_keys), .min_inputs = 1, .max_inputs = 1};

static const struct lab_key_def sdpa_keys[] = {
    {"causal", LAB_KEY_BOOL, false, 0},
};
const struct lab_op_def lab_op_scaled_dot_attention = {
    .name = "scaled_dot_attention",
    KEYS(sdpa_keys),
    .min_inputs = 3,
    .max_inputs = 3};

static const struct lab_key_def attention_keys[] = {
    {"heads", LAB_KEY_INT, true, 0, 1, MANY},
    {"causal", LAB_KEY_BOOL, false, 0},
    {"bias", LAB_KEY_BOOL, false, 1},
};
const struct lab_op_def lab_op_attention = {.name = "attention",
                                            KEYS(attention_keys),
                                            .min_inputs = 1,
                                            .max_inputs = 1};

static const struct lab_key_def bahdanau_keys[] = {
    {"align", LAB_KEY_INT, true, 0, 1, MANY},
};
const struct lab_op_def lab_op_bahdanau_attention = {.name =
                                                         "bahdanau_attention",
                                                     KEYS(bahdanau_keys),
                                                     .min_inputs = 2,
                                                     .max_inputs = 2};

static const struct lab_key_def block_keys[] = {
    {"heads", LAB_KEY_INT, true, 0, 1, MANY},
    {"ff", LAB_KEY_INT, true, 0, 1, MANY},
    {"causal", LAB_KEY_BOOL, false, 0},
    {"gelu", LAB_KEY_CHOICE, false, 0, .choices = gelus},
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
};
const struct lab_op_def lab_op_transformer_block = {.name = "transformer_block",
                                                    KEYS(block_keys),
                                                    .min_inputs = 1,
                                                    .max_inputs = 1};
