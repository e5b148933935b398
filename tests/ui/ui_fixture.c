/* Models with fixed data for the screens' tests, and a screen that prints,
 * waits and fails on demand; ui_fixture.h has the calls. */
#include "ui_fixture.h"
#include "doctor_fixture.h"
#include "ui_fixture_compare.h"
#include "ui_fixture_occupancy.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debug/progress.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "store/fact_table.h"
#include "trace/record.h"
#include "ui/chart.h"
#include "ui/run_preview.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "lab_fixture.h"
#include "roofline_fixture.h"

#define LESSON(id_, title_, minutes_, summary_, ...)                           \
    {                                                                          \
        .id = (char[]){id_}, .lesson = &(struct lab_lesson)                    \
        {                                                                      \
            .title = title_, .minutes = minutes_, .summary = summary_,         \
            .n_prerequisites = __VA_ARGS__                                     \
        }                                                                      \
    }
static struct lab_catalog_entry LESSONS[] = {
    LESSON("softmax-digits", "Softmax regression on digits", 20,
           "One dense layer, one loss: the smallest network that learns.", 0),
    LESSON("mlp-digits", "An MLP on real digits", 30,
           "64 inputs, 16 hidden units, 10 classes: every step of one "
           "training iteration, with the numbers of any element put into "
           "its formula.",
           0),
    LESSON("activations", "Activations and their derivatives", 25,
           "relu, sigmoid, tanh, gelu ...", 2,
           .prerequisites =
               (const char *const[]){"softmax-digits", "mlp-digits"}),
    {.id = (char[]){"broken"},
     .error = (char[]){"lessons/09-broken.md:7:3: unknown key \"untis\"; did "
                       "you mean \"units\"?"}},
    LESSON("hostile", "Escape \033[31mred\033[0m and 日本語 wide", 5,
           "Text from outside is shown, not sent.", 0),
    LESSON("gemm-lab", "Lab: Matrix products", 45, "Variants against sizes.",
           0)};
static const struct lab_catalog CATALOG = {
    .items = LESSONS, .count = sizeof(LESSONS) / sizeof(LESSONS[0])};
static struct lab_progress_entry SEEN[] = {
    {.id = "softmax-digits",
     .steps_seen = 9,
     .steps_total = 9,
     .finished = true},
    {.id = "mlp-digits", .steps_seen = 7, .steps_total = 24}};
static const struct lab_progress PROGRESS = {.entries = SEEN, .count = 2};

#define RUN(id_, lesson_, backend_, device_, started_, status_, variants_, n_, \
            ...)                                                               \
    {                                                                          \
        .id = id_, .lesson = lesson_, .backend = backend_, .device = device_,  \
        .precision = "fp32", .started = started_, .status = status_,           \
        .variants = variants_, .iterations = n_, __VA_ARGS__                   \
    }
static const struct lab_run_row RUNS[] = {
    RUN(12, "mlp-digits", "cuda", "NVIDIA H200", "2025-06-01T14:03:00Z", "done",
        "fc1=cublas fc2=cublas norm=warp", 4320, .kind = "lesson",
        .loss_last = 0.04127, .accuracy = 0.9806, .samples_per_s = 81234.5,
        .iteration_median_ns = 98100, .gpu_ns = 91200),
    RUN(11, "mlp-digits", "cpu", "AMD EPYC 9654", "2025-06-01T13:55:00Z",
        "cancelled", "", 4320, .kind = "lesson", .loss_last = 0.04131,
        .accuracy = 0.9806, .samples_per_s = 20511.0,
        .iteration_median_ns = 6200000, .gpu_ns = LAB_UNKNOWN),
    RUN(9, "softmax-digits", "cpu", "AMD EPYC 9654", "2025-05-31T09:12:00Z",
        "failed", "", 4320, .kind = "lesson", .loss_last = 0.1182,
        .accuracy = 0.9667, .samples_per_s = 39876.0,
        .iteration_median_ns = 3200000, .gpu_ns = LAB_UNKNOWN),
    RUN(4, "activations", "cpu", "AMD EPYC 9654", "2025-05-30T18:40:00Z",
        "interrupted", NULL, 1, .loss_last = NAN, .accuracy = NAN,
        .samples_per_s = NAN, .iteration_median_ns = 20300000,
        .gpu_ns = LAB_UNKNOWN),
};
enum { RUN_COUNT = sizeof(RUNS) / sizeof(RUNS[0]) };

