/* The timeline on screens, with databases that the writer made: keys and
 * golden text. */
#include "test.h"
#include "golden_screen.h"

#include "base/mem.h"
#include "store_samples.h"
#include "timeline_samples.h"
#include "trace/intern.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "ui/views.h"

/* ---- a model on a database ---- */

struct source {
    const char *path;
    int32_t most;
    struct lab_iteration_row passes[64];
    int64_t count;
    struct lab_timeline *t;
    int loads;
};

static bool take_pass(void *user, const struct lab_iteration_row *row)
{
    struct source *s = user;
    s->passes[s->count++] = *row;
    return s->count < 64;
}

static struct lab_database *open_db(const struct source *s)
{
    const struct lab_database_options o = {.read_only = true};
    struct lab_database *db = NULL;
    return lab_database_open(&db, s->path, &o) ? NULL : db;
}

static enum lab_status load_passes(void *user, int64_t run,
                                   const struct lab_iteration_row **rows,
                                   int64_t *count)
{
    struct source *s = user;
    struct lab_database *db = open_db(s);
    if (!db)
        return lab_fail(LAB_E_NOMEM, "no database");
    s->count = 0;
    enum lab_status st = lab_query_iterations(db, run, take_pass, s);
    lab_database_close(db);
    *rows = s->passes;
    *count = s->count;
    return st;
}

static enum lab_status load_timeline(void *user, int64_t run,
                                     const struct lab_iteration_row *of,
                                     const struct lab_timeline_filter *filter,
                                     const struct lab_timeline **out)
{
    struct source *s = user;
    struct lab_timeline_filter f =
        filter ? *filter
               : (struct lab_timeline_filter){.from_ns = LAB_UNKNOWN,
                                              .to_ns = LAB_UNKNOWN};
    struct lab_timeline *t = NULL;
    struct lab_database *db = open_db(s);
    if (!db)
        return lab_fail(LAB_E_NOMEM, "no database");
    f.most = s->most;
    s->loads++;
    enum lab_status st = lab_timeline_load(&t, db, run, of, &f);
    lab_database_close(db);
    if (st)
        return st;
    lab_timeline_free(s->t);
    *out = s->t = t;
    return LAB_OK;
}

static enum lab_status load_runs(void *user, const struct lab_run_row **rows,
                                 int64_t *count)
{
    static const struct lab_run_row row = {.id = 1,
                                           .lesson = "mlp-digits",
                                           .backend = "cuda",
                                           .device = "NVIDIA H200",
                                           .precision = "fp32",
                                           .started = "2025-06-01T14:03:00Z",
                                           .status = "done"};
    (void)user;
    *rows = &row;
    *count = 1;
    return LAB_OK;
}

static enum lab_status load_steps(void *user, int64_t run,
                                  const struct lab_time_sum **rows,
                                  int64_t *count)
{
    static const struct lab_time_sum steps[] = {
        {.name = "fc1.matmul", .phase = "forward", .kernels = 2},
        {.name = "sgd", .phase = "update", .kernels = 4}};
    (void)user;
    (void)run;
    *rows = steps;
    *count = 2;
    return LAB_OK;
}

static enum lab_status load_kernels(void *user, int64_t run,
                                    const struct lab_time_sum *step,
                                    const struct lab_time_sum **rows,
                                    int64_t *count)
{
    (void)user;
    (void)run;
    (void)step;
    *rows = NULL;
    *count = 0;
    return LAB_OK;
}

static enum lab_status write_facts(void *user, int64_t run, struct lab_doc *out)
{
    (void)user;
    (void)run;
    lab_doc_para(out, 0, 0, false);
    return LAB_OK;
}

/* Its error names the launch that was asked for. */
static enum lab_status load_occupancy(void *user, int64_t run,
                                      const struct lab_time_sum *kernel,
                                      int64_t row,
                                      struct lab_occupancy_args *out)
{
    (void)user;
    (void)out;
    assert_null(kernel);
    return lab_fail(LAB_E_STATE, "run %lld, launch %lld", (long long)run,
                    (long long)row);
}

/* ---- playing ---- */

