/* The program on a real pseudo-terminal: what it sends, how it ends, and in
 * which state it leaves the terminal. No tmux, no curses on this side. */
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "test.h"

#include "base/clock.h"
#include "base/quantile.h"
#include "pty_session.h"
#include "report/print.h"

#define DEMO LAB_BINARY_DIR "/bin/ui_demo"

static struct pty_session demo(const char *const *env, const char *option)
{
    struct pty_session s;
    pty_start(&s, DEMO, env, option);
    pty_await(&s, 0, "Last runs");
    return s;
}

TEST_CASE(quitting_leaves_a_sane_terminal)
{
    struct pty_session s = demo(NULL, NULL);
    pty_end(&s, "q", 0);
}

TEST_CASE(signals_end_it_cleanly)
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct pty_session s = demo(NULL, NULL);
        pty_type(&s, "\r"); /* a screen with a thread */
        pty_await(&s, 0, "BEATS");
        kill(s.pid, signals[i]);
        pty_end(&s, "", 128 + signals[i]);
    }
}

TEST_CASE(ctrl_c_ends_it_even_in_a_prompt)
{
    struct pty_session s = demo(NULL, NULL);
    pty_show(&s, "/abc", "abc");
    pty_end(&s, "\003", 130);
}

TEST_CASE(a_loop_that_hangs_can_be_ended)
{
    struct timespec pause = {0, 100000000};
    struct pty_session s = demo(NULL, NULL);
    pty_show(&s, "\r", "BEATS");
    pty_type(&s, "Z");
    for (int i = 0; i < 3; i++) {
        nanosleep(&pause, NULL);
        kill(s.pid, SIGTERM);
    }
    int64_t t0 = lab_clock_monotonic_ns();
    assert_int_equal(pty_finish(&s), 143);
    assert_true(lab_clock_monotonic_ns() - t0 < 5000000000LL);
    pty_assert_sane(&s);
    pty_leave(&s);
}

TEST_CASE(a_lost_terminal_ends_it)
{
    int status = 0;
    struct pty_session s = demo(NULL, NULL);
    close(s.master);
    for (int i = 0; i < 200 && waitpid(s.pid, &status, WNOHANG) == 0; i++)
        poll(NULL, 0, 50);
    assert_true(WIFEXITED(status) || WIFSIGNALED(status));
    assert_int_equal(
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), 129);
    test_free(s.bytes);
}

TEST_CASE(a_crash_restores_and_dies_of_it)
{
    const char *const keys[] = {"X", "A"};
    const int signals[] = {SIGSEGV, SIGABRT};
    const char *const no_cores[] = {
        "ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0", NULL};
    for (int i = 0; i < 2; i++) {
        struct pty_session s = demo(no_cores, NULL);
        pty_show(&s, "\r", "BEATS");
        pty_type(&s, keys[i]);
        assert_int_equal(pty_finish(&s), 128 + signals[i]);
        pty_assert_sane(&s);
        if (i == 1) /* the output of the library comes through */
            assert_non_null(strstr(s.bytes, "assertion of a library failed"));
        pty_leave(&s);
    }
}

TEST_CASE(stderr_of_libraries_waits_for_the_end)
{
    struct pty_session s = demo(NULL, NULL);
    pty_show(&s, "\r", "BEATS");
    pty_show(&s, "E", "noise made");
    assert_null(strstr(s.bytes, "a library prints"));
    assert_null(strstr(s.bytes, "another prints"));
    pty_type(&s, "qq");
    assert_int_equal(pty_finish(&s), 0);
    const char *printed = strstr(s.bytes, "a library prints ^[[31mhello^[[0m");
    assert_non_null(printed);
    assert_true(printed > strstr(s.bytes, "\033[?1049l"));
    assert_true(strstr(s.bytes, "another prints it to standard output") >
                printed);
    pty_leave(&s);
}

