/* view_text.c -- the screens that are one text in a pager: any document, the help
 * of a screen, and a C or CUDA source with its functions. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "report/doc.h"
#include "ui/pager.h"
#include "ui/ui.h"
#include "ui/view_text.h"
#include "ui/views.h"

/* A text that takes long: a thread of its own writes it. A screen that is left
 * before does not wait: it leaves this behind, to the next screen that wants the
 * same text, or until the thread has ended. */
struct writing {
    struct lab_text_args what;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    struct lab_ui *ui; /* to be woken; NULL: its screen is gone */
    bool written;      /* the thread touches nothing more */
    struct lab_doc doc;
    enum lab_status status;
    struct lab_kept_error why;
    struct writing *next; /* of those that were left before */
};

static struct writing *left_behind; /* the UI's thread only */

struct text_state {
    struct lab_doc doc;
    struct lab_pager pager;
    char title[128];
    struct writing *writing; /* NULL: the text is shown */
};

enum { TEXT_W = 84 }; /* a line of source with its number */

static enum lab_status text_start(struct text_state *st, const char *title)
{
    enum lab_status status = lab_doc_check(&st->doc);
    if (status)
        return status;
    snprintf(st->title, sizeof(st->title), "%s", title);
    lab_pager_init(&st->pager, &st->doc);
    st->pager.text_w = TEXT_W;
    if (st->doc.first > 0)
        lab_pager_goto(&st->pager, st->doc.first);
    return LAB_OK;
}

static void *write_text(void *user)
{
    struct writing *w = user;
    w->status = w->what.write(w->what.user, &w->doc);
    if (!w->status)
        w->status = lab_doc_check(&w->doc);
    lab_error_keep(&w->why);
    pthread_mutex_lock(&w->lock);
    w->written = true;
    if (w->ui)
        lab_ui_wake(w->ui);
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static bool is_written(struct writing *w)
{
    pthread_mutex_lock(&w->lock);
    bool written = w->written;
    pthread_mutex_unlock(&w->lock);
    return written;
}

/* Of one that is written: the thread is at its end. */
static void end_writing(struct writing *w)
{
    if (w->threaded)
        pthread_join(w->thread, NULL);
    lab_doc_release(&w->doc);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    lab_free(w);
}

static void leave_writing(struct writing *w)
{
    pthread_mutex_lock(&w->lock);
    w->ui = NULL;
    pthread_mutex_unlock(&w->lock);
    w->next = left_behind;
    left_behind = w;
}

/* Ends those left that are written. The same text, when it is still at work, is
 * taken from them: NULL, there is none. */
static struct writing *take_left(const struct lab_text_args *what)
{
    struct writing *taken = NULL;
    struct writing **at = &left_behind;
    while (*at) {
        struct writing *w = *at;
        bool written = is_written(w);
        if (written || (!taken && w->what.write == what->write &&
                        w->what.user == what->user)) {
            *at = w->next;
            if (written)
                end_writing(w);
            else
                taken = w;
        } else {
            at = &w->next;
        }
    }
    return taken;
}

bool lab_text_end(int most_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += most_ms / 1000;
    until.tv_nsec += most_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    while (left_behind) {
        struct writing *w = left_behind;
        int late = 0;
        pthread_mutex_lock(&w->lock);
        while (!w->written && !late)
            late = pthread_cond_timedwait(&w->ended, &w->lock, &until);
        bool written = w->written;
        pthread_mutex_unlock(&w->lock);
        if (!written)
            return false;
        left_behind = w->next;
        end_writing(w);
    }
    return true;
}

static enum lab_status begin_writing(struct text_state *st, struct lab_ui *ui,
                                     const struct lab_text_args *what)
{
    struct writing *w = take_left(what);
    if (w) {
        pthread_mutex_lock(&w->lock);
        w->ui = ui;
        if (w->written)
            lab_ui_wake(ui);
        pthread_mutex_unlock(&w->lock);
        st->writing = w;
        return LAB_OK;
    }
    w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_no_memory("a text");
    w->what = *what;
    w->ui = ui;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    lab_doc_init(&w->doc);
    st->writing = w;
    w->threaded = lab_thread_start(&w->thread, write_text, w) == LAB_OK;
    if (!w->threaded)
        write_text(w);
    return LAB_OK;
}

static enum lab_status text_init(struct lab_screen *s, const void *args)
{
    struct text_state *st = s->state;
    const struct lab_text_args *a = args;
    lab_doc_init(&st->doc);
    if (a->waiting) {
        lab_doc_para(&st->doc, 0, 0, true);
        lab_doc_add(&st->doc, LAB_ROLE_DIM, a->waiting);
        enum lab_status started = text_start(st, a->title);
        return started ? started : begin_writing(st, s->ui, a);
    }
    enum lab_status status = a->write(a->user, &st->doc);
    return status ? status : text_start(st, a->title);
}

static bool text_tick(struct lab_screen *s)
{
    struct text_state *st = s->state;
    struct writing *w = st->writing;
    if (!w || !is_written(w))
        return false;
    if (w->status) {
        lab_error_again(w->status, &w->why);
        lab_ui_error(s->ui);
    }
    lab_doc_release(&st->doc);
    st->doc = w->doc;
    lab_doc_init(&w->doc);
    st->writing = NULL;
    end_writing(w);
    lab_pager_show(&st->pager, &st->doc);
    return true;
}

/* The wake came while another screen was on top, and was spent there. */
static void text_shown(struct lab_screen *s)
{
    text_tick(s);
}

static void text_release(struct lab_screen *s)
{
    struct text_state *st = s->state;
    if (st->writing)
        leave_writing(st->writing);
    lab_pager_release(&st->pager);
    lab_doc_release(&st->doc);
}

static void text_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct text_state *st = s->state;
    lab_canvas_focus(c, body.y, body.x); /* or the match that it is at */
    lab_pager_draw(&st->pager, c, body);
}

