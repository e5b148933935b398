/* view_source.c -- the screen of a source file: finds its functions and jumps
 * between them. */
#include "ui/view_source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "view_text.h"

enum { PROMPT_JUMP = 1 };

struct source_state {
    struct lab_text_state text; /* first: the text screen's functions use it */
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

/* Past a body whose "{" is at s->at. Inside `extern "C" {` and namespaces
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

/* The comment part of a line is separated from the rest; *in_comment goes over
 * line ends. Good enough for reading: strings with comment marks are rare. */
static void add_code(struct lab_doc *doc, const char *line, size_t n,
                     bool *in_comment)
{
    size_t at = 0;
    while (at < n) {
        size_t end = at;
        if (*in_comment) {
            while (end < n &&
                   !(end > at && line[end] == '/' && line[end - 1] == '*'))
                end++;
            *in_comment = end >= n;
            end = end < n ? end + 1 : n;
            lab_doc_add_bytes(doc, LAB_ROLE_CODE, line + at, end - at);
            at = end;
            continue;
        }
        while (end + 1 < n && !(line[end] == '/' &&
                                (line[end + 1] == '/' || line[end + 1] == '*')))
            end++;
        if (end + 1 >= n)
            end = n;
        lab_doc_add_bytes(doc, LAB_ROLE_NORMAL, line + at, end - at);
        at = end;
        if (at < n && line[at + 1] == '/') {
            lab_doc_add_bytes(doc, LAB_ROLE_CODE, line + at, n - at);
            at = n;
        } else if (at < n) {
            lab_doc_add_bytes(doc, LAB_ROLE_CODE, line + at, 2);
            at += 2;
            *in_comment = true;
        }
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
    if (!lab_pager_search(&st->text.pager, name, 1, false))
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
    enum lab_status status = lab_text_start(&st->text, a->path);
    if (status) {
        lab_free(st->symbols);
        return status;
    }
    if (a->symbol && a->symbol[0])
        jump(s, a->symbol);
    return LAB_OK;
}

static void source_release(struct lab_screen *s)
{
    struct source_state *st = s->state;
    lab_free(st->symbols);
    lab_text_release(s);
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

static const struct lab_binding BINDINGS[] = {
    {"]", true, "next function", "to the next function", LAB_ACT_OWN, NULL,
     step_symbol, 1},
    {"[", false, "previous", "to the function before", LAB_ACT_OWN, NULL,
     step_symbol, -1},
    {"t F2", true, "function", "to a function by its name", LAB_ACT_OWN,
     ask_symbol},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"w", true, "wrap", "wrap or cut long lines", LAB_ACT_OWN, turn_wrap},
    {NULL}};

const struct lab_screen_ops lab_view_source = {
    .name = "source",
    .title = "Source",
    .state_bytes = sizeof(struct source_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = source_init,
    .release = source_release,
    .draw = lab_text_draw,
    .action = source_action,
    .panes = lab_text_panes,
    .answer = source_answer,
    .title_now = lab_text_title,
};
