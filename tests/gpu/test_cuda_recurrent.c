/* Every variant of every step of rnn and lstm on the GPU against the reference
 * in double: odd shapes, one time step, one of everything, and what the plan
 * leaves out at the first and the last step. */
#include "gpu_harness.h"

struct sizes {
    int64_t T;
    int64_t N;
    int64_t D;
    int64_t H;
};

static const struct sizes all_sizes[] = {{1, 1, 1, 1},
                                         {3, 5, 7, 2},
                                         {2, 33, 1, 31},
                                         {7, 3, 65, 33},
                                         {4, 64, 32, 64}};
enum { SIZES = sizeof(all_sizes) / sizeof(all_sizes[0]) };

static struct tensor block(int64_t a, int64_t b, int64_t c)
{
    return (struct tensor){.fill = FILL_UNIFORM, .rank = 3, .dim = {a, b, c}};
}

static void check_sequence(const char *op, const struct sizes *s)
{
    gpu_check_step(op, "input", LAB_FORWARD, TENSORS(block(s->N, s->T, s->D)),
                   TENSORS(block(s->T, s->N, s->D)));
    gpu_check_step(op, "return", LAB_FORWARD, TENSORS(block(s->T, s->N, s->H)),
                   TENSORS(block(s->N, s->T, s->H)));
    gpu_check_step(op, "return", LAB_FORWARD,
                   TENSORS(matrix(FILL_UNIFORM, s->N, s->H)),
                   TENSORS(matrix(FILL_UNIFORM, s->N, s->H)));
    gpu_check_step(op, "return", LAB_BACKWARD, TENSORS(block(s->N, s->T, s->H)),
                   TENSORS(block(s->T, s->N, s->H)));
}

GPU_CASE(sequences_are_turned)
{
    for (int i = 0; i < SIZES; i++) {
        check_sequence("rnn", &all_sizes[i]);
        check_sequence("lstm", &all_sizes[i]);
    }
}

static void check_rnn(const struct sizes *s, bool bias)
{
    struct tensor b = bias ? vector(FILL_UNIFORM, s->H) : absent();
    struct tensor row = matrix(FILL_UNIFORM, s->N, s->H);
    struct tensor Wx = matrix(FILL_UNIFORM, s->D, s->H);
    struct tensor Wh = matrix(FILL_UNIFORM, s->H, s->H);
    struct tensor dz = block(s->T, s->N, s->H);
    gpu_check_step("rnn", "sum", LAB_FORWARD,
                   TENSORS(matrix(FILL_UNIFORM, s->N, s->D), row, Wx, Wh, b),
                   TENSORS(row));
    gpu_check_step("rnn", "tanh", LAB_FORWARD, TENSORS(row), TENSORS(row));
    for (int k = 0; k < 3; k++)
        gpu_check_step(
            "rnn", "tanh", LAB_BACKWARD,
            TENSORS(k == 1 ? absent() : row, k == 2 ? absent() : row, row),
            TENSORS(row, row));
    gpu_check_step("rnn", "sum", LAB_BACKWARD, TENSORS(row, Wh), TENSORS(row));
    gpu_check_step("rnn", "weights", LAB_BACKWARD,
                   TENSORS(dz, block(s->T, s->N, s->D), dz, row),
                   TENSORS(Wx, Wh, b));
    gpu_check_step("rnn", "input", LAB_BACKWARD, TENSORS(dz, Wx),
                   TENSORS(block(s->N, s->T, s->D)));
}

GPU_CASE(rnn_agrees)
{
    for (int i = 0; i < SIZES; i++) {
        check_rnn(&all_sizes[i], true);
        check_rnn(&all_sizes[i], false);
    }
}

/* k 0: a step in the middle; 1: the last; 2: one whose h is not returned; 3:
 * the first. */
static void check_cell_backward(const struct sizes *s, int k)
{
    struct tensor row = matrix(FILL_UNIFORM, s->N, s->H);
    struct tensor none = absent();
    struct tensor later = k == 1 ? none : row;
    gpu_check_step("lstm", "cell", LAB_BACKWARD,
                   TENSORS(k == 2 ? none : row, later, later, later, row, row,
                           row, row, row, row),
                   TENSORS(matrix(FILL_UNIFORM, s->N, 4 * s->H), row, row,
                           k == 3 ? row : none));
}

static void check_lstm(const struct sizes *s)
{
    struct tensor row = matrix(FILL_UNIFORM, s->N, s->H);
    struct tensor z = matrix(FILL_UNIFORM, s->N, 4 * s->H);
    struct tensor W = matrix(FILL_UNIFORM, 4 * s->H, s->D);
    struct tensor U = matrix(FILL_UNIFORM, 4 * s->H, s->H);
    struct tensor b = vector(FILL_UNIFORM, 4 * s->H);
    struct tensor dz = block(s->T, s->N, 4 * s->H);
    gpu_check_step("lstm", "gates", LAB_FORWARD,
                   TENSORS(matrix(FILL_UNIFORM, s->N, s->D), row, W, U, b),
                   TENSORS(z));
    gpu_check_step("lstm", "cell", LAB_FORWARD, TENSORS(z, row),
                   TENSORS(row, row, row, row, row, row));
    for (int k = 0; k < 4; k++)
        check_cell_backward(s, k);
    gpu_check_step("lstm", "gates", LAB_BACKWARD, TENSORS(z, U), TENSORS(row));
    gpu_check_step(
        "lstm", "weights", LAB_BACKWARD,
        TENSORS(dz, block(s->T, s->N, s->D), block(s->T, s->N, s->H), row),
        TENSORS(W, U, b));
    gpu_check_step("lstm", "input", LAB_BACKWARD, TENSORS(dz, W),
                   TENSORS(block(s->N, s->T, s->D)));
}

GPU_CASE(lstm_agrees)
{
    for (int i = 0; i < SIZES; i++)
        check_lstm(&all_sizes[i]);
}

/* Gates that are all but open or shut, and infinities: the sigmoid's exp must
 * not overflow, a NaN must stay one. */
GPU_CASE(hard_cells)
{
    static const enum fill fills[] = {FILL_WIDE, FILL_SPECIAL};
    for (int k = 0; k < 2; k++) {
        struct tensor z = matrix(FILL_UNIFORM, 9, 4 * 33);
        struct tensor row = matrix(FILL_UNIFORM, 9, 33);
        z.fill = fills[k];
        gpu_check_step("lstm", "cell", LAB_FORWARD, TENSORS(z, row),
                       TENSORS(row, row, row, row, row, row));
    }
}

RUN_TESTS_IN(NULL, gpu_close)