static void text_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct text_state *st = s->state;
    out->at[0].pager = &st->pager;
}

static void text_title(struct lab_screen *s, char *out, size_t cap)
{
    struct text_state *st = s->state;
    char place[64];
    snprintf(out, cap, "%s (%s)", st->title,
             lab_pager_place(&st->pager, place, sizeof(place)));
}

static const struct lab_binding text_keys[] = {
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"n", true, "next", "to the next match", LAB_ACT_SEARCH_NEXT},
    {NULL}};

const struct lab_screen_ops lab_view_text = {
    .name = "text",
    .title = "Text",
    .state_bytes = sizeof(struct text_state),
    .bindings = text_keys,
    .sideways = true,
    .init = text_init,
    .release = text_release,
    .draw = text_draw,
    .tick = text_tick,
    .shown = text_shown,
    .panes = text_panes,
    .title_now = text_title,
};

/* ---- help: made from the keys of a screen ---- */

enum { KEYS_W = 22 };

/* What a paragraph of the help can do. */
struct help_row {
    int key;          /* 0: nothing */
    const char *word; /* typed behind it: a command's */
};

struct help_out {
    struct lab_doc *doc;
    const char *filter;    /* only rows with all its words; "": all */
    const char *heading;   /* to be written before the next row, or NULL */
    struct help_row *rows; /* by paragraph; NULL: they are not wanted */
    size_t n;
    bool failed;
};

static bool has_words(const char *filter, const char *text)
{
    while (*filter) {
        char word[64];
        size_t n = strcspn(filter, " ");
        snprintf(word, sizeof(word), "%.*s", (int)n, filter);
        if (!strcasestr(text, word))
            return false;
        filter += n;
        filter += strspn(filter, " ");
    }
    return true;
}

static void note_row(struct help_out *out, struct help_row row)
{
    size_t para = out->doc->para_count - 1;
    if (out->failed || !row.key)
        return;
    struct help_row *more =
        lab_realloc_array(out->rows, para + 1, sizeof(*more));
    if (!more) {
        out->failed = true;
        return;
    }
    memset(more + out->n, 0, (para + 1 - out->n) * sizeof(*more));
    more[para] = row;
    out->rows = more;
    out->n = para + 1;
}

/* The keys of a row that no other table has taken; returns the first. */
static int key_list(const struct lab_binding *b,
                    const struct lab_binding *hidden_by, char *out, size_t cap)
{
    char name[LAB_KEY_NAME_BYTES];
    const char *keys = b->keys;
    size_t n = 0;
    int first = 0;
    out[0] = '\0';
    for (int key = lab_key_next(&keys); key; key = lab_key_next(&keys)) {
        if (lab_keymap_find(hidden_by, key))
            continue;
        first = first ? first : key;
        n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? " " : "",
                              lab_key_name(key, name));
    }
    return first;
}

