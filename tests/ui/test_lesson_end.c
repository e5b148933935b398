/* The program itself on a terminal: it ends in the middle of a training. */
#include <signal.h>

#include "test.h"
#include "file.h"

#include "report/palette.h"
#include "pty_session.h"

static struct pty_session lesson(const char *const *env)
{
    struct pty_session s;
    pty_start(&s, getenv("LAB_EXE"), env, "mlp-digits");
    pty_await(&s, 0, "step 0 of");
    return s;
}

static struct pty_session training(void)
{
    struct pty_session s = lesson(NULL);
    pty_show(&s, ":train 50000000\r", "samples/s");
    return s;
}

/* The newest run, as the program itself lists it. */
static void assert_cancelled(void)
{
    char line[4096] = "";
    char command[1024];
    snprintf(command, sizeof(command), "'%s' profile list --json",
             getenv("LAB_EXE"));
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(line, sizeof(line), list));
    while (fgetc(list) != EOF)
        continue;
    assert_int_equal(pclose(list), 0);
    assert_non_null(strstr(line, "\"status\":\"cancelled\""));
}

/* The engine's thread outlives the screen and must not wake it. */
TEST_CASE(a_signal_ends_a_training_run)
{
    static const int signals[] = {SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct pty_session s = training();
        size_t from = s.n;
        kill(s.pid, signals[i]);
        if (signals[i] == SIGHUP) { /* of a terminal that closes: again */
            pty_await(&s, from, "\033[?1049l");
            kill(s.pid, SIGHUP);
        }
        assert_int_equal(pty_finish(&s), 128 + signals[i]);
        pty_assert_sane(&s);
        assert_null(strstr(s.bytes, "AddressSanitizer"));
        assert_cancelled();
        pty_leave(&s);
    }
}

/* A training is not ended without a question; the run states that it was cut. */
TEST_CASE(a_lesson_is_left_in_a_training_run)
{
    static const char *const ways[] = {":quit\r", "qq"};
    for (int i = 0; i < 2; i++) {
        struct pty_session s = training();
        pty_show(&s, ways[i], "stop it and leave?");
        size_t from = s.n;
        pty_type(&s, "n\f");
        pty_await(&s, from, "training ...");
        pty_type(&s, "q");
        pty_await(&s, from, "stop it and leave?");
        pty_type(&s, "y");
        assert_int_equal(pty_finish(&s), 0);
        pty_assert_sane(&s);
        assert_cancelled();
        pty_leave(&s);
    }
}

/* Ctrl-L, typed last, draws the whole screen as the keys have left it. */
static void type_and_see(const char *keys, const char *awaited)
{
    struct pty_session s = lesson(NULL);
    pty_show(&s, keys, awaited);
    pty_end(&s, "q", 0);
}

/* Keys that are typed while a step runs act on what it makes. */
TEST_CASE(keys_typed_ahead_are_kept)
{
    for (int i = 0; i < 3; i++) {
        type_and_see("ssss2\033[C\033[B\033[B\f", "fc2.xW[2,1] = ");
        type_and_see("s2\033[Be\r\f", "an input of fc1.xW[1,0]");
    }
}

/* Looking around and walking a part of an iteration leaves no run behind, and a
 * signal between iterations does not make a run a cancelled one. */
TEST_CASE(a_run_begins_with_a_whole_iteration)
{
    char state_home[] = "/tmp/lapenna-lab-end-XXXXXX";
    char env[128];
    char line[4096] = "";
    char command[1024];
    const char *const more[] = {env, NULL};
    assert_non_null(mkdtemp(state_home));
    snprintf(env, sizeof(env), "XDG_STATE_HOME=%s", state_home);
    snprintf(command, sizeof(command), "%s '%s' profile list --json 2>&1", env,
             getenv("LAB_EXE"));
    for (int whole = 0; whole < 2; whole++) {
        struct pty_session s = lesson(more);
        pty_show(&s, whole ? ":delete\r:run fc1.matmul forward\rcc\f" : "ss\f",
                 whole ? "done: s goes on" : "step 2 of");
        kill(s.pid, SIGTERM);
        assert_int_equal(pty_finish(&s), 128 + SIGTERM);
        pty_leave(&s);
        FILE *list = popen(command, "r");
        assert_non_null(list);
        bool any = fgets(line, sizeof(line), list) != NULL &&
                   strstr(line, "\"type\":\"run\"");
        while (fgetc(list) != EOF)
            continue;
        pclose(list);
        assert_int_equal(any, whole);
    }
    assert_non_null(strstr(line, "\"status\":\"done\""));
}

/* Esc does not wait for a walk that goes on. */
TEST_CASE(esc_goes_before_keys_that_wait)
{
    struct pty_session s = lesson(NULL);
    pty_show(&s, ":unwatch\r:step 500000000\r", "running ...");
    pty_show(&s, "2z\033", "stopped");
    pty_end(&s, "q", 0);
}

