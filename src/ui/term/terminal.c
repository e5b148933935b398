/* terminal.c -- the terminal itself, through ncurses: sizes, colours, keys, and
 * a sane state whatever ends the program. */
#include "ui/terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* term.h defines short lower-case names for capabilities. */
#undef lines
#undef columns
#undef tab

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/status.h"
#include "report/print.h"
#include "ui/canvas.h"
#include "term/direct.h"
#include "term/graphics.h"
#include "term/painter.h"
#include "ui/keymap.h"

/* Is there a terminal that a screen can use? Looked at before curses starts. */

/* Where keys come from: standard input, or else the terminal itself, which is
 * then the caller's *in. LAB_E_UNSUPPORTED: no terminal. */
static enum lab_status terminal_find_input(FILE **in, int *fd)
{
    *fd = STDIN_FILENO;
    if (!isatty(STDOUT_FILENO))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[terminal.output] the screen needs a terminal on "
                        "its output: use --plain");
    if (isatty(STDIN_FILENO))
        return LAB_OK;
    *in = fopen("/dev/tty", "r+e");
    if (!*in)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[terminal.keys] the screen needs a terminal for its keys: "
            "use --plain (/dev/tty: %s)",
            strerror(errno));
    *fd = fileno(*in);
    return LAB_OK;
}

static enum lab_status open_output(FILE **out)
{
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (*out)
        return LAB_OK;
    enum lab_status st =
        lab_fail(LAB_E_IO, "[terminal.copy] the terminal: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return st;
}

static void unload(void)
{
    del_curterm(cur_term);
}

/* A terminal that this machine has no description of, as over ssh from one that
 * is newer: nearly all of them understand what xterm does. */
static const char *find_type(const char *term, int *problem)
{
    static const char *const stand_ins[] = {"xterm-256color", "xterm", "vt100"};
    int ignored;
    if (setupterm(term, STDOUT_FILENO, problem) == OK)
        return term;
    for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++) {
        if (setupterm(stand_ins[i], STDOUT_FILENO, &ignored) == OK)
            return stand_ins[i];
    }
    return NULL;
}

/* Leaves the description loaded, to be freed by unload(). */
static enum lab_status terminal_check(const char *color, int *colors,
                                      const char **type)
{
    int problem = 0;
    const char *term = getenv("TERM");
    if (!term || !term[0])
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[terminal.term] TERM is not set: set it, or use --plain");
    *type = find_type(term, &problem);
    if (!*type)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            problem < 0 ? "[terminal.terminfo] there is no terminfo database: "
                          "use --plain (TERM=%s)"
                        : "[terminal.unknown] TERM=%s is not a terminal that "
                          "this machine knows: use --plain",
            term);
    const char *place = tigetstr("cup");
    bool usable = place && place != (char *)-1;
    *colors = tigetflag("RGB") > 0 || lab_direct_wanted(*type, color)
                  ? 1 << 24
                  : tigetnum("colors");
    if (usable)
        return LAB_OK;
    unload();
    return lab_fail(
        LAB_E_UNSUPPORTED,
        "[terminal.cursor] TERM=%s cannot place its cursor: use --plain", term);
}

enum lab_status lab_terminal_probe(const char *color, int *colors,
                                   const char **type)
{
    FILE *in = NULL;
    int fd;
    int found = 0;
    enum lab_status st = terminal_find_input(&in, &fd);
    if (!st)
        st = terminal_check(color, &found, type);
    if (in)
        fclose(in);
    if (st)
        return st;
    unload();
    *colors = found > 0 ? found : 0;
    return LAB_OK;
}

/* Of what is held, the last of it is printed; the memory of the rest is freed when there
 * is so much. */
enum { REPLAY_BYTES = 64 * 1024, MOST_HELD = 1 << 20 };

/* The streams that libraries print to, while a screen is open: curses has the
 * terminal by a descriptor of its own. */
static const int STREAM[] = {STDOUT_FILENO, STDERR_FILENO};
enum { STREAM_COUNT = sizeof(STREAM) / sizeof(STREAM[0]) };

static int held = -1;                      /* where they go meanwhile */
static int saved[STREAM_COUNT] = {-1, -1}; /* the real ones; -1: not held */

static void flush_streams(void)
{
    fflush(stdout);
    fflush(stderr);
}

/* Async-signal-safe. */
static void give_streams_back(void)
{
    for (int i = 0; i < STREAM_COUNT; i++)
        if (saved[i] >= 0)
            dup2(saved[i], STREAM[i]);
}

/* From now on a stream that is a terminal goes aside; failure is no harm. */
static void output_hold(void)
{
    if (held >= 0)
        return;
    held = memfd_create("output", MFD_CLOEXEC);
    if (held < 0)
        return;
    flush_streams();
    for (int i = 0; i < STREAM_COUNT; i++) {
        if (!isatty(STREAM[i]))
            continue; /* 2>file does not harm the screen */
        saved[i] = fcntl(STREAM[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (saved[i] >= 0)
            dup2(held, STREAM[i]);
    }
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        bytes += done;
        n -= (size_t)done;
    }
}

/* A library may print at each of its calls, for hours. */
static void output_trim(void)
{
    enum { BLOCK = 512 }; /* the unit of st_blocks */
    struct stat now;
    if (held >= 0 && fstat(held, &now) == 0 &&
        now.st_blocks > MOST_HELD / BLOCK)
        fallocate(held, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                  now.st_size - REPLAY_BYTES);
}

static off_t replay_start(off_t size)
{
    return size > REPLAY_BYTES ? size - REPLAY_BYTES : 0;
}

/* One libc stream and one descriptor point at the same file: read from the
 * place, not from the shared offset. */
static void replay(off_t size)
{
    struct lab_str text;
    off_t from = replay_start(size);
    char *bytes = lab_alloc((size_t)(size - from));
    if (!bytes)
        return;
    ssize_t n = pread(held, bytes, (size_t)(size - from), from);
    lab_str_init(&text);
    if (from > 0)
        lab_str_addf(&text, "(%lld bytes of messages left out)\n",
                     (long long)from);
    if (n > 0)
        lab_str_add_visible(&text, bytes, (size_t)n, true);
    write_all(STDERR_FILENO, lab_str_text(&text), text.len);
    lab_str_release(&text);
    lab_free(bytes);
}

static void output_release(void)
{
    if (held < 0)
        return;
    flush_streams();
    give_streams_back();
    off_t size = lseek(held, 0, SEEK_END);
    if (size > 0)
        replay(size);
    for (int i = 0; i < STREAM_COUNT; i++) {
        if (saved[i] >= 0)
            close(saved[i]);
        saved[i] = -1;
    }
    close(held);
    held = -1;
}

/* For a crash handler: the same, raw, with async-signal-safe calls only. */
static void output_spill(void)
{
    char bytes[4096];
    ssize_t n;
    if (held < 0)
        return;
    give_streams_back();
    off_t at = replay_start(lseek(held, 0, SEEK_END));
    while ((n = pread(held, bytes, sizeof(bytes), at)) > 0) {
        write_all(STDERR_FILENO, bytes, (size_t)n);
        at += n;
    }
}

bool lab_terminal_get_size(int *h, int *w)
{
    struct winsize size;
    const int fd = saved[0] >= 0 ? saved[0] : STDOUT_FILENO;
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_row == 0 || size.ws_col == 0)
        return false;
    *h = size.ws_row;
    *w = size.ws_col;
    return true;
}