#define SUM(level_, index_, name_, phase_, count_, median_)                    \
    .level = LAB_SUM_##level_, .step_index = index_, .name = name_,            \
    .phase = phase_, .count = count_, .median_ns = median_, .of_roof = NAN
#define COUNTED(achieved, dram, flop)                                          \
    .counters = {.achieved_occupancy_pct = achieved,                           \
                 .dram_read_bytes = dram,                                      \
                 .fp32_flop = flop}
static const struct lab_time_sum STEPS[] = {
    {SUM(STEP, 0, "fc1.matmul", "forward", 4320, 4352), .op = "dense",
     .variant = "tiled", .backend = "cuda", .min_ns = 4100, .quarter_ns = 0,
     .three_quarters_ns = 210, .flop = 20480, .bytes = 7296, .kernels = 1,
     COUNTED(6.1, 8192, 20992)},
    {SUM(STEP, 1, "fc1.bias", "forward", 4320, 2016), .op = "dense",
     .variant = "naive", .backend = "cuda", .min_ns = 1900, .quarter_ns = 0,
     .three_quarters_ns = 95, .flop = 160, .bytes = 1344, .kernels = 1,
     COUNTED(NAN, NAN, NAN)},
    {SUM(STEP, 2, "relu1", "forward", 4320, 1984), .op = "relu",
     .variant = "naive", .backend = "cuda", .min_ns = 1850, .quarter_ns = 0,
     .three_quarters_ns = 90, .flop = 160, .bytes = 1280, .kernels = 1,
     COUNTED(NAN, NAN, NAN)},
    {SUM(STEP, 3, "fc2.matmul", "forward", 4320, 5600), .op = "dense",
     .variant = "cublas", .backend = "cuda", .min_ns = 5200, .quarter_ns = 0,
     .three_quarters_ns = 300, .flop = 3200, .bytes = 1680, .kernels = 2,
     COUNTED(NAN, NAN, NAN)},
    {SUM(STEP, 4, "loss", "loss", 4320, 3104), .op = "softmax_cross_entropy",
     .variant = "naive", .backend = "cuda", .min_ns = 3000, .quarter_ns = 0,
     .three_quarters_ns = 120, .flop = 500, .bytes = 840, .kernels = 1,
     COUNTED(NAN, NAN, NAN)},
    {SUM(STEP, 5, "fc2.matmul", "backward", 4320, 10240), .op = "dense",
     .variant = "cublas", .backend = "cuda", .min_ns = 9800, .quarter_ns = 0,
     .three_quarters_ns = 800, .flop = 6400, .bytes = 3360, .kernels = 3,
     COUNTED(NAN, NAN, NAN)},
    {SUM(STEP, 6, "input", "forward", 4320, NAN), .op = "flatten",
     .variant = "naive", .backend = "cpu", .min_ns = LAB_UNKNOWN,
     .quarter_ns = NAN, .three_quarters_ns = NAN, .flop = NAN, .bytes = 2560,
     .kernels = LAB_UNKNOWN, COUNTED(NAN, NAN, NAN)},
};
enum { STEP_COUNT = sizeof(STEPS) / sizeof(STEPS[0]) };

