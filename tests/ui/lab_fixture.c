/* A lab model with made-up rates for the lab screen's tests; lab_fixture.h has
 * its states. */
#include "lab_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson/lesson.h"
#include "ui_fixture.h"

enum { CPU_VARIANTS = 4, GPU_VARIANTS = 10, SIZES = 3 };

static const char *const CPU_NAMES[CPU_VARIANTS] = {"naive", "rows", "blocked",
                                                    "openblas"};
static const double CPU_GFLOPS[CPU_VARIANTS] = {0.9, 3.6, 7.4, 41.0};
static const char *const CPU_IDEAS[CPU_VARIANTS] = {
    "the definition", "the loops in another order",
    "blocks of B that stay in the cache", "the vendor's library"};
static const char *const GPU_NAMES[GPU_VARIANTS] = {
    "naive",  "coalesced", "tile",   "thread_1d", "thread_2d",
    "vector", "warp",      "double", "wide",      "cublas"};
static const char *const GPU_KERNELS[GPU_VARIANTS] = {
    "gemm_naive",     "gemm_coalesced", "gemm_tile", "gemm_thread_1d",
    "gemm_thread_2d", "gemm_vector",    "gemm_warp", "gemm_double",
    "gemm_wide",      "gemm_cublas"};
static const double GPU_GFLOPS[GPU_VARIANTS] = {
    470, 5900, 8241, 15870, 18200, 35510, 41480, 45380, 46570, 51380};
static const double SIDES[2][SIZES] = {{128, 256, 500}, {1024, 2048, 4096}};
static const char *const SIDE_TEXTS[2][SIZES] = {{"128", "256", "500"},
                                                 {"1024", "2048", "4096"}};

static struct lab_bench_data lab;
static struct lab_bench_model model;

static void fill_row(struct lab_bench_result *r, double gflops,
                     double model_rate, double last)
{
    const struct lab_bench_set *set = &lab.sets[r->set];
    double side = lab.sizes[r->size_index].x;
    r->state = LAB_BENCH_DONE;
    r->flop = 2 * side * side * side;
    r->bytes = 12 * side * side;
    r->rate = gflops * 1e9 * side / (side + 100);
    r->rate_model = model_rate * 1e9;
    r->median_ns = r->flop / r->rate * 1e9;
    r->min_ns = r->median_ns * 0.97;
    r->quarter_ns = r->median_ns * 0.99;
    r->three_quarters_ns = r->median_ns * 1.02;
    r->max_ns = r->median_ns * 1.3;
    r->share = r->rate / set->ceiling;
    r->gain = r->rate / last;
    r->gain_model = last > 0 ? r->gain * 1.25 : (double)NAN;
    r->check_error = 0.03;
    r->repeats = 21;
    r->bound = r->share >= 0.6 ? "compute" : "latency";
}

static void add_row(int set, int size, int k)
{
    struct lab_bench_result *r = &lab.rows[lab.row_count++];
    bool cpu = set == 0;
    lab_bench_result_init(r);
    r->set = set;
    r->size_index = size;
    r->size = lab.sizes[size].text;
    r->variant = cpu ? CPU_NAMES[k] : GPU_NAMES[k];
    r->idea = cpu ? CPU_IDEAS[k] : "one idea more than the variant before";
    r->precision = "fp32";
    r->source = "kernels/scale.cu";
    r->library = k == (cpu ? CPU_VARIANTS : GPU_VARIANTS) - 1;
    if (cpu)
        return;
    r->sm_clock_after_hz = 1.755e9;
    r->temperature_c = 41;
    r->power_w = 512;
    r->kernel = GPU_KERNELS[k];
    r->launch = (struct lab_launch){.grid = {32, 32, 1},
                                    .block = {256, 1, 1},
                                    .registers_per_thread = 128,
                                    .static_shared_bytes = 16384};
    r->kernels = 1;
    r->occupancy_pct = 25;
    fill_row(r, GPU_GFLOPS[k],
             k < 9 ? GPU_GFLOPS[k] * (k == 0 ? 0.8 : 1.1) : (double)NAN,
             k > 0 ? r[-1].rate : (double)NAN);
}

