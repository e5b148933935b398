/* command.c -- parses the gdb words of the command line (`:break`, `:watch`,
 * `:lr`), for the screen and --plain alike. */
#include "debug/command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "engine/network.h"
#include "common/kernel.h"

/* Help shows the rows in this order; a row without help is another spelling. */
static const struct lab_ui_command_word WORDS[] = {
    {LAB_COMMAND_STEP, "step", "step [N]", "one step on, into groups"},
    {LAB_COMMAND_NEXT, "next", "next [N]", "one step on, over a group"},
    {LAB_COMMAND_FINISH, "finish", "finish", "to the end of this phase"},
    {LAB_COMMAND_INTO, "into", "into [STEP [PHASE]]",
     "into the kernels of the next step, or of that one (--backend sim)"},
    {LAB_COMMAND_CONTINUE, "continue", "continue",
     "to the next breakpoint, or to the end of the iteration"},
    {LAB_COMMAND_RUN, "run", "run STEP [PHASE]", "to that step"},
    {LAB_COMMAND_RUN, "until", "until STEP [PHASE]", NULL},
    {LAB_COMMAND_RUN, "advance", "advance STEP [PHASE]", NULL},
    {LAB_COMMAND_BREAK, "break",
     "break [STEP [PHASE] | phase PHASE | nan | inf | loss > X]",
     "stop there, or when that comes true"},
    {LAB_COMMAND_DELETE, "delete", "delete [N]", "remove breakpoint N, or all"},
    {LAB_COMMAND_WATCH, "watch", "watch TENSOR",
     "stop whenever this tensor is written"},
    {LAB_COMMAND_UNWATCH, "unwatch", "unwatch [TENSOR]",
     "drop it again, or all"},
    {LAB_COMMAND_PRINT, "print", "print TENSOR[I,J]",
     "show a tensor, a slice (`:` is a whole axis) or an element"},
    {LAB_COMMAND_EXPLAIN, "explain", "explain TENSOR[I,J]",
     "the formula of that element with its numbers put in"},
    {LAB_COMMAND_BACK, "back", "back [N]", "one step back, bit for bit"},
    {LAB_COMMAND_BACK, "reverse-step", "reverse-step [N]", NULL},
    {LAB_COMMAND_RESTART, "restart", "restart [lr=X]",
     "from the start, with the same seed; or with learning rate X"},
    {LAB_COMMAND_SEED, "seed", "seed S", "from the start, with seed S"},
    {LAB_COMMAND_LR, "lr", "lr [X]",
     "learning rate X from the next step on, also while it trains; alone, what "
     "it is"},
    {LAB_COMMAND_SAVE, "save", "save FILE [force]",
     "keep the network in a file (safetensors); force: over another"},
    {LAB_COMMAND_LOAD, "load", "load FILE",
     "from the start, with the parameters in a file"},
    {LAB_COMMAND_EXPORT, "export", "export FILE.svg | FILE.png",
     "the screen as a picture, for a slide; not in plain text"},
    {LAB_COMMAND_THEME, "theme",
     "theme auto | dark | light | contrast | terminal",
     "the colours of the screens; not in plain text"},
    {LAB_COMMAND_VARIANT, "variant", "variant NODE [NAME | default | auto]",
     "how the node runs: default is by the fixed table, auto drops the choice; "
     "alone, what it can run as, with measured times"},
    {LAB_COMMAND_CHECK, "check", "check PARAMETER | all",
     "its gradient, or every one, against central differences"},
    {LAB_COMMAND_NEAR, "near", "near WORDS",
     "words near king, or near king - man + woman"},
    {LAB_COMMAND_COUNT, "count", "count [step | node | iteration]",
     "hardware counters of what has run"},
    {LAB_COMMAND_TRACE, "trace", "trace [off | kernels | on]",
     "off, kernels and copies, or on: calls too; alone, its state"},
    {LAB_COMMAND_TRAIN, "train", "train [ITERATIONS]", "train on its own"},
    {LAB_COMMAND_STOP, "stop", "stop", "stop the training"},
    {LAB_COMMAND_SAMPLE, "sample", "sample [N] [t=TEMPERATURE] [k=TOP] [TEXT]",
     "the network writes N characters, going on from TEXT"},
    {LAB_COMMAND_LIST, "list",
     "list [steps | breaks | tensors | variants | words | notes]",
     "what there is"},
    {LAB_COMMAND_HELP, "help", "help [WORD]", "these words, or one of them"},
    {LAB_COMMAND_QUIT, "quit", "quit", "end"},
};