/* `name`: other words that find the row. */
static void write_row(struct help_out *out, const char *keys, const char *help,
                      const char *name, struct help_row does)
{
    char all[512];
    struct lab_doc *doc = out->doc;
    snprintf(all, sizeof(all), "%s %s %s", keys, help, name);
    if (!has_words(out->filter, all))
        return;
    if (out->heading) {
        if (doc->para_count)
            lab_doc_blank(doc);
        lab_doc_para(doc, 0, 0, true);
        lab_doc_add(doc, LAB_ROLE_HEADING, out->heading);
        out->heading = NULL;
    }
    lab_doc_para(doc, 2, KEYS_W + 2, true);
    if (strlen(keys) < KEYS_W) {
        lab_doc_addf(doc, LAB_ROLE_KEY, "%-*s", KEYS_W - 1, keys);
    } else {
        lab_doc_add(doc, LAB_ROLE_KEY, keys);
        note_row(out, does);
        lab_doc_para(doc, 2, KEYS_W + 2, true);
        lab_doc_addf(doc, LAB_ROLE_KEY, "%-*s", KEYS_W - 1, "");
        does.key = 0;
    }
    lab_doc_addf(doc, LAB_ROLE_NORMAL, " %s", help);
    note_row(out, does);
}

static void write_table(struct help_out *out, const struct lab_binding *table,
                        const struct lab_binding *hidden_by)
{
    char keys[64];
    for (; table->keys; table++) {
        if (lab_keymap_action(hidden_by, table->action))
            continue;
        int key = key_list(table, hidden_by, keys, sizeof(keys));
        if (key)
            write_row(out, keys, table->help, table->name,
                      (struct help_row){key, ""});
    }
}

static void write_words(struct help_out *out, const struct lab_screen_ops *ops)
{
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    out->heading = "Commands, after \":\"; a word may be shortened";
    for (size_t i = 0; i < count; i++)
        if (words[i].help &&
            (ops->command || lab_ui_command_everywhere(words[i].kind)))
            write_row(out, words[i].usage, words[i].help, "",
                      (struct help_row){':', words[i].word});
}

static void write_help(struct help_out *out, const struct lab_screen_ops *ops,
                       const struct lab_binding *bindings)
{
    char heading[128];
    if (bindings) {
        snprintf(heading, sizeof(heading), "Keys of this screen (%s)",
                 ops->title);
        out->heading = heading;
        write_table(out, bindings, NULL);
    }
    const struct lab_sign *sign = ops->signs;
    out->heading = sign ? "Signs" : NULL;
    for (; sign && sign->sign; sign++)
        write_row(out, sign->sign, sign->means, "", (struct help_row){0, ""});
    out->heading = "Everywhere";
    write_table(out, lab_global_keymap(ops->sideways), bindings);
    write_row(out, "^C", "end the program", "", (struct help_row){0, ""});
    write_row(out, "^Z", "stop it; \"fg\" in the shell goes on", "",
              (struct help_row){0, ""});
    write_words(out, ops);
}

void lab_help_write(struct lab_doc *doc, const struct lab_screen_ops *ops,
                    const struct lab_binding *bindings)
{
    struct help_out out = {.doc = doc, .filter = ""};
    write_help(&out, ops, bindings);
    lab_free(out.rows);
}

struct help_state {
    struct text_state text; /* first: the text screen's functions use it */
    const struct lab_screen_ops *of;
    const struct lab_binding *keys;
    struct help_row *rows; /* by paragraph */
    size_t n;
    char filter[128];
};

/* The row that does something, from `at` on in a direction; SIZE_MAX: none. */
static size_t next_row(const struct help_state *st, size_t at, int by)
{
    for (; at < st->n; at += (size_t)by)
        if (st->rows[at].key)
            return at;
    return SIZE_MAX;
}

static void renew_help(struct help_state *st)
{
    struct help_out out = {.doc = &st->text.doc, .filter = st->filter};
    lab_doc_clear(&st->text.doc);
    write_help(&out, st->of, st->keys);
    if (st->text.doc.para_count == 0)
        lab_doc_add(&st->text.doc, LAB_ROLE_DIM,
                    "No key or command has these words.");
    lab_free(st->rows);
    st->rows = out.rows;
    st->n = out.n;
}