/* The end of it is printed, and no more of it than that is kept in memory. */
TEST_CASE(much_output_of_libraries_is_cut)
{
    enum { MOST = 2 << 20, BLOCK = 512 };
    char path[48];
    struct stat kept;
    for (int crash = 0; crash < 2; crash++) {
        struct pty_session s = demo(NULL, NULL);
        pty_show(&s, "\r", "BEATS");
        pty_show(&s, "V", "5 MB of noise");
        snprintf(path, sizeof(path), "/proc/%d/fd/1", (int)s.pid);
        assert_int_equal(stat(path, &kept), 0);
        assert_in_range(kept.st_size, 2 * MOST, 4 * MOST);
        assert_in_range(kept.st_blocks * BLOCK, 1, MOST);
        pty_type(&s, crash ? "A" : "qq");
        assert_int_equal(pty_finish(&s), crash ? 128 + SIGABRT : 0);
        assert_true(crash || strstr(s.bytes, " bytes of messages left out)"));
        assert_non_null(strstr(s.bytes, "line 100000 of a library"));
        assert_non_null(strstr(s.bytes, "line  99000 of a library"));
        assert_null(strstr(s.bytes, "line  98000 of a library"));
        pty_leave(&s);
    }
}

/* Whether an SGR sequence in the bytes sets a colour. */
static bool sends_colour(const char *bytes)
{
    for (const char *p = bytes; (p = strstr(p, "\033[")); p += 2) {
        const char *q = p + 2;
        bool sgr = q[strspn(q, "0123456789;:")] == 'm';
        while (sgr && *q != 'm') {
            int code = atoi(q);
            if ((code >= 30 && code <= 38) || (code >= 40 && code <= 48) ||
                (code >= 90 && code <= 107))
                return true;
            q += strcspn(q, ";m");
            q += *q == ';';
        }
    }
    return false;
}

static bool colour_with(const char *const *env, const char *option)
{
    struct pty_session s = demo(env, option);
    pty_type(&s, "q");
    assert_int_equal(pty_finish(&s), 0);
    bool colour = sends_colour(s.bytes);
    pty_leave(&s);
    return colour;
}

TEST_CASE(colour_is_sent_only_where_wanted)
{
    const char *const no_color[] = {"NO_COLOR=1", NULL};
    const char *const empty[] = {"NO_COLOR=", NULL};
    const char *const plain[] = {"TERM=xterm", NULL};
    const char *const mono[] = {"TERM=xterm-mono", NULL};
    assert_true(colour_with(NULL, NULL));
    assert_true(colour_with(plain, NULL));
    assert_true(colour_with(empty, NULL));
    assert_true(colour_with(no_color, "--color=always"));
    assert_false(colour_with(no_color, NULL));
    assert_false(colour_with(NULL, "--color=never"));
    assert_false(colour_with(mono, NULL));
    assert_false(sends_colour("\033[1;7mx\033[0m\033[3;5Hy\033[31n"));
    assert_true(sends_colour("\033[0;1;38;5;37mx"));
}

/* Terminals that few machines have an entry for, made here. */
static bool make_terminfo(const char *dir)
{
    char command[1024];
    snprintf(command, sizeof(command),
             "mkdir -p '%s' && cat >'%s.src' <<'END' && tic -x -o '%s' "
             "'%s.src' 2>/dev/null\n"
             "lab-16|sixteen colours,\n\tcolors#16, pairs#256, "
             "setaf=\\E[%%?%%p1%%{8}%%<%%t3%%p1%%d%%e9%%p1%%{8}%%-%%d%%;m, "
             "use=xterm,\n"
             "lab-direct|direct colour,\n\tRGB, colors#0x1000000, "
             "pairs#0x10000, setaf=\\E[%%?%%p1%%{8}%%<%%t3%%p1%%d%%e38\\:2"
             "\\:\\:%%p1%%{65536}%%/%%d\\:%%p1%%{256}%%/%%{255}%%&%%d\\:"
             "%%p1%%{255}%%&%%d%%;m, "
             "setab=\\E[%%?%%p1%%{8}%%<%%t4%%p1%%d%%e48\\:2"
             "\\:\\:%%p1%%{65536}%%/%%d\\:%%p1%%{256}%%/%%{255}%%&%%d\\:"
             "%%p1%%{255}%%&%%d%%;m, use=xterm,\nEND\n",
             dir, dir, dir, dir);
    return system(command) == 0;
}

