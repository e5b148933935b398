/* lapenna-lab lab calls: cuDNN's calls of one convolution, each with its
 * arguments, what it gave back and how long it took (engine/backend.h).
 *
 * The image is a bright square, and every kernel the course's example, 1 around
 * and -8 in the middle: the result is the square's edge. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "debug/options.h"
#include "base/error.h"
#include "base/format.h"
#include "base/mem.h"
#include "report/exit.h"
#include "engine/backend.h"
#include "engine/ladder.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"
#include "store/bench.h"
#include "store/database.h"
#include "store/row_fields.h"
#include "commands.h"
#include "bench/demo.h"
#include "conv2d/conv.h"

#define SWEEP "calls"
#define LESSON "lab-cudnn-calls"

enum {
    MAP_MOST = 16,  /* a result larger than this a side is not printed */
    CALL_COLUMN = 7 /* of what a call gives, below it */
};

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

struct shown {
    const struct lab_options *o;
    struct lab_writer *writer;
    struct lab_database *db;
    int64_t run;               /* 0: not recorded */
    struct lab_kept_error why; /* why a call was not kept */
    enum lab_status kept;
};

/* A call as a point of a sweep without a number, as lab_sweep_rows_read gives it
 * back: in C, and what it gave. */
static enum lab_status keep_call(const struct shown *s,
                                 const struct lab_conv_call *call)
{
    char text[2 * LAB_CONV_CALL_TEXT + 16];
    struct lab_sweep_row row;
    lab_fields_clear(&lab_sweep_row_fields, &row);
    snprintf(text, sizeof(text), "%s%s%s", call->call,
             call->result[0] ? " gives " : "", call->result);
    row.place = call->number - 1;
    row.sweep = SWEEP;
    row.lesson = LESSON;
    row.backend = "cuda";
    row.name = text;
    row.status = lab_status_text(call->failed ? LAB_E_STATE : LAB_OK);
    row.reason = call->failed ? call->status : NULL;
    row.median_ns = call->ns;
    return lab_sweep_row_add(s->db, s->run, &row);
}

static enum lab_status print_call(void *user, const struct lab_conv_call *call)
{
    struct shown *s = user;
    if (s->run)
        s->kept = keep_call(s, call);
    if (s->kept) {
        lab_error_keep(&s->why);
        return s->kept;
    }
    if (s->o->json)
        return call_json(call);
    lab_print_wrap(lab_print_columns(), CALL_COLUMN);
    lab_printf(stdout, "%3d  %s\n", call->number, call->call);
    if (call->result[0])
        lab_printf(stdout, "       gives %s\n", call->result);
    lab_printf(stdout, "       %s, %s\n", call->status, LAB_NS_TEXT(call->ns));
    lab_print_wrap(0, 0);
    return s->o->wait ? wait_for_enter() : LAB_OK;
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

/* ---- kept ---- */

static enum lab_status open_run(struct shown *s, struct lab_backend *be)
{
    struct lab_device_info device;
    struct lab_run_info info;
    lab_backend_info(be, &device);
    lab_run_info_init(&info);
    info.row.lesson = LESSON;
    info.row.title = "calls of a convolution";
    info.row.backend = be->ops->name;
    info.row.precision = "fp32";
    info.row.counters = "off";
    enum lab_status st = lab_bench_writer_open(s->o, &info, &device, &s->writer,
                                               &s->db, &s->run);
    if (!st || s->o->db)
        return st;
    lab_warn("the calls are not recorded: %s", lab_error());
    return LAB_OK;
}

static void end_run(struct shown *s, enum lab_status st)
{
    struct lab_run_summary summary;
    lab_run_summary_init(&summary);
    summary.status = lab_run_ended(st);
    lab_bench_writer_close(s->writer, s->db, &summary);
}

static bool print_kept(void *user, const struct lab_sweep_row *row)
{
    (void)user;
    lab_print_wrap(lab_print_columns(), CALL_COLUMN);
    lab_printf(stdout, "%3lld  %s\n       %s\n", (long long)row->place + 1,
               row->name ? row->name : "", LAB_NS_TEXT(row->median_ns));
    lab_print_wrap(0, 0);
    return true;
}

/* Without a GPU: the calls that ship. The reason why nothing was called is not
 * touched. */
static void print_recorded(void)
{
    struct lab_database *db = NULL;
    struct lab_kept_error why;
    int64_t run;
    lab_error_keep(&why);
    if (!lab_recorded_open(&db) &&
        !lab_sweep_run_newest(db, SWEEP, LESSON, &run)) {
        lab_printf(stdout,
                   "recorded on a GPU, run %lld (`lapenna-lab profile show "
                   "--recorded %lld`):\n",
                   (long long)run, (long long)run);
        (void)lab_sweep_rows_read(db, run, print_kept, NULL);
    }
    lab_database_close(db);
    (void)lab_error_again(LAB_E_UNSUPPORTED, &why);
}

static enum lab_status make_calls(struct shown *shown, struct numbers *n,
                                  const struct lab_ladder_size *size)
{
    const struct lab_cuda_module *module = NULL;
    const struct lab_options *o = shown->o;
    struct lab_backend *be = NULL;
    struct lab_conv_calls calls = {.device = o->device,
                                   .algorithm =
                                       o->given.algorithm ? o->algorithm : -1,
                                   .x = n->x,
                                   .w = n->w,
                                   .y = n->y,
                                   .tell = print_call,
                                   .user = shown};
    memcpy(calls.dim, size->dim, sizeof(calls.dim));
    enum lab_status st = lab_cuda_load(&module);
    if (!st)
        st = lab_backend_open(&be, "cuda", o->device);
    if (!st)
        st = open_run(shown, be);
    lab_backend_close(be);
    if (st)
        return st;
    st = module->conv_calls(&calls);
    end_run(shown, st);
    if (shown->kept)
        return lab_error_again(shown->kept, &shown->why);
    return st ? lab_backend_judge(module->backend, st) : LAB_OK;
}

/* The edge, and how far it is from the definition. */
static enum lab_status call_and_print(struct lab_options *o, struct numbers *n,
                                      const struct lab_ladder_size *size)
{
    struct shown shown = {.o = o};
    enum lab_status st = make_calls(&shown, n, size);
    if (st == LAB_E_UNSUPPORTED && !o->json)
        print_recorded();
    if (st)
        return st;
    if (o->json)
        return print_json(n);
    print_result(n);
    if (shown.run) {
        lab_printf(stdout, "\n");
        lab_print_recorded(o->db, shown.run, true);
    }
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
        st = call_and_print(o, &n, &size);
    lab_free(n.x);
    lab_free(n.w);
    lab_free(n.y);
    return st;
}

int lab_demo_calls(const struct lab_options *lab)
{
    struct lab_options o = {.sizes =
                                lab->sizes ? lab->sizes : lab->lesson_sizes,
                            .device = lab->device,
                            .db = lab->db,
                            .json = lab->json};
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
