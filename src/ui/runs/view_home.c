/* view_home.c -- the home screen: lessons by chapter with the learner's progress,
 * the chosen one's summary and network, the last runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "debug/progress.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "record_list.h"
#include "ui/diagram.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { PANE_LESSONS, PANE_RUNS, PANE_COUNT };
enum { WAITING_MS = 200 };
enum { ASK_END = 1 };
enum { COL_TITLE, COL_ID, COL_MINUTES, COL_BAR, COL_PROGRESS, COL_COUNT };

/* A row of the list: a chapter's heading, or a lesson in it. */
struct home_row {
    int64_t lesson; /* index in the catalog; -1: a heading */
    int chapter;    /* -1: the lesson is in none */
};

struct home_state {
    struct lab_home_model *model;
    struct home_row *rows;
    int64_t n_rows;
    bool *folded;        /* by chapter */
    bool folds_chosen;   /* by the reader; else as many are open as have room */
    int room;            /* rows of the list of lessons, as last drawn */
    struct lab_doc text; /* how a lesson begins */
    struct lab_pager pager;
    int64_t text_of; /* the lesson it is of, -1: none */
    struct lab_rect text_at;
    struct lab_diagram network;
    int64_t network_of; /* the lesson it is of, -1: none */
    struct lab_table lessons;
    struct lab_table runs;
    struct lab_record_list run_list;
    int pane;
    int64_t start;       /* the row to start with, -1: some lesson is begun */
    struct lab_str none; /* the text where there are no runs */
};

static const struct lab_table_column COLUMNS[COL_COUNT] = {
    [COL_TITLE] = {"lesson", 34, 3, 0, false, false},
    [COL_ID] = {"id", 14, 1, 2, false, false},
    [COL_MINUTES] = {"time", 8, 0, 3, true, false},
    [COL_BAR] = {"", 12, 0, 4, false, false},
    [COL_PROGRESS] = {"progress", 12, 0, 1, false, false},
};

/* NULL: a heading, or no row. */
static const struct lab_catalog_entry *entry_at(const struct home_state *st,
                                                int64_t row)
{
    int64_t lesson = row < 0 ? -1 : st->rows[row].lesson;
    return lesson < 0 ? NULL : &st->model->catalog->items[lesson];
}

static int64_t row_of(const struct home_state *st, int64_t lesson)
{
    for (int64_t i = 0; i < st->n_rows; i++)
        if (st->rows[i].lesson == lesson)
            return i;
    return -1;
}

static const char *title_of(const struct lab_catalog_entry *e)
{
    return e->lesson ? e->lesson->title : e->id;
}

enum progress { NEW, STARTED, DONE, BROKEN };

static enum progress progress_of(const struct lab_home_model *m, int64_t lesson)
{
    const struct lab_catalog_entry *e = &m->catalog->items[lesson];
    const struct lab_progress_entry *p = lab_progress_find(m->progress, e->id);
    return !e->lesson               ? BROKEN
           : p && p->finished       ? DONE
           : p && p->steps_seen > 0 ? STARTED
                                    : NEW;
}

static void put_progress(const struct lab_home_model *m, int64_t lesson,
                         char *out, size_t cap, enum lab_role *role)
{
    static const struct {
        const char *text;
        enum lab_role role;
    } words[] = {[NEW] = {"new", LAB_ROLE_DIM},
                 [DONE] = {"✓ done", LAB_ROLE_GOOD},
                 [BROKEN] = {"! broken", LAB_ROLE_BAD}};
    enum progress state = progress_of(m, lesson);
    if (state != STARTED) {
        snprintf(out, cap, "%s", words[state].text);
        *role = words[state].role;
        return;
    }
    const struct lab_progress_entry *p =
        lab_progress_find(m->progress, m->catalog->items[lesson].id);
    if (p->steps_total == LAB_UNKNOWN)
        snprintf(out, cap, "%" PRId64 " steps", p->steps_seen);
    else
        snprintf(out, cap, "%" PRId64 " of %" PRId64, p->steps_seen,
                 p->steps_total);
}