static const struct lab_time_sum KERNELS[] = {
    {SUM(KERNEL, 0, "fc1.matmul", "forward", 4320, 4352),
     .kernel = "dense_matmul_fwd_tiled", .launch.grid = {1, 1, 1},
     .launch.block = {16, 16, 1}, .launch.registers_per_thread = 38,
     .shared_bytes = 2048, .occupancy_pct = 100,
     .occupancy_limit = LAB_LIMIT_GRID, COUNTED(6.1, 8192, 20992)},
    {SUM(KERNEL, 1, "fc1.bias", "forward", 4320, 2016),
     .kernel = "dense_bias_fwd", .launch.grid = {1, 1, 1},
     .launch.block = {256, 1, 1}, .launch.registers_per_thread = 16,
     .shared_bytes = 0, .occupancy_pct = 100,
     .occupancy_limit = LAB_LIMIT_GRID},
    {SUM(KERNEL, 3, "fc2.matmul", "forward", 4320, 3900),
     .kernel =
         "void cutlass::Kernel2<cutlass_80_simt_sgemm_32x128_8x5_nn>(...)",
     .launch.grid = {1, 1, 1}, .launch.block = {128, 1, 1},
     .launch.registers_per_thread = 128, .shared_bytes = 20480,
     .occupancy_pct = 25, .occupancy_limit = LAB_LIMIT_REGISTERS},
    {SUM(KERNEL, 3, "fc2.matmul", "forward", 4320, 1700),
     .kernel = "splitKreduce_kernel", .launch.grid = {5, 1, 1},
     .launch.block = {512, 1, 1}, .launch.registers_per_thread = 32,
     .shared_bytes = 0, .occupancy_pct = 75,
     .occupancy_limit = LAB_LIMIT_BLOCKS},
};
enum { KERNEL_COUNT = sizeof(KERNELS) / sizeof(KERNELS[0]) };

static struct lab_run_row runs[RUN_COUNT];
static int64_t run_count;
static int ending; /* refreshes until the lab that was left has ended */
static struct lab_time_sum kernels[KERNEL_COUNT];
static struct lab_time_sum step_rows[STEP_COUNT];

static void set_phases(struct lab_time_sum *rows, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int p = 0; p < LAB_PHASE_COUNT; p++)
            if (strcmp(rows[i].phase, lab_phase_name((enum lab_phase)p)) == 0)
                rows[i].phase_id = p;
}

static enum lab_status load_runs(void *user, const struct lab_run_row **rows,
                                 int64_t *count)
{
    (void)user;
    *rows = runs;
    *count = run_count;
    return LAB_OK;
}

/* Of each run its own curves, so that what is drawn shows of which run it is; run 9
 * was not added up, and run 4's file is damaged. */
static enum lab_status load_preview(void *user, const struct lab_run_row *run,
                                    struct lab_run_preview *out)
{
    enum { LOSSES = 200, EVALUATIONS = 10 };
    (void)user;
    if (run->id == 4)
        return lab_fail(LAB_E_DB, "run 4: database disk image is malformed");
    *out = (struct lab_run_preview){.run = run->id, .summed = run->id != 9};
    if (!lab_run_preview_room(&out->loss, LOSSES) ||
        !lab_run_preview_room(&out->held, EVALUATIONS) ||
        !lab_run_preview_room(&out->accuracy, EVALUATIONS)) {
        lab_run_preview_release(out);
        return lab_no_memory("a preview");
    }
    for (int i = 0; i < LOSSES; i++) {
        out->loss.iteration[i] = i * 20;
        out->loss.value[i] = 2.3 / (1 + 0.1 * i * (double)run->id / 10);
    }
    for (int i = 0; i < EVALUATIONS && run->id != 9; i++) {
        out->held.iteration[i] = out->accuracy.iteration[i] = i * 400;
        out->held.value[i] = 2.2 / (1 + 1.5 * i);
        out->accuracy.value[i] = 1 - 0.9 / (1 + i);
    }
    out->loss.n = LOSSES;
    out->held.n = out->accuracy.n = run->id == 9 ? 0 : EVALUATIONS;
    return LAB_OK;
}

static enum lab_status load_steps(void *user, int64_t run,
                                  const struct lab_time_sum **rows,
                                  int64_t *count)
{
    (void)user;
    if (run == 4)
        return lab_fail(LAB_E_DB, "run 4: database disk image is malformed");
    memcpy(step_rows, STEPS, sizeof(step_rows));
    for (int i = 0; i < STEP_COUNT && run != 12; i++) /* not counted */
        lab_counters_init(&step_rows[i].counters);
    step_rows[0].bound = "latency";
    step_rows[0].of_roof = 0.0004;
    step_rows[2].bound = "launch";
    step_rows[5].bound = "compute";
    step_rows[5].why = "Arithmetic bounds it: 71 % of what products reach.";
    step_rows[5].of_roof = 0.71;
    *rows = step_rows;
    *count = STEP_COUNT;
    set_phases(step_rows, STEP_COUNT);
    return lab_time_sums_share(step_rows, STEP_COUNT);
}