enum { WORD_COUNT = sizeof(WORDS) / sizeof(WORDS[0]) };

/* What gdb's users type without thinking, though it is ambiguous. */
static const struct {
    const char *letter;
    enum lab_ui_command_kind kind;
} LETTERS[] = {
    {"s", LAB_COMMAND_STEP},      {"n", LAB_COMMAND_NEXT},
    {"c", LAB_COMMAND_CONTINUE},  {"b", LAB_COMMAND_BREAK},
    {"p", LAB_COMMAND_PRINT},     {"q", LAB_COMMAND_QUIT},
    {"rs", LAB_COMMAND_BACK},     {"fin", LAB_COMMAND_FINISH},
    {"t", LAB_COMMAND_TRAIN},     {"l", LAB_COMMAND_LIST},
    {"e", LAB_COMMAND_EXPLAIN},   {"ex", LAB_COMMAND_EXPLAIN},
    {"exp", LAB_COMMAND_EXPLAIN},
};

const struct lab_ui_command_word *lab_ui_command_words(size_t *count)
{
    *count = WORD_COUNT;
    return WORDS;
}

const char *lab_ui_command_name(enum lab_ui_command_kind kind)
{
    for (int i = 0; i < WORD_COUNT; i++)
        if (WORDS[i].kind == kind)
            return WORDS[i].word;
    return "";
}

const char *lab_ui_command_lr_text(double lr, double rate,
                                   char out[LAB_COMMAND_LR_TEXT])
{
    if (isnan(lr))
        snprintf(out, LAB_COMMAND_LR_TEXT,
                 "nothing is updated here: there is no learning rate");
    else if (rate != lr)
        snprintf(out, LAB_COMMAND_LR_TEXT,
                 "the learning rate is %g, by its schedule %g in this "
                 "iteration; lr X changes it",
                 lr, rate);
    else
        snprintf(out, LAB_COMMAND_LR_TEXT,
                 "the learning rate is %g; lr X changes it", lr);
    return out;
}

const char *lab_ui_command_lr_set_text(double lr, bool fresh,
                                       char out[LAB_COMMAND_LR_TEXT])
{
    snprintf(out, LAB_COMMAND_LR_TEXT, "the learning rate is %g%s", lr,
             fresh ? ""
                   : " from the next step on; the run's record has the rate "
                     "that it began with");
    return out;
}

bool lab_ui_command_repeats(enum lab_ui_command_kind kind)
{
    return kind == LAB_COMMAND_STEP || kind == LAB_COMMAND_NEXT ||
           kind == LAB_COMMAND_FINISH || kind == LAB_COMMAND_CONTINUE ||
           kind == LAB_COMMAND_BACK;
}

bool lab_ui_command_everywhere(enum lab_ui_command_kind kind)
{
    return kind == LAB_COMMAND_EXPORT || kind == LAB_COMMAND_THEME ||
           kind == LAB_COMMAND_HELP || kind == LAB_COMMAND_QUIT;
}

/* A line cut at blanks; what follows the word stays one text for `print`. */
enum { TOKENS = 16, LINE_BYTES = 512 };

struct line {
    char text[LINE_BYTES];
    char *token[TOKENS];
    int count;
    bool more; /* words than fit: only a text may have them */
    const struct lab_ui_command_word *word;
};

static enum lab_status fail_usage(const struct line *l, const char *problem)
{
    return lab_fail(LAB_E_PARSE, "[command.arguments] %s: %s; usage: %s",
                    l->word->word, problem, l->word->usage);
}