/* Its lessons, how many of them are done, and their minutes. */
static void count_chapter(const struct home_state *st, int chapter,
                          int64_t *lessons, int64_t *done, int64_t *minutes)
{
    *lessons = *done = *minutes = 0;
    for (int64_t i = 0; i < st->n_rows; i++) {
        const struct lab_catalog_entry *e = entry_at(st, i);
        if (!e || st->rows[i].chapter != chapter)
            continue;
        ++*lessons;
        *done += progress_of(st->model, st->rows[i].lesson) == DONE;
        *minutes += e->lesson ? e->lesson->minutes : 0;
    }
}

static void chapter_cell(const struct home_state *st, int chapter, int column,
                         char *out, size_t cap, enum lab_role *role)
{
    int64_t lessons;
    int64_t done;
    int64_t minutes;
    count_chapter(st, chapter, &lessons, &done, &minutes);
    *role = LAB_ROLE_HEADING;
    if (column == COL_TITLE)
        snprintf(out, cap, "%s %s", st->folded[chapter] ? "+" : "-",
                 st->model->catalog->chapters[chapter].title);
    else if (column == COL_MINUTES)
        snprintf(out, cap, "%" PRId64 " min", minutes);
    else if (column == COL_PROGRESS)
        snprintf(out, cap, "%" PRId64 " of %" PRId64 "%s", done, lessons,
                 done == lessons ? " ✓" : "");
}

static void lesson_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct home_state *st = user;
    const struct lab_catalog_entry *e = entry_at(st, row);
    if (!e) {
        chapter_cell(st, st->rows[row].chapter, column, out, cap, role);
        return;
    }
    switch (column) {
    case COL_TITLE:
        snprintf(out, cap, "%s", title_of(e));
        break;
    case COL_ID:
        snprintf(out, cap, "%s", e->id);
        *role = LAB_ROLE_DIM;
        break;
    case COL_MINUTES:
        if (e->lesson && e->lesson->minutes > 0)
            snprintf(out, cap, "%" PRId64 " min", e->lesson->minutes);
        break;
    case COL_BAR:
        break;
    default:
        put_progress(st->model, st->rows[row].lesson, out, cap, role);
        if (st->rows[row].lesson == st->start) {
            snprintf(out, cap, "start here");
            *role = LAB_ROLE_GOOD;
        }
    }
}

/* Of its minutes, in the colour of its progress. */
static bool lesson_bar(const void *user, int64_t row, int column,
                       struct lab_table_bar *out)
{
    static const enum lab_role roles[] = {[NEW] = LAB_ROLE_SERIES_1,
                                          [STARTED] = LAB_ROLE_WARN,
                                          [DONE] = LAB_ROLE_GOOD,
                                          [BROKEN] = LAB_ROLE_BAD};
    const struct home_state *st = user;
    const struct lab_catalog *c = st->model->catalog;
    const struct lab_catalog_entry *e = entry_at(st, row);
    int64_t most = 1;
    if (column != COL_BAR || !e || !e->lesson)
        return false;
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].lesson && c->items[i].lesson->minutes > most)
            most = c->items[i].lesson->minutes;
    *out = (struct lab_table_bar){
        .share = (double)e->lesson->minutes / (double)most,
        .role = roles[progress_of(st->model, st->rows[row].lesson)]};
    return true;
}

/* Headings are of the list as it is given alone. */
static bool hidden(const void *user, int64_t row, bool given)
{
    const struct home_state *st = user;
    const struct home_row *r = &st->rows[row];
    if (r->lesson < 0)
        return !given;
    return given && r->chapter >= 0 && st->folded[r->chapter];
}

static const struct lab_table_ops LESSONS = {.columns = COLUMNS,
                                             .column_count = COL_COUNT,
                                             .cell = lesson_cell,
                                             .hidden = hidden,
                                             .bar = lesson_bar};

static int chapter_of(const struct lab_catalog *c, size_t lesson)
{
    const struct lab_lesson *l = c->items[lesson].lesson;
    return l ? lab_catalog_chapter(c, l->order) : -1;
}