static enum lab_status load_kernels(void *user, int64_t run,
                                    const struct lab_time_sum *step,
                                    const struct lab_time_sum **rows,
                                    int64_t *count)
{
    (void)user;
    memset(kernels, 0xFF, sizeof(kernels)); /* what was handed out is gone */
    if (step && step->step_index == 6)
        return lab_fail(LAB_E_DB, "the kernels of %s are gone", step->name);
    *count = 0;
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (!step || (strcmp(KERNELS[i].name, step->name) == 0 &&
                      strcmp("forward", step->phase) == 0))
            kernels[(*count)++] = KERNELS[i];
    for (int64_t i = 0; i < *count; i++) {
        bool counted = kernels[i].counters.fp32_flop > 0;
        if (run != 12 || !counted)
            lab_counters_init(&kernels[i].counters);
    }
    *rows = kernels;
    set_phases(kernels, *count);
    return lab_time_sums_share(kernels, (size_t)*count);
}

static void add_advice(void *user, int64_t run, const struct lab_time_sum *step,
                       const struct lab_time_sum *kernel, struct lab_str *out)
{
    (void)user;
    (void)run;
    lab_str_addf(out, "few-blocks: %s of %s. Try more blocks.\n",
                 kernel->kernel_short ? kernel->kernel_short : kernel->kernel,
                 step->name);
}

static enum lab_status load_work(void *user, int64_t run,
                                 const struct lab_time_sum **rows,
                                 int64_t *count)
{
    static struct lab_time_sum work[STEP_COUNT + KERNEL_COUNT];
    (void)user;
    memcpy(work, STEPS, sizeof(STEPS));
    memcpy(work + STEP_COUNT, KERNELS, sizeof(KERNELS));
    for (int i = 0; i < STEP_COUNT; i++)
        if (run == 11)
            work[i].median_ns = NAN;
    set_phases(work, STEP_COUNT + KERNEL_COUNT);
    for (int k = 0; k < KERNEL_COUNT; k++) {
        struct lab_time_sum *kernel = &work[STEP_COUNT + k];
        const struct lab_time_sum *step = &work[kernel->step_index];
        kernel->variant = step->variant;
        kernel->backend = step->backend;
        kernel->bound = "latency";
    }
    *rows = work;
    *count = run == 11 ? STEP_COUNT : STEP_COUNT + KERNEL_COUNT;
    return LAB_OK;
}

static enum lab_status write_facts(void *user, int64_t run, struct lab_doc *out)
{
    (void)user;
    lab_doc_addf(out, LAB_ROLE_NORMAL,
                 "Run %lld on NVIDIA H200 (sm_90, driver 580.65), fp32, "
                 "seed 7, commit 1a2b3c4.\n",
                 (long long)run);
    lab_doc_add(out, LAB_ROLE_NORMAL,
                "Times from CUPTI activity, 4320 repeats.");
    return LAB_OK;
}

static enum lab_status delete_run(void *user, int64_t run)
{
    (void)user;
    for (int64_t i = 0; i < run_count; i++) {
        if (runs[i].id == run) {
            memmove(&runs[i], &runs[i + 1],
                    (size_t)(run_count - i - 1) * sizeof(runs[0]));
            run_count--;
            return LAB_OK;
        }
    }
    return lab_fail(LAB_E_NOTFOUND, "there is no run %lld", (long long)run);
}

static enum lab_status open_lesson(void *user, struct lab_ui *ui,
                                   const char *id)
{
    (void)user;
    if (strcmp(id, "hostile") == 0)
        return lab_fail(LAB_E_PARSE, "an error with \033[31mcolour\033[0m");
    if (strcmp(id, "gemm-lab") != 0)
        return lab_ui_push(ui, &fixture_busy, id);
    ending = 3;
    return lab_ui_push(ui, &lab_view_lab, fixture_lab());
}