static enum lab_status help_init(struct lab_screen *s, const void *args)
{
    struct help_state *st = s->state;
    const struct lab_screen *of = args;
    lab_doc_init(&st->text.doc);
    st->of = of->ops;
    st->keys = lab_ui_keys(of);
    renew_help(st);
    enum lab_status status = text_start(&st->text, "Help");
    st->text.pager.chosen = next_row(st, 0, 1);
    return status;
}

static void help_release(struct lab_screen *s)
{
    struct help_state *st = s->state;
    lab_free(st->rows);
    text_release(s);
}

static bool help_filter(struct lab_screen *s, const char *text)
{
    struct help_state *st = s->state;
    snprintf(st->filter, sizeof(st->filter), "%s", text);
    renew_help(st);
    lab_pager_renew(&st->text.pager);
    lab_pager_action(&st->text.pager, LAB_ACT_FIRST);
    st->text.pager.chosen = next_row(st, 0, 1);
    return true;
}

/* Closes the help and presses the key that the row is about; a command is typed
 * as far as its word. */
static void run_row(struct lab_screen *s)
{
    const struct help_state *st = s->state;
    size_t at = st->text.pager.chosen;
    if (at >= st->n || !st->rows[at].key)
        return;
    const struct help_row row = st->rows[at];
    size_t n = strlen(row.word);
    if (n > 0)
        lab_ui_press(s->ui, ' ');
    while (n > 0)
        lab_ui_press(s->ui, (unsigned char)row.word[--n]);
    lab_ui_press(s->ui, row.key);
    lab_ui_pop(s->ui);
}

/* The first row in sight that does something; SIZE_MAX: none. */
static size_t row_in_sight(const struct help_state *st)
{
    const struct lab_pager *p = &st->text.pager;
    for (size_t i = p->top; i < p->row_count && i < p->top + (size_t)p->view_h;
         i++)
        if (p->rows[i].para < st->n && st->rows[p->rows[i].para].key)
            return p->rows[i].para;
    return SIZE_MAX;
}

/* Up and down go from one row that does something to the next; where there is
 * none the text moves. */
static bool choose_row(struct help_state *st, int action)
{
    struct lab_pager *p = &st->text.pager;
    size_t at = p->chosen;
    size_t to = SIZE_MAX;
    if (action == LAB_ACT_DOWN && at < st->n)
        to = next_row(st, at + 1, 1);
    else if (action == LAB_ACT_UP && at < st->n && at > 0)
        to = next_row(st, at - 1, -1);
    else if (action == LAB_ACT_FIRST)
        to = next_row(st, 0, 1);
    else if (action == LAB_ACT_LAST && st->n > 0)
        to = next_row(st, st->n - 1, -1);
    else if (action == LAB_ACT_PAGE_DOWN || action == LAB_ACT_PAGE_UP ||
             action == LAB_ACT_DOWN || action == LAB_ACT_UP) {
        lab_pager_action(p, action);
        p->chosen = row_in_sight(st);
        return true;
    }
    if (action == LAB_ACT_FIRST || action == LAB_ACT_LAST)
        lab_pager_action(p, action); /* what is beyond the last row, too */
    if (to < st->n)
        p->chosen = to;
    return to < st->n;
}

static bool help_action(struct lab_screen *s, int action)
{
    struct help_state *st = s->state;
    if (action == LAB_ACT_HELP) {
        lab_ui_pop(s->ui); /* the key that opened it closes it */
        return true;
    }
    if (action == LAB_ACT_OPEN) {
        run_row(s);
        return true;
    }
    return choose_row(st, action);
}

static const struct lab_binding help_keys[] = {
    {"Enter", true, "run", "do what the row under the cursor names",
     LAB_ACT_OPEN},
    {"/ F3", true, "filter", "show the keys and commands with the words typed",
     LAB_ACT_SEARCH},
    {NULL}};

const struct lab_screen_ops lab_view_help = {
    .name = "help",
    .title = "Help",
    .state_bytes = sizeof(struct help_state),
    .bindings = help_keys,
    .init = help_init,
    .release = help_release,
    .draw = text_draw,
    .action = help_action,
    .filter = help_filter,
    .panes = text_panes,
    .title_now = text_title,
};

/* ---- a source and its functions ---- */

enum { PROMPT_JUMP = 1 };