/* Handlers do three things only: set a flag, write the eventfd, and, in a
 * crash, write fixed bytes. Everything else happens in the loop. */

static const int CRASHING[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                               SIGABRT, SIGSYS, SIGTRAP, SIGQUIT};
enum {
    CRASHING_COUNT = sizeof(CRASHING) / sizeof(CRASHING[0]),
    LEAVE_BYTES = 512,
    ALT_STACK_BYTES = 64 * 1024,
    IMPATIENT = 3 /* signals before the loop answers: it hangs, so die */
};

static struct {
    bool open;
    int tty;
    int fd;
    struct termios modes;
    char leave[LEAVE_BYTES];
    size_t leave_len;
    struct sigaction old_crashing[CRASHING_COUNT];
    struct sigaction old_winch;
    bool winch_chained;
    stack_t old_stack;
    void *stack;
} guard = {.fd = -1, .tty = -1};

static atomic_int quit_signal;
static atomic_int quit_count;
static atomic_int stop_wanted;
static atomic_int resumed;
static atomic_int crashed;

static void notify(void)
{
    int old_errno = errno;
    uint64_t one = 1;
    ssize_t n = write(guard.fd, &one, sizeof(one));
    (void)n; /* full: the loop is awake already */
    errno = old_errno;
}

static void restore_raw(void)
{
    atomic_store(&crashed, 1);
    ssize_t n = write(guard.tty, guard.leave, guard.leave_len);
    (void)n;
    tcsetattr(guard.tty, TCSANOW, &guard.modes);
    output_spill();
}

static void on_ending(int sig)
{
    atomic_store(&quit_signal, sig);
    if (atomic_fetch_add(&quit_count, 1) + 1 >= IMPATIENT) {
        restore_raw();
        _exit(128 + sig);
    }
    notify();
}

static void on_stop(int sig)
{
    (void)sig;
    atomic_store(&stop_wanted, 1);
    notify();
}

static void on_cont(int sig)
{
    (void)sig;
    atomic_store(&resumed, 1);
    notify();
}

static void on_winch(int sig)
{
    if (guard.old_winch.sa_handler != SIG_DFL &&
        guard.old_winch.sa_handler != SIG_IGN)
        guard.old_winch.sa_handler(sig);
    notify();
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
    (void)context;
    restore_raw();
    for (int i = 0; i < CRASHING_COUNT; i++)
        if (CRASHING[i] == sig)
            sigaction(sig, &guard.old_crashing[i], NULL);
    /* A fault of the processor comes again by itself, with its address. */
    if (info->si_code <= 0 || sig == SIGQUIT || sig == SIGABRT)
        raise(sig);
}

static void handle(int sig, void (*handler)(int), struct sigaction *old)
{
    struct sigaction now;
    memset(&now, 0, sizeof(now));
    now.sa_handler = handler;
    now.sa_flags = SA_RESTART;
    sigemptyset(&now.sa_mask);
    sigaction(sig, &now, old);
}

/* The signals that set a flag, unless they are ignored: nohup, or a shell
 * without job control. */
static struct {
    int sig;
    void (*handler)(int);
    struct sigaction old;
} taken[] = {{SIGINT, on_ending},
             {SIGTERM, on_ending},
             {SIGHUP, on_ending},
             {SIGTSTP, on_stop},
             {SIGCONT, on_cont}};
enum { TAKEN_COUNT = sizeof(taken) / sizeof(taken[0]) };

static void take_signals(void)
{
    for (int i = 0; i < TAKEN_COUNT; i++) {
        struct sigaction *old = &taken[i].old;
        sigaction(taken[i].sig, NULL, old);
        if ((old->sa_flags & SA_SIGINFO) || old->sa_handler != SIG_IGN)
            handle(taken[i].sig, taken[i].handler, NULL);
    }
}

static void take_crashes(void)
{
    struct sigaction now;
    memset(&now, 0, sizeof(now));
    now.sa_sigaction = on_crash;
    now.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&now.sa_mask);
    guard.stack =
        lab_alloc(ALT_STACK_BYTES); /* a stack overflow needs another */
    if (guard.stack) {
        stack_t stack = {.ss_sp = guard.stack, .ss_size = ALT_STACK_BYTES};
        sigaltstack(&stack, &guard.old_stack);
    }
    for (int i = 0; i < CRASHING_COUNT; i++)
        sigaction(CRASHING[i], &now, &guard.old_crashing[i]);
}

/* Keeps the terminal's settings and takes the signals. Before curses starts:
 * it leaves handlers that it finds alone. LAB_E_IO, LAB_E_STATE. */
static enum lab_status guard_open(int tty)
{
    if (guard.open)
        return lab_fail(LAB_E_STATE,
                        "[terminal.open] a terminal is open already");
    if (tcgetattr(tty, &guard.modes))
        return lab_fail(LAB_E_IO,
                        "[terminal.settings] the terminal's settings: %s",
                        strerror(errno));
    guard.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (guard.fd < 0)
        return lab_fail(LAB_E_IO, "[terminal.eventfd] eventfd: %s",
                        strerror(errno));
    guard.tty = tty;
    guard.leave_len = 0;
    guard.winch_chained = false;
    guard.open = true;
    atomic_store(&quit_signal, 0);
    atomic_store(&quit_count, 0);
    atomic_store(&stop_wanted, 0);
    atomic_store(&resumed, 0);
    take_signals();
    take_crashes();
    return LAB_OK;
}