static enum lab_status fail_nearest(const char *what, const char *word,
                                    const char *const *names, size_t count)
{
    const char *near = lab_nearest(word, names, count);
    if (near)
        return lab_fail(LAB_E_PARSE,
                        "[command.word] no %s \"%s\"; did you mean \"%s\"?",
                        what, word, near);
    return lab_fail(LAB_E_PARSE,
                    "[command.word] no %s \"%s\"; \"help\" lists them", what,
                    word);
}

/* The row of a word or of a start of one; NULL: none. *other is a row of another
 * command with this start, where there is one. */
static const struct lab_ui_command_word *
match(const char *word, const struct lab_ui_command_word **other)
{
    const struct lab_ui_command_word *found = NULL;
    *other = NULL;
    for (size_t i = 0; i < sizeof(LETTERS) / sizeof(LETTERS[0]); i++)
        if (strcmp(LETTERS[i].letter, word) == 0)
            word = lab_ui_command_name(LETTERS[i].kind);
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(WORDS[i].word, word) == 0)
            return &WORDS[i];
    for (int i = 0; i < WORD_COUNT && !*other; i++) {
        if (strncmp(WORDS[i].word, word, strlen(word)) != 0)
            continue;
        if (!found)
            found = &WORDS[i];
        else if (found->kind != WORDS[i].kind)
            *other = &WORDS[i];
    }
    return found;
}

static enum lab_status find_word(struct line *l)
{
    const char *word = l->token[0];
    const char *names[WORD_COUNT];
    const struct lab_ui_command_word *other;
    l->word = match(word, &other);
    if (other)
        return lab_fail(LAB_E_PARSE,
                        "[command.ambiguous] \"%s\" may be \"%s\" or \"%s\"",
                        word, l->word->word, other->word);
    for (int i = 0; i < WORD_COUNT; i++)
        names[i] = WORDS[i].word;
    return l->word ? LAB_OK : fail_nearest("command", word, names, WORD_COUNT);
}

const struct lab_ui_command_word *lab_ui_command_typed(const char *line)
{
    char word[LINE_BYTES];
    const struct lab_ui_command_word *other;
    line += strspn(line, " \t\r\n");
    line += *line == ':';
    line += strspn(line, " \t\r\n");
    const size_t n = strcspn(line, " \t\r\n");
    if (n == 0 || n >= sizeof(word))
        return NULL;
    snprintf(word, sizeof(word), "%.*s", (int)n, line);
    const struct lab_ui_command_word *found = match(word, &other);
    return other ? NULL : found;
}

static enum lab_status parse_int(const struct line *l, const char *text,
                                 int64_t least, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end != '\0')
        return lab_fail(LAB_E_PARSE,
                        "[command.number] %s: \"%s\" is not a whole number",
                        l->word->word, text);
    if (errno || n < least)
        return lab_fail(
            LAB_E_PARSE, "[command.range] %s: %s is out of range: %lld to %lld",
            l->word->word, text, (long long)least, (long long)INT64_MAX);
    *out = n;
    return LAB_OK;
}

static enum lab_status parse_count(const struct line *l, int64_t missing,
                                   int64_t *out)
{
    if (l->count > 2)
        return fail_usage(l, "too many words");
    *out = missing;
    return l->count == 2 ? parse_int(l, l->token[1], 1, out) : LAB_OK;
}

static enum lab_status keep_arg(const struct line *l, const char *text,
                                char out[LAB_COMMAND_ARG_BYTES])
{
    size_t n = strlen(text);
    if (n >= LAB_COMMAND_ARG_BYTES)
        return fail_usage(l, "that name is too long");
    memcpy(out, text, n + 1);
    return LAB_OK;
}

static enum lab_status parse_phase(const char *text, int *out)
{
    const char *names[LAB_PHASE_COUNT];
    int found = -1;
    for (int i = 0; i < LAB_PHASE_COUNT; i++) {
        names[i] = lab_phase_name((enum lab_phase)i);
        if (strncmp(names[i], text, strlen(text)) == 0)
            found = i;
    }
    if (found < 0)
        return fail_nearest("phase", text, names, LAB_PHASE_COUNT);
    *out = found;
    return LAB_OK;
}

