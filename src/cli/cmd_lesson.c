/* cmd_lesson.c -- lapenna-lab lesson list|show|lint [LESSON...]
 *
 * Lists and prints lessons and reports what is wrong in them. Reading and
 * checking is src/lesson's; here are the words of the command line, the text
 * and the JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd.h"
#include "lesson/catalog.h"
#include "lesson/lint.h"
#include "debug/lesson_print.h"
#include "debug/options.h"
#include "report/exit.h"
#include "report/fact_text.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"

/* `list`, `show` or `lint`, and what follows it. */
static void take_command(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words == 0)
        lab_usage_error(
            state, "[usage.lesson-command] which one: list, show or lint?");
    o->command = *o->words++;
    o->n_words--;
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab lesson",
    .commands = LAB_FOR_LESSON,
    .args = "list|show|lint [LESSON...]",
    .doc = "List, read or check lessons.\v"
           "  list            the lessons of the course, in their order\n"
           "  show LESSON...  a lesson's text\n"
           "  lint [FILE...]  everything that is wrong with a lesson, or with "
           "all\n\n"
           "LESSON and FILE are an id (see list) or a path. Exit status: 0 "
           "done, 2 wrong usage, 3 a lesson has errors.",
    .check = take_command};

/* ---- list ---- */

static json_t *strings(const char *const *texts, int n)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

/* A number that was not given is null. */
static json_t *number(int64_t value, bool known)
{
    return known ? json_integer(value) : json_null();
}

static json_t *lesson_json(const struct lab_lesson *l)
{
    char *whole = realpath(l->path, NULL);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "type", "lesson", "id",
        l->id, "kind", l->kind == LAB_LESSON_LAB ? "lab" : "lesson", "title",
        l->title, "path", whole ? whole : l->path, "summary", l->summary,
        "order", number(l->order, l->order != LAB_LESSON_NO_ORDER), "minutes",
        number(l->minutes, l->minutes > 0), "prerequisites",
        strings(l->prerequisites, l->n_prerequisites));
    free(whole);
    return object;
}

static void list_line(const struct lab_lesson *l, int id_columns)
{
    char minutes[16] = "";
    if (l->minutes > 0)
        snprintf(minutes, sizeof(minutes), "%lld min", (long long)l->minutes);
    lab_print_wrap(lab_print_columns(), (size_t)id_columns + 12);
    lab_printf(stdout, "%-*s  %8s  ", id_columns, l->id, minutes);
    lab_print_text(stdout, l->title);
    lab_print_text(stdout, "\n");
    lab_print_wrap(0, 0);
}

static enum lab_status run_list(const struct lab_options *o)
{
    if (o->n_words)
        return lab_fail(LAB_E_USAGE,
                        "[usage.lesson-list] lesson list takes no LESSON: '%s'",
                        o->words[0]);
    struct lab_catalog *c = NULL;
    enum lab_status st = lab_catalog_load(&c, NULL);
    enum lab_status broken = LAB_OK;
    int id_columns = 0;
    if (st)
        return st;
    for (size_t i = 0; i < c->count; i++) {
        int n = lab_md_columns(c->items[i].id);
        id_columns = n > id_columns ? n : id_columns;
    }
    for (size_t i = 0; i < c->count && !st; i++) {
        const struct lab_catalog_entry *e = &c->items[i];
        if (!e->lesson) {
            broken = LAB_E_PARSE;
            lab_warn("%s", e->error);
        } else if (o->json) {
            st = lab_json_print(lesson_json(e->lesson));
        } else {
            list_line(e->lesson, id_columns);
        }
    }
    lab_catalog_free(c);
    if (!st && broken)
        st = lab_fail(
            broken,
            "[lesson.some-unreadable] not every lesson can be read: see above");
    return st;
}

/* ---- show ---- */

static void show_facts(const struct lab_lesson *l)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add_visible(&text, l->id, strlen(l->id), false);
    if (l->minutes > 0)
        lab_str_addf(&text, ", %lld minutes", (long long)l->minutes);
    for (int i = 0; i < l->n_prerequisites; i++)
        lab_str_addf(&text, "%s %s", i ? "," : "; after", l->prerequisites[i]);
    lab_print_text(stdout, lab_str_text(&text));
    putchar('\n');
    lab_str_release(&text);
}