static void guard_close(void)
{
    if (!guard.open)
        return;
    for (int i = 0; i < TAKEN_COUNT; i++)
        sigaction(taken[i].sig, &taken[i].old, NULL);
    for (int i = 0; i < CRASHING_COUNT; i++)
        sigaction(CRASHING[i], &guard.old_crashing[i], NULL);
    if (guard.winch_chained)
        sigaction(SIGWINCH, &guard.old_winch, NULL);
    if (guard.stack)
        sigaltstack(&guard.old_stack, NULL);
    lab_free(guard.stack);
    guard.stack = NULL;
    close(guard.fd);
    guard.fd = -1;
    guard.open = false;
    int late = atomic_exchange(&quit_signal, 0);
    if (late)
        raise(late); /* the loop did not see it: it is for the old handler */
}

/* Stops the process as Ctrl-Z does; returns when it is continued. */
static void guard_stop(void)
{
    struct sigaction ours;
    handle(SIGTSTP, SIG_DFL, &ours);
    kill(getpid(), SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    atomic_store(&resumed, 0);
}

#define NCURSES_WIDECHAR 1
enum {
    ESCAPE_MS = 25,
    ESCAPE_ASKING_MS = 200,
    ANSWER_MS = 1000,
    HEARD_BYTES = 256
};

enum { MOUSE_EVENTS = 8, PAIRS = 16384 /* that pictures take */ };

struct lab_terminal {
    SCREEN *screen;
    const char *type; /* of the terminfo database */
    FILE *in;         /* ours when standard input is not the terminal */
    int in_fd;
    FILE *out; /* the terminal; standard output is held meanwhile */
    struct lab_palette palette;
    bool theme_open;        /* the background decides, when it is known */
    struct lab_cell *shown; /* the last frame, shown_h by shown_w cells */
    int shown_h;
    int shown_w;
    bool ascii;
    bool utf8; /* what is typed, whatever is shown */
    bool blocks;
    char half[4]; /* the bytes of a character that has not come whole */
    size_t half_n;
    bool resized; /* a RESIZE event is due */

    enum lab_graphics graphics; /* AUTO: not known yet, which is as NONE */
    struct lab_graphics_answer answer;
    bool asking; /* answers are to come, until `ask_end_ns` */
    bool asked_more;
    int64_t ask_end_ns;
    char heard[HEARD_BYTES]; /* the beginning of what may be an answer */
    size_t heard_n;
    int64_t heard_end_ns;
    char back[HEARD_BYTES]; /* what was none: keys from `back_at` on */
    size_t back_n;
    size_t back_at;
    int px_h; /* pixels of a character; 0: unknown */
    int px_w;
    int pixel_color[256];
    MEVENT mouse[MOUSE_EVENTS]; /* come and not delivered, the last one first */
    int n_mouse;
    int pressed_y; /* where a button last was */
    int pressed_x;
    struct lab_painter *painter;    /* NULL: no image yet */
    int pieces;                     /* of an image, at most */
    size_t sent[LAB_CANVAS_IMAGES]; /* bytes of their texts: the rest waits */
    struct lab_painting shown_images[LAB_CANVAS_IMAGES]; /* as the terminal has
                                                     them; no text: none */
    struct lab_painting wanted[LAB_CANVAS_IMAGES]; /* given to the painter; an
                                                      empty rectangle: none */
    struct lab_cell *frame; /* the canvas without what images cover */
};

/* A capability without its "$<5>" delays. */
static void add_capability(char *out, size_t cap, const char *name)
{
    const char *s = tigetstr(name);
    size_t n = strlen(out);
    if (!s || s == (const char *)-1)
        return;
    while (*s && n + 1 < cap) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end)
            s = end + 1;
        else
            out[n++] = *s++;
    }
    out[n] = '\0';
}

/* What puts the screen right when there is no time for curses. */
static void prepare_leave(bool mouse)
{
    char *leave = guard.leave;
    size_t cap = sizeof(guard.leave);
    snprintf(leave, cap, "%s", mouse ? "\033[?1006;1000l" : "");
    add_capability(leave, cap, "sgr0");
    add_capability(leave, cap, "cnorm");
    add_capability(leave, cap, "rmkx");
    add_capability(leave, cap, "rmcup");
    strncat(leave, "\r\n", cap - strlen(leave) - 1);
    guard.leave_len = strlen(leave);
}

static enum lab_depth find_depth(const struct lab_terminal_options *options)
{
    if (!lab_print_color(options->color, true, getenv("NO_COLOR"),
                         getenv("TERM")) ||
        !has_colors() || start_color() == ERR)
        return LAB_DEPTH_MONO;
    use_default_colors();
    if (tigetflag("RGB") > 0 && COLORS >= 1 << 24)
        return LAB_DEPTH_RGB;
    return COLORS >= 256  ? LAB_DEPTH_256
           : COLORS >= 16 ? LAB_DEPTH_16
           : COLORS >= 8  ? LAB_DEPTH_8
                          : LAB_DEPTH_MONO;
}

static bool is_auto(const char *theme)
{
    return theme && strcmp(theme, "auto") == 0;
}

/* A picture in half blocks needs a pair of curses for each two tints that meet. */
static void take_theme(struct lab_terminal *t,
                       const struct lab_terminal_options *options)
{
    enum lab_theme theme;
    const char *colors = getenv("COLORFGBG");
    if (!lab_theme_find(options->theme, colors, &theme))
        theme = LAB_THEME_DARK;
    t->theme_open = is_auto(options->theme) && !(colors && colors[0]);
    lab_palette_fill(&t->palette, theme, find_depth(options));
    t->palette.tints = t->palette.tints && COLOR_PAIRS >= PAIRS;
}

/* ---- graphics: does the terminal have them? ---- */

static void drop_images(struct lab_terminal *t);

static void write_out(const struct lab_terminal *t, const char *text, size_t n)
{
    write_all(fileno(t->out), text, n);
}