static enum lab_status parse_step(const struct line *l,
                                  struct lab_ui_command *c)
{
    if (l->count < 2)
        return fail_usage(l, "which step?");
    if (l->count > 3)
        return fail_usage(l, "too many words");
    enum lab_status st = keep_arg(l, l->token[1], c->arg);
    if (!st && l->count == 3)
        st = parse_phase(l->token[2], &c->phase);
    return st;
}

/* The words after the first, `between` them. */
static void join(const struct line *l, const char *between,
                 char out[LINE_BYTES])
{
    out[0] = '\0';
    for (int i = 1; i < l->count; i++) {
        strncat(out, i > 1 ? between : "", LINE_BYTES - strlen(out) - 1);
        strncat(out, l->token[i], LINE_BYTES - strlen(out) - 1);
    }
}

static enum lab_status parse_loss(const struct line *l,
                                  struct lab_ui_command *c)
{
    char joined[LINE_BYTES]; /* "loss>1", "loss > 1", "loss >1" */
    char *end;
    join(l, "", joined);
    const char *text = joined + strlen("loss");
    if (*text++ != '>' || !*text)
        return fail_usage(l, "a condition on the loss reads \"loss > 2.5\"");
    c->value = strtod(text, &end);
    if (end == text || *end || !isfinite(c->value))
        return lab_fail(LAB_E_PARSE,
                        "[command.break-number] break: \"%s\" is not a number",
                        text);
    c->when = LAB_WHEN_LOSS;
    return LAB_OK;
}

static enum lab_status parse_break(const struct line *l,
                                   struct lab_ui_command *c)
{
    const char *what = l->count > 1 ? l->token[1] : "";
    if (l->count == 1) {
        c->when = LAB_WHEN_HERE;
        return LAB_OK;
    }
    if (strcmp(what, "nan") == 0 || strcmp(what, "inf") == 0) {
        c->when = what[0] == 'n' ? LAB_WHEN_NAN : LAB_WHEN_INF;
        return l->count == 2 ? LAB_OK : fail_usage(l, "too many words");
    }
    if (strncmp(what, "loss>", 5) == 0 ||
        (strcmp(what, "loss") == 0 && l->count > 2 && l->token[2][0] == '>'))
        return parse_loss(l, c);
    if (strcmp(what, "phase") == 0) {
        c->when = LAB_WHEN_PHASE;
        return l->count == 3 ? parse_phase(l->token[2], &c->phase)
                             : fail_usage(l, "which phase?");
    }
    c->when = LAB_WHEN_STEP;
    return parse_step(l, c);
}

/* "3,5]" or "-1, :]" into c->index. */
static enum lab_status parse_index(const struct line *l, char *text,
                                   struct lab_ui_command *c)
{
    size_t n = strlen(text);
    char *save = NULL;
    if (n == 0 || text[n - 1] != ']')
        return fail_usage(l, "the index has no end, a \"]\"");
    text[n - 1] = '\0';
    for (char *part = strtok_r(text, ",", &save); part;
         part = strtok_r(NULL, ",", &save)) {
        if (c->index_count == LAB_COMMAND_INDICES)
            return fail_usage(l, "too many axes");
        int64_t *at = &c->index[c->index_count++];
        if (strcmp(part, ":") == 0) {
            *at = LAB_INDEX_ALL;
            continue;
        }
        enum lab_status st = parse_int(l, part, INT64_MIN + 1, at);
        if (st)
            return st;
    }
    return c->index_count ? LAB_OK : fail_usage(l, "the index is empty");
}

static enum lab_status parse_element(const struct line *l,
                                     struct lab_ui_command *c)
{
    char joined[LINE_BYTES];
    if (l->count < 2)
        return fail_usage(l, "which tensor?");
    if (l->count > 2 && !strchr(l->token[1], '[') && l->token[2][0] != '[')
        return fail_usage(l, "too many words");
    join(l, "", joined);
    char *open = strchr(joined, '[');
    enum lab_status st = LAB_OK;
    if (open) {
        *open = '\0';
        st = parse_index(l, open + 1, c);
    }
    if (!st && joined[0] == '\0')
        st = fail_usage(l, "which tensor?");
    return st ? st : keep_arg(l, joined, c->arg);
}

