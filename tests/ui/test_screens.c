/* Whole screens: scripts of keys against golden text. */
#include <dirent.h>
#include <stdatomic.h>
#include <time.h>
#include "test.h"
#include "golden_screen.h"

#include "base/mem.h"
#include "ui/ui.h"
#include "ui/view_text.h"
#include "ui/views.h"
#include "ui_fixture.h"

#define SCRIPTS LAB_SOURCE_DIR "/tests/ui/scripts/"

static enum lab_status play(const char *script, bool ascii)
{
    struct lab_ui *ui;
    struct lab_ui_options options = {.script = script, .badge = "CPU"};
    options.terminal.ascii = ascii;
    enum lab_status st = lab_ui_new(&ui, &options);
    if (st)
        return st;
    st = lab_ui_push(ui, &lab_view_home, fixture_home());
    if (!st)
        st = lab_ui_run(ui);
    lab_ui_free(ui);
    assert_true(lab_text_end(10000));
    return st;
}

/* Plays a script and compares every screen that it writes. */
static void check_script(const char *name, bool ascii)
{
    char path[1024];
    char line[512];
    snprintf(path, sizeof(path), SCRIPTS "%s", name);
    screens_go("screens");
    if (play(path, ascii))
        fail_msg("%s: %s", name, lab_error());
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "screen ", 7) == 0)
            screen_is_golden(line + 7, ascii);
    }
    fclose(f);
}

/* Every script of the folder; those whose names have "ascii", on an ASCII
 * screen. */
TEST_CASE(scripts_end_well)
{
    DIR *dir = opendir(SCRIPTS);
    int scripts = 0;
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        const char *end = strrchr(e->d_name, '.');
        if (!end || strcmp(end, ".keys") != 0)
            continue;
        check_script(e->d_name, strstr(e->d_name, "ascii") != NULL);
        scripts++;
    }
    closedir(dir);
    assert_true(scripts >= 9);
}

static const char *const OPENERS[] = {"",
                                      "key Tab End\n",
                                      "key r\n",
                                      "key r Enter\n",
                                      "key r m Down c\n",
                                      "key r Enter R v\n",
                                      "key r Enter F Down\n",
                                      "key ?\n",
                                      "key d\n",
                                      "key Enter\n",
                                      "key Enter o\n",
                                      "text :abc\n",
                                      "key Enter o w\n",
                                      "key End Enter\n",
                                      "key End Enter r Enter\n",
                                      "key End Enter m v m\n",
                                      "key End Enter P v v P\n"};
enum { OPENER_COUNT = sizeof(OPENERS) / sizeof(OPENERS[0]) };

static void write_script(const char *path, const char *opener, int from)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "resize 80 24\n%s", opener);
    for (int h = from; h <= 80; h += 7)
        for (int w = from; w <= 250; w += h < 30 ? 9 : 41)
            fprintf(f, "resize %d %d\n", w, h);
    fprintf(f, "resize 0 0\nresize 1 1\nresize 80 24\nexpect CPU\n");
    fclose(f);
}

TEST_CASE(every_screen_survives_every_size)
{
    const char *path = LAB_BINARY_DIR "/sizes.keys";
    for (int i = 0; i < OPENER_COUNT; i++) {
        write_script(path, OPENERS[i], 1 + i % 4);
        if (play(path, i % 2 == 1))
            fail_msg("opener %d: %s", i, lab_error());
    }
}

/* Whatever fails, nothing crashes, and the sanitizer finds nothing lost. */
TEST_CASE(survives_any_allocation_failing)
{
    const char *path = LAB_BINARY_DIR "/memory.keys";
    test_write(path, "resize 80 24\n"
                     "key ? q d q r s Enter R v Down q F q Down s q m Down c v "
                     "s Enter q q q Enter o\n"
                     "key w\nresize 90 30\nkey q q End Enter p 3 Enter r v v\n"
                     "resize 200 60\nkey P Down Enter q q\n");
    lab_mem_fail_from(0);
    assert_ok(play(path, false));
    int64_t all = lab_mem_count();
    assert_true(all > 100);
    int refused = 0;
    for (int64_t nth = 1; nth <= all; nth += nth < 120 ? 1 : 13) {
        lab_mem_fail_from(nth);
        enum lab_status st = play(path, false);
        lab_mem_fail_from(0);
        if (st && st != LAB_E_NOMEM)
            fail_msg("allocation %lld: %s", (long long)nth, lab_error());
        refused += st == LAB_E_NOMEM;
    }
    assert_true(refused > 0);
}

/* A text whose thread waits for `go`, or for a file. */
struct slow {
    atomic_bool go;
    atomic_int calls;
    const char *file;
};