/* Pixels of a character, as the kernel knows them from the terminal. */
static void measure_cell(struct lab_terminal *t)
{
    struct winsize size;
    t->px_h = t->answer.cell_h;
    t->px_w = t->answer.cell_w;
    if (ioctl(fileno(t->out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0 && size.ws_ypixel / size.ws_row > 1 &&
        size.ws_xpixel / size.ws_col > 1) {
        t->px_h = size.ws_ypixel / size.ws_row;
        t->px_w = size.ws_xpixel / size.ws_col;
    }
}

static bool has_graphics(const struct lab_terminal *t)
{
    enum { CELL_LEAST = 4, CELL_MOST = 100 };
    return t->graphics >= LAB_GRAPHICS_SIXEL && t->palette.tints && !t->ascii &&
           t->px_h >= CELL_LEAST && t->px_w >= CELL_LEAST &&
           t->px_h <= CELL_MOST && t->px_w <= CELL_MOST;
}

/* A slow line is asked too: its keys come in pieces, so curses waits longer. */
static void ask(struct lab_terminal *t, const char *question)
{
    write_out(t, question, strlen(question));
    t->asking = true;
    t->ask_end_ns = lab_clock_monotonic_ns() + ANSWER_MS * 1000000LL;
    set_escdelay(ESCAPE_ASKING_MS);
}

/* Is the background to be asked for? Not of a console or an old terminal, which
 * print the question. */
static bool asks_paper(const struct lab_terminal *t)
{
    return t->theme_open && !t->answer.has_paper && !t->blocks &&
           t->palette.depth != LAB_DEPTH_MONO && strncmp(t->type, "vt", 2) != 0;
}

/* Consoles and terminals without colours are not asked: they have none. */
static void start_graphics(struct lab_terminal *t, const char *wanted)
{
    struct lab_palette p;
    if (!wanted || !lab_graphics_find(wanted, &t->graphics))
        t->graphics = LAB_GRAPHICS_NONE;
    if (!t->palette.tints || t->ascii || t->blocks)
        t->graphics = LAB_GRAPHICS_NONE;
    if (t->graphics != LAB_GRAPHICS_NONE) {
        lab_palette_fill(&p, t->palette.theme, LAB_DEPTH_RGB);
        lab_canvas_pixel_colors(&p, t->pixel_color);
        measure_cell(t);
    }
    if ((t->graphics != LAB_GRAPHICS_NONE && !has_graphics(t)) || asks_paper(t))
        ask(t, LAB_GRAPHICS_ASK);
}

/* `whole`: the last answer has come. Otherwise the time is up, and a later answer
 * still counts. */
static void end_asking(struct lab_terminal *t, bool whole)
{
    t->asking = false;
    set_escdelay(ESCAPE_MS);
    if (t->graphics == LAB_GRAPHICS_AUTO)
        t->graphics = t->answer.kitty   ? LAB_GRAPHICS_KITTY
                      : t->answer.sixel ? LAB_GRAPHICS_SIXEL
                      : whole           ? LAB_GRAPHICS_NONE
                                        : LAB_GRAPHICS_AUTO;
    measure_cell(t);
    t->resized = t->resized || has_graphics(t);
}

/* The theme that goes with the terminal's background. */
static enum lab_theme theme_of(int paper)
{
    return lab_palette_lightness(paper) > 0.6 ? LAB_THEME_LIGHT
                                              : LAB_THEME_DARK;
}

/* Pictures in pixels are drawn again: their colours are the theme's, too. */
static void set_theme(struct lab_terminal *t, enum lab_theme theme)
{
    struct lab_palette p;
    const enum lab_depth depth = t->palette.depth;
    if (theme == t->palette.theme)
        return;
    drop_images(t);
    lab_painter_free(t->painter);
    t->painter = NULL;
    lab_palette_fill(&t->palette, theme, depth);
    t->palette.tints = t->palette.tints && COLOR_PAIRS >= PAIRS;
    lab_palette_fill(&p, theme, LAB_DEPTH_RGB);
    lab_canvas_pixel_colors(&p, t->pixel_color);
    lab_terminal_redraw(t);
    t->resized = true;
}

bool lab_terminal_theme(struct lab_terminal *t, const char *name)
{
    enum lab_theme theme;
    if (!lab_theme_find(name, getenv("COLORFGBG"), &theme))
        return false;
    t->theme_open = false;
    if (is_auto(name) && t->answer.has_paper)
        theme = theme_of(t->answer.paper);
    set_theme(t, theme);
    return true;
}

/* An answer has come. */
static void use_answer(struct lab_terminal *t)
{
    if (t->theme_open && t->answer.has_paper) {
        t->theme_open = false;
        set_theme(t, theme_of(t->answer.paper));
    }
    if (!t->answer.attributes)
        return; /* the last one has them */
    t->answer.attributes = false;
    const char *more = t->graphics != LAB_GRAPHICS_NONE
                           ? lab_graphics_ask_more(&t->answer)
                           : NULL;
    const char *paper = asks_paper(t) ? LAB_GRAPHICS_ASK_PAPER : NULL;
    if ((more || paper) && !t->asked_more) {
        t->asked_more = true;
        if (paper)
            write_out(t, paper, strlen(paper));
        ask(t, more ? more : LAB_GRAPHICS_ASK);
    } else {
        end_asking(t, true);
    }
}

/* Bytes that began as an answer and are none go back as keys, but for the last
 * `keep` of them. */
static void give_back(struct lab_terminal *t, size_t keep)
{
    t->back_n = t->heard_n - keep;
    t->back_at = 0;
    memcpy(t->back, t->heard, t->back_n);
    memmove(t->heard, t->heard + t->back_n, keep);
    t->heard_n = keep;
}

/* One more byte of what may be an answer. Of a long one the beginning counts, and
 * the last byte, after which it may end. */
static void hear(struct lab_terminal *t, int byte)
{
    if (t->heard_n == HEARD_BYTES) {
        t->heard[HEARD_BYTES - 2] = t->heard[HEARD_BYTES - 1];
        t->heard_n--;
    }
    if (t->heard_n == 0)
        t->heard_end_ns = lab_clock_monotonic_ns() + ANSWER_MS * 1000000LL;
    t->heard[t->heard_n++] = (char)byte;
    int used = lab_graphics_hear(&t->answer, t->heard, t->heard_n);
    if (used > 0) {
        t->heard_n = 0;
        use_answer(t);
    } else if (used == 0) {
        give_back(t, byte == '\033' && t->heard_n > 1);
    }
}

/* The next key of curses, without the answers of the terminal, which curses hands
 * over byte by byte; ERR: none. */
static int next_key(struct lab_terminal *t)
{
    enum { SURE = 3 }; /* bytes, which no key that curses knows begins with */
    for (;;) {
        if (t->back_at < t->back_n)
            return (unsigned char)t->back[t->back_at++];
        int c = wgetch(stdscr);
        if (t->heard_n > 0 && lab_clock_monotonic_ns() >= t->heard_end_ns)
            t->heard_n = 0; /* it was cut off */
        if (c == KEY_RESIZE || (t->heard_n == 0 && c != '\033'))
            return c;
        if (c != ERR && c <= 0xFF) {
            hear(t, c);
        } else if (c == ERR && t->heard_n >= SURE) {
            return ERR;
        } else {
            give_back(t, 0);
            if (c != ERR)
                ungetch(c);
        }
    }
}

/* What comes after the end would be typed into the shell. */
static void await_answers(struct lab_terminal *t)
{
    enum { PATIENCE_MS = 150 };
    struct pollfd in = {.fd = t->in_fd, .events = POLLIN};
    int64_t end = lab_clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    t->asked_more = true;
    while (t->asking && lab_clock_monotonic_ns() < end) {
        poll(&in, 1, 10);
        while (next_key(t) != ERR)
            ;
    }
}

/* What other terminals send than the one that TERM names: people change
 * terminals more often than TERM. */
static void add_keys(void)
{
    static const struct {
        const char *bytes;
        int key;
    } more[] = {
        {"\033[H", KEY_HOME},   {"\033OH", KEY_HOME},   {"\033[1~", KEY_HOME},
        {"\033[7~", KEY_HOME},  {"\033[F", KEY_END},    {"\033OF", KEY_END},
        {"\033[4~", KEY_END},   {"\033[8~", KEY_END},   {"\033[A", KEY_UP},
        {"\033OA", KEY_UP},     {"\033[B", KEY_DOWN},   {"\033OB", KEY_DOWN},
        {"\033[C", KEY_RIGHT},  {"\033OC", KEY_RIGHT},  {"\033[D", KEY_LEFT},
        {"\033OD", KEY_LEFT},   {"\033[Z", KEY_BTAB},   {"\033[5~", KEY_PPAGE},
        {"\033[6~", KEY_NPAGE}, {"\033[3~", KEY_DC},    {"\033OP", KEY_F(1)},
        {"\033[11~", KEY_F(1)}, {"\033[[A", KEY_F(1)},  {"\033OQ", KEY_F(2)},
        {"\033[12~", KEY_F(2)}, {"\033OR", KEY_F(3)},   {"\033[13~", KEY_F(3)},
        {"\033OS", KEY_F(4)},   {"\033[14~", KEY_F(4)},
    };
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        if (key_defined(more[i].bytes) == 0)
            define_key(more[i].bytes, more[i].key);
}

/* The terminal's description is loaded; curses loads its own. */
static enum lab_status start_curses(struct lab_terminal *t,
                                    const struct lab_terminal_options *options)
{
    set_escdelay(ESCAPE_MS);
    const bool direct = lab_direct_begin(t->type, options->color);
    unload();
    t->screen = newterm(t->type, t->out, t->in ? t->in : stdin);
    if (direct)
        lab_direct_end();
    if (!t->screen && direct) /* curses took no description of ours */
        t->screen = newterm(t->type, t->out, t->in ? t->in : stdin);
    if (!t->screen)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[terminal.setup] the terminal could not be set up: use --plain");
    handle(SIGWINCH, on_winch, &guard.old_winch); /* calls that of curses */
    guard.winch_chained = true;
    prepare_leave(options->mouse);
    cbreak(); /* Ctrl-C and Ctrl-Z stay signals */
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    keypad(stdscr, TRUE);
    add_keys();
    nodelay(stdscr, TRUE);
    curs_set(0);
    if (options->mouse) {
        mouseinterval(0);
        mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED |
                      BUTTON5_PRESSED,
                  NULL);
    }
    take_theme(t, options);
    start_graphics(t, options->graphics);
    return LAB_OK;
}

enum lab_status lab_terminal_open(struct lab_terminal **out,
                                  const struct lab_terminal_options *options)
{
    struct lab_terminal *t = lab_alloc(sizeof(*t));
    int ignored;
    if (!t)
        return lab_fail(LAB_E_NOMEM, "the terminal");
    setlocale(LC_CTYPE, "");
    const char *term = getenv("TERM");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    t->utf8 = utf8;
    t->ascii = options->ascii || !utf8;
    t->blocks = term && strncmp(term, "linux", 5) == 0;
    enum lab_status st = terminal_find_input(&t->in, &t->in_fd);
    if (!st)
        st = open_output(&t->out);
    if (!st)
        st = terminal_check(options->color, &ignored, &t->type);
    if (st)
        goto out_input;
    st = guard_open(t->in_fd);
    if (st) {
        unload();
        goto out_input;
    }
    st = start_curses(t, options);
    if (st)
        goto out_guard;
    output_hold();
    *out = t;
    return LAB_OK;

out_guard:
    guard_close();
out_input:
    if (t->out)
        fclose(t->out);
    if (t->in)
        fclose(t->in);
    lab_free(t);
    return st;
}

/* ---- images: the painter encodes them, and each one is sent when it is ready.
 * Until then the terminal keeps the last one of that place. ---- */

static bool is_shown(const struct lab_terminal *t, int nth)
{
    return t->shown_images[nth].text.len > 0;
}

/* The terminal has it no more, or is to take it away by `out`. */
static void forget_image(struct lab_terminal *t, int nth, struct lab_str *out)
{
    if (is_shown(t, nth) && t->graphics == LAB_GRAPHICS_KITTY)
        lab_kitty_remove(out, (unsigned)nth + 1);
    lab_str_release(&t->shown_images[nth].text);
}

static void drop_wanted(struct lab_terminal *t, int nth)
{
    if (t->painter && !lab_rect_empty(t->wanted[nth].at))
        lab_painter_drop(t->painter, nth);
    t->wanted[nth].at = (struct lab_rect){0};
}

/* The terminal has none any more. */
static void drop_images(struct lab_terminal *t)
{
    struct lab_str out;
    lab_str_init(&out);
    for (int i = 0; i < LAB_CANVAS_IMAGES; i++) {
        forget_image(t, i, &out);
        drop_wanted(t, i);
    }
    write_out(t, lab_str_text(&out), out.len);
    lab_str_release(&out);
}

/* After a change of size, which a terminal may answer with a clean screen. */
static void forget_images(struct lab_terminal *t)
{
    for (int i = 0; i < LAB_CANVAS_IMAGES; i++)
        if (is_shown(t, i))
            clearok(stdscr, TRUE);
    drop_images(t);
}

static uint64_t sum_of(const unsigned char *px, size_t n)
{
    uint64_t sum = 14695981039346656037u; /* as FNV-1a, eight bytes at once */
    for (size_t i = 0; i < n; i += sizeof(sum)) {
        uint64_t word = 0;
        memcpy(&word, px + i, n - i < sizeof(word) ? n - i : sizeof(word));
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 32;
    }
    return sum;
}

static bool same_place(const struct lab_painting *a,
                       const struct lab_painting *b)
{
    return memcmp(&a->at, &b->at, sizeof(a->at)) == 0;
}

/* Where the terminal would drop the first images all are half blocks. */
static bool shows_images(const struct lab_terminal *t,
                         const struct lab_canvas *c)
{
    return has_graphics(t) && c->n_images > 0 &&
           lab_graphics_keeps(t->graphics, &t->answer, c->n_images);
}

/* One each at least. Where their number changes, all are cut anew. */
static void share_pieces(struct lab_terminal *t, int n_images)
{
    enum { MOST = LAB_GRAPHICS_FEW };
    const int pieces = n_images < 1      ? MOST
                       : n_images < MOST ? MOST / n_images
                                         : 1;
    for (int i = 0; i < LAB_CANVAS_IMAGES && pieces != t->pieces; i++)
        if (t->graphics == LAB_GRAPHICS_SIXEL)
            t->wanted[i].sum = 0;
    t->pieces = pieces;
}

/* Where the canvas has images: of a canvas from before a change of size none, the
 * next frame has them. */
static void place_images(struct lab_terminal *t, const struct lab_canvas *c,
                         int h, int w)
{
    bool may = shows_images(t, c) && c->px_h == t->px_h && c->px_w == t->px_w;
    if (may && !t->painter)
        may = lab_painter_new(&t->painter, t->graphics, t->pixel_color,
                              guard.fd) == LAB_OK;
    share_pieces(t, c->n_images);
    for (int i = 0; i < LAB_CANVAS_IMAGES; i++) {
        const struct lab_painting now = {
            .at = i < c->n_images ? c->images[i].at : (struct lab_rect){0}};
        if (!may || lab_rect_empty(now.at) || now.at.y + now.at.h > h ||
            now.at.x + now.at.w > w)
            drop_wanted(t, i);
        else if (!same_place(&now, &t->wanted[i]))
            t->wanted[i] = now; /* with the sum of none yet */
    }
}

/* The pixels of those that have changed, for the painter: after the frame is on
 * the screen, for this takes longer than the rest. Without memory there is none. */
static void paint_images(struct lab_terminal *t, const struct lab_canvas *c)
{
    for (int i = 0; i < c->n_images; i++) {
        const struct lab_rect at = t->wanted[i].at;
        struct lab_painting now = {.at = at, .pieces = t->pieces};
        if (lab_rect_empty(at))
            continue;
        unsigned char *px = lab_canvas_image_pixels(c, i + 1);
        if (!px) {
            drop_wanted(t, i);
            continue;
        }
        size_t n = (size_t)(at.h * t->px_h) * (size_t)(at.w * t->px_w);
        now.sum = sum_of(px, n);
        if (now.sum == t->wanted[i].sum) {
            lab_free(px);
            continue;
        }
        t->wanted[i] = now;
        lab_painter_give(t->painter, i, &now, px, at.h * t->px_h,
                         at.w * t->px_w);
    }
}

/* Sixels stay until characters are written over them: the rows of image `nth` are
 * written again, and `again` gets the other images in these rows. */
static void wipe(struct lab_terminal *t, int nth, bool *again)
{
    const struct lab_rect at = t->shown_images[nth].at;
    if (!is_shown(t, nth) || t->graphics != LAB_GRAPHICS_SIXEL)
        return;
    wredrawln(stdscr, at.y, at.h);
    for (int k = 0; k < LAB_CANVAS_IMAGES; k++) {
        const struct lab_rect other = t->shown_images[k].at;
        again[k] |= is_shown(t, k) && k != nth && other.y < at.y + at.h &&
                    at.y < other.y + other.h;
    }
}

/* Images that are gone or elsewhere now; their numbers are known by `again`. */
static void wipe_unwanted(struct lab_terminal *t, struct lab_str *out,
                          bool *again)
{
    for (int i = 0; i < LAB_CANVAS_IMAGES; i++) {
        if (!is_shown(t, i) || same_place(&t->shown_images[i], &t->wanted[i]))
            continue;
        wipe(t, i, again);
        forget_image(t, i, out);
    }
}

static void send_again(struct lab_terminal *t, const bool *again)
{
    for (int i = 0; i < LAB_CANVAS_IMAGES; i++)
        if (again[i])
            t->sent[i] = 0;
}

static bool key_waits(const struct lab_terminal *t)
{
    struct pollfd in = {.fd = t->in_fd, .events = POLLIN};
    return poll(&in, 1, 0) > 0 && (in.revents & POLLIN);
}

/* The next piece of an image that the terminal does not have whole; false: it has
 * all of them. */
static bool send_piece(struct lab_terminal *t)
{
    int nth = 0;
    while (nth < LAB_CANVAS_IMAGES &&
           (!is_shown(t, nth) || t->sent[nth] == t->shown_images[nth].text.len))
        nth++;
    if (nth == LAB_CANVAS_IMAGES)
        return false;
    const char *from = lab_str_text(&t->shown_images[nth].text) + t->sent[nth];
    const char *end = strstr(from, LAB_PIECE_END);
    size_t n = end ? (size_t)(end - from) + strlen(LAB_PIECE_END)
                   : t->shown_images[nth].text.len - t->sent[nth];
    write_out(t, from, n);
    t->sent[nth] += n;
    return true;
}

/* Images that the painter has ready, unless their place is another's by now. Piece
 * after piece: a terminal takes its time for each, and a key goes first. A newer image
 * waits until all is sent, so that its lower rows come, too. */
static void show_ready(struct lab_terminal *t)
{
    struct lab_painting ready;
    int nth;
    if (!t->painter || atomic_load(&crashed))
        return;
    while (!key_waits(t)) {
        bool again[LAB_CANVAS_IMAGES] = {false};
        if (send_piece(t))
            continue;
        nth = lab_painter_take(t->painter, &ready);
        if (nth < 0)
            return;
        if (!same_place(&ready, &t->wanted[nth])) {
            lab_str_release(&ready.text);
            continue;
        }
        wipe(t, nth, again);
        lab_str_release(&t->shown_images[nth].text);
        t->shown_images[nth] = ready;
        again[nth] = true;
        refresh();
        send_again(t, again);
    }
}

void lab_terminal_close(struct lab_terminal *t)
{
    if (!t)
        return;
    await_answers(t);
    drop_images(t);
    lab_painter_free(t->painter);
    curs_set(1);
    endwin();
    delscreen(t->screen);
    guard_close();
    output_release();
    fclose(t->out);
    if (t->in)
        fclose(t->in);
    lab_free(t->shown);
    lab_free(t->frame);
    lab_free(t);
}

void lab_terminal_get_facts(const struct lab_terminal *t,
                            struct lab_terminal_facts *out)
{
    bool known = strcmp(t->type, getenv("TERM")) == 0;
    *out = (struct lab_terminal_facts){.ascii = t->ascii,
                                       .blocks = t->blocks,
                                       .tints = t->palette.tints,
                                       .px_h = has_graphics(t) ? t->px_h : 0,
                                       .px_w = has_graphics(t) ? t->px_w : 0,
                                       .theme = t->palette.theme,
                                       .stand_in = known ? NULL : t->type};
    getmaxyx(stdscr, out->h, out->w);
}

static attr_t attr_of(unsigned attr)
{
    return (attr & LAB_ATTR_BOLD ? A_BOLD : 0) |
           (attr & LAB_ATTR_DIM ? A_DIM : 0) |
           (attr & LAB_ATTR_UNDERLINE ? A_UNDERLINE : 0) |
           (attr & LAB_ATTR_REVERSE ? A_REVERSE : 0);
}

static void use_style(const struct lab_terminal *t, const struct lab_cell *cell)
{
    struct lab_style s =
        lab_palette_cell(&t->palette, cell->role, cell->ink, cell->paper);
    int pair = s.fg < 0 && s.bg < 0 ? 0 : alloc_pair(s.fg, s.bg);
    wattr_set(stdscr, attr_of(s.attr), 0, &pair);
}

static bool is_shown_at(const struct lab_cell *shown,
                        const struct lab_cell *row, int x)
{
    return shown && memcmp(&shown[x], &row[x], sizeof(*row)) == 0;
}

static bool same_style(const struct lab_cell *a, const struct lab_cell *b)
{
    return a->role == b->role && a->ink == b->ink && a->paper == b->paper;
}

/* Cells that are as those of `shown` are left out; NULL: none is. */
static void show_row(struct lab_terminal *t, const struct lab_cell *row,
                     const struct lab_cell *shown, int y, int w)
{
    int x = 0;
    while (x < w) {
        char run[1024];
        size_t n = 0;
        int start = x;
        if (is_shown_at(shown, row, x)) {
            x++;
            continue;
        }
        while (x < w && same_style(&row[x], &row[start]) &&
               !is_shown_at(shown, row, x) && n + 8 < sizeof(run)) {
            size_t len = strlen(row[x].text);
            memcpy(run + n, row[x].text, len);
            n += len;
            x++;
        }
        use_style(t, &row[start]);
        mvaddnstr(y, start, run, (int)n);
    }
}

/* A row as it is on the screen, cells for cells of the canvas; NULL: it is not known. */
static const struct lab_cell *shown_row(const struct lab_terminal *t,
                                        const struct lab_canvas *c, int y)
{
    return t->shown_h == c->h && t->shown_w == c->w
               ? &t->shown[(size_t)y * (size_t)c->w]
               : NULL;
}

/* Blanks under images: what is not seen need not be sent, and would be written
 * over sixels. The canvas's own cells without graphics. */
static const struct lab_cell *cells_to_show(struct lab_terminal *t,
                                            const struct lab_canvas *c)
{
    size_t n = (size_t)c->h * (size_t)c->w;
    if (!shows_images(t, c))
        return c->cells;
    lab_free(t->frame);
    t->frame = lab_alloc_array(n, sizeof(*t->frame));
    for (size_t i = 0; t->frame && i < n; i++) {
        t->frame[i] = c->cells[i];
        if (t->frame[i].image)
            t->frame[i] = (struct lab_cell){.text = " "};
    }
    return t->frame ? t->frame : c->cells;
}

static void keep_shown(struct lab_terminal *t, const struct lab_canvas *c,
                       const struct lab_cell *cells)
{
    size_t n = (size_t)c->h * (size_t)c->w;
    if (t->shown_h != c->h || t->shown_w != c->w) {
        lab_free(t->shown);
        t->shown = lab_alloc_array(n, sizeof(*t->shown));
        t->shown_h = t->shown ? c->h : -1; /* without memory: all of it */
        t->shown_w = c->w;
    }
    if (t->shown)
        memcpy(t->shown, cells, n * sizeof(*t->shown));
}

void lab_terminal_show(struct lab_terminal *t, const struct lab_canvas *c)
{
    int h;
    int w;
    struct lab_str out;
    bool again[LAB_CANVAS_IMAGES] = {false};
    if (atomic_load(&crashed))
        return;
    output_trim();
    getmaxyx(stdscr, h, w);
    if (h > c->h || w > c->w) {
        erase();
        t->shown_h = -1;
    }
    if (t->shown_h < 0)
        drop_images(t); /* the screen is cleared */
    place_images(t, c, h, w);
    const struct lab_cell *cells = cells_to_show(t, c);
    for (int y = 0; y < h && y < c->h; y++)
        show_row(t, &cells[(size_t)y * (size_t)c->w], shown_row(t, c, y), y,
                 c->w < w ? c->w : w);
    keep_shown(t, c, cells);
    lab_str_init(&out);
    wipe_unwanted(t, &out, again);
    bool placed = c->cursor_y >= 0 && c->cursor_y < h && c->cursor_x < w;
    if (placed)
        move(c->cursor_y, c->cursor_x);
    curs_set(placed && c->cursor_shown);
    refresh();
    if (!out.failed)
        write_out(t, lab_str_text(&out), out.len);
    lab_str_release(&out);
    send_again(t, again);
    paint_images(t, c);
}

void lab_terminal_redraw(struct lab_terminal *t)
{
    t->shown_h = -1;
    clearok(stdscr, TRUE);
}

/* While the process was stopped it got no signal of a new size. */
static void take_again(struct lab_terminal *t)
{
    int h;
    int w;
    if (lab_terminal_get_size(&h, &w) && is_term_resized(h, w))
        resizeterm(h, w);
    t->shown_h = -1;
    clearok(stdscr, TRUE);
    refresh();
    output_hold();
    measure_cell(t);
    drop_images(t);
    t->resized = true;
}

/* Ctrl-Z; or continued after a stop without an announcement. */
static void stop_or_resume(struct lab_terminal *t, bool stop)
{
    if (stop)
        curs_set(1);
    endwin();
    if (stop) {
        output_release();
        guard_stop();
    }
    take_again(t);
}

static int key_of_code(int code)
{
    static const struct {
        int curses;
        int key;
    } keys[] = {
        {KEY_UP, LAB_KEY_UP},         {KEY_DOWN, LAB_KEY_DOWN},
        {KEY_LEFT, LAB_KEY_LEFT},     {KEY_RIGHT, LAB_KEY_RIGHT},
        {KEY_PPAGE, LAB_KEY_PAGE_UP}, {KEY_NPAGE, LAB_KEY_PAGE_DOWN},
        {KEY_HOME, LAB_KEY_HOME},     {KEY_END, LAB_KEY_END},
        {KEY_IC, LAB_KEY_INSERT},     {KEY_DC, LAB_KEY_DELETE},
        {KEY_BTAB, LAB_KEY_BACKTAB},  {KEY_BACKSPACE, LAB_KEY_BACKSPACE},
        {KEY_ENTER, LAB_KEY_ENTER},
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].curses == code)
            return keys[i].key;
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return LAB_KEY_F1 + code - KEY_F(1);
    return LAB_KEY_NONE;
}