static enum lab_status parse_names(const struct line *l, int least, int most,
                                   struct lab_ui_command *c)
{
    enum lab_status st = LAB_OK;
    if (l->count - 1 < least)
        return fail_usage(l, "a name is missing");
    if (l->count - 1 > most)
        return fail_usage(l, "too many words");
    if (l->count > 1)
        st = keep_arg(l, l->token[1], c->arg);
    if (!st && l->count > 2)
        st = keep_arg(l, l->token[2], c->arg2);
    return st;
}

static enum lab_status parse_temperature(const struct line *l, const char *text,
                                         double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0 && v <= 100))
        return lab_fail(LAB_E_PARSE,
                        "[command.temperature] %s: the temperature \"%s\" is "
                        "no number from 0 to 100",
                        l->word->word, text);
    *out = v;
    return LAB_OK;
}

/* What is left after the numbers is text, blanks and all. */
static enum lab_status parse_sample(const struct line *l, const char *raw,
                                    struct lab_ui_command *c)
{
    enum lab_status st = LAB_OK;
    int i = 1;
    c->n = LAB_COMMAND_ALL;
    for (; i < l->count && !st; i++) {
        const char *word = l->token[i];
        if (i == 1 && strspn(word, "0123456789") == strlen(word))
            st = parse_int(l, word, 1, &c->n);
        else if (strncmp(word, "t=", 2) == 0)
            st = parse_temperature(l, word + 2, &c->value);
        else if (strncmp(word, "k=", 2) == 0)
            st = parse_int(l, word + 2, 1, &c->top_k);
        else
            break;
    }
    if (st || i >= l->count)
        return st;
    const char *text = raw + (l->token[i] - l->text);
    size_t n = strcspn(text, "\r\n");
    if (n >= LAB_COMMAND_ARG_BYTES)
        return fail_usage(l, "the text is too long");
    memcpy(c->arg, text, n);
    c->arg[n] = '\0';
    return LAB_OK;
}

/* "king - man + woman": blanks between them or none. */
static enum lab_status parse_words(const struct line *l,
                                   struct lab_ui_command *c)
{
    char joined[LINE_BYTES];
    if (l->count < 2)
        return fail_usage(l, "near which word?");
    join(l, " ", joined);
    return keep_arg(l, joined, c->arg);
}

/* Which steps' counters: of this one, its node, or all that has run. */
static enum lab_status parse_trace(const struct line *l,
                                   struct lab_ui_command *c)
{
    if (l->count > 2)
        return fail_usage(l, "too many words");
    if (l->count < 2)
        return LAB_OK;
    if (strcmp(l->token[1], "off") != 0 && strcmp(l->token[1], "on") != 0 &&
        strcmp(l->token[1], "kernels") != 0)
        return fail_usage(l, "off, kernels or on");
    return keep_arg(l, l->token[1], c->arg);
}

static enum lab_status parse_scope(const struct line *l,
                                   struct lab_ui_command *c)
{
    static const char *const scopes[] = {"step", "node", "iteration"};
    enum { SCOPES = sizeof(scopes) / sizeof(scopes[0]) };
    enum lab_status st = parse_names(l, 0, 1, c);
    if (st || !c->arg[0])
        return st;
    for (int i = 0; i < SCOPES; i++) {
        if (strcmp(scopes[i], c->arg) == 0)
            return LAB_OK;
    }
    return fail_nearest("scope", c->arg, scopes, SCOPES);
}

static enum lab_status parse_save(const struct line *l,
                                  struct lab_ui_command *c)
{
    enum lab_status st = parse_names(l, 1, 2, c);
    if (!st && c->arg2[0] && strcmp(c->arg2, "force") != 0)
        st = fail_usage(l, "after the file only force may be written");
    return st;
}

