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

/* The plan leaves it out. */
static struct tensor left_out(void)
{
    return (struct tensor){.fill = FILL_NULL, .rank = 1, .dim = {1}};
}

static void check_sequence(const char *op, const struct sizes *s)
{
    gpu_check(&(struct gpu_case){.op = op,
                                 .step = "input",
                                 .phase = LAB_FORWARD,
                                 .in = {block(s->N, s->T, s->D)},
                                 .out = {block(s->T, s->N, s->D)}});
    gpu_check(&(struct gpu_case){.op = op,
                                 .step = "return",
                                 .phase = LAB_FORWARD,
                                 .in = {block(s->T, s->N, s->H)},
                                 .out = {block(s->N, s->T, s->H)}});
    gpu_check(&(struct gpu_case){.op = op,
                                 .step = "return",
                                 .phase = LAB_FORWARD,
                                 .in = {matrix(FILL_UNIFORM, s->N, s->H)},
                                 .out = {matrix(FILL_UNIFORM, s->N, s->H)}});
    gpu_check(&(struct gpu_case){.op = op,
                                 .step = "return",
                                 .phase = LAB_BACKWARD,
                                 .in = {block(s->N, s->T, s->H)},
                                 .out = {block(s->T, s->N, s->H)}});
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
    struct tensor b = bias ? vector(FILL_UNIFORM, s->H) : left_out();
    struct tensor row = matrix(FILL_UNIFORM, s->N, s->H);
    struct tensor Wx = matrix(FILL_UNIFORM, s->D, s->H);
    struct tensor Wh = matrix(FILL_UNIFORM, s->H, s->H);
    struct tensor dz = block(s->T, s->N, s->H);
    gpu_check(&(struct gpu_case){
        .op = "rnn",
        .step = "sum",
        .phase = LAB_FORWARD,
        .in = {matrix(FILL_UNIFORM, s->N, s->D), row, Wx, Wh, b},
        .out = {row}});
    gpu_check(&(struct gpu_case){.op = "rnn",
                                 .step = "tanh",
                                 .phase = LAB_FORWARD,
                                 .in = {row},
                                 .out = {row}});
    for (int k = 0; k < 3; k++)
        gpu_check(&(struct gpu_case){
            .op = "rnn",
            .step = "tanh",
            .phase = LAB_BACKWARD,
            .in = {k == 1 ? left_out() : row, k == 2 ? left_out() : row, row},
            .out = {row, row}});
    gpu_check(&(struct gpu_case){.op = "rnn",
                                 .step = "sum",
                                 .phase = LAB_BACKWARD,
                                 .in = {row, Wh},
                                 .out = {row}});
    gpu_check(&(struct gpu_case){.op = "rnn",
                                 .step = "weights",
                                 .phase = LAB_BACKWARD,
                                 .in = {dz, block(s->T, s->N, s->D), dz, row},
                                 .out = {Wx, Wh, b}});
    gpu_check(&(struct gpu_case){.op = "rnn",
                                 .step = "input",
                                 .phase = LAB_BACKWARD,
                                 .in = {dz, Wx},
                                 .out = {block(s->N, s->T, s->D)}});
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
    struct tensor none = left_out();
    struct tensor later = k == 1 ? none : row;
    gpu_check(&(struct gpu_case){.op = "lstm",
                                 .step = "cell",
                                 .phase = LAB_BACKWARD,
                                 .in = {k == 2 ? none : row, later, later,
                                        later, row, row, row, row, row, row},
                                 .out = {matrix(FILL_UNIFORM, s->N, 4 * s->H),
                                         row, row, k == 3 ? row : none}});
}

static void check_lstm(const struct sizes *s)
{
    struct tensor row = matrix(FILL_UNIFORM, s->N, s->H);
    struct tensor z = matrix(FILL_UNIFORM, s->N, 4 * s->H);
    struct tensor W = matrix(FILL_UNIFORM, 4 * s->H, s->D);
    struct tensor U = matrix(FILL_UNIFORM, 4 * s->H, s->H);
    struct tensor b = vector(FILL_UNIFORM, 4 * s->H);
    struct tensor dz = block(s->T, s->N, 4 * s->H);
    gpu_check(&(struct gpu_case){
        .op = "lstm",
        .step = "gates",
        .phase = LAB_FORWARD,
        .in = {matrix(FILL_UNIFORM, s->N, s->D), row, W, U, b},
        .out = {z}});
    gpu_check(&(struct gpu_case){.op = "lstm",
                                 .step = "cell",
                                 .phase = LAB_FORWARD,
                                 .in = {z, row},
                                 .out = {row, row, row, row, row, row}});
    for (int k = 0; k < 4; k++)
        check_cell_backward(s, k);
    gpu_check(&(struct gpu_case){.op = "lstm",
                                 .step = "gates",
                                 .phase = LAB_BACKWARD,
                                 .in = {z, U},
                                 .out = {row}});
    gpu_check(&(struct gpu_case){
        .op = "lstm",
        .step = "weights",
        .phase = LAB_BACKWARD,
        .in = {dz, block(s->T, s->N, s->D), block(s->T, s->N, s->H), row},
        .out = {W, U, b}});
    gpu_check(&(struct gpu_case){.op = "lstm",
                                 .step = "input",
                                 .phase = LAB_BACKWARD,
                                 .in = {dz, W},
                                 .out = {block(s->N, s->T, s->D)}});
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
        gpu_check(&(struct gpu_case){.op = "lstm",
                                     .step = "cell",
                                     .phase = LAB_FORWARD,
                                     .in = {z, row},
                                     .out = {row, row, row, row, row, row}});
    }
}

RUN_TESTS_IN(NULL, gpu_close)