struct source_state {
    struct text_state text; /* first: the text screen's functions use it */
    struct lab_source_symbol *symbols;
    size_t symbol_count;
    size_t here; /* the symbol that was jumped to last, or SIZE_MAX */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Words before a "(" that are not the name of what is defined. */
static bool is_attribute(const char *name, size_t n)
{
    static const char *const words[] = {"__launch_bounds__",
                                        "__attribute__",
                                        "__align__",
                                        "alignas",
                                        "if",
                                        "while",
                                        "for",
                                        "switch"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == n && memcmp(words[i], name, n) == 0)
            return true;
    return false;
}

struct scan {
    const char *text;
    size_t bytes;
    size_t at;
    int64_t line;
};

/* Past a comment, a string or one other byte; counts lines. */
static void skip_one(struct scan *s)
{
    const char *p = s->text + s->at;
    size_t left = s->bytes - s->at;
    size_t n = 1;
    if (left > 1 && p[0] == '/' && p[1] == '/') {
        while (n < left && p[n] != '\n')
            n++;
    } else if (left > 1 && p[0] == '/' && p[1] == '*') {
        n = 2;
        while (n < left && !(p[n - 1] == '*' && p[n] == '/' && n > 2))
            n++;
        n = n < left ? n + 1 : left;
    } else if (p[0] == '"' || p[0] == '\'') {
        while (n < left && p[n] != p[0] && p[n] != '\n')
            n += p[n] == '\\' && n + 1 < left ? 2 : 1;
        n = n < left && p[n] == p[0] ? n + 1 : n;
    }
    n = n < left ? n : left;
    for (size_t i = 0; i < n; i++)
        s->line += p[i] == '\n';
    s->at += n;
}

static void skip_line(struct scan *s)
{
    bool more = true;
    while (s->at < s->bytes && more) {
        more =
            s->text[s->at] != '\n' || (s->at > 0 && s->text[s->at - 1] == '\\');
        s->line += s->text[s->at] == '\n';
        s->at++;
    }
}

/* From the first word of a declaration at the margin to its "{" or ";": the
 * name of the function that it defines, if it does. */
static bool read_head(struct scan *s, struct lab_source_symbol *out)
{
    bool named = false;
    int depth = 0;
    while (s->at < s->bytes) {
        char c = s->text[s->at];
        if (depth == 0 && (c == '{' || c == ';' || c == '}'))
            break;
        if (c == '(' && depth++ == 0 && !named) {
            size_t end = s->at;
            while (end > 0 && s->text[end - 1] == ' ')
                end--;
            size_t start = end;
            while (start > 0 && is_word(s->text[start - 1]))
                start--;
            named = end > start && !is_attribute(s->text + start, end - start);
            snprintf(out->name, sizeof(out->name), "%.*s", (int)(end - start),
                     s->text + start);
            out->line = s->line;
        }
        depth -= c == ')';
        skip_one(s);
    }
    return named && s->at < s->bytes && s->text[s->at] == '{';
}

/* Past a body that begins at s->at, with "{". Inside `extern "C" {` and namespaces
 * there is more to find, so only bodies of functions are skipped. */
static void skip_body(struct scan *s)
{
    int depth = 0;
    do {
        char c = s->text[s->at];
        depth += (c == '{') - (c == '}');
        skip_one(s);
    } while (depth > 0 && s->at < s->bytes);
}

size_t lab_source_symbols(const char *text, size_t bytes,
                          struct lab_source_symbol *out, size_t cap)
{
    struct scan s = {text, bytes, 0, 1};
    size_t count = 0;
    while (s.at < s.bytes) {
        struct lab_source_symbol symbol;
        char c = s.text[s.at];
        bool margin = s.at == 0 || s.text[s.at - 1] == '\n';
        if (c == '#' && margin) {
            skip_line(&s);
        } else if (margin && is_word(c)) {
            if (!read_head(&s, &symbol)) {
                if (s.at < s.bytes)
                    skip_one(&s);
                continue;
            }
            if (count < cap)
                out[count] = symbol;
            count++;
            skip_body(&s);
        } else {
            skip_one(&s);
        }
    }
    return count;
}

/* Sorted. */
static const char *const keywords[] = {"__constant__",
                                       "__device__",
                                       "__global__",
                                       "__host__",
                                       "__launch_bounds__",
                                       "__restrict__",
                                       "__shared__",
                                       "auto",
                                       "bool",
                                       "break",
                                       "case",
                                       "char",
                                       "const",
                                       "constexpr",
                                       "continue",
                                       "default",
                                       "do",
                                       "double",
                                       "else",
                                       "enum",
                                       "extern",
                                       "false",
                                       "float",
                                       "for",
                                       "goto",
                                       "if",
                                       "inline",
                                       "int",
                                       "int32_t",
                                       "int64_t",
                                       "int8_t",
                                       "long",
                                       "namespace",
                                       "restrict",
                                       "return",
                                       "short",
                                       "signed",
                                       "size_t",
                                       "sizeof",
                                       "static",
                                       "static_cast",
                                       "struct",
                                       "switch",
                                       "template",
                                       "true",
                                       "typedef",
                                       "typename",
                                       "uint32_t",
                                       "uint64_t",
                                       "uint8_t",
                                       "union",
                                       "unsigned",
                                       "using",
                                       "void",
                                       "volatile",
                                       "while"};

struct word {
    const char *text;
    size_t n;
};

static int compare_word(const void *key, const void *entry)
{
    const struct word *w = key;
    const char *have = *(const char *const *)entry;
    int order = strncmp(w->text, have, w->n);
    return order ? order : have[w->n] ? -1 : 0;
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Past a string or a character, or up to the line's end. */
static const char *past_quoted(const char *at, const char *end)
{
    const char quote = *at++;
    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : end;
}

/* The next piece of a line outside of comments: a keyword or a directive, a number
 * or a string, or what is between these. */
static const char *next_piece(const char *line, const char *end,
                              enum lab_role *role)
{
    const char *at = line;
    *role = LAB_ROLE_NORMAL;
    if (*at == '"' || *at == '\'') {
        *role = LAB_ROLE_FORMULA;
        return past_quoted(at, end);
    }
    if (isdigit((unsigned char)*at)) {
        *role = LAB_ROLE_FORMULA;
        while (at < end && (in_word(*at) || *at == '.'))
            at++;
        return at;
    }
    if (in_word(*at) || *at == '#') {
        do
            at++;
        while (at < end && in_word(*at));
        struct word w = {line, (size_t)(at - line)};
        if (*line == '#' ||
            bsearch(&w, keywords, sizeof(keywords) / sizeof(keywords[0]),
                    sizeof(keywords[0]), compare_word))
            *role = LAB_ROLE_HEADING;
        return at;
    }
    do
        at++;
    while (at < end && !in_word(*at) && !strchr("\"'/#", *at));
    return at;
}

size_t lab_source_piece(const char *line, size_t n, bool *in_comment,
                        enum lab_role *role)
{
    const char *end = line + n;
    *role = LAB_ROLE_CODE;
    if (*in_comment) {
        const char *stop = memmem(line, n, "*/", 2);
        *in_comment = !stop;
        return stop ? (size_t)(stop + 2 - line) : n;
    }
    if (n > 1 && line[0] == '/' && line[1] == '/')
        return n;
    if (n > 1 && line[0] == '/' && line[1] == '*') {
        *in_comment = true;
        return 2;
    }
    return (size_t)(next_piece(line, end, role) - line);
}

static void add_code(struct lab_doc *doc, const char *line, size_t n,
                     bool *in_comment)
{
    for (size_t at = 0, piece; at < n; at += piece) {
        enum lab_role role;
        piece = lab_source_piece(line + at, n - at, in_comment, &role);
        lab_doc_add_bytes(doc, role, line + at, piece);
    }
}

void lab_source_write(struct lab_doc *doc, const char *text, size_t bytes,
                      bool wrap)
{
    bool in_comment = false;
    size_t at = 0;
    for (int64_t line = 1; at < bytes; line++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t n = end ? (size_t)(end - text) - at : bytes - at;
        lab_doc_para(doc, 0, 8, wrap);
        lab_doc_addf(doc, LAB_ROLE_DIM, "%6lld  ", (long long)line);
        add_code(doc, text + at, n > 0 && text[at + n - 1] == '\r' ? n - 1 : n,
                 &in_comment);
        at += n + 1;
    }
}

static void go_to(struct lab_screen *s, size_t symbol)
{
    struct source_state *st = s->state;
    const struct lab_source_symbol *to = &st->symbols[symbol];
    st->here = symbol;
    snprintf(st->text.pager.search, sizeof(st->text.pager.search), "%s",
             to->name);
    lab_pager_goto(&st->text.pager, (size_t)(to->line - 1));
    lab_ui_message(s->ui, LAB_ROLE_NORMAL, "%s, line %lld", to->name,
                   (long long)to->line);
}

/* By the whole name, by its start, or by any mention of it in the text. */
static void jump(struct lab_screen *s, const char *name)
{
    struct source_state *st = s->state;
    for (int whole = 1; whole >= 0; whole--) {
        for (size_t i = 0; i < st->symbol_count; i++) {
            const char *have = st->symbols[i].name;
            if (whole ? strcmp(have, name) == 0
                      : strncmp(have, name, strlen(name)) == 0) {
                go_to(s, i);
                return;
            }
        }
    }
    if (!lab_pager_search(&st->text.pager, name, 1))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "no \"%s\" in this file", name);
}

static enum lab_status source_init(struct lab_screen *s, const void *args)
{
    struct source_state *st = s->state;
    const struct lab_source_args *a = args;
    st->symbol_count = lab_source_symbols(a->text, a->bytes, NULL, 0);
    st->symbols = lab_alloc_array(st->symbol_count, sizeof(*st->symbols));
    if (!st->symbols)
        return lab_fail(LAB_E_NOMEM, "%s", a->path);
    lab_source_symbols(a->text, a->bytes, st->symbols, st->symbol_count);
    st->here = SIZE_MAX;
    lab_doc_init(&st->text.doc);
    lab_source_write(&st->text.doc, a->text, a->bytes, false);
    enum lab_status status = text_start(&st->text, a->path);
    if (!status && a->symbol && a->symbol[0])
        jump(s, a->symbol);
    return status;
}

static void source_release(struct lab_screen *s)
{
    struct source_state *st = s->state;
    lab_free(st->symbols);
    text_release(s);
}

static enum lab_status step_symbol(struct lab_screen *s, int by)
{
    struct source_state *st = s->state;
    size_t n = st->symbol_count;
    if (n == 0)
        lab_ui_message(s->ui, LAB_ROLE_WARN, "no function in this file");
    else if (st->here == SIZE_MAX)
        go_to(s, 0);
    else
        go_to(s, (st->here + (by > 0 ? 1 : n - 1)) % n);
    return LAB_OK;
}

static enum lab_status ask_symbol(struct lab_screen *s)
{
    lab_ui_prompt(s->ui, PROMPT_JUMP, "function: ", NULL);
    return LAB_OK;
}

static enum lab_status turn_wrap(struct lab_screen *s)
{
    struct source_state *st = s->state;
    bool wrap = st->text.doc.para_count > 0 && !st->text.doc.paras[0].wrap;
    for (size_t i = 0; i < st->text.doc.para_count; i++)
        st->text.doc.paras[i].wrap = wrap;
    st->text.pager.width = -1; /* the rows must be made again */
    st->text.pager.left = 0;
    lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                   wrap ? "long lines are wrapped" : "long lines are cut");
    return LAB_OK;
}