static enum lab_status make_rows(struct home_state *st)
{
    const struct lab_catalog *c = st->model->catalog;
    size_t most = c->count + c->n_chapters;
    bool first = !st->rows;
    struct home_row *rows = lab_alloc_array(most + 1, sizeof(*rows));
    bool *folded = first ? lab_alloc_array(c->n_chapters + 1, sizeof(*folded))
                         : st->folded;
    if (!rows || !folded) {
        lab_free(rows);
        return lab_no_memory("the list of lessons");
    }
    lab_free(st->rows);
    st->rows = rows;
    st->folded = folded;
    st->n_rows = 0;
    int chapter = -1;
    /* What is in no chapter first, or folded chapters would hide it: a lesson of
     * the learner's own, and what is wrong with it. */
    for (size_t i = 0; i < c->count && c->n_chapters > 0; i++)
        if (chapter_of(c, i) < 0)
            rows[st->n_rows++] = (struct home_row){(int64_t)i, -1};
    for (size_t i = 0; i < c->count; i++) {
        int mine = chapter_of(c, i);
        if (mine < 0 && c->n_chapters > 0)
            continue;
        if (mine >= 0 && mine != chapter)
            rows[st->n_rows++] = (struct home_row){-1, mine};
        chapter = mine >= 0 ? mine : chapter;
        rows[st->n_rows++] = (struct home_row){(int64_t)i, mine};
    }
    return LAB_OK;
}

/* The lesson to start with, until any lesson is begun. */
static int64_t find_start(const struct lab_home_model *m)
{
    int64_t found = -1;
    for (size_t i = 0; i < m->catalog->count; i++) {
        enum progress state = progress_of(m, (int64_t)i);
        if (state == DONE || state == STARTED)
            return -1;
        if (m->start && strcmp(m->catalog->items[i].id, m->start) == 0 &&
            state == NEW)
            found = (int64_t)i;
    }
    return found;
}

static enum lab_status reload(struct lab_screen *s)
{
    struct home_state *st = s->state;
    enum lab_status status = LAB_OK;
    if (st->model->refresh)
        status = st->model->refresh(st->model->user, st->model);
    st->start = find_start(st->model);
    if (!status)
        status = make_rows(st);
    if (!status)
        status = lab_table_set_count(&st->lessons, st->n_rows);
    if (!status) {
        st->run_list.rows = st->model->runs;
        status = lab_table_set_count(&st->runs, st->model->run_count);
    }
    st->runs.empty = st->model->runs_unread
                         ? "The runs cannot be read: d shows why."
                         : lab_str_text(&st->none);
    lab_ui_tick_every(s->ui, st->model->waiting ? WAITING_MS : 0);
    return status;
}

/* By its key: a message states what was read, as mostly nothing looks different. */
static enum lab_status reload_now(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    enum lab_status status = reload(s);
    if (!status)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "read again: %zu lesson%s, %" PRId64 " run%s",
                       st->model->catalog->count,
                       st->model->catalog->count == 1 ? "" : "s",
                       st->model->run_count,
                       st->model->run_count == 1 ? "" : "s");
    return status;
}

static void home_release(struct lab_screen *s)
{
    struct home_state *st = s->state;
    lab_table_release(&st->lessons);
    lab_table_release(&st->runs);
    lab_diagram_release(&st->network);
    lab_pager_release(&st->pager);
    lab_doc_release(&st->text);
    lab_free(st->rows);
    lab_free(st->folded);
    lab_str_release(&st->none);
}

static void report_no_runs(struct home_state *st)
{
    const struct lab_runs_model *runs = st->model->all_runs;
    lab_str_add(&st->none, "No runs yet: open a lesson");
    if (runs) {
        lab_str_add(&st->none, ", or train one with \"");
        runs->hint(runs->user, (const char *const[]){"run", "LESSON", NULL},
                   &st->none);
        lab_str_add_char(&st->none, '"');
    }
    lab_str_add_char(&st->none, '.');
}

/* The lesson to start with, else the one that was begun and opened last, else
 * the first that is not done; -1: all are. */