static struct source source;
static bool runs_first;

static int cleanup(void **state)
{
    (void)state;
    lab_mem_fail_from(0);
    lab_timeline_free(source.t);
    source = (struct source){0};
    runs_first = false;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

static void hint(void *user, const char *const *words, struct lab_str *out)
{
    (void)user;
    lab_str_addf(out, "lapenna-lab %s", words[0]);
}

static enum lab_status play(const char *script, bool ascii)
{
    const struct lab_runs_model model = {.user = &source,
                                         .hint = hint,
                                         .load_runs = load_runs,
                                         .load_steps = load_steps,
                                         .load_kernels = load_kernels,
                                         .write_facts = write_facts,
                                         .load_passes = load_passes,
                                         .load_timeline = load_timeline,
                                         .load_occupancy = load_occupancy};
    const struct lab_run_args args = {
        .model = &model, .run = {.id = 1}, .step = "relu", .phase = "forward"};
    const char *path = "play.keys";
    struct lab_ui *ui;
    screens_go("timeline");
    test_write(path, script);
    struct lab_ui_options options = {.script = path, .badge = "NVIDIA H200"};
    options.terminal.ascii = ascii;
    enum lab_status st = lab_ui_new(&ui, &options);
    if (st)
        return st;
    if (runs_first)
        st = lab_ui_push(ui, &lab_view_runs, &model);
    else
        st = lab_ui_push(ui, &lab_view_timeline, &args);
    if (!st)
        st = lab_ui_run(ui);
    lab_ui_free(ui);
    return st;
}

static void plays(const char *script)
{
    assert_ok(play(script, false));
}

static void make(enum lab_status (*sample)(const char *, int64_t *))
{
    int64_t run;
    source.path = sample_path("runs.db");
    assert_ok(sample(source.path, &run));
}

/* ---- screens ---- */

TEST_CASE_WITH(whole_screens, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\nexpect Timeline of run 1, iteration 1 (2 of 3)\n"
          "expect busy 31.8 %, 7 kernels (3 graph nodes, 1 untimed) by 5\n"
          "expect 6 gaps on the GPU, 173 us; longest 151 us: relu to mem\n"
          "expect launch latency 20.0 us, at most 50.0 us\n"
          "screen timeline_80x24.txt\nkey Right\n"
          "expect all of the time is in sight: +\n"
          "key + Left Left Left Left Left Left\n"
          "expect this is its beginning\nkey PgDn PgDn PgDn\n"
          "expect this is its end\nkey - Up\nscreen timeline_up_80x24.txt\n"
          "resize 200 60\nscreen timeline_200x60.txt\nresize 60 16\n"
          "screen timeline_60x16.txt\n");
    screen_is_golden("timeline_80x24.txt", false);
    screen_is_golden("timeline_up_80x24.txt", false);
    screen_is_golden("timeline_200x60.txt", false);
    screen_is_golden("timeline_60x16.txt", false);
}

TEST_CASE_WITH(ascii_screens, NULL, cleanup)
{
    make(sample_timeline_run);
    assert_ok(play("resize 80 24\nscreen ascii_timeline_80x24.txt\n", true));
    screen_is_golden("ascii_timeline_80x24.txt", true);
}

TEST_CASE_WITH(a_step_shows_its_kernels_and_back, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\nexpect step relu\nkey .\nexpect step sgd\n"
          "expect it launched 4 kernels of 88.0 us\nkey Enter\n"
          "expect What sgd launched (5)\nexpect set memset\nkey .\n"
          "expect kernel sgd_weights (graph node)\n"
          "expect node 101 of a CUDA graph\nscreen timeline_step_80x24.txt\n"
          "key End\nexpect kernel lost\nexpect lasts n/a, begins at n/a\n"
          "expect launch latency n/a\nkey Enter\nexpect step sgd\n"
          "absent What sgd launched\nkey Enter\nexpect What sgd\nkey Esc\n"
          "absent What sgd launched\nexpect iteration 1 (2 of 3)\n");
    screen_is_golden("timeline_step_80x24.txt", false);
}