static enum lab_status put_section_heading(const struct lab_section *s)
{
    struct lab_str heading;
    lab_str_init(&heading);
    lab_section_heading(s, &heading);
    enum lab_status st = heading.failed
                             ? lab_no_memory("the lesson's text")
                             : lab_lesson_put_heading(lab_str_text(&heading), 2,
                                                      lab_print_is_styled());
    lab_str_release(&heading);
    return st;
}

static enum lab_status show_tables(const struct lab_lesson *l)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_fact_of_lesson_text(l->id, &text);
    if (!st && text.len) {
        putchar('\n');
        st = lab_lesson_put_paragraph(lab_str_text(&text), 0);
    }
    lab_str_release(&text);
    return st;
}

static enum lab_status show_text(const struct lab_lesson *l)
{
    enum lab_status st =
        lab_lesson_put_heading(l->title, 1, lab_print_is_styled());
    if (!st && *l->summary) {
        putchar('\n');
        lab_print_text(stdout, l->summary);
        putchar('\n');
    }
    putchar('\n');
    show_facts(l);
    for (int i = 0; i < l->n_sections && !st; i++) {
        const struct lab_section *s = &l->sections[i];
        if (s->doc.n_blocks == 0)
            continue;
        putchar('\n');
        if (*s->title)
            st = put_section_heading(s);
        if (!st && *s->title)
            putchar('\n');
        if (!st)
            st = lab_lesson_put_doc(&s->doc, lab_print_is_styled());
    }
    return st ? st : show_tables(l);
}

static char *plain_text(const struct lab_md *doc)
{
    struct lab_md_lines lines;
    struct lab_str text;
    lab_str_init(&text);
    if (lab_md_wrap(doc, lab_lesson_columns(), NULL, &lines))
        return NULL;
    for (size_t i = 0; i < lines.count; i++) {
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            lab_str_add(&text, lines.lines[i].spans[k].text);
        lab_str_add_char(&text, '\n');
    }
    lab_md_lines_release(&lines);
    return lab_str_detach(&text);
}

static enum lab_status add_name(void *names, struct lab_fact_table **t)
{
    json_array_append_new(names, json_string((*t)->name));
    return LAB_OK;
}

static enum lab_status show_json(const struct lab_lesson *l)
{
    static const char *const kinds[] = {"introduction", "step", "node", "phase",
                                        "other"};
    json_t *tables = json_array();
    json_t *lesson = lesson_json(l);
    json_object_set_new(lesson, "tables", tables);
    enum lab_status st = lab_fact_of_lesson(l->id, add_name, tables);
    if (st)
        json_decref(lesson);
    else
        st = lab_json_print(lesson);
    for (int i = 0; i < l->n_sections && !st; i++) {
        const struct lab_section *s = &l->sections[i];
        char *text = plain_text(&s->doc);
        if (!text)
            return lab_no_memory("the lesson's text");
        st = lab_json_print(
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:s}", "type", "section",
                      "lesson", l->id, "kind", kinds[s->kind], "name", s->name,
                      "title", s->title, "line", s->line, "text", text));
        lab_free(text);
    }
    return st;
}

static enum lab_status run_show(const struct lab_options *o)
{
    enum lab_status st = LAB_OK;
    if (o->n_words == 0)
        return lab_fail(LAB_E_USAGE,
                        "[usage.lesson-show] lesson show needs the id or path "
                        "of a lesson; lesson list shows all");
    for (int i = 0; i < o->n_words && !st; i++) {
        struct lab_lesson *l = NULL;
        st = lab_lesson_open(&l, o->words[i]);
        if (!st && i > 0 && !o->json)
            putchar('\n');
        if (!st)
            st = o->json ? show_json(l) : show_text(l);
        lab_lesson_free(l);
    }
    return st;
}

/* ---- lint ---- */

