/* The what-if screen with the real arithmetic of an H200: keys change a launch,
 * and the answer follows. */
#include "test.h"

#include "base/mem.h"
#include "profiler/occupancy.h"
#include "ui/view_occupancy.h"

struct shown {
    struct lab_screen screen;
    char *text;
};

static void show(struct shown *s, int h, int w, bool ascii)
{
    struct lab_canvas c;
    lab_free(s->text);
    assert_ok(lab_canvas_init(&c, h, w, ascii));
    s->screen.ops->draw(&s->screen, &c, (struct lab_rect){0, 0, h, w});
    s->text = lab_canvas_dump(&c);
    lab_canvas_release(&c);
    assert_non_null(s->text);
}

static void shows(struct shown *s, const char *part)
{
    show(s, 22, 80, false);
    if (!strstr(s->text, part))
        fail_msg("no \"%s\" in\n%s", part, s->text);
}

static void press(struct shown *s, int action, int times)
{
    const struct lab_binding *b =
        lab_keymap_action(s->screen.ops->bindings, action);
    while (times-- > 0)
        if (b && b->act_with)
            assert_ok(b->act_with(&s->screen, b->with));
        else
            assert_true(s->screen.ops->action(&s->screen, action));
}

static int open_launch(void **state, struct lab_launch launch)
{
    static struct shown s;
    struct lab_device_info info = {.compute_major = 9,
                                   .compute_minor = 0,
                                   .sm_count = 132,
                                   .max_threads_per_sm = 2048,
                                   .max_warps_per_sm = 64,
                                   .max_blocks_per_sm = 32,
                                   .warp_size = 32,
                                   .max_registers_per_sm = 65536,
                                   .max_shared_per_sm_bytes = 228 << 10,
                                   .max_shared_per_block_optin_bytes = 227
                                                                       << 10};
    struct lab_occupancy_args args = {.kernel = "gemm(float*)",
                                      .device = "NVIDIA H200",
                                      .launch = launch,
                                      .achieved_pct = 17.5};
    assert_ok(lab_occupancy_device_init(&args.gpu, &info));
    memset(&s, 0, sizeof(s));
    s.screen.ops = &lab_view_occupancy;
    s.screen.state = lab_alloc(lab_view_occupancy.state_bytes);
    assert_non_null(s.screen.state);
    assert_ok(lab_view_occupancy.init(&s.screen, &args));
    *state = &s;
    return 0;
}

static int open_it(void **state)
{
    return open_launch(state,
                       (struct lab_launch){.grid = {1056, 1, 1},
                                           .block = {256, 1, 1},
                                           .registers_per_thread = 128,
                                           .dynamic_shared_bytes = 16384});
}

static int open_one_block(void **state)
{
    return open_launch(state, (struct lab_launch){.grid = {1, 1, 1},
                                                  .block = {256, 1, 1},
                                                  .registers_per_thread = 32});
}

static int close_it(void **state)
{
    struct shown *s = *state;
    lab_free(s->text);
    lab_free(s->screen.state);
    return 0;
}

#define FIXTURE_CASE(name)                                                     \
    TEST_CASE_OF(name, open_it, close_it, struct shown *s)

/* 65,536 registers / (128 * 256) = 2 blocks of 8 warps, of 64. */
FIXTURE_CASE(as_it_ran)
{
    shows(s, "occupancy 25.0 %: 2 blocks, 16 of 64 warps on an SM, 4.00 waves");
    shows(s, "registers        2 blocks   <- the limit");
    shows(s, "warps            8 blocks");
    shows(s, "17.5 % achieved");
    shows(s, "gemm(float*)");
}

FIXTURE_CASE(fewer_registers_more_warps)
{
    press(s, LAB_ACT_DOWN, 1);
    press(s, LAB_ACT_LEFT, 8); /* 128 -> 64 */
    shows(s, "it ran with 128");
    shows(s, "occupancy 50.0 %: 4 blocks");
    assert_ok(lab_keymap_find(s->screen.ops->bindings, 'r')
                  ->act(&s->screen)); /* as it ran */
    shows(s, "occupancy 25.0 %");
    press(s, LAB_ACT_RIGHT, 100); /* 255 */
    shows(s, "occupancy 12.5 %: 1 block, 8 of 64 warps on an SM");
}