static enum lab_status write_slowly(void *user, struct lab_doc *out)
{
    struct slow *slow = user;
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_fetch_add(&slow->calls, 1);
    for (int i = 0; i < 20000 && !atomic_load(&slow->go) &&
                    !(slow->file && access(slow->file, F_OK) == 0);
         i++)
        nanosleep(&moment, NULL);
    lab_doc_para(out, 0, 0, true);
    lab_doc_add(out, LAB_ROLE_NORMAL, "all was looked at");
    return LAB_OK;
}

static void play_slow(struct slow *slow, const char *keys)
{
    const char *path = LAB_BINARY_DIR "/slow.keys";
    const struct lab_text_args text = {"Slow", slow, write_slowly,
                                       "Looking ..."};
    const struct lab_ui_options options = {.script = path, .badge = "CPU"};
    struct lab_ui *ui;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "resize 80 24\n%s", keys);
    fclose(f);
    assert_ok(lab_ui_new(&ui, &options));
    assert_ok(lab_ui_push(ui, &lab_view_text, &text));
    if (lab_ui_run(ui))
        fail_msg("%s", lab_error());
    lab_ui_free(ui);
}

/* The text is ready while the help covers it: the wake is spent there. */
TEST_CASE(a_text_that_was_covered_is_shown)
{
    static const char covered[] = LAB_BINARY_DIR "/covered.txt";
    struct slow slow = {.file = covered};
    remove(covered);
    play_slow(&slow, "expect Looking ...\nkey ?\nexpect Keys of this screen\n"
                     "screen " LAB_BINARY_DIR "/covered.txt\nwait 300\n"
                     "key q\nawait 60000 all was looked at\n"
                     "absent Looking ...\nkey q\n");
    assert_true(lab_text_end(0)); /* it was shown: nothing was left */
    assert_int_equal(atomic_load(&slow.calls), 1);
}

/* Leaving does not wait; who comes back meets the thread that was left. */
TEST_CASE(a_text_is_left_while_it_is_written)
{
    static const char again[] = LAB_BINARY_DIR "/again.txt";
    struct slow slow = {.file = again};
    struct slow other = {.file = NULL};
    remove(again);
    play_slow(&slow, "expect Looking ...\nkey q\n");
    assert_false(lab_text_end(0)); /* it writes, and its screen is gone */
    play_slow(&other, "expect Looking ...\nkey q\n");
    play_slow(&slow, "expect Looking ...\n"
                     "screen " LAB_BINARY_DIR "/again.txt\n"
                     "await 60000 all was looked at\nkey q\n");
    assert_int_equal(atomic_load(&slow.calls), 1);
    assert_false(lab_text_end(20)); /* the other one */
    atomic_store(&other.go, true);
    assert_true(lab_text_end(10000));
    assert_int_equal(atomic_load(&other.calls), 1);
}

TEST_CASE(an_error_of_a_script_names_its_line)
{
    static const struct {
        const char *text;
        enum lab_status status;
        const char *message;
    } cases[] = {
        {"resize 80 24\nkey\n", LAB_E_PARSE,
         "[recording.line] bad.keys:2: \"key\""},
        {"key Nokey\n", LAB_E_PARSE, "[recording.line] bad.keys:1"},
        {"key j Nokey k\n", LAB_E_PARSE, "[recording.line] bad.keys:1"},
        {"# a comment\n\nresize 80\n", LAB_E_PARSE,
         "[recording.line] bad.keys:3"},
        {"resize 80 24 x\n", LAB_E_PARSE, "[recording.line] bad.keys:1"},
        {"wait -5\n", LAB_E_PARSE, "[recording.line] bad.keys:1"},
        {"quit now\n", LAB_E_PARSE, "[recording.line] bad.keys:1"},
        {"expect no such text\n", LAB_E_CHECK,
         "[check] bad.keys:1: not on the"},
        {"absent Lessons\n", LAB_E_CHECK, "[check] bad.keys:1: on the screen"},
        {"await 30 never\n", LAB_E_CHECK, "[check] bad.keys:1: did not come"},
        {"screen /nowhere/at/all\n", LAB_E_IO,
         "[screen.write] /nowhere/at/all"},
    };
    const char *path = LAB_BINARY_DIR "/bad.keys";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        test_write(path, cases[i].text);
        assert_int_equal(play(path, false), cases[i].status);
        if (!error_is(cases[i].message))
            fail_msg("%s", lab_error());
    }
    assert_int_equal(play(LAB_BINARY_DIR "/no-such.keys", false), LAB_E_IO);
}

RUN_TESTS()