/* Bytes to characters by hand: curses would hold back the keys that follow a
 * byte which is no character. LAB_KEY_NONE: not whole yet, or nothing. */
static int key_of_byte(struct lab_terminal *t, int byte)
{
    unsigned code = 0;
    bool continues = (byte & 0xC0) == 0x80;
    if (t->half_n == sizeof(t->half) || !continues)
        t->half_n = 0;
    if (byte == '\r')
        return LAB_KEY_ENTER;
    if (byte == 8)
        return LAB_KEY_BACKSPACE;
    if (byte < 0x80)
        return byte;
    if (!t->utf8 || (continues && t->half_n == 0))
        return LAB_KEY_NONE;
    t->half[t->half_n++] = (char)byte;
    if (lab_utf8_next(t->half, t->half_n, &code) != t->half_n)
        return LAB_KEY_NONE;
    t->half_n = 0;
    return code >= 0xA0 ? (int)code : LAB_KEY_NONE;
}

/* Curses announces several by one key, and gives the last of them first. */
static void take_mouse(struct lab_terminal *t)
{
    t->n_mouse = 0;
    while (t->n_mouse < MOUSE_EVENTS && getmouse(&t->mouse[t->n_mouse]) == OK)
        t->n_mouse++;
}

/* False: of no interest, as a button that is released where it was pressed. */
static bool read_mouse(struct lab_terminal *t, struct lab_event *out)
{
    const MEVENT m = t->mouse[--t->n_mouse];
    out->kind = LAB_EVENT_MOUSE;
    out->y = m.y;
    out->x = m.x;
    out->mouse = m.bstate & BUTTON4_PRESSED    ? LAB_MOUSE_WHEEL_UP
                 : m.bstate & BUTTON5_PRESSED  ? LAB_MOUSE_WHEEL_DOWN
                 : m.bstate & BUTTON1_RELEASED ? LAB_MOUSE_DRAG
                                               : LAB_MOUSE_CLICK;
    if (out->mouse == LAB_MOUSE_CLICK) {
        t->pressed_y = m.y;
        t->pressed_x = m.x;
    }
    out->from_y = t->pressed_y;
    out->from_x = t->pressed_x;
    return out->mouse != LAB_MOUSE_DRAG || m.y != t->pressed_y ||
           m.x != t->pressed_x;
}