static int64_t next_lesson(const struct home_state *st)
{
    const struct lab_home_model *m = st->model;
    const char *last = "";
    int64_t next = st->start;
    int64_t begun = -1;
    for (int64_t i = 0; i < (int64_t)m->catalog->count; i++) {
        enum progress state = progress_of(m, i);
        const struct lab_progress_entry *p =
            lab_progress_find(m->progress, m->catalog->items[i].id);
        if (next < 0 && (state == NEW || state == STARTED))
            next = i;
        if (state == STARTED && p && strcmp(p->opened, last) > 0) {
            last = p->opened;
            begun = i;
        }
    }
    return begun >= 0 ? begun : next;
}

/* The chapter of the next lesson is open, and of those behind it, then of those
 * before it, as many as have room in the list; the others are folded. */
static void unfold_what_fits(struct home_state *st)
{
    int64_t next = next_lesson(st);
    int64_t row = next < 0 ? -1 : row_of(st, next);
    int n = (int)st->model->catalog->n_chapters;
    int open = row < 0 ? 0 : st->rows[row].chapter;
    int64_t used = n;
    open = open < 0 ? 0 : open;
    for (int i = 0; i < n; i++) {
        int chapter = i < n - open ? open + i : n - 1 - i;
        int64_t lessons;
        int64_t done;
        int64_t minutes;
        count_chapter(st, chapter, &lessons, &done, &minutes);
        used += lessons;
        st->folded[chapter] = i > 0 && used > st->room;
    }
    lab_table_renew(&st->lessons);
}

static void select_next_lesson(struct home_state *st)
{
    int64_t next = next_lesson(st);
    unfold_what_fits(st);
    if (next >= 0)
        lab_table_select(&st->lessons, row_of(st, next));
}

/* What is chosen stays in sight: its chapter is open, or the heading remains. */
static void fit_folds(struct home_state *st, int rows)
{
    if (rows == st->room || st->folds_chosen || st->lessons.filter[0] ||
        st->model->catalog->n_chapters == 0)
        return;
    int64_t row = lab_table_row(&st->lessons);
    st->room = rows;
    unfold_what_fits(st);
    if (row >= 0 && st->rows[row].chapter >= 0 && st->rows[row].lesson >= 0)
        st->folded[st->rows[row].chapter] = false;
    lab_table_renew(&st->lessons);
    if (row >= 0)
        lab_table_select(&st->lessons, row);
}

/* The list may be scrolled past it. */
static void report_broken(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    const struct lab_catalog *c = st->model->catalog;
    for (size_t i = 0; i < c->count && c->n_chapters > 0; i++)
        if (!c->items[i].lesson) {
            lab_ui_message(s->ui, LAB_ROLE_WARN, "%s", c->items[i].error);
            return;
        }
}

static enum lab_status home_init(struct lab_screen *s, const void *args)
{
    struct home_state *st = s->state;
    st->model = (struct lab_home_model *)(uintptr_t)args;
    st->network_of = st->text_of = -1;
    lab_doc_init(&st->text);
    lab_pager_init(&st->pager, &st->text);
    lab_table_init(&st->lessons, &LESSONS, st);
    lab_record_list_init(&st->run_list, &lab_run_fields, 0);
    lab_table_init(&st->runs, &st->run_list.ops, &st->run_list);
    st->lessons.empty = "No lessons were found.";
    report_no_runs(st);
    enum lab_status status = reload(s);
    if (status)
        return status;
    select_next_lesson(st);
    report_broken(s);
    if (st->model->note && st->model->note[0])
        lab_ui_message(s->ui, LAB_ROLE_WARN, "%s", st->model->note);
    return LAB_OK;
}

/* What runs in the background ends with the program. */
static bool home_may_close(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    if (!st->model->busy || st->model->stopped)
        return true;
    lab_ui_ask(s->ui, ASK_END,
               "A training runs in the background: stop it and "
               "leave?");
    return false;
}

static void home_answer(struct lab_screen *s, int id, const char *text)
{
    if (id == ASK_END && text)
        lab_ui_pop(s->ui);
}

static void home_shown(struct lab_screen *s)
{
    if (reload(s))
        lab_ui_error(s->ui);
}