TEST_CASE(every_depth_of_colour_works)
{
    static const struct {
        const char *term;
        const char *colorterm;
        const char *badge; /* how the badge is coloured, on a panel or not */
    } cases[] = {{"TERM=xterm", "COLORTERM=truecolor", "\033[32m[CPU]"},
                 {"TERM=lab-16", "COLORTERM=", "\033[92m[CPU]"},
                 {"TERM=xterm-256color",
                  "COLORTERM=", "\033[38;5;78m\033[48;5;235m[CPU]"},
                 {"TERM=screen-256color", "COLORTERM=truecolor",
                  "\033[38;5;78m\033[48;5;235m[CPU]"},
                 {"TERM=xterm-256color", "COLORTERM=24bit",
                  "\033[38;2;95;215;135m\033[48;2;28;34;43m[CPU]"},
                 {"TERM=tmux-256color", "COLORTERM=truecolor",
                  "\033[38;2;95;215;135m\033[48;2;28;34;43m[CPU]"},
                 {"TERM=lab-direct", "COLORTERM=truecolor",
                  "\033[38:2::95:215:135m\033[48:2::28:34:43m[CPU]"}};
    const char *const dir = LAB_BINARY_DIR "/terminfo";
    if (!make_terminfo(dir))
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char where[512];
        snprintf(where, sizeof(where), "TERMINFO_DIRS=%s:", dir);
        const char *const env[] = {cases[i].term, cases[i].colorterm, where,
                                   NULL};
        unsetenv("TMUX");
        struct pty_session s = demo(env, "--mouse");
        if (strstr(cases[i].term, "256color")) /* in both descriptions */
            pty_await(&s, 0, "1000h");
        if (!strstr(s.bytes, cases[i].badge))
            fail_msg("%s: no %s in %s", cases[i].term, cases[i].badge + 1,
                     s.bytes);
        assert_null(strstr(s.bytes, "\033[40m")); /* its own background */
        pty_end(&s, "q", 0);
    }
}

/* Ctrl-Up is one key, which edits no line, and not Esc, which ends the line and makes
 * keys of what follows; --color decides. */
