/* The inside of a kernel on the screen: a launch of two small kernels, keys, clicks
 * and golden text. */
#include "test.h"
#include "golden_screen.h"

#include <pthread.h>
#include <stdatomic.h>

#include "debug/kernel_pause.h"
#include "ui/kernel.h"
#include "ui/ui.h"

#define FILES LAB_SOURCE_DIR "/tests/cli/golden/files/"

/* Counts to a million and writes it: longer than a reader waits. */
static const char counts[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry count(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, 0;\n"
    "$again:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100000000;\n"
    "@%p1 bra $again;\n"
    "st.global.u32 [%rd1], %r1;\nret;\n}\n";

/* Operands of each kind that kernels of ours have. */
static const char operands[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry fill(.param .u64 fill_param_0, .param .u64 fill_param_1)\n"
    "{\n.reg .pred %p<2>;\n.reg .f32 %f<2>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [fill_param_1];\nmov.f32 %f1, 0f3E800000;\n"
    "$again:\nst.global.v2.f32 [%rd1], {%f1, %f1};\n"
    "setp.ne.f32 %p1, %f1, %f1;\n@%p1 bra $again;\n"
    "@!%p1 st.global.f32 [%rd1+4], %f1;\nret;\n}\n";

/* ---- a launch that waits for the screen ---- */

enum { N = 128 };

struct launch {
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    void *in;
    void *out;
    const void *args[2];
    struct lab_sim_launch of;
    struct lab_sim_options options;
    pthread_t thread;
    atomic_bool running;
    bool ends;    /* the script lets it end: the screen gets its end */
    int launches; /* of the kernel in the step; 0: one */
    int found;    /* the launch that the screen is opened for; 0: none */
    struct lab_ui *ui;
};

static void name_it(struct launch *l, void *p, const char *name, int argument)
{
    struct lab_sim_label label = {
        .argument = argument, .element_bytes = 4, .rank = 2, .dim = {2, N / 2}};
    snprintf(label.name, sizeof(label.name), "%s", name);
    assert_ok(lab_sim_label(l->memory, p, N * 4, &label));
}

static void open_launch(struct launch *l, const char *text, size_t bytes,
                        const char *kernel)
{
    *l = (struct launch){
        .of = {.grid = {2, 1, 1}, .block = {N / 2, 1, 1}},
        .options = {.checks = (1u << LAB_SIM_CHECK_COUNT) - 1, .threads = 1}};
    assert_ok(lab_sim_memory_open(&l->memory));
    assert_ok(lab_sim_module_open(l->memory, text, bytes, "k", &l->module));
    assert_ok(lab_sim_kernel_find(l->module, kernel, &l->of.kernel));
    assert_ok(lab_sim_alloc(l->memory, N * 4, &l->in));
    assert_ok(lab_sim_alloc(l->memory, N * 4, &l->out));
    memset(l->in, 0, N * 4);
    assert_ok(lab_sim_written(l->memory, l->in, N * 4));
    name_it(l, l->in, "x", 0);
    name_it(l, l->out, "y", 1);
    l->args[0] = &l->in;
    l->args[1] = &l->out;
    l->of.args = l->args;
    l->of.arg_count = 2;
}

static void *launch(void *user)
{
    struct launch *l = user;
    struct lab_sim_gpu_call call = {
        .memory = l->memory,
        .launch = &l->of,
        .options = &l->options,
        .ptx = lab_sim_module_ptx(l->module),
        .kernel = lab_sim_kernel_function(l->of.kernel)->name};
    do {
        call.number++;
        lab_kernel_pause_offer(NULL, &call);
    } while (call.number < l->launches);
    atomic_store(&l->running, false);
    if (l->ends)
        lab_ui_wake(l->ui);
    return NULL;
}

static bool is_running(void *user)
{
    struct launch *l = user;
    return atomic_load(&l->running);
}

static void close_launch(struct launch *l)
{
    lab_sim_module_close(l->module);
    lab_sim_memory_close(l->memory);
}

/* ---- playing ---- */

static void plays(struct launch *l, const char *script)
{
    struct lab_kernel_args args = {
        .what = "step", .running = is_running, .user = l, .element = "y[0,0]"};
    args.goal.launch = l->found;
    snprintf(args.goal.name, sizeof(args.goal.name), "%s",
             l->found > 0 ? "turn" : "");
    const char *path = "play.keys";
    struct lab_ui *ui;
    test_write(path, script);
    struct lab_ui_options options = {.script = path, .badge = "sim"};
    assert_ok(lab_ui_new(&ui, &options));
    assert_ok(lab_ui_push(ui, &lab_view_kernel, &args));
    l->ui = ui;
    atomic_store(&l->running, true);
    assert_int_equal(pthread_create(&l->thread, NULL, launch, l), 0);
    enum lab_status st = lab_ui_run(ui);
    if (l->ends)
        pthread_join(l->thread, NULL);
    lab_ui_free(ui);
    if (!l->ends)
        pthread_join(l->thread, NULL);
    assert_ok(st);
}

static void open_turn(struct launch *l)
{
    screens_go("kernel");
    char *source = test_read(FILES "turn.cu");
    test_write("turn.cu", source); /* as the PTX names it */
    test_free(source);
    char *text = test_read(FILES "turn.ptx");
    open_launch(l, text, strlen(text), "_Z4turnPKiPi");
    test_free(text);
}

/* ---- the screen ---- */

TEST_CASE(shared_memory_fills_up_and_a_race_is_found)
{
    struct launch l;
    open_turn(&l);
    plays(&l, "resize 80 24\n"
              "await 60000 before its first instruction\n"
              "absent inst s/rq\n" /* nothing is counted yet */
              "key n\nawait 60000 inst s/rq pass ln\nkey n 2\n"
              "expect [2 shared]\nkey c\n"
              "await 60000 uninitialised: read of what nothing wrote\n"
              "screen kernel_shared_80x24.txt\nresize 200 60\nkey 1\n"
              "screen kernel_200x60.txt\nresize 80 24\nkey 5\n"
              "expect Look at: what has to write this before\n"
              "key Enter r r r\nawait 60000 turn.cu\nkey r\n"
              "await 60000 this is where the walk began\n");
    screen_is_golden("kernel_shared_80x24.txt", false);
    screen_is_golden("kernel_200x60.txt", false);
    close_launch(&l);
}

/* A step may launch a kernel twice: the screen goes to the launch that it was in. */
TEST_CASE(a_finding_of_the_second_launch)
{
    struct launch l;
    open_turn(&l);
    l.launches = 3;
    l.found = 2;
    plays(&l, "resize 80 24\n"
              "await 60000 uninitialised: read of what nothing wrote\n"
              "expect Kernel turn (launch 2)\n"
              "expect [5 findings 32]\n");
    close_launch(&l);
}

/* Each element as the warp that wrote it; another block's beside; and going back. */
TEST_CASE(the_output_by_who_wrote_it)
{
    struct launch l;
    open_turn(&l);
    plays(&l, "resize 80 24\nawait 60000 before its first instruction\n"
              "key 6\nexpect nothing is written to a tensor yet\nkey e ^U\n"
              "text y[1,40]\nkey Enter\nawait 60000 block (1,0,0)\n"
              "await 60000 y [2,64]: \nscreen kernel_output_80x24.txt\n"
              "resize 200 60\nkey 1\nexpect 0 to v the warp of this block\n"
              "resize 80 24\nkey 6 r\nawait 60000 block (0,0,0)\n"
              "expect y [2,64]: \n");
    screen_is_golden("kernel_output_80x24.txt", false);
    close_launch(&l);
}

TEST_CASE(an_element_its_thread_and_back)
{
    struct launch l;
    open_turn(&l);
    plays(&l,
          "resize 60 16\nawait 60000 before its first instruction\nkey 1 2 3\n"
          "expect grid 2x1x1\nkey 4 5 1\nresize 80 24\nkey n 7\n"
          "expect [7 values]\nexpect const int *  the same\nkey ] [ e\n"
          "expect which thread writes (Enter: y[0,0]):\nkey Enter\n"
          "await 60000 lane 0 is thread (0,0,0)\nkey e\nenter y[1,8]\n"
          "await 60000 block (1,0,0)\nexpect lane 8 is thread (8,0,0)\nkey E\n"
          "await 60000 thread (8,0,0) reads x[1,8]; writes y[1,8]\n"
          /* What was reported of a thread is not reported of another. */
          "key l\nabsent reads x[1,8]\nkey h 3\n"
          "expect grid 2x1x1: block (1,0,0)\nscreen kernel_grid_80x24.txt\n"
          "key r\nawait 60000 block (0,0,0)\nkey a\ntext y[0,40]\nkey Enter t\n"
          "text 99\nkey Enter\nexpect not in the block of 64\nkey g Down B\n"
          "expect comes to line 2\nkey D\n"
          /* A search in its source: n and N, until another key. */
          "enter /out\nexpect n next match\nkey n\nexpect n next match\nkey B\n"
          "expect comes to line 7\nabsent next match\nexpect n line\nkey D\n"
          "enter /out\nexpect Esc end search\nkey Esc\nabsent end search\n"
          "expect n line\nenter /zzz\nexpect \"zzz\" is not in this source\n"
          /* The lane row begins at column 6 of row 2, line 1 is in row 4. */
          "click 2 9\nexpect lane 3 is thread\n"
          "click 8 40\nkey B\nexpect comes to line 5\n");
    screen_is_golden("kernel_grid_80x24.txt", false);
    close_launch(&l);
}

/* Long names leave room for what differs: an index, a line. */
TEST_CASE(long_names_are_printed_once)
{
    struct launch l;
    open_turn(&l);
    struct lab_sim_label label = {.name = "block1.attn.probs.grad",
                                  .element_bytes = 4,
                                  .rank = 4,
                                  .dim = {1, 1, 2, 64}};
    assert_ok(lab_sim_label(l.memory, l.in, N * 4, NULL));
    assert_ok(lab_sim_label(l.memory, l.in, N * 4, &label));
    plays(&l, "resize 200 60\nawait 60000 before its first instruction\n"
              "key a\ntext block1.attn.probs.grad[0,0,0,3]\nkey Enter\n"
              "await 60000 the element was touched\n"
              "expect lanes: what they read last, of block1.attn.probs.grad\n"
              "expect > 0 [0,0,0,0]                sector 0\n"
              "expect  31 [0,0,0,31]               sector 3\n"
              "expect > 0 line 6\nabsent turn.cu:2\n");
    close_launch(&l);
}

/* A stop reports why, also where something was reported of a thread. */
TEST_CASE(a_stop_keeps_its_reason)
{
    struct launch l;
    open_turn(&l);
    plays(&l, "resize 80 24\nawait 60000 before its first instruction\n"
              "key e\nenter y[1,8]\nawait 60000 lane 8 is thread (8,0,0)\n"
              "key E\nawait 60000 thread (8,0,0) reads x[1,8]\nkey n\n"
              "await 60000 instructions of warps in this block\n");
    close_launch(&l);
}

/* A stop at a bad access: the line, the lane that does it and its values are there. */
TEST_CASE(a_stop_at_a_bad_access_shows_it)
{
    enum { HAS = 40 };
    struct launch l;
    open_turn(&l);
    struct lab_sim_label x = {.name = "x",
                              .element_bytes = 4,
                              .rank = 1,
                              .dim = {HAS},
                              .bounded = true};
    assert_ok(lab_sim_label(l.memory, l.in, N * 4, NULL));
    assert_ok(lab_sim_label(l.memory, l.in, HAS * 4, &x));
    plays(&l, "resize 80 24\nawait 60000 before its first instruction\n"
              "key c\nawait 60000 uninitialised: \nkey c\n"
              "await 60000 0 bytes after the end of x\n"
              "expect thread (40,0,0)\nscreen kernel_bad_access_80x24.txt\n");
    screen_is_golden("kernel_bad_access_80x24.txt", false);
    close_launch(&l);
}

TEST_CASE(esc_stops_a_long_move)
{
    struct launch l;
    open_launch(&l, counts, sizeof(counts) - 1, "count");
    plays(&l,
          "resize 80 24\nawait 60000 before its first instruction\n"
          "expect no source lines\nkey c\nawait 60000 Esc stops it\nkey Esc\n"
          "await 60000 stopped here; c goes on\nkey s\n"
          "await 60000 instructions of warps\nkey c\n"
          "await 60000 Esc stops it\nkey Esc\nawait 60000 stopped here\n"
          "key q\n");
    close_launch(&l);
}

/* The last kernel is over: what is typed then does not reach the screen below. */
TEST_CASE(after_the_last_kernel_only_leaving_is_left)
{
    struct launch l;
    open_turn(&l);
    l.ends = true;
    plays(&l,
          "resize 80 24\nawait 60000 before its first instruction\nkey K\n"
          "await 60000 it has no kernel behind this one; q goes back\nkey t\n"
          "expect no kernel is left: q goes back\nkey e\n"
          "expect no kernel is left: q goes back\nkey q\n");
    close_launch(&l);
}

/* Enter alone takes the element that is offered. */
TEST_CASE(the_element_that_is_offered)
{
    struct launch l;
    open_turn(&l);
    plays(&l, "resize 80 24\nawait 60000 before its first instruction\n"
              "key w e Enter\nawait 60000 lane 0 is thread (0,0,0)\n"
              "expect warp 0 of 2\n");
    close_launch(&l);
}

/* Variables by their names in the source, registers without one by their line. */
TEST_CASE(variables_by_their_names)
{
    struct launch l;
    open_turn(&l);
    plays(&l, "resize 80 24\nawait 60000 before its first instruction\n"
              "key n n n 7 Right\nexpect [7 values]\n"
              "screen kernel_values_80x24.txt\nkey 1 :\ntext print t\n"
              "key Enter\nexpect t = 1 in lane 1; 0 to 31 in the warp\n"
              "expect [7 values]\nkey :\ntext print threadIdx.x\nkey Enter\n"
              "expect threadIdx.x = 1 in lane 1\nkey :\ntext print nothing\n"
              "key Enter\nexpect no variable 'nothing' can be seen here\n"
              "key 1 :\ntext registers\nkey Enter\nexpect [7 values]\n");
    screen_is_golden("kernel_values_80x24.txt", false);
    close_launch(&l);
}

/* The instructions of the PTX beside the source, around the next one; no column of
 * shared memory where the kernel has none. */
TEST_CASE(instructions_are_beside_the_source)
{
    struct launch l;
    open_launch(&l, operands, sizeof(operands) - 1, "fill");
    plays(&l, "resize 200 60\nawait 60000 before its first instruction\n"
              "expect instructions: source line, PTX\n"
              "expect >      ld.param.u64 %rd1, [param_1]\n"
              "expect mov.f32 %f1, 0.25\n"
              "expect st.global.v2.f32 [%rd1], {%f1, %f1}\n"
              "expect @!%p1 st.global.f32 [%rd1+4], %f1\n"
              "expect @%p1 bra line 12\nabsent passes\nkey s\n"
              "await 60000 >      mov.f32 %f1\nabsent passes\n");
    close_launch(&l);
}

/* A source that is not where the PTX names it is reported, with the path. */
TEST_CASE(a_source_that_is_not_there_is_named)
{
    struct launch l;
    open_turn(&l);
    unlink("turn.cu");
    plays(&l, "resize 80 24\n"
              "await 60000 before its first instruction\n"
              "expect source not found: \n");
    close_launch(&l);
}

RUN_TESTS()