/* Other blocks cover the same work with another grid. */
FIXTURE_CASE(another_block_another_grid)
{
    press(s, LAB_ACT_LEFT, 4); /* 128 threads: 4 blocks an SM, 2112 blocks */
    shows(s, "occupancy 25.0 %: 4 blocks, 16 of 64 warps on an SM, 4.00 waves");
    press(s, LAB_ACT_LEFT, 100); /* it stops at one warp */
    shows(s, "        32   it ran with 256");
    press(s, LAB_ACT_RIGHT, 100);
    shows(s, "      1024   it ran with 256");
    shows(s, "this launch fails"); /* 1024 * 128 registers */
}

FIXTURE_CASE(shared_memory_limits)
{
    press(s, LAB_ACT_DOWN, 2);
    press(s, LAB_ACT_PAGE_UP, 100);
    shows(s, "shared memory    1 block   <- the limit");
    shows(s, "KiB of shared memory");
}

/* One block has 8 warps, however many an SM could hold. */
TEST_CASE_WITH(a_small_grid_is_a_limit, open_one_block, close_it)
{
    struct shown *s = *state;
    shows(s, "8 blocks, 64 of 64 warps on an SM, under 0.01 waves");
    shows(s, "this grid is too small for it: 1 block, 8 of 64 warps on an SM");
    shows(s, "grid             1 block   <- the limit");
    shows(s, "warps            8 blocks");
    assert_null(strstr(s->text, "8 blocks   <- the limit"));
}

/* Warps as a staircase, with the present value on it: 128 registers are 2 blocks of
 * 8 warps, 255 are one. */
FIXTURE_CASE(the_stairs_mark_the_launch)
{
    press(s, LAB_ACT_DOWN, 1);
    show(s, 40, 80, true);
    assert_non_null(strstr(s->text, "registers a thread: 16 at ^ 128"));
    /* Each row is filled up to a column, further the lower it is. */
    char *at = strstr(s->text, "at ^ 128");
    int heights = 0;
    int before = -1;
    for (at = strchr(at, '\n') + 1; *at;) {
        int filled = 0;
        int n = (int)strcspn(at, "\n");
        for (int x = 4; x < n; x++)
            filled += at[x] == '#';
        if (strncmp(at, "    16", 6) == 0)
            break;
        assert_true(filled >= before - 1);
        heights += filled > before + 1;
        before = filled;
        at += n + 1;
    }
    assert_in_range(heights, 3, 12);
    press(s, LAB_ACT_PAGE_UP, 100);
    shows(s, "Warps over registers a thread: 8 at ▲ 255");
    show(s, 40, 160, false); /* side by side */
    assert_non_null(strstr(s->text, "Warps over threads a block"));
    assert_non_null(strstr(s->text, "Warps over KiB of shared memory"));
}

/* A click on a staircase turns its knob to the value of the column. */
FIXTURE_CASE(a_click_on_the_stairs)
{
    int y = 1;
    show(s, 40, 160, false);
    for (const char *at = s->text; at < strstr(s->text, "Warps over threads");
         at++)
        y += *at == '\n';
    assert_true(s->screen.ops->mouse(&s->screen, LAB_MOUSE_CLICK, y, 4));
    show(s, 40, 160, false);
    assert_non_null(strstr(s->text, "threads a block: 13 at ▲ 32"));
    assert_true(s->screen.ops->mouse(&s->screen, LAB_MOUSE_CLICK, y, 100));
    show(s, 40, 160, false);
    assert_non_null(strstr(s->text, "registers a thread: 8 at ▲ 2"));
    assert_false(s->screen.ops->mouse(&s->screen, LAB_MOUSE_CLICK, 0, 4));
}

FIXTURE_CASE(every_size_and_ascii)
{
    for (int h = 1; h < 30; h++)
        for (int w = 1; w < 90; w += 11)
            show(s, h, w, true);
    for (const char *p = s->text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
}

RUN_TESTS()
