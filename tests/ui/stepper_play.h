/* tests/ui/stepper_play.h -- plays keys on a stepper over a fixture, and
 * compares screens with golden text. LAB_GOLDEN_UPDATE=1 writes the golden
 * files anew, to be read before they are committed. Include after cmocka. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stepper_fixture.h"
#include "ui/ui.h"

#define GOLDEN LAB_SOURCE_DIR "/tests/ui/golden/"

static inline enum lab_status play_keys(struct stepper_fixture *f,
                                        const char *keys, bool ascii)
{
    char path[512];
    struct lab_ui *ui;
    struct lab_ui_options options = {.script = path, .badge = ""};
    options.terminal.ascii = ascii;
    snprintf(path, sizeof(path), "stepper-%d.keys", (int)getpid());
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(keys, out);
    fclose(out);
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

static inline char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    char *text = test_malloc(1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static inline void compare_screen(const char *name, bool ascii)
{
    char golden[512];
    snprintf(golden, sizeof(golden), GOLDEN "%s", name);
    char *have = read_text(name);
    assert_non_null(have);
    if (getenv("LAB_GOLDEN_UPDATE")) {
        FILE *f = fopen(golden, "w");
        assert_non_null(f);
        fputs(have, f);
        fclose(f);
    }
    char *want = read_text(golden);
    if (!want || strcmp(want, have) != 0)
        fail_msg("%s differs; the screen now:\n%s", name, have);
    for (const char *p = have; ascii && *p; p++)
        assert_true((unsigned char)*p < 0x80);
    test_free(want);
    test_free(have);
    remove(name);
}

/* Plays keys and compares the screen after them, at one size. */
static inline void check_screen(struct stepper_fixture *f, int w, int h,
                                const char *keys, const char *name, bool ascii)
{
    char script[4096];
    snprintf(script, sizeof(script), "resize %d %d\n%s\nscreen %s\n", w, h,
             keys, name);
    if (play_keys(f, script, ascii))
        fail_msg("%s: %s", name, lab_error());
    assert_int_equal(f->live_snapshots, 0);
    compare_screen(name, ascii);
}