/* What is highlighted is what the keys walk through, and nothing else is. */
TEST_CASE_WITH(up_and_down_stay_in_the_list, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\nkey . Enter\nexpect ══ What sgd launched (5)\n"
          "expect set memset\nkey Down\n"
          "expect kernel sgd_weights (graph node)\nexpect node 101\n"
          "expect ══ What sgd launched\nkey j\nexpect kernel sgd_bias\n"
          "expect ══ What sgd launched\nkey Down\nexpect node 103\nkey k\n"
          "expect kernel sgd_bias\nkey Up Up Up\nexpect set memset\n"
          "expect ══ What sgd launched\n"
          /* Out of it, to the lane after that of the memset: the steps'. */
          "key Tab\nexpect step sgd\nabsent ══ What\n"
          "key Down\nexpect range iteration 1\nabsent What sgd launched\n");
}

TEST_CASE_WITH(keys_choose_and_follow, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 100 30\nkey O\nexpect what if is asked of a kernel\n"
          "text /sgd_b\nkey Enter\nexpect kernel sgd_bias\nkey O\n"
          "expect run 1, launch 6\n" /* as they were recorded */
          "expect launch latency 23.0 us from cudaGraphLaunch\nkey c\n"
          "expect call cudaGraphLaunch\nexpect belongs to step sgd, update\n"
          "expect launched a CUDA graph: 3 nodes\nkey c\nexpect node 101\n"
          "key Enter\nexpect step sgd\ntext /gemm\nkey Enter\n"
          "expect kernel gemm_tiled\nexpect \"gemm\": 1 of 2; n next\n"
          "expect belongs to no step\nkey n\nexpect gap before it 16.0 us\n"
          "expect 8.00 us from cudaLa\nkey .\nexpect kernel add_bias\n"
          "key p p p\nexpect belongs to no step\nkey Home End\n"
          "expect kernel lost\nkey m\nexpect it has no moment\nkey Home m\n"
          "expect A to here 0 ns\nkey .\nexpect A to here 40.0 us\nkey m\n"
          "expect A to B 40.0 us\nkey .\nexpect A to B 40.0 us\nkey M\n"
          "absent A to B\nkey End\ntext /copy-of\nkey Enter\n"
          "expect is not in this iteration\ntext /host-to\nkey Enter\n"
          "expect copy Host-to-Device\nexpect 4.00 KiB, 410 MB/s\nkey Tab\n"
          "expect set memset\nkey Tab\nexpect step \n");
}

/* Over the lanes a ruler, on the minimap the window; backwards as forwards. */
TEST_CASE_WITH(the_mouse_drags_a_ruler_and_the_window, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\ndrag 8 21 8 36\nexpect A to B 102 us\n"
          "drag 8 36 9 36\nexpect A to B 102 us\n"
          "drag 8 36 23 0\nexpect A to B 102 us\n"
          "drag 3 2 16 40\nexpect |300 us\n"
          "drag 16 35 16 21\nabsent |300 us\nexpect |20 us\n"
          "drag 16 21 2 79\nexpect |300 us\n");
}

TEST_CASE_WITH(it_opens_from_runs_and_from_a_step, NULL, cleanup)
{
    make(sample_timeline_run);
    runs_first = true;
    plays("resize 80 24\nexpect Runs (1)\nkey T\n"
          "expect Timeline of run 1, iteration 1\nexpect step fc1.matmul\n"
          "key q\nexpect Runs (1)\nkey Enter\nexpect Run 1\nkey Down T\n"
          "expect Timeline of run 1, iteration 1\nexpect step sgd\nkey Esc\n"
          "expect Run 1\n");
}

TEST_CASE_WITH(zoom_and_pan, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\ntext /add_bias\nkey Enter Z\nexpect {add_bias\n"
          "expect |50 us\nscreen timeline_zoom_80x24.txt\nkey l l l l l\n"
          "absent {add_bias\nkey z\nexpect *\nkey Esc\nabsent *\nkey z\n"
          "expect ▏sgd \nkey -\nexpect ▏sgd \nkey + + +\n"
          "expect add_bias\nkey h PgUp PgUp PgUp\nexpect |0\n");
    screen_is_golden("timeline_zoom_80x24.txt", false);
}