/* A recording is paused, taken key by key, and ended by a key of the user. */
TEST_CASE(keys_steer_a_replay)
{
    struct pty_session s;
    const char *path = "replay.keys";
    char option[64];
    test_write(path,
               "resize 200 60\ncaption It begins.\nwait 600000\nkey ?\n"
               "caption That was help.\nwait 600000\ncaption\nclick 30 9\n"
               "wait 600000\nquit\n");
    snprintf(option, sizeof(option), "--replay=%s", path);
    pty_start(&s, getenv("LAB_EXE"), NULL, option);
    pty_await(&s, 0, "It begins.");
    pty_await(&s, 0, "key 0 of 2: Space pauses");
    pty_show(&s, " ", "paused");
    pty_type(&s, "\033OC\033OC"); /* the key, the caption */
    pty_await(&s, 0, "That was help.");
    pty_type(&s, "\033OC\033OC"); /* no caption, the click */
    pty_await(&s, 0, "Recorded at 200x60: here, at 80x24, its clicks may miss");
    pty_show(&s, "\033", "go on yourself");
    pty_end(&s, "qq", 0);
    assert_int_equal(remove(path), 0);
}

/* The terminal is asked for graphics while it is in use: a VT220 with sixels, one
 * with kitty's protocol, and one that has none. Keys among the answers count (\f draws all again). */
