#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/* term.h defines short lower-case names for capabilities. */
#undef lines
#undef columns
#undef tab

#include "ui/terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "terminal_priv.h"
#include "ui/keymap.h"

enum { ESCAPE_MS = 25 };

struct lab_terminal {
    SCREEN *screen;
    const char *type; /* of the terminfo database */
    FILE *in;         /* ours when standard input is not the terminal */
    int in_fd;
    int colors;
    bool ascii;
    bool utf8; /* what is typed, whatever is shown */
    bool blocks;
    char half[4]; /* the bytes of a character that has not come whole */
    size_t half_n;
    bool resized; /* a RESIZE event is due */
    struct lab_style styles[LAB_ROLE_COUNT];
};

bool lab_color_wanted(enum lab_color_mode mode, bool is_terminal,
                      const char *no_color, const char *term)
{
    if (mode == LAB_COLOR_NEVER)
        return false;
    if (mode == LAB_COLOR_ALWAYS)
        return true;
    if (!is_terminal || (no_color && no_color[0]))
        return false;
    return term && term[0] && strcmp(term, "dumb") != 0;
}

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

static void prepare_leave(bool mouse)
{
    char leave[400] = "";
    if (mouse)
        strcpy(leave, "\033[?1006;1000l");
    add_capability(leave, sizeof(leave), "sgr0");
    add_capability(leave, sizeof(leave), "cnorm");
    add_capability(leave, sizeof(leave), "rmkx");
    add_capability(leave, sizeof(leave), "rmcup");
    strncat(leave, "\r\n", sizeof(leave) - strlen(leave) - 1);
    lab_guard_set_leave(leave);
}

static int count_colors(const struct lab_terminal_options *options)
{
    if (!lab_color_wanted(options->color, true, getenv("NO_COLOR"),
                          getenv("TERM")))
        return 0;
    if (!has_colors() || start_color() == ERR)
        return 0;
    use_default_colors();
    if (tigetflag("RGB") > 0 && COLORS >= 1 << 24)
        return 1 << 24;
    return COLORS >= 256 ? 256 : COLORS >= 16 ? 16 : COLORS >= 8 ? 8 : 0;
}

static void prepare_styles(struct lab_terminal *t)
{
    for (int role = 0; role < LAB_ROLE_COUNT; role++) {
        t->styles[role] = lab_palette((enum lab_role)role, t->colors);
        if (t->colors)
            init_extended_pair(role + 1, t->styles[role].color, -1);
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

static enum lab_status start_curses(struct lab_terminal *t,
                                    const struct lab_terminal_options *options)
{
    set_escdelay(ESCAPE_MS);
    t->screen = newterm(t->type, stdout, t->in ? t->in : stdin);
    if (!t->screen)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "the terminal could not be set up: use --plain");
    lab_guard_chain_winch();
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
        mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    }
    t->colors = count_colors(options);
    prepare_styles(t);
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
    enum lab_status st = lab_terminal_find_input(&t->in, &t->in_fd);
    if (!st)
        st = lab_terminal_check(&ignored, &t->type);
    if (st)
        goto out_input;
    st = lab_guard_open(t->in_fd);
    if (st)
        goto out_input;
    st = start_curses(t, options);
    if (st)
        goto out_guard;
    lab_stderr_hold();
    *out = t;
    return LAB_OK;

out_guard:
    lab_guard_close();
out_input:
    if (t->in)
        fclose(t->in);
    lab_free(t);
    return st;
}

void lab_terminal_close(struct lab_terminal *t)
{
    if (!t)
        return;
    curs_set(1);
    endwin();
    delscreen(t->screen);
    lab_guard_close();
    lab_stderr_release();
    if (t->in)
        fclose(t->in);
    lab_free(t);
}

void lab_terminal_size(const struct lab_terminal *t, int *h, int *w)
{
    (void)t;
    getmaxyx(stdscr, *h, *w);
}

const char *lab_terminal_stand_in(const struct lab_terminal *t)
{
    return strcmp(t->type, getenv("TERM")) == 0 ? NULL : t->type;
}

bool lab_terminal_ascii(const struct lab_terminal *t)
{
    return t->ascii;
}

bool lab_terminal_blocks(const struct lab_terminal *t)
{
    return t->blocks;
}

int lab_terminal_colors(const struct lab_terminal *t)
{
    return t->colors;
}

static void use_role(const struct lab_terminal *t, unsigned char role)
{
    attr_t attr = A_NORMAL;
    int pair = 0;
    if (role < LAB_ROLE_COUNT) {
        int style = t->styles[role].style;
        attr |= style & LAB_STYLE_BOLD ? A_BOLD : 0;
        attr |= style & LAB_STYLE_DIM ? A_DIM : 0;
        attr |= style & LAB_STYLE_UNDERLINE ? A_UNDERLINE : 0;
        attr |= style & LAB_STYLE_REVERSE ? A_REVERSE : 0;
        if (t->colors && t->styles[role].color >= 0)
            pair = role + 1;
    }
    wattr_set(stdscr, attr, (short)pair, NULL);
}