static void add_sizes(int set)
{
    for (int s = 0; s < SIZES; s++) {
        struct lab_bench_size *size = &lab.sizes[lab.size_count++];
        size->set = set;
        size->x = SIDES[set][s];
        size->text = SIDE_TEXTS[set][s];
        lab_prediction_init(&size->best);
        for (int k = 0; k < (set == 0 ? CPU_VARIANTS : GPU_VARIANTS); k++)
            add_row(set, lab.size_count - 1, k);
        lab_bench_relate(&lab, lab.size_count - 1);
    }
}

static void add_slide(const char *label, const char *machine, double value,
                      const char *here, const char *recorded_on)
{
    static struct lab_lesson_slide course[2];
    int i = lab.slide_count++;
    struct lab_bench_slide *s = &lab.slides[i];
    course[i] = (struct lab_lesson_slide){.label = label,
                                          .machine = machine,
                                          .size = "6000",
                                          .unit = "GFLOP/s",
                                          .value = value};
    *s = (struct lab_bench_slide){
        .course = &course[i], .x = 6000, .rate = value * 1e9};
    snprintf(s->here, sizeof(s->here), "%s", here);
    snprintf(s->recorded_on, sizeof(s->recorded_on), "%s", recorded_on);
}

/* ---- the model ---- */

static int64_t version(void *user)
{
    (void)user;
    return lab.version;
}

static enum lab_status snapshot(void *user, struct lab_bench_data *out)
{
    (void)user;
    return lab_bench_data_copy(out, &lab);
}

/* Through the first size, and two variants into the second. */
static enum lab_status run(void *user, int set)
{
    (void)user;
    lab.running = set;
    lab.at_size = 1;
    lab.done = 6;
    lab.total = CPU_VARIANTS * SIZES;
    lab.elapsed_ns = 3000000000;
    lab.problem[0] = '\0';
    snprintf(lab.doing, sizeof(lab.doing), "timing blocked at 256, fp32");
    for (int i = 0; i < CPU_VARIANTS * SIZES; i++) {
        struct lab_bench_result *r = &lab.rows[i];
        int k = i % CPU_VARIANTS;
        if (i < 6)
            fill_row(r, CPU_GFLOPS[k],
                     k < 3 ? CPU_GFLOPS[k] * 1.4 : (double)NAN,
                     k > 0 ? r[-1].rate : (double)NAN);
        else
            r->state = i == 6 ? LAB_BENCH_TIMING : LAB_BENCH_WAITING;
    }
    lab_bench_relate(&lab, 0);
    lab.version++;
    return LAB_OK;
}

void fixture_lab_finish(void)
{
    for (int i = 6; i < CPU_VARIANTS * SIZES; i++)
        fill_row(&lab.rows[i], CPU_GFLOPS[i % CPU_VARIANTS], NAN,
                 i % CPU_VARIANTS > 0 ? lab.rows[i - 1].rate : (double)NAN);
    struct lab_bench_result *r = &lab.rows[CPU_VARIANTS * SIZES - 1];
    struct lab_bench_result planned = *r;
    lab_bench_result_init(r);
    r->size_index = planned.size_index;
    r->size = planned.size;
    r->variant = planned.variant;
    r->precision = planned.precision;
    r->idea = "";
    r->state = LAB_BENCH_FAILED;
    r->library = true;
    r->source = "kernels/gone.c";
    r->reason =
        "OpenBLAS is not installed: the package libopenblas has it, and "
        "the library of another maker does as well";
    lab_bench_relate(&lab, 1);
    lab.at_size = 2;
    lab.running = -1;
    lab.version++;
}

static void stop(void *user)
{
    (void)user;
    lab.running = -1;
    lab.rows[6].state = LAB_BENCH_WAITING;
    snprintf(lab.problem, sizeof(lab.problem), "stopped after 6 of 12 rows");
    lab.version++;
}

/* A ceiling that some variants pass. */
static void lower_ceiling(int set)
{
    lab.sets[set].ceiling = 5e9;
    for (int64_t i = 0; i < lab.row_count; i++)
        if (lab.rows[i].set == set)
            lab.rows[i].share = lab.rows[i].rate / lab.sets[set].ceiling;
    lab.version++;
}

static enum lab_status sizes(void *user, int set, const char *list)
{
    (void)user;
    if (strcmp(list, "beat") == 0) { /* words for the scripts */
        lower_ceiling(set);
        return LAB_OK;
    }
    if (strcmp(list, "finish") == 0) {
        fixture_lab_finish();
        return LAB_OK;
    }
    return lab_fail(LAB_E_USAGE, "size %s: not a number", list);
}