static const struct lab_runs_model RUNS_MODEL = {
    .hint = fixture_hint,
    .load_runs = load_runs,
    .load_preview = load_preview,
    .load_steps = load_steps,
    .load_kernels = load_kernels,
    .add_advice = add_advice,
    .load_work = load_work,
    .write_facts = write_facts,
    .delete_run = delete_run,
    .load_compare = fixture_load_compare,
    .load_roofline = fixture_roofline,
    .load_occupancy = fixture_load_occupancy,
};

/* Two tables as a file has them. */
static const char GPUS_TABLE[] =
    "#:course C01\n#:title Peaks of three GPUs\n"
    "#:about What the printed peaks come from. Change a number and see.\n"
    "#:formula lanes [count] = sms * 64\n"
    "#:formula fp32 [TFLOP/s] = lanes * 2 * boost / 1e6\n"
    "#:formula per_watt [GFLOP/s/W] = fp32 * 1000 / tdp\n"
    "gpu,sms [count],boost [MHz],printed [TFLOP/s],tdp [W],differs,source\n"
    "P100,56,1480,10.6,300,,Unit 11\n"
    "V100,80,1530,15.7,300,\"15.67, rounded\",Unit 11\n"
    "A100,108,1410,19.5,400,,Unit 11\nThe next one,,,,,,Unit 12\n";
static const char WORDS_TABLE[] =
    "#:course C24\n#:title Words\nword,source\nESC,Unit 11\n";

static enum lab_status open_fixture_table(void *user, const char *name,
                                          struct lab_fact_table **out,
                                          struct lab_str *note)
{
    (void)user;
    lab_str_add(note, "this machine is a fixture");
    if (strcmp(name, "words") == 0)
        return lab_fact_parse(out, "words.csv", WORDS_TABLE,
                              sizeof(WORDS_TABLE) - 1);
    return lab_fact_parse(out, "gpus.csv", GPUS_TABLE, sizeof(GPUS_TABLE) - 1);
}

static enum lab_status
load_fixture_tables(void *user, struct lab_fact_table *const **tables,
                    int *count)
{
    static struct lab_fact_table *list[2];
    const char *const names[] = {"gpus", "words"};
    struct lab_str note;
    enum lab_status st = LAB_OK;
    lab_str_init(&note);
    for (int i = 0; !st && i < 2; i++) {
        lab_fact_free(list[i]);
        list[i] = NULL;
        st = open_fixture_table(user, names[i], &list[i], &note);
    }
    lab_str_release(&note);
    *tables = list;
    *count = 2;
    return st;
}

static const struct lab_tables_model TABLES_MODEL = {
    .load = load_fixture_tables, .open = open_fixture_table};

static enum lab_status refresh(void *user, struct lab_home_model *model)
{
    (void)user;
    ending -= ending > 0;
    model->waiting = ending > 0;
    runs[0].status = ending > 0 ? "running" : RUNS[0].status;
    model->runs = runs;
    model->run_count = run_count;
    return LAB_OK;
}

struct lab_home_model *fixture_home(void)
{
    static struct lab_home_model model;
    memcpy(runs, RUNS, sizeof(runs));
    run_count = RUN_COUNT;
    ending = 0;
    model = (struct lab_home_model){
        .machine = "AMD EPYC 9654, 2 cores (naive, blas, onednn); no GPU: "
                   "no NVIDIA driver",
        .catalog = &CATALOG,
        .progress = &PROGRESS,
        .refresh = refresh,
        .open_lesson = open_lesson,
        .write_doctor = fixture_write_doctor,
        .all_runs = &RUNS_MODEL,
        .tables = &TABLES_MODEL,
    };
    return &model;
}