TEST_CASE_WITH(other_iterations, NULL, cleanup)
{
    make(sample_timeline_run);
    plays("resize 80 24\nkey ?\ntext /node of a CUDA graph\nkey Enter\n"
          "expect Signs\nkey Esc ]\nexpect iteration 2 (3 of 3)\n"
          "expect no kernels recorded\nexpect no moments were recorded\n"
          "expect lasts n/a\nscreen timeline_dateless_80x24.txt\nkey ]\n"
          "expect no iteration was recorded after\nkey + l . Tab Enter\n"
          "expect no kernel or copy of this step\nkey [ [\n"
          "expect iteration 0 (1 of 3)\nkey [\n"
          "expect no iteration was recorded before\n");
    screen_is_golden("timeline_dateless_80x24.txt", false);
}

TEST_CASE_WITH(cpu_and_empty_runs, NULL, cleanup)
{
    make(sample_timeline_cpu);
    plays("resize 80 24\nexpect 3 steps, no kernels recorded\n"
          "absent steps by time\n"
          "screen timeline_cpu_80x24.txt\nresize 200 60\n"
          "screen timeline_cpu_200x60.txt\nresize 80 24\nkey Enter\n"
          "expect no kernel or copy of this step was recorded\n");
    screen_is_golden("timeline_cpu_80x24.txt", false);
    screen_is_golden("timeline_cpu_200x60.txt", false); /* steps by time */
    sample_dir_remove();
    make(sample_timeline_foreign);
    plays("resize 80 24\nexpect Timeline of run 1\nabsent iteration 1 (\n"
          "text /relu\nkey Enter\nkey Z\nexpect relu\nkey Enter\n"
          "expect it belongs to no step\n");
    sample_dir_remove();
    make(sample_timeline_empty);
    assert_int_equal(play("resize 80 24\n", false), LAB_E_STATE);
    assert_true(error_is("[timeline.run-empty] "));
}

/* With room for two spans of a kind: zooming in shows the others. */
TEST_CASE_WITH(what_is_left_out_comes_when_it_is_looked_at, NULL, cleanup)
{
    make(sample_timeline_run);
    source.most = 3;
    plays("resize 80 24\n"
          "expect short spans are left out\nabsent ▏add_bias\n");
    assert_int_equal(source.loads, 1);
    plays("resize 80 24\nabsent add_bias\n"
          "key Z\nexpect GPU busy 31.8 %\nexpect ▏add_bias\n"
          "key z\nabsent add_bias\nexpect short spans are left out\n"
          "key Enter\nexpect What relu launched (1)\n"
          "expect kernel relu\nkey Esc\nexpect step relu\n");
    assert_true(source.loads >= 3);
}

TEST_CASE_WITH(survives_any_size, NULL, cleanup)
{
    static char script[1 << 16];
    size_t n = 0;
    make(sample_timeline_run);
    n +=
        (size_t)snprintf(script, sizeof(script), "resize 80 24\nkey . Enter\n");
    for (int h = 0; h <= 80; h += 5)
        for (int w = 0; w <= 250; w += h < 30 ? 13 : 50)
            n += (size_t)snprintf(script + n, sizeof(script) - n,
                                  "resize %d %d\nkey %s\n", w, h,
                                  w % 2 ? "+" : "-");
    snprintf(script + n, sizeof(script) - n, "resize 80 24\nexpect sgd\n");
    plays(script);
}

TEST_CASE_WITH(any_allocation_may_fail, NULL, cleanup)
{
    const char *script = "resize 80 24\nkey . Enter . z Z Esc ] [ q\n";
    int refused = 0;
    make(sample_timeline_run);
    source.most = 2;
    lab_mem_fail_from(0);
    assert_ok(play(script, false));
    int64_t all = lab_mem_count();
    for (int64_t nth = 1; nth <= all; nth += nth < 60 ? 1 : 3) {
        lab_mem_fail_from(nth);
        enum lab_status st = play(script, false);
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        refused += st == LAB_E_NOMEM;
    }
    assert_true(refused > 0);
}

RUN_TESTS()
