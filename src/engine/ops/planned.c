/* Keys of the ops that this version checks but does not run (planned.def). */
#include "engine/op.h"

#define KEYS(list) .keys = list, .n_keys = sizeof(list) / sizeof((list)[0])

static const char *const paddings[] = {"same", "valid", NULL};
static const char *const returns[] = {"sequence", "last", NULL};

enum { SAME, VALID }; /* indices into paddings */
#define MANY 1073741824.0

static const struct lab_key_def conv_keys[] = {
    {"filters", LAB_KEY_INT, true, 0, 1, MANY},
    {"kernel", LAB_KEY_INTS, true, 0, 1, MANY, .min_items = 2, .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 1, 1, MANY, .min_items = 1, .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, VALID, 0, MANY, .choices = paddings},
    {"bias", LAB_KEY_BOOL, false, 1},
};
const struct lab_op_def lab_op_conv2d = {.name = "conv2d",
                                         KEYS(conv_keys),
                                         .min_inputs = 1,
                                         .max_inputs = 1,
                                         .takes_images = true};

/* stride 0 stands for "as size". */
static const struct lab_key_def pool_keys[] = {
    {"size", LAB_KEY_INTS, true, 0, 1, MANY, .min_items = 2, .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 0, 1, MANY, .min_items = 1, .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, VALID, 0, MANY, .choices = paddings},
};
const struct lab_op_def lab_op_max_pool2d = {.name = "max_pool2d",
                                             KEYS(pool_keys),
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true};
const struct lab_op_def lab_op_avg_pool2d = {.name = "avg_pool2d",
                                             KEYS(pool_keys),
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true};

const struct lab_op_def lab_op_add = {
    .name = "add", .min_inputs = 2, .max_inputs = 2};

static const struct lab_key_def batch_norm_keys[] = {
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
    {"momentum", LAB_KEY_FLOAT, false, 0.1, 0, 1},
};
const struct lab_op_def lab_op_batch_norm = {.name = "batch_norm",
                                             KEYS(batch_norm_keys),
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true};

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