static enum lab_status parse_restart(const struct line *l,
                                     struct lab_ui_command *c)
{
    if (l->count > 2 || (l->count == 2 && strncmp(l->token[1], "lr=", 3) != 0))
        return fail_usage(l, "it takes a learning rate, or nothing");
    return l->count == 2 ? lab_lr_read(l->token[1] + 3, &c->value) : LAB_OK;
}

static enum lab_status parse_rest(const struct line *l, const char *raw,
                                  struct lab_ui_command *c)
{
    switch (c->kind) {
    case LAB_COMMAND_SAMPLE:
        return parse_sample(l, raw, c);
    case LAB_COMMAND_STEP:
    case LAB_COMMAND_NEXT:
    case LAB_COMMAND_BACK:
        return parse_count(l, 1, &c->n);
    case LAB_COMMAND_DELETE:
    case LAB_COMMAND_TRAIN:
        return parse_count(l, LAB_COMMAND_ALL, &c->n);
    case LAB_COMMAND_SEED:
        if (l->count != 2)
            return fail_usage(l, "it takes one number");
        return parse_int(l, l->token[1], 0, &c->n);
    case LAB_COMMAND_RESTART:
        return parse_restart(l, c);
    case LAB_COMMAND_LR:
        if (l->count > 2)
            return fail_usage(l, "it takes one number");
        return l->count == 2 ? lab_lr_read(l->token[1], &c->value) : LAB_OK;
    case LAB_COMMAND_INTO:
        return l->count > 1 ? parse_step(l, c) : LAB_OK;
    case LAB_COMMAND_RUN:
        return parse_step(l, c);
    case LAB_COMMAND_BREAK:
        return parse_break(l, c);
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        return parse_element(l, c);
    case LAB_COMMAND_NEAR:
        return parse_words(l, c);
    case LAB_COMMAND_VARIANT:
        return parse_names(l, 1, 2, c);
    case LAB_COMMAND_SAVE:
        return parse_save(l, c);
    case LAB_COMMAND_LOAD:
    case LAB_COMMAND_EXPORT:
    case LAB_COMMAND_THEME:
    case LAB_COMMAND_WATCH:
    case LAB_COMMAND_CHECK:
        return parse_names(l, 1, 1, c);
    case LAB_COMMAND_UNWATCH:
    case LAB_COMMAND_LIST:
    case LAB_COMMAND_HELP:
        return parse_names(l, 0, 1, c);
    case LAB_COMMAND_COUNT:
        return parse_scope(l, c);
    case LAB_COMMAND_TRACE:
        return parse_trace(l, c);
    default:
        return parse_names(l, 0, 0, c);
    }
}

static enum lab_status cut(const char *line, struct line *l)
{
    char *save = NULL;
    *l = (struct line){0};
    if (strlen(line) >= sizeof(l->text))
        return lab_fail(LAB_E_PARSE,
                        "[command.too-long] the line is longer than %d bytes",
                        LINE_BYTES - 1);
    strcpy(l->text, line);
    for (char *t = strtok_r(l->text, " \t\r\n", &save); t;
         t = strtok_r(NULL, " \t\r\n", &save)) {
        if (l->count == TOKENS) {
            l->more = true;
            return LAB_OK;
        }
        l->token[l->count++] = t;
    }
    return LAB_OK;
}

enum lab_status lab_ui_command_parse(const char *line,
                                     struct lab_ui_command *out)
{
    struct lab_ui_command c = {.phase = -1, .n = 1, .value = NAN};
    struct line l;
    line += strspn(line, " \t\r\n");
    line += *line == ':'; /* typed as on the screen */
    enum lab_status st = cut(line, &l);
    if (!st && l.count > 0) {
        st = find_word(&l);
        if (l.more && (st || l.word->kind != LAB_COMMAND_SAMPLE))
            st =
                lab_fail(LAB_E_PARSE,
                         "[command.too-many-words] too many words after \"%s\"",
                         l.token[0]);
        if (!st) {
            c.kind = l.word->kind;
            st = parse_rest(&l, line, &c);
        }
    }
    if (!st)
        *out = c;
    return st;
}