/* The next event that curses already has; false when there is none. */
static bool read_event(struct lab_terminal *t, struct lab_event *out)
{
    if (t->asking && lab_clock_monotonic_ns() >= t->ask_end_ns)
        end_asking(t, false);
    for (;;) {
        if (t->n_mouse > 0) {
            if (read_mouse(t, out))
                return true;
            continue;
        }
        int c = next_key(t);
        if (c == ERR)
            return false;
        if (c == KEY_RESIZE) {
            measure_cell(t);
            forget_images(t);
            t->shown_h = -1; /* cells that were cut off are lost */
            t->resized = true;
            return false;
        }
        if (c == KEY_MOUSE) {
            take_mouse(t);
            continue;
        }
        int key = c > 0xFF ? key_of_code(c) : key_of_byte(t, c);
        if (key == LAB_KEY_NONE)
            continue;
        out->kind = LAB_EVENT_KEY;
        out->key = key;
        return true;
    }
}

static bool pending(struct lab_terminal *t, bool images, struct lab_event *out)
{
    uint64_t count;
    ssize_t n = read(guard.fd, &count, sizeof(count));
    (void)n; /* empty: the flags are read all the same */
    int quit = atomic_exchange(&quit_signal, 0);
    bool stop = atomic_exchange(&stop_wanted, 0);
    bool resume = atomic_exchange(&resumed, 0);
    if (quit) {
        atomic_store(&quit_count, 0);
        out->kind = LAB_EVENT_SIGNAL;
        out->signal = quit;
        return true;
    }
    if (stop || resume)
        stop_or_resume(t, stop);
    else if (read_event(t, out))
        return true;
    if (images)
        show_ready(t); /* after the keys, which an image would keep waiting */
    if (t->resized) {
        t->resized = false;
        out->kind = LAB_EVENT_RESIZE;
        getmaxyx(stdscr, out->h, out->w);
        return true;
    }
    return false;
}

void lab_terminal_wait(struct lab_terminal *t, int timeout_ms, int wake_fd,
                       bool images, struct lab_event *out)
{
    *out = (struct lab_event){.kind = LAB_EVENT_NONE};
    if (pending(t, images, out))
        return;
    struct pollfd fds[3] = {{.fd = t->in_fd, .events = POLLIN},
                            {.fd = guard.fd, .events = POLLIN},
                            {.fd = wake_fd, .events = POLLIN}};
    if ((t->asking || t->heard_n > 0) &&
        (timeout_ms < 0 || timeout_ms > ANSWER_MS))
        timeout_ms = ANSWER_MS;
    int n = poll(fds, 3, timeout_ms);
    if (n <= 0)
        return; /* the time was up, or a signal: the caller comes again */
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        out->kind = LAB_EVENT_SIGNAL; /* the terminal is gone */
        out->signal = SIGHUP;
        return;
    }
    if (pending(t, images, out))
        return;
    if (fds[2].revents & POLLIN)
        out->kind = LAB_EVENT_WAKE;
}