static bool home_tick(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    if (!st->model->waiting)
        return false;
    if (reload(s))
        lab_ui_error(s->ui);
    return true;
}

struct lab_home_layout lab_home_layout(struct lab_rect body, int64_t runs)
{
    enum { HEADS = 2, LEAST_RUNS = 5 };
    struct lab_home_layout l = {0};
    bool wide = body.w >= 120;
    l.badge = lab_rect_cut_top(&body, body.h >= 13 ? 1 : 0);
    if (wide) {
        int most = body.h - body.h / 2;
        int want = runs < most ? (int)runs + HEADS : most;
        want = want > LEAST_RUNS ? want : LEAST_RUNS;
        l.lessons = lab_rect_cut_left(&body, body.w * 11 / 20);
        l.runs = lab_rect_cut_bottom(&body, want < most ? want : most);
        l.about = body;
        return l;
    }
    int rows[3];
    enum { ABOUT = 5, SOME_RUNS = 3 };
    int few = runs < SOME_RUNS ? (int)runs : SOME_RUNS;
    const struct lab_share parts[3] = {
        {5, 5, 0},     /* lessons */
        {ABOUT, 0, 2}, /* a heading, title, network, two lines of text */
        {HEADS + (few > 1 ? few : 1), runs > SOME_RUNS ? 1 : 0, 1}}; /* runs */
    lab_layout_share(body.h, parts, 3, rows);
    l.lessons = lab_rect_cut_top(&body, rows[0]);
    l.about = lab_rect_cut_top(&body, rows[1]);
    l.runs = lab_rect_cut_top(&body, rows[2]);
    return l;
}

/* ---- the preview ---- */

/* The box of a node, or of the node that a name like "enc.h" is a part of; 0, the
 * data, for any other name. */
static int box_named(const struct lab_network_spec *spec, const char *name,
                     int end)
{
    size_t whole = strlen(name);
    size_t part = strcspn(name, ".");
    for (int i = 0; i < end; i++)
        if (strlen(spec->nodes[i].id) == whole &&
            memcmp(spec->nodes[i].id, name, whole) == 0)
            return i + 1;
    for (int i = 0; i < end; i++)
        if (strlen(spec->nodes[i].id) == part &&
            memcmp(spec->nodes[i].id, name, part) == 0)
            return i + 1;
    return 0;
}

/* The number that describes the node best: "16" units, filters, heads ... */
static void describe(struct lab_diagram_box *b, const struct lab_node_spec *n)
{
    snprintf(b->text[0], sizeof(b->text[0]), "%s", n->op->name);
    for (int i = 0; i < n->op->n_keys; i++) {
        if (n->op->keys[i].type != LAB_KEY_INT || !n->attr[i].set)
            continue;
        snprintf(b->text[1], sizeof(b->text[1]), "%s %" PRId64,
                 n->op->keys[i].name, n->attr[i].i);
        return;
    }
}

/* The network of a lesson as it is written; a picture without boxes: it has
 * none, or memory is short. */
static void picture_of(struct home_state *st, int64_t lesson)
{
    const struct lab_lesson *l =
        lesson < 0 ? NULL : st->model->catalog->items[lesson].lesson;
    struct lab_diagram *d = &st->network;
    if (st->network_of == lesson)
        return;
    st->network_of = lesson;
    lab_diagram_clear(d);
    if (!l || l->spec.n_nodes == 0 || !lab_diagram_add(d, "x"))
        return;
    for (int i = 0; i < l->spec.n_nodes; i++) {
        const struct lab_node_spec *n = &l->spec.nodes[i];
        struct lab_diagram_box *b = lab_diagram_add(d, n->id);
        if (!b)
            return;
        describe(b, n);
        for (int k = 0; k < n->n_from; k++)
            lab_diagram_join(d, box_named(&l->spec, n->from[k], i), i + 1);
        if (n->n_from == 0)
            lab_diagram_join(d, i, i + 1);
    }
    struct lab_diagram_box *b = lab_diagram_add(d, "loss");
    if (!b)
        return;
    if (l->spec.loss.op)
        snprintf(b->text[0], sizeof(b->text[0]), "%s", l->spec.loss.op->name);
    lab_diagram_join(d, d->n - 2, d->n - 1);
}