static void show_row(struct lab_terminal *t, const struct lab_cell *row, int y,
                     int w)
{
    int x = 0;
    while (x < w) {
        char run[1024];
        size_t n = 0;
        int start = x;
        unsigned char role = row[x].role;
        while (x < w && row[x].role == role && n + 8 < sizeof(run)) {
            size_t len = strlen(row[x].text);
            memcpy(run + n, row[x].text, len);
            n += len;
            x++;
        }
        use_role(t, role);
        mvaddnstr(y, start, run, (int)n);
    }
}

void lab_terminal_show(struct lab_terminal *t, const struct lab_canvas *c)
{
    int h;
    int w;
    if (lab_guard_crashed())
        return;
    getmaxyx(stdscr, h, w);
    if (h > c->h || w > c->w)
        erase();
    for (int y = 0; y < h && y < c->h; y++)
        show_row(t, &c->cells[(size_t)y * (size_t)c->w], y,
                 c->w < w ? c->w : w);
    bool placed = c->cursor_y >= 0 && c->cursor_y < h && c->cursor_x < w;
    if (placed)
        move(c->cursor_y, c->cursor_x);
    curs_set(placed && c->cursor_shown);
    refresh();
}

void lab_terminal_redraw(struct lab_terminal *t)
{
    (void)t;
    clearok(stdscr, TRUE);
}

/* While the process was stopped nobody told it of a new size. */
static void take_again(struct lab_terminal *t)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0 && is_term_resized(size.ws_row, size.ws_col))
        resizeterm(size.ws_row, size.ws_col);
    clearok(stdscr, TRUE);
    refresh();
    lab_stderr_hold();
    t->resized = true;
}

void lab_terminal_suspend(struct lab_terminal *t)
{
    curs_set(1);
    endwin();
    lab_stderr_release();
    lab_guard_stop();
    take_again(t);
}

void lab_terminal_resume(struct lab_terminal *t)
{
    endwin();
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

static bool read_mouse(struct lab_event *out)
{
    MEVENT m;
    if (getmouse(&m) != OK)
        return false;
    out->kind = LAB_EVENT_MOUSE;
    out->y = m.y;
    out->x = m.x;
    out->mouse = m.bstate & BUTTON4_PRESSED   ? LAB_MOUSE_WHEEL_UP
                 : m.bstate & BUTTON5_PRESSED ? LAB_MOUSE_WHEEL_DOWN
                                              : LAB_MOUSE_CLICK;
    return true;
}

/* The next event that curses already has; false when there is none. */
static bool read_event(struct lab_terminal *t, struct lab_event *out)
{
    for (;;) {
        int c = wgetch(stdscr);
        if (c == ERR)
            return false;
        if (c == KEY_RESIZE) {
            t->resized = true;
            return false;
        }
        if (c == KEY_MOUSE) {
            if (read_mouse(out))
                return true;
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

static bool pending(struct lab_terminal *t, struct lab_event *out)
{
    struct lab_guard_progress news = lab_guard_take();
    if (news.quit) {
        out->kind = LAB_EVENT_SIGNAL;
        out->signal = news.quit;
        return true;
    }
    if (news.stop || news.resume) {
        out->kind = news.stop ? LAB_EVENT_STOP : LAB_EVENT_RESUME;
        return true;
    }
    if (read_event(t, out))
        return true;
    if (t->resized) {
        t->resized = false;
        out->kind = LAB_EVENT_RESIZE;
        getmaxyx(stdscr, out->h, out->w);
        return true;
    }
    return false;
}

void lab_terminal_wait(struct lab_terminal *t, int timeout_ms, int wake_fd,
                       struct lab_event *out)
{
    *out = (struct lab_event){.kind = LAB_EVENT_NONE};
    if (pending(t, out))
        return;
    struct pollfd fds[3] = {{.fd = t->in_fd, .events = POLLIN},
                            {.fd = lab_guard_fd(), .events = POLLIN},
                            {.fd = wake_fd, .events = POLLIN}};
    int n = poll(fds, 3, timeout_ms);
    if (n <= 0)
        return; /* the time was up, or a signal: the caller comes again */
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
        out->kind = LAB_EVENT_SIGNAL; /* the terminal is gone */
        out->signal = SIGHUP;
        return;
    }
    if (pending(t, out))
        return;
    if (fds[2].revents & POLLIN)
        out->kind = LAB_EVENT_WAKE;
}