TEST_CASE(graphics_are_asked_for)
{
    static const struct {
        const char *first;  /* to the question for the attributes */
        const char *second; /* to those behind it; NULL: there are none */
        const char *image;
    } terminals[] = {
        {"\033[?62;4cs\f", "\033[6;20;10t\033[?62;4c", "\033P0;1;0q"},
        {"s\f\033[?62c", "\033_Gi=31;OK\033\\\033[6;20;10t\033[?62c",
         "\033_Ga=T"},
        {"s\f\033[?1;2c", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
        struct pty_session s = lesson(NULL);
        pty_await(&s, 0, "\033[c");
        assert_null(strstr(s.bytes, "\033_G"));
        pty_type(&s, terminals[i].first);
        if (terminals[i].second) {
            pty_await(&s, 0, "\033[16t\033[c");
            pty_type(&s, terminals[i].second);
            pty_type(&s, "x"); /* small enough cells for an image */
            pty_await(&s, 0, terminals[i].image);
        }
        pty_await(&s, 0, "step 1 of"); /* the keys have counted */
        assert_null(strstr(s.bytes, "press ? for help"));
        if (!terminals[i].image) {
            assert_null(strstr(s.bytes, "\033_G"));
            assert_null(strstr(s.bytes, "\033P"));
        }
        pty_end(&s, "qq", 0);
    }
}

/* Steps that meet a training are refused, and its end does not hide that. */
TEST_CASE(the_end_of_a_training_counts_what_was_refused)
{
    /* It ends by Esc, on a slow machine too. */
    struct pty_session s = training();
    pty_type(&s, "qs"); /* one: Esc goes before keys that wait */
    pty_await(&s, 0, "a training runs: Esc stops it");
    pty_show(&s, "\033", "1 command was refused while it trained");
    pty_end(&s, "q", 0);
}

/* The theme goes by the terminal's background, until one is named. Each theme has
 * its own colour for the forward pass. */
TEST_CASE(the_background_decides_the_theme)
{
    static const struct {
        const char *attributes;
        const char *answer;
        bool light;
    } terminals[] = {
        {"\033[?62;22c", "\033]11;rgb:ffff/ffff/ffff\033\\\033[?62;22c", true},
        {"\033[?6c", "\033]11;rgb:fafa/fafa/fafa\a\033[?6c", true},
        {"\033[?62;22c", "\033]11;rgb:1e1e/1e1e/1e1e\033\\\033[?62;22c", false},
    };
    char light[32];
    char contrast[32];
    const struct lab_style l =
        lab_palette_style(LAB_THEME_LIGHT, LAB_DEPTH_256, LAB_ROLE_FORWARD);
    const struct lab_style c =
        lab_palette_style(LAB_THEME_CONTRAST, LAB_DEPTH_256, LAB_ROLE_FORWARD);
    assert_int_not_equal(l.fg, c.fg);
    snprintf(light, sizeof(light), "38;5;%dm", l.fg);
    snprintf(contrast, sizeof(contrast), "38;5;%dm", c.fg);
    for (size_t i = 0; i < sizeof(terminals) / sizeof(terminals[0]); i++) {
        unsetenv("COLORFGBG");
        struct pty_session s = lesson(NULL);
        pty_await(&s, 0, "\033[c");
        assert_null(strstr(s.bytes, "\033]11"));
        pty_type(&s, terminals[i].attributes);
        pty_await(&s, 0, "\033]11;?");
        size_t from = s.n;
        pty_type(&s, terminals[i].answer);
        pty_type(&s, "s\f");
        pty_await(&s, from, "step 1 of");
        if (terminals[i].light)
            pty_await(&s, from, light);
        else
            assert_null(strstr(s.bytes + from, light));
        from = s.n;
        pty_type(&s, ":theme contrast\r");
        pty_await(&s, from, contrast);
        pty_type(&s, ":theme pink\r");
        pty_await(&s, from, "theme 'pink': use auto");
        pty_end(&s, "qq", 0);
    }
}

/* An answer after its time is up is no key, and counts. A long paste and a click in
 * pieces, while answers are awaited, are what they are. */
TEST_CASE(late_answers_and_early_keys)
{
    enum { PASTE = 251, LATE_US = 1200000, BETWEEN_US = 50000 };
    char paste[PASTE + 1] = "s";
    for (int i = 1; i < PASTE; i++)
        paste[i] = i % 2 ? 'j' : 'k';
    struct pty_session s = lesson(NULL);
    pty_await(&s, 0, "\033[c");
    pty_type(&s, paste);
    pty_type(&s, "\033[<0;50");
    usleep(BETWEEN_US);
    pty_type(&s, ";5M\f");
    pty_await(&s, 0, "step 1 of");
    usleep(LATE_US);
    size_t from = s.n;
    pty_type(&s, "\033[?62;4;22c");
    pty_await(&s, from, "\033[16t\033[c");
    pty_type(&s, "\033[6;20;10t\033[?62;4;22c");
    pty_type(&s, "x");
    pty_await(&s, from, "\033P0;1;0q");
    pty_type(&s, "\033[?62;4;22c\f");
    from = s.n;
    pty_await(&s, from, "step 1 of");
    assert_null(strstr(s.bytes, "Keys of this screen"));
    assert_null(strstr(s.bytes, "press ? for help"));
    pty_end(&s, "q", 0);
}

/* Rows of the pieces of images in what came from byte `from` on; how many they are.
 * `last`, unless NULL, gets the byte at which the last one begins. */
static int find_pieces(const struct pty_session *s, size_t from, int *row,
                       int most, size_t *last)
{
    int n = 0;
    for (const char *p = s->bytes + from; (p = strstr(p, "\0337\033["));) {
        int x = 0;
        int len = 0;
        p += strlen("\0337");
        if (n < most && sscanf(p, "\033[%d;%dH%n", &row[n], &x, &len) == 2 &&
            strncmp(p + len, "\033P", 2) == 0) {
            if (last)
                *last = (size_t)(p - s->bytes);
            n++;
        }
    }
    return n;
}

/* Sixels come in pieces, of all images no more than the 16 graphics that xterm keeps. A
 * key between two of them is answered before the last one, and all of them come. */
TEST_CASE(a_key_goes_between_the_pieces_of_an_image)
{
    enum { MOST = 16, QUIET_MS = 2000, HOLDS = 64 << 10, ARRIVAL_US = 1000000 };
    static const char image[] = "\033P0;1;0q";
    int want[MOST + 1] = {0};
    int got[MOST + 1] = {0};
    size_t last = 0;
    struct pty_session s = lesson(NULL);
    pty_await(&s, 0, "\033[c");
    pty_resize(&s, 200, 240);
    pty_type(&s, "\033[?62;4c");
    pty_await(&s, 0, "\033[16t\033[c");
    pty_type(&s, "\033[6;100;8t\033[?62;4c");
    pty_show(&s, ":train 300\r", "300 of 300 iterations");
    while (pty_pump(&s, QUIET_MS))
        continue;
    size_t from = s.n;
    pty_type(&s, "\f");
    pty_await(&s, from, image);
    while (pty_pump(&s, QUIET_MS))
        continue;
    const int n = find_pieces(&s, from, want, MOST + 1, &last);
    assert_in_range(n, 3, MOST);
    /* More than a pseudo-terminal holds: without a reader the program waits in front
     * of the last piece at the latest. */
    const char *first = strstr(s.bytes + from, image);
    assert_true(s.bytes + last - first > HOLDS);
    from = s.n;
    pty_type(&s, "\f");
    pty_await(&s, from, image);
    pty_type(&s, ":zzq\r");
    usleep(ARRIVAL_US); /* nothing is read until the program has the keys */
    pty_await(&s, from, "zzq");
    const char *answer = strstr(s.bytes + from, "zzq");
    while (pty_pump(&s, QUIET_MS))
        continue;
    assert_int_equal(find_pieces(&s, from, got, MOST + 1, NULL), n);
    assert_memory_equal(got, want, sizeof(got));
    assert_in_range(
        find_pieces(&s, (size_t)(answer - s.bytes), got, MOST + 1, NULL), 1,
        n - 1);
    pty_end(&s, "qqq", 0);
}

RUN_TESTS()