static bool source_action(struct lab_screen *s, int action)
{
    if (action != LAB_ACT_NEXT_PANE && action != LAB_ACT_PREV_PANE)
        return false;
    step_symbol(s, action == LAB_ACT_NEXT_PANE ? 1 : -1);
    return true;
}

static void source_answer(struct lab_screen *s, int id, const char *text)
{
    if (id == PROMPT_JUMP && text && text[0])
        jump(s, text);
}

static const struct lab_binding source_keys[] = {
    {"]", true, "next function", "to the next function", LAB_ACT_OWN, NULL,
     step_symbol, 1},
    {"[", false, "previous", "to the function before", LAB_ACT_OWN, NULL,
     step_symbol, -1},
    {"t F2", true, "function", "to a function by its name", LAB_ACT_OWN,
     ask_symbol},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"n", true, "next", "to the next match", LAB_ACT_SEARCH_NEXT},
    {"w", true, "wrap", "wrap or cut long lines", LAB_ACT_OWN, turn_wrap},
    {NULL}};

const struct lab_screen_ops lab_view_source = {
    .name = "source",
    .title = "Source",
    .state_bytes = sizeof(struct source_state),
    .bindings = source_keys,
    .sideways = true,
    .init = source_init,
    .release = source_release,
    .draw = text_draw,
    .action = source_action,
    .panes = text_panes,
    .answer = source_answer,
    .title_now = text_title,
};