/* Boxes where all of them and some text have room, else their names. */
static void draw_picture(struct home_state *st, struct lab_canvas *c,
                         struct lab_rect *r)
{
    enum { TEXT_H = 6, NAMES_H = 3 };
    struct lab_diagram *d = &st->network;
    int rows = lab_diagram_rows(d);
    if (rows == 0)
        return;
    if (r->h >= rows + TEXT_H && lab_diagram_fits(c, d, r->w)) {
        lab_diagram_draw(c, lab_rect_cut_top(r, rows), d, LAB_ROLE_TITLE);
        return;
    }
    struct lab_rect names = *r;
    names.h = r->h < TEXT_H ? 1 : r->h / NAMES_H;
    lab_rect_cut_top(r, lab_diagram_names(c, names, d, LAB_ROLE_TITLE));
}

/* The text of the lesson, as much of it as there is room for. */
static void draw_beginning(struct home_state *st, struct lab_canvas *c,
                           struct lab_rect r, int64_t lesson)
{
    enum { LEAST = 4, WIDEST = 76 };
    const struct lab_home_model *m = st->model;
    int columns = r.w - 2 < WIDEST ? r.w - 2 : WIDEST;
    if (!m->write_lesson || r.h < LEAST || columns < WIDEST / 2)
        return;
    if (st->text_of != lesson || st->text_at.w != r.w || st->text_at.h != r.h) {
        st->text_of = lesson;
        st->text_at = r;
        lab_doc_clear(&st->text);
        if (m->write_lesson(m->user, m->catalog->items[lesson].lesson, columns,
                            r.h, &st->text))
            lab_doc_clear(&st->text);
        lab_pager_show(&st->pager, &st->text);
    }
    lab_pager_draw(&st->pager, c, r);
}

static void draw_chapter(const struct home_state *st, struct lab_canvas *c,
                         struct lab_rect r, int chapter)
{
    lab_canvas_heading(c, &r, st->model->catalog->chapters[chapter].title,
                       false);
    lab_rect_cut_left(&r, 1);
    for (int64_t i = 0; i < st->n_rows; i++) {
        const struct lab_catalog_entry *e = entry_at(st, i);
        if (!e || st->rows[i].chapter != chapter || r.h < 1)
            continue;
        bool done = progress_of(st->model, st->rows[i].lesson) == DONE;
        struct lab_rect line = lab_rect_cut_top(&r, 1);
        lab_canvas_text(c, line.y, line.x, 2, LAB_ROLE_GOOD, done ? "✓" : " ");
        lab_canvas_text_cut(c, line.y, line.x + 2, line.w - 2, LAB_ROLE_NORMAL,
                            title_of(e));
    }
}

static void draw_about(struct home_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    int64_t row = lab_table_row(&st->lessons);
    if (row < 0)
        return;
    const struct lab_catalog_entry *e = entry_at(st, row);
    if (!e) {
        draw_chapter(st, c, r, st->rows[row].chapter);
        return;
    }
    const struct lab_lesson *l = e->lesson;
    char heading[160];
    size_t n = (size_t)snprintf(heading, sizeof(heading), "About");
    for (int i = 0; l && i < l->n_prerequisites && n < sizeof(heading); i++)
        n += (size_t)snprintf(heading + n, sizeof(heading) - n, "%s%s",
                              i ? ", " : ", builds on ", l->prerequisites[i]);
    lab_canvas_heading(c, &r, heading, false);
    lab_rect_cut_left(&r, 1);
    if (!l) {
        lab_canvas_paragraph(c, r, LAB_ROLE_BAD, e->error);
        return;
    }
    lab_rect_cut_top(&r, lab_canvas_paragraph(c, lab_rect_cut_top(&r, 1),
                                              LAB_ROLE_TITLE, l->title) -
                             1);
    picture_of(st, st->rows[row].lesson);
    int summary = lab_canvas_paragraph_rows(c, r.w, r.h, l->summary);
    if (r.h > summary)
        draw_picture(st, c, &r);
    lab_rect_cut_top(&r,
                     lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, l->summary));
    lab_rect_cut_top(&r, 1);
    draw_beginning(st, c, r, st->rows[row].lesson);
}