TEST_CASE(direct_colour_keeps_the_keys)
{
    static const char rgb[] = "\033[38;2;95;215;135m";
    static const struct {
        const char *option;
        const char *colorterm;
        bool direct;
    } cases[] = {{"--color=auto", "COLORTERM=truecolor", true},
                 {"--color=256", "COLORTERM=truecolor", false},
                 {"--color=direct", "COLORTERM=", true},
                 {"--color=auto", "COLORTERM=", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *const env[] = {cases[i].colorterm, NULL};
        struct pty_session s = demo(env, cases[i].option);
        assert_int_equal(strstr(s.bytes, rgb) != NULL, cases[i].direct);
        size_t from = s.n;
        pty_type(&s, "/ju\033[1;5Ank\r");
        pty_await(&s, from, "\"junk\"");
        assert_null(strstr(s.bytes + from, "does nothing here"));
        pty_end(&s, "q", 0);
    }
}

TEST_CASE(ascii_sends_no_high_byte)
{
    const char *const c_locale[] = {"LC_ALL=C", NULL};
    for (int i = 0; i < 2; i++) {
        struct pty_session s = demo(i ? c_locale : NULL, i ? NULL : "--ascii");
        pty_type(&s, "\xC3\xA9"); /* and takes one without harm */
        pty_show(&s, "\r", "BEATS");
        pty_show(&s, "o", "blockIdx");
        pty_type(&s, "qqq");
        assert_int_equal(pty_finish(&s), 0);
        for (size_t k = 0; k < s.n; k++)
            assert_true((unsigned char)s.bytes[k] < 0x80);
        pty_leave(&s);
    }
}

/* As over ssh from a terminal that is newer than this machine's terminfo. */
TEST_CASE(an_unknown_terminal_gets_a_stand_in)
{
    const char *const env[] = {"TERM=xterm-no-such-terminal", NULL};
    struct pty_session s = demo(env, NULL);
    pty_await(&s, 0, "TERM=xterm-no-such-terminal is not known");
    pty_await(&s, 0, "used as xterm");
    size_t before = s.n;
    pty_type(&s, "\033[B");
    pty_await(&s, before, "Activations");
    pty_end(&s, "q", 0);
}

TEST_CASE(a_missing_screen_is_reported_in_one_line)
{
    const char *const terms[] = {"TERM=dumb", "TERM="};
    for (int i = 0; i < 2; i++) {
        const char *const env[] = {terms[i], NULL};
        struct pty_session s;
        pty_start(&s, DEMO, env, NULL);
        assert_int_equal(pty_finish(&s), 4);
        assert_non_null(strstr(s.bytes, "--plain"));
        assert_null(strchr(s.bytes, '\033'));
        assert_ptr_equal(strchr(s.bytes, '\n') + 1, s.bytes + s.n);
        pty_leave(&s);
    }
    FILE *f = popen(DEMO " 2>&1 </dev/null | cat", "r");
    char line[512] = "";
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    assert_non_null(strstr(line, "--plain"));
    assert_null(fgets(line, sizeof(line), f));
    pclose(f);
}

TEST_CASE(resizing_loses_nothing)
{
    struct pty_session s = demo(NULL, NULL);
    pty_resize(&s, 60, 200);
    pty_await(&s, s.n, "About");
    pty_type(&s, "jj"); /* on the broken one */
    pty_await(&s, 0, "untis");
    size_t from = s.n;
    pty_resize(&s, 1, 1);
    poll(NULL, 0, 200);
    pty_pump(&s, 100);
    pty_resize(&s, 10, 50);
    pty_await(&s, from, "Too small: 50x10");
    from = s.n;
    pty_resize(&s, 24, 80);
    pty_await(&s, from, "untis"); /* the cursor is where it was */
    pty_end(&s, "q", 0);
}

TEST_CASE(typing_is_utf8_and_forgives)
{
    struct pty_session s = demo(NULL, NULL);
    pty_show(&s, "\r", "BEATS");
    /* A stray byte, a cut character and an overlong one on the way. */
    pty_type(&s, "p\025\xFF"
                 "a\xE6\x97"
                 "b\xC0\x80"
                 "c\xE6\x97\xA5\xC3\xA9\r");
    pty_await(&s, 0, "answer 1: abc日é");
    pty_type(&s, "\033OP"); /* F1 */
    pty_await(&s, 0, "Keys of this screen");
    pty_end(&s, "qqq", 0);
}

TEST_CASE(ctrl_l_sends_the_whole_screen_again)
{
    struct pty_session s = demo(NULL, NULL);
    while (pty_pump(&s, 150))
        continue;
    size_t from = s.n;
    pty_type(&s, "\014");
    pty_await(&s, from, "Last runs");
    pty_await(&s, from, "recorded");
    pty_end(&s, "q", 0);
}

/* While a thread wakes the loop a thousand times a second. */
TEST_CASE(a_key_shows_within_50_ms)
{
    enum { TRIES = 15 };
    double ms[TRIES];
    struct pty_session s = demo(NULL, NULL);
    pty_show(&s, "\r", "BEATS");
    for (int i = 0; i < TRIES; i++) {
        size_t from = s.n;
        pty_type(&s, "p");
        ms[i] = pty_await(&s, from, "name: ");
        pty_type(&s, "\033");
        while (pty_pump(&s, 150))
            continue;
    }
    lab_sort_reals(ms, TRIES);
    if (ms[TRIES / 2] >= 50)
        fail_msg("the median key took %.1f ms", ms[TRIES / 2]);
    pty_end(&s, "qq", 0);
}

/* Ticks of 10 ms that the process has used. */
static long used_ticks(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    long user = 0;
    long kernel = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    const char *p = strrchr(text, ')');
    assert_non_null(p);
    assert_int_equal(sscanf(p + 2,
                            "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                            "%ld %ld",
                            &user, &kernel),
                     2);
    return user + kernel;
}

TEST_CASE(it_sleeps_when_nothing_happens)
{
    struct pty_session s = demo(NULL, NULL);
    while (pty_pump(&s, 200))
        continue;
    long before = used_ticks(s.pid);
    assert_false(pty_pump(&s, 3000)); /* and sends nothing */
    long used = used_ticks(s.pid) - before;
    if (used > 3 * sysconf(_SC_CLK_TCK) / 100)
        fail_msg("%ld ticks in 3 s", used);
    pty_end(&s, "q", 0);
}

TEST_CASE(colour_rules_are_pure)
{
    assert_true(lab_print_color("auto", true, NULL, "xterm"));
    assert_true(lab_print_color("auto", true, "", "xterm"));
    assert_false(lab_print_color("auto", true, "0", "xterm"));
    assert_false(lab_print_color("auto", false, NULL, "xterm"));
    assert_false(lab_print_color("auto", true, NULL, "dumb"));
    assert_false(lab_print_color("auto", true, NULL, NULL));
    assert_true(lab_print_color("always", false, "1", "xterm"));
    assert_false(lab_print_color("never", true, NULL, "xterm"));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    return test_run_all(NULL, NULL);
}
