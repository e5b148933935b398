/* tests/ui/stepper_play.h -- plays keys on a stepper over a fixture, and
 * compares screens with golden text. Include after test.h. */
#pragma once
#include "golden_screen.h"
#include "stepper_fixture.h"
#include "ui/ui.h"

/* Fixtures of a case: the small network. */
static inline int play_setup(void **state)
{
    *state = stepper_fixture_new(0);
    return 0;
}

static inline int play_teardown(void **state)
{
    stepper_fixture_free(*state);
    return 0;
}

static inline enum lab_status play_keys(struct stepper_fixture *f,
                                        const char *keys, bool ascii)
{
    char path[512];
    struct lab_ui *ui;
    struct lab_ui_options options = {.script = path, .badge = ""};
    options.terminal.ascii = ascii;
    snprintf(path, sizeof(path), "stepper-%d.keys", (int)getpid());
    test_write(path, keys);
    enum lab_status st = lab_ui_new(&ui, &options);
    if (st)
        return st;
    st = lab_ui_push(ui, &lab_view_stepper, &f->model);
    if (!st)
        st = lab_ui_run(ui);
    lab_ui_free(ui);
    remove(path);
    return st;
}

/* The same, and it must end well and give every snapshot back. */
static inline void play(struct stepper_fixture *f, const char *keys)
{
    assert_ok(play_keys(f, keys, false));
    assert_int_equal(f->live_snapshots, 0);
}

/* Plays keys and compares the screen after them with golden text, whose name ends
 * with the size: "stepper_step_80x24.txt". */
static inline void check_screen(struct stepper_fixture *f, const char *keys,
                                const char *name, bool ascii)
{
    char script[4096];
    int w;
    int h;
    assert_int_equal(sscanf(strrchr(name, '_'), "_%dx%d.txt", &w, &h), 2);
    snprintf(script, sizeof(script), "resize %d %d\n%s\nscreen %s\n", w, h,
             keys, name);
    if (play_keys(f, script, ascii))
        fail_msg("%s: %s", name, lab_error());
    assert_int_equal(f->live_snapshots, 0);
    screen_is_golden(name, ascii);
}