/* "Lessons, 12 of 87 done", or what they are filtered by. */
static const char *lessons_heading(const struct home_state *st, char out[160])
{
    int64_t done = 0;
    int64_t all = (int64_t)st->model->catalog->count;
    for (int64_t i = 0; i < all; i++)
        done += progress_of(st->model, i) == DONE;
    if (st->lessons.filter[0])
        snprintf(out, 160, "Lessons with \"%.60s\": %" PRId64 " (Esc: all)",
                 st->lessons.filter, st->lessons.count);
    else
        snprintf(out, 160, "Lessons, %" PRId64 " of %" PRId64 " done", done,
                 all);
    return out;
}

static void home_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct home_state *st = s->state;
    struct lab_home_layout l = lab_home_layout(body, st->model->run_count);
    enum { HEADS = 2 };
    fit_folds(st, l.lessons.h - HEADS);
    lab_canvas_text(c, l.badge.y, l.badge.x + 1, l.badge.w - 1, LAB_ROLE_DIM,
                    !l.badge.h           ? ""
                    : st->model->busy    ? st->model->busy
                    : st->model->machine ? st->model->machine
                                         : "");
    char heading[160];
    lab_canvas_heading(c, &l.lessons, lessons_heading(st, heading),
                       st->pane == PANE_LESSONS);
    lab_table_draw(&st->lessons, c, l.lessons, st->pane == PANE_LESSONS);
    draw_about(st, c, l.about);
    if (l.runs.h > 0) {
        lab_canvas_heading(c, &l.runs, "Last runs", st->pane == PANE_RUNS);
        lab_table_draw(&st->runs, c, l.runs, st->pane == PANE_RUNS);
    }
}

static void home_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct home_state *st = s->state;
    *out = (struct lab_panes){.at = {[PANE_LESSONS] = {.table = &st->lessons},
                                     [PANE_RUNS] = {.table = &st->runs}},
                              .count = PANE_COUNT,
                              .chosen = &st->pane,
                              .click_opens = true};
}

/* ---- keys ---- */

/* The chapter under the cursor, which goes to its heading. */
static enum lab_status fold(struct home_state *st, bool folded)
{
    int64_t row = lab_table_row(&st->lessons);
    int chapter = row < 0 ? -1 : st->rows[row].chapter;
    if (chapter < 0)
        return LAB_OK;
    st->folded[chapter] = folded;
    st->folds_chosen = true;
    for (int64_t i = 0; folded && i < st->n_rows; i++)
        if (st->rows[i].lesson < 0 && st->rows[i].chapter == chapter)
            lab_table_select(&st->lessons, i);
    lab_table_renew(&st->lessons);
    return LAB_OK;
}

static bool home_action(struct lab_screen *s, int action)
{
    struct home_state *st = s->state;
    bool chapters = st->model->catalog->n_chapters > 0;
    if (st->pane != PANE_LESSONS)
        return false;
    if (action == LAB_ACT_CANCEL && st->lessons.filter[0]) {
        lab_table_filter(&st->lessons, "");
        return true;
    }
    if (!chapters || st->lessons.filter[0] ||
        (action != LAB_ACT_LEFT && action != LAB_ACT_RIGHT))
        return false;
    return fold(st, action == LAB_ACT_LEFT) == LAB_OK;
}

/* Words typed behind / leave the lessons that have them. */
static bool home_filter(struct lab_screen *s, const char *text)
{
    struct home_state *st = s->state;
    if (st->pane != PANE_LESSONS)
        return false;
    lab_table_filter(&st->lessons, text);
    st->lessons.empty = text[0] ? "No lesson has these words. Esc: all lessons."
                                : "No lessons were found.";
    snprintf(st->lessons.search, sizeof(st->lessons.search), "%s", text);
    return true;
}