static const char SOURCE[] =
    "/* kernels/scale.cu -- y = a * x. */\n"
    "#include \"scale.h\"\n"
    "#define BLOCK(n) \\\n"
    "\t(((n) + 255) / 256)\n"
    "\n"
    "struct pair {\n"
    "    float a, b;\n"
    "};\n"
    "\n"
    "// One thread an element; the last block is not full.\n"
    "__global__ void __launch_bounds__(256)\n"
    "    scale_fwd_v1(float *y, const float *x, float a, long n)\n"
    "{\n"
    "    long i = blockIdx.x * 256L + threadIdx.x;\n"
    "    if (i < n) /* \"}\" in a comment { */\n"
    "        y[i] = a * x[i];\n"
    "}\n"
    "\n"
    "extern \"C\" {\n"
    "int lab_scale(float *y, const float *x, float a, long n);\n"
    "\n"
    "int lab_scale(float *y, const float *x, float a, long n)\n"
    "{\n"
    "    const char *brace = \"}\";\n"
    "    scale_fwd_v1<<<BLOCK(n), 256>>>(y, x, a, n); // a very long line that "
    "goes on past the eightieth column of the screen\n"
    "    return brace[0] != '}';\n"
    "}\n"
    "}\n"
    "static float last(const float *x, long n) { return x[n - 1]; }\n";

static const struct lab_source_args fixture_source = {
    "kernels/scale.cu", SOURCE, sizeof(SOURCE) - 1, "lab_scale"};

const char *fixture_source_text(void)
{
    return SOURCE;
}

enum { POINTS = 400 };

struct busy_state {
    pthread_t thread;
    atomic_int stop;
    atomic_long beats;
    long seen;
    char message[400];
    double loss[POINTS];
    double right[POINTS];
};

struct busy_thread {
    struct lab_screen *screen;
    struct busy_state *state;
    struct lab_ui *ui;
};