static enum lab_status predict(void *user, int set, const char *variant,
                               const char *size, const char *text)
{
    struct lab_prediction p;
    char *end;
    (void)user;
    lab_prediction_init(&p);
    p.rate = strtod(text, &end) * 1e9;
    if (end == text)
        return lab_fail(
            LAB_E_USAGE,
            "%s: no number, no bound: a number above 0, as 8.2T, or "
            "a time; memory, compute or latency",
            text);
    if (strstr(end, "memory"))
        p.bound = "memory";
    for (int i = 0; i < lab.size_count; i++)
        if (!variant && lab.sizes[i].set == set &&
            strcmp(lab.sizes[i].text, size) == 0)
            lab.sizes[i].best = p;
    for (int64_t i = 0; variant && i < lab.row_count; i++)
        if (lab.rows[i].set == set &&
            strcmp(lab.rows[i].variant, variant) == 0 &&
            strcmp(lab.rows[i].size, size) == 0)
            lab.rows[i].predicted = p;
    lab.version++;
    return LAB_OK;
}

static enum lab_status source(void *user, const char *file, const char **text,
                              size_t *bytes)
{
    (void)user;
    if (strcmp(file, "kernels/scale.cu") != 0)
        return lab_fail(LAB_E_IO, "%s: cannot be read", file);
    *text = fixture_source_text();
    *bytes = strlen(*text);
    return LAB_OK;
}

static enum lab_status write_text(void *user, struct lab_doc *out)
{
    (void)user;
    lab_doc_add(out, LAB_ROLE_HEADING, "Lab: the matrix product\n");
    lab_doc_para(out, 0, 0, true);
    lab_doc_add(out, LAB_ROLE_NORMAL,
                "C = A B. At 4096 these are 683 operations a byte.\n");
    lab_doc_add(out, LAB_ROLE_HEADING, "\nPredict first\n");
    lab_doc_add(out, LAB_ROLE_NORMAL,
                "1. `naive` and `coalesced` differ in one letter. What does "
                "that letter decide?\n");
    return lab_doc_check(out);
}

static void set_of(int i, const char *name, const char *device, bool runs,
                   double ceiling)
{
    struct lab_bench_set *set = &lab.sets[i];
    *set = (struct lab_bench_set){.runs = runs, .ceiling = ceiling};
    snprintf(set->name, sizeof(set->name), "%s", name);
    snprintf(set->device, sizeof(set->device), "%s", device);
    snprintf(set->badge, sizeof(set->badge),
             runs ? "CPU" : "recorded on NVIDIA H200");
    snprintf(set->note, sizeof(set->note),
             runs ? "21 repeats each" : "run 57 of 2025-06-01");
    snprintf(set->sizes, sizeof(set->sizes),
             runs ? "128,256,500" : "1024,2048,4096");
    snprintf(set->ceiling_name, sizeof(set->ceiling_name),
             "the library's product, fp32");
}

enum lab_status fixture_lab_data(struct lab_bench_data *out)
{
    return lab_bench_data_copy(out, &lab);
}

const struct lab_bench_model *fixture_lab(void)
{
    static struct lab_bench_slide slide_rows[2];
    static struct lab_bench_size size_rows[2 * SIZES];
    static struct lab_bench_result rows[SIZES * (CPU_VARIANTS + GPU_VARIANTS)];
    lab_bench_data_init(&lab);
    lab.slides = slide_rows;
    lab.sizes = size_rows;
    lab.rows = rows;
    lab.version = 1;
    lab.set_count = 2;
    set_of(0, "CPU", "AMD EPYC 9654", true, 48e9);
    set_of(1, "recorded", "NVIDIA H200", false, 51.5e12);
    add_sizes(0);
    add_sizes(1);
    add_slide("LAB 2, torch.matmul", "a GPU of 2020", 7077.22,
              "48213 GFLOP/s (tile)", "NVIDIA H200");
    add_slide("LAB 2, np.dot", "its CPU", 71.65, "not measured: e, size 6000",
              "");
    model = (struct lab_bench_model){.title = "Lab: the matrix product",
                                     .shape = "MxNxK",
                                     .version = version,
                                     .snapshot = snapshot,
                                     .run = run,
                                     .stop = stop,
                                     .sizes = sizes,
                                     .predict = predict,
                                     .source = source,
                                     .write_text = write_text};
    return &model;
}