static enum lab_status go_on(struct lab_screen *s)
{
    struct home_state *st = s->state;
    int64_t next = next_lesson(st);
    if (next < 0)
        return lab_fail(LAB_E_STATE, "[screen.all-done] all lessons are done");
    st->pane = PANE_LESSONS;
    lab_table_filter(&st->lessons, "");
    int64_t row = row_of(st, next);
    if (st->rows[row].chapter >= 0)
        st->folded[st->rows[row].chapter] = false;
    lab_table_renew(&st->lessons);
    lab_table_select(&st->lessons, row);
    return st->model->open_lesson(st->model->user, s->ui,
                                  st->model->catalog->items[next].id);
}

static enum lab_status open_row(struct lab_screen *s)
{
    struct home_state *st = s->state;
    int64_t row =
        lab_table_row(st->pane == PANE_LESSONS ? &st->lessons : &st->runs);
    if (row < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.nothing] there is nothing to open");
    if (st->pane == PANE_LESSONS) {
        const struct lab_catalog_entry *e = entry_at(st, row);
        if (!e)
            return fold(st, !st->folded[st->rows[row].chapter]);
        if (!e->lesson)
            return lab_fail(LAB_E_PARSE, "[screen.lesson] %s", e->error);
        return st->model->open_lesson(st->model->user, s->ui, e->id);
    }
    struct lab_run_args args = {.model = st->model->all_runs,
                                .run = st->model->runs[row],
                                .launch = LAB_UNKNOWN};
    if (!args.model)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-database] there is no database of runs");
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

static enum lab_status open_list(struct lab_screen *s,
                                 const struct lab_runs_model *runs,
                                 const char *none)
{
    if (!runs)
        return lab_fail(LAB_E_STATE, "%s", none);
    enum lab_status status = lab_ui_push(s->ui, &lab_view_runs, runs);
    if (!status && runs->badge)
        lab_ui_badge(s->ui, runs->badge);
    return status;
}

static enum lab_status open_runs(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    return open_list(s, st->model->all_runs, "there is no database of runs");
}

static enum lab_status open_recorded(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    return open_list(s, st->model->recorded, "no recorded runs are installed");
}

static enum lab_status open_doctor(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    struct lab_text_args args = {"Doctor", st->model->user,
                                 st->model->write_doctor,
                                 "Looking at this machine ..."};
    if (!args.write)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-doctor] nothing here looks at the machine");
    return lab_ui_push(s->ui, &lab_view_text, &args);
}

static enum lab_status open_tables(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    if (!st->model->tables)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-tables] no tables are installed");
    return lab_ui_push(s->ui, &lab_view_tables, st->model->tables);
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "open the lesson or the run", LAB_ACT_OPEN,
     open_row},
    {"c", true, "continue", "the lesson that was begun last, else the next one",
     LAB_ACT_OWN, go_on},
    {"r F2", true, "runs", "the list of all runs", LAB_ACT_OWN, open_runs},
    {"P", true, "recorded",
     "runs that ship with the program, recorded on a GPU", LAB_ACT_OWN,
     open_recorded},
    {"t", true, "tables", "the tables of the course, and calculators",
     LAB_ACT_OWN, open_tables},
    {"d F4", true, "doctor", "what this machine can do, and remedies",
     LAB_ACT_OWN, open_doctor},
    {"/ F3", true, "filter",
     "show the lessons that have the words typed; search the runs",
     LAB_ACT_SEARCH},
    {"Left h", false, "fold", "fold the chapter", LAB_ACT_LEFT},
    {"Right l", false, "unfold", "unfold the chapter", LAB_ACT_RIGHT},
    {"Tab", true, "pane", "lessons or runs", LAB_ACT_NEXT_PANE},
    {"R F5", false, "reload", "read everything again", LAB_ACT_OWN, reload_now},
    {"q F10", true, "quit", "end the program", LAB_ACT_BACK},
    {NULL}};

const struct lab_screen_ops lab_view_home = {
    .name = "home",
    .title = "Home",
    .state_bytes = sizeof(struct home_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = home_init,
    .release = home_release,
    .draw = home_draw,
    .action = home_action,
    .filter = home_filter,
    .panes = home_panes,
    .shown = home_shown,
    .may_close = home_may_close,
    .answer = home_answer,
    .tick = home_tick,
};