static void *beat(void *user)
{
    struct busy_thread t = *(struct busy_thread *)user;
    struct timespec pause = {0, 1000000};
    free(user);
    while (!atomic_load(&t.state->stop)) {
        atomic_fetch_add(&t.state->beats, 1);
        lab_ui_wake(t.ui);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static enum lab_status busy_init(struct lab_screen *s, const void *args)
{
    struct busy_state *st = s->state;
    struct busy_thread *t = malloc(sizeof(*t));
    for (int i = 0; i < POINTS; i++) {
        st->loss[i] =
            2.3 * exp(-i / 80.0) + 0.05 * sin(i / 3.0) * exp(-i / 200.0);
        st->right[i] = 1 - 0.9 * exp(-i / 60.0);
    }
    st->loss[120] = NAN;
    snprintf(st->message, sizeof(st->message), "opened %s", (const char *)args);
    *t = (struct busy_thread){s, st, s->ui};
    if (pthread_create(&st->thread, NULL, beat, t)) {
        free(t);
        atomic_store(&st->stop, 1);
        return lab_fail(LAB_E_NOMEM, "a thread");
    }
    return LAB_OK;
}

static void busy_release(struct lab_screen *s)
{
    struct busy_state *st = s->state;
    if (!atomic_exchange(&st->stop, 1))
        pthread_join(st->thread, NULL);
}

static bool busy_tick(struct lab_screen *s)
{
    struct busy_state *st = s->state;
    st->seen = atomic_load(&st->beats);
    return true;
}

static void busy_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct busy_state *st = s->state;
    struct lab_series series[2] = {
        {NULL, st->loss, POINTS, "loss", LAB_ROLE_SERIES_1},
        {NULL, st->right, POINTS, "right", LAB_ROLE_SERIES_2}};
    struct lab_chart chart = {"Training", "iteration", series, 2,
                              0,          NAN,         false};
    struct lab_rect top = lab_rect_cut_top(&body, 1);
    lab_canvas_textf(c, top.y, top.x, top.w, LAB_ROLE_NORMAL, "%s; %s",
                     st->message, st->seen > 20 ? "BEATS" : "still");
    struct lab_rect gauge = lab_rect_cut_bottom(&body, 1);
    lab_gauge_draw(c, gauge.y, gauge.x, gauge.w, 0.37, LAB_ROLE_GOOD,
                   "37 of 100");
    struct lab_rect bars = lab_rect_cut_bottom(&body, 4);
    lab_histogram_draw(c, lab_rect_cut_left(&bars, 40), st->right, 40,
                       LAB_ROLE_SERIES_3);
    lab_histogram_draw(c, lab_rect_cut_top(&bars, 1), st->loss, POINTS,
                       LAB_ROLE_SERIES_1);
    lab_chart_draw(c, body, &chart);
}

enum {
    ACT_CRASH = LAB_ACT_OWN,
    ACT_ABORT,
    ACT_NOISE,
    ACT_MUCH_NOISE,
    ACT_ASK,
    ACT_QUESTION,
    ACT_SLOW,
    ACT_SOURCE
};

static enum lab_status busy_act(struct lab_screen *s, int what)
{
    struct busy_state *st = s->state;
    int *volatile nowhere = (int *)16; /* what UBSan lets through */
    switch (what) {
    case ACT_CRASH:
        *nowhere = 1;
        break;
    case ACT_ABORT:
        fprintf(stderr, "assertion of a library failed\n");
        abort();
    case ACT_NOISE:
        fprintf(stderr, "a library prints \033[31mhello\033[0m\n");
        printf("another prints it to standard output\n");
        snprintf(st->message, sizeof(st->message), "noise made");
        break;
    case ACT_MUCH_NOISE:
        for (int i = 1; i <= 100000; i++)
            printf("line %6d of a library that prints at each call\n", i);
        fflush(stdout);
        snprintf(st->message, sizeof(st->message), "5 MB of noise");
        break;
    case ACT_ASK:
        lab_ui_prompt(s->ui, 1, "name: ", "abc");
        break;
    case ACT_QUESTION:
        lab_ui_ask(s->ui, 2, "Sure?");
        break;
    case ACT_SLOW: {
        struct timespec pause = {20, 0}; /* a loop that answers nothing */
        while (nanosleep(&pause, &pause))
            continue;
        break;
    }
    default:
        return lab_ui_push(s->ui, &lab_view_source, &fixture_source);
    }
    return LAB_OK;
}

static void busy_answer(struct lab_screen *s, int id, const char *text)
{
    struct busy_state *st = s->state;
    snprintf(st->message, sizeof(st->message), "answer %d: %s", id,
             text ? text : "(none)");
}

static bool busy_command(struct lab_screen *s, const struct lab_ui_command *cmd)
{
    struct busy_state *st = s->state;
    if (cmd->kind == LAB_COMMAND_HELP || cmd->kind == LAB_COMMAND_QUIT ||
        cmd->kind == LAB_COMMAND_TRAIN)
        return false;
    snprintf(st->message, sizeof(st->message), "command %s %s %lld",
             lab_ui_command_name(cmd->kind), cmd->arg, (long long)cmd->n);
    return true;
}

static const char *busy_complete(struct lab_screen *s,
                                 enum lab_ui_command_kind kind, int nth)
{
    static const char *const steps[] = {"fc1.matmul", "fc1.bias", "relu1",
                                        "fc2.matmul"};
    (void)s;
    return kind == LAB_COMMAND_RUN && nth < 4 ? steps[nth] : NULL;
}

static const struct lab_binding BINDINGS[] = {
    {"p", true, "prompt", "asks for a name", LAB_ACT_OWN, NULL, busy_act,
     ACT_ASK},
    {"y", true, "question", "asks for y or n", LAB_ACT_OWN, NULL, busy_act,
     ACT_QUESTION},
    {"E", true, "noise", "a line on stderr, one on stdout", LAB_ACT_OWN, NULL,
     busy_act, ACT_NOISE},
    {"V", true, "much noise", "5 MB on stdout", LAB_ACT_OWN, NULL, busy_act,
     ACT_MUCH_NOISE},
    {"X", true, "crash", "writes to nowhere", LAB_ACT_OWN, NULL, busy_act,
     ACT_CRASH},
    {"A", true, "abort", "calls abort()", LAB_ACT_OWN, NULL, busy_act,
     ACT_ABORT},
    {"o", true, "source", "a kernel's source", LAB_ACT_OWN, NULL, busy_act,
     ACT_SOURCE},
    {"Z", false, "sleep", "answers nothing for 20 seconds", LAB_ACT_OWN, NULL,
     busy_act, ACT_SLOW},
    {NULL}};

const struct lab_screen_ops fixture_busy = {
    .name = "busy",
    .title = "Busy",
    .state_bytes = sizeof(struct busy_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = busy_init,
    .release = busy_release,
    .draw = busy_draw,
    .tick = busy_tick,
    .command = busy_command,
    .answer = busy_answer,
    .complete = busy_complete,
};
