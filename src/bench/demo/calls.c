/* lapenna-lab lab calls: cuDNN's calls of one convolution, each with its
 * arguments, what it gave back and how long it took (engine/backend.h).
 *
 * The image is a bright square, and every kernel the course's example, 1 around
 * and -8 in the middle: the result is the square's edge. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/options.h"
#include "base/datadir.h"
#include "base/error.h"
#include "base/format.h"
#include "base/mem.h"
#include "report/exit.h"
#include "engine/backend.h"
#include "engine/ladder.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"
#include "store/fact_table.h"
#include "commands.h"
#include "bench/demo.h"
#include "conv2d/conv.h"
#include "report/print.h"
#include "report/suggest.h"

enum { MAP_MOST = 16 /* a result larger than this a side is not printed */ };

/* ---- numbers ---- */

struct numbers {
    struct conv_shape s;
    float *x;
    float *w;
    float *y;
};

static void fill(struct numbers *n)
{
    const struct conv_shape *s = &n->s;
    int64_t area = s->R * s->R;
    for (int64_t i = 0; i < s->N * s->C * s->H * s->W; i++) {
        int64_t h = i / s->W % s->H;
        int64_t v = i % s->W;
        bool inside = h >= s->H / 4 && h < s->H - s->H / 4 && v >= s->W / 4 &&
                      v < s->W - s->W / 4;
        n->x[i] = inside ? 1.0f : 0.0f;
    }
    for (int64_t i = 0; i < s->K * s->C * area; i++)
        n->w[i] = i % area == area / 2 ? (float)(1 - area) : 1.0f;
}

static enum lab_status make_numbers(struct numbers *n, const int64_t *dim)
{
    const struct conv_shape s = conv_shape_of_dims(dim);
    n->s = s;
    /* The operation has seen that they can be counted. */
    n->x = lab_alloc_array((size_t)(s.N * s.C * s.H * s.W), sizeof(float));
    n->w = lab_alloc_array((size_t)(s.K * s.C * s.R * s.R), sizeof(float));
    n->y = lab_alloc_array((size_t)(s.N * s.K * s.P * s.Q), sizeof(float));
    if (!n->x || !n->w || !n->y)
        return lab_no_memory("the image");
    fill(n);
    return LAB_OK;
}

/* y[0, 0, p, q] by the definition, in double. */
static double expected(const struct numbers *n, int64_t p, int64_t q)
{
    const struct conv_shape *s = &n->s;
    double sum = 0;
    for (int64_t i = 0; i < s->C * s->R * s->R; i++) {
        int64_t c = i / (s->R * s->R);
        int64_t h = p + i / s->R % s->R - s->pad;
        int64_t v = q + i % s->R - s->pad;
        if (h >= 0 && h < s->H && v >= 0 && v < s->W)
            sum += (double)n->x[(c * s->H + h) * s->W + v] * (double)n->w[i];
    }
    return sum;
}

/* Of the first image and kernel; sums are whole numbers, so that any but a
 * transform's algorithm gives them exactly. */
static double largest_error(const struct numbers *n)
{
    double worst = 0;
    for (int64_t p = 0; p < n->s.P; p++) {
        for (int64_t q = 0; q < n->s.Q; q++)
            worst = fmax(
                worst, fabs((double)n->y[p * n->s.Q + q] - expected(n, p, q)));
    }
    return worst;
}

/* ---- output ---- */

static enum lab_status call_json(const struct lab_conv_call *call)
{
    json_t *line = lab_json_new("call");
    lab_json_int(line, "number", call->number);
    lab_json_text(line, "call", call->call);
    lab_json_text(line, "result", call->result);
    lab_json_text(line, "status", call->status);
    lab_json_bool(line, "failed", call->failed);
    lab_json_real(line, "ns", call->ns);
    return lab_json_print(line);
}

/* The learner's Enter; the end of the input ends the sequence. */
static enum lab_status wait_for_enter(void)
{
    int c;
    fflush(stdout);
    do
        c = getchar();
    while (c != '\n' && c != EOF);
    return c == EOF ? lab_fail(LAB_E_CANCELLED, "stopped before the end")
                    : LAB_OK;
}

static enum lab_status print_call(void *user, const struct lab_conv_call *call)
{
    const struct lab_options *o = user;
    if (o->json)
        return call_json(call);
    lab_printf(stdout, "%3d  %s\n", call->number, call->call);
    if (call->result[0])
        lab_printf(stdout, "       gives %s\n", call->result);
    lab_printf(stdout, "       %s, %s\n", call->status, LAB_NS_TEXT(call->ns));
    return o->wait ? wait_for_enter() : LAB_OK;
}