static enum lab_status put_findings(const struct lab_options *o,
                                    const struct lab_findings *found)
{
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < found->count && !st; i++) {
        const struct lab_finding *f = &found->items[i];
        const char *severity = lab_severity_name(f->severity);
        if (o->json) {
            st = lab_json_print(json_pack(
                "{s:s, s:s, s:o, s:o, s:s, s:s, s:s}", "type", "finding",
                "file", found->file, "line", number(f->at.line, f->at.line > 0),
                "column",
                number(f->at.column, f->at.line > 0 && f->at.column > 0),
                "severity", severity, "message", f->message, "id", f->id));
            continue;
        }
        fprintf(stderr, "%s:", found->file);
        if (f->at.line > 0)
            fprintf(stderr, "%d:%d:", f->at.line, f->at.column);
        fprintf(stderr, " %s: ", severity);
        lab_print_text(stderr, f->message);
        fputc('\n', stderr);
    }
    if (found->skipped)
        lab_warn("%zu more findings are not shown", found->skipped);
    return st;
}

static enum lab_status lint_one(const struct lab_options *o, const char *path,
                                const struct lab_catalog *catalog,
                                size_t *errors)
{
    struct lab_findings found;
    lab_findings_init(&found);
    enum lab_status st = lab_lesson_lint(path, catalog, &found);
    if (!st)
        st = put_findings(o, &found);
    *errors += found.errors;
    lab_findings_release(&found);
    return st;
}

/* The other lessons of a course are beside the file. */
static enum lab_status lint_named(const struct lab_options *o, const char *name,
                                  size_t *errors)
{
    struct lab_str path;
    struct lab_str dir;
    struct lab_catalog *c = NULL;
    lab_str_init(&path);
    lab_str_init(&dir);
    enum lab_status st = lab_lesson_find(name, &path);
    const char *slash = strrchr(lab_str_text(&path), '/');
    if (!slash)
        lab_str_add(&dir, ".");
    else
        lab_str_add_bytes(&dir, path.data,
                          slash > path.data ? (size_t)(slash - path.data) : 1);
    if (!st && dir.failed)
        st = lab_no_memory("the lesson's text");
    if (!st && lab_catalog_load(&c, lab_str_text(&dir)) == LAB_E_NOMEM)
        st = LAB_E_NOMEM;
    if (!st)
        st = lint_one(o, lab_str_text(&path), c, errors);
    lab_catalog_free(c);
    lab_str_release(&path);
    lab_str_release(&dir);
    return st;
}

static enum lab_status lint_all(const struct lab_options *o, size_t *errors)
{
    struct lab_catalog *c = NULL;
    enum lab_status st = lab_catalog_load(&c, NULL);
    for (size_t i = 0; !st && i < c->count; i++)
        st = lint_one(o, c->items[i].path, c, errors);
    lab_catalog_free(c);
    return st;
}

static enum lab_status run_lint(const struct lab_options *o)
{
    size_t errors = 0;
    enum lab_status st = LAB_OK;
    if (o->n_words == 0)
        st = lint_all(o, &errors);
    for (int i = 0; i < o->n_words && !st; i++)
        st = lint_named(o, o->words[i], &errors);
    if (st || !errors)
        return st;
    return lab_fail(LAB_E_PARSE, "[lesson.errors] %zu error%s in the lessons",
                    errors, errors == 1 ? "" : "s");
}

static int cmd_lesson(int argc, char **argv)
{
    static enum lab_status (*const run[])(const struct lab_options *o) = {
        run_list, run_show, run_lint};
    static const char *const names[] = {"list", "show", "lint"};
    struct lab_options o;
    int at;
    lab_options_parse(&o, argc, argv, &usage);
    enum lab_status st =
        lab_find_word("command", o.command, names, 3,
                      "`lapenna-lab lesson --help` lists them", &at);
    if (!st)
        st = run[at](&o);
    return lab_exit_error(st);
}

const struct lab_cmd lab_cmd_lesson = {
    .name = "lesson", .run = cmd_lesson, .help = "list|show|lint: the lessons"};