static void print_result(const struct numbers *n)
{
    lab_printf(stdout,
               "\nlargest difference from the definition in double: %.3g\n",
               largest_error(n));
    if (n->s.P > MAP_MOST || n->s.Q > MAP_MOST)
        return;
    lab_printf(stdout, "\ny, image 0, kernel 0:\n");
    for (int64_t p = 0; p < n->s.P; p++) {
        for (int64_t q = 0; q < n->s.Q; q++)
            lab_printf(stdout, "%s%6.4g", q ? " " : "",
                       (double)n->y[p * n->s.Q + q]);
        lab_printf(stdout, "\n");
    }
}

static enum lab_status print_json(const struct numbers *n)
{
    json_t *line = lab_json_new("calls_result");
    lab_json_real(line, "largest_error", largest_error(n));
    return lab_json_print(line);
}

/* ---- the command ---- */

/* The calls are printed and not kept; what ships has the algorithms that they are
 * for. The reason why nothing was called is not touched. */
static void name_recorded_run(void)
{
    struct lab_kept_error why;
    struct lab_str path;
    int64_t run;
    lab_error_keep(&why);
    lab_str_init(&path);
    if (!lab_data_path(LAB_RECORDED_RUNS, &path) &&
        !lab_fact_recorded_run(lab_str_text(&path), "lab-cudnn-calls", &run))
        lab_printf(stdout,
                   "the algorithms of this convolution, timed on a GPU: "
                   "`lapenna-lab profile show --recorded %lld`\n",
                   (long long)run);
    lab_str_release(&path);
    (void)lab_error_again(LAB_E_UNSUPPORTED, &why);
}

static enum lab_status make_calls(struct lab_options *o, struct numbers *n,
                                  const struct lab_ladder_size *size)
{
    const struct lab_cuda_module *module = NULL;
    struct lab_conv_calls calls = {.device = o->device,
                                   .algorithm =
                                       o->given.algorithm ? o->algorithm : -1,
                                   .x = n->x,
                                   .w = n->w,
                                   .y = n->y,
                                   .tell = print_call,
                                   .user = o};
    enum lab_status st = lab_cuda_load(&module);
    if (st == LAB_E_UNSUPPORTED && !o->json)
        name_recorded_run();
    if (st)
        return st;
    memcpy(calls.dim, size->dim, sizeof(calls.dim));
    st = module->conv_calls(&calls);
    if (st)
        st = lab_backend_judge(module->backend, st);
    if (st == LAB_E_UNSUPPORTED && !o->json)
        name_recorded_run();
    if (st)
        return st;
    if (o->json)
        return print_json(n);
    print_result(n);
    return LAB_OK;
}

static enum lab_status show(struct lab_options *o)
{
    const char *text = o->sizes ? o->sizes : "1x3x8x8x3x3"; /* the course's */
    const struct lab_operation *conv = NULL;
    struct lab_ladder_size size;
    struct numbers n = {.x = NULL};
    enum lab_status st = lab_ladder_find("conv", &conv);
    if (!st)
        st = lab_ladder_size(conv, text, strlen(text), &size);
    if (!st && lab_ladder_memory(conv, &size, LAB_FP32, false) == 0)
        st = lab_fail(LAB_E_USAGE,
                      "[demo.calls-size] size %s: more than any memory", text);
    if (!st)
        st = make_numbers(&n, size.dim);
    if (!st)
        st = make_calls(o, &n, &size);
    lab_free(n.x);
    lab_free(n.w);
    lab_free(n.y);
    return st;
}

int lab_demo_calls(const char *size, int device, bool json)
{
    struct lab_options o = {.sizes = size, .device = device, .json = json};
    return lab_exit_error(show(&o));
}

static void refuse_words(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words > 0)
        lab_usage_error(state,
                        "[usage.calls] %s: --calls shows one convolution; "
                        "--sizes takes its size",
                        o->words[0]);
}

static int cmd_calls(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab calls",
        .commands = LAB_FOR_LAB_CALLS,
        .takes = LAB_FOR_LAB_CALLS,
        .doc = "A convolution by cuDNN, call by call: descriptors, the "
               "algorithm, its workspace, memory, the convolution. The image "
               "is a bright square, the kernel the course's: its edge comes "
               "out.",
        .check = refuse_words};
    struct lab_options o;
    lab_options_parse(&o, argc, argv, &line);
    return lab_exit_error(show(&o));
}

/* conv --calls, without the conv. */
const struct lab_demo_row lab_demo_row_calls = {
    .word = "calls",
    .takes = "NxCxHxWxKxR",
    .text = "cuDNN's calls of one convolution",
    .run = cmd_calls};
