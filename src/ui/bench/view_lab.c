/* The screen of a lab: a ladder of kernels, predicted, run, looked at. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/text.h"
#include "ui/ui.h"
#include "ui/views.h"
#include "view_lab_priv.h"

enum { PROMPT_RUN = 1, PROMPT_PREDICT, PROMPT_SIZES };

/* ---- the newest data ---- */

static int first_size(const struct lab_bench_data *lab, int set)
{
    for (int i = 0; i < lab->size_count; i++)
        if (lab->sizes[i].set == set)
            return i;
    return -1;
}

/* The size of another copy that reads the same, else the set's first. */
static int same_size(const struct lab_bench_data *lab, int set,
                     const char *text)
{
    for (int i = 0; i < lab->size_count; i++)
        if (lab->sizes[i].set == set && strcmp(lab->sizes[i].text, text) == 0)
            return i;
    return first_size(lab, set);
}

static bool any_row_predicted(const struct lab_bench_state *st)
{
    for (int64_t i = 0; i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            lab_prediction_any(&st->lab.rows[i].predicted))
            return true;
    return false;
}

static bool anything_predicted(const struct lab_bench_state *st)
{
    for (int i = 0; i < st->lab.size_count; i++)
        if (st->lab.sizes[i].set == st->set &&
            lab_prediction_any(&st->lab.sizes[i].best))
            return true;
    return any_row_predicted(st);
}

static enum lab_status show_rows(struct lab_bench_state *st)
{
    int64_t n = 0;
    int64_t *shown =
        lab_alloc_array((size_t)st->lab.row_count + 1, sizeof(*shown));
    if (!shown)
        return lab_no_memory("the rows of a lab");
    for (int64_t i = 0; i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            st->lab.rows[i].size_index == st->size)
            shown[n++] = i;
    lab_free(st->shown);
    st->shown = shown;
    st->table.ops =
        any_row_predicted(st) ? &lab_bench_columns : &lab_bench_plain_columns;
    enum lab_status status = lab_table_set_count(&st->table, n);
    if (!status)
        lab_bench_kernel_load(st);
    return status;
}

static enum lab_status renew(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    struct lab_bench_data fresh;
    char size[LAB_BENCH_NAME] = "";
    enum lab_status status = st->model->snapshot(st->model->user, &fresh);
    if (status)
        return status;
    if (st->size >= 0)
        snprintf(size, sizeof(size), "%s", st->lab.sizes[st->size].text);
    bool first = st->lab.set_count == 0 && fresh.set_count > 0;
    lab_bench_data_release(&st->lab);
    st->lab = fresh;
    if (st->set >= fresh.set_count)
        st->set = 0;
    st->size = same_size(&st->lab, st->set, size);
    if (st->follow && fresh.running == st->set && fresh.at_size >= 0)
        st->size = fresh.at_size;
    if (first && fresh.sets[st->set].badge[0])
        lab_ui_badge(s->ui, fresh.sets[st->set].badge);
    return show_rows(st);
}

static bool tick(struct lab_screen *s, int64_t now_ns)
{
    const struct lab_bench_state *st = s->state;
    (void)now_ns;
    if (st->model->version(st->model->user) == st->lab.version)
        return false;
    if (renew(s))
        lab_ui_error(s->ui);
    return true;
}

/* ---- life ---- */

static void release(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    lab_pager_release(&st->text_pager);
    lab_pager_release(&st->kernel_pager);
    lab_doc_release(&st->text);
    lab_doc_release(&st->kernel);
    lab_table_release(&st->table);
    lab_bench_data_release(&st->lab);
    lab_free(st->shown);
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_bench_state *st = s->state;
    st->model = args;
    st->size = -1;
    st->reading = true;
    st->follow = true;
    lab_bench_data_init(&st->lab);
    lab_doc_init(&st->text);
    lab_doc_init(&st->kernel);
    lab_table_init(&st->table, &lab_bench_columns, st);
    st->table.empty = "There is no rung for this machine.";
    lab_pager_init(&st->kernel_pager, &st->kernel);
    enum lab_status status = st->model->write_text(st->model->user, &st->text);
    if (!status)
        status = lab_doc_check(&st->text);
    lab_pager_init(&st->text_pager, &st->text);
    if (!status)
        status = renew(s);
    if (status)
        release(s);
    return status;
}

/* ---- keys ---- */

static const struct lab_bench_set *set_of(const struct lab_bench_state *st)
{
    return &st->lab.sets[st->set];
}

static enum lab_status start(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    st->reading = false;
    st->follow = true;
    enum lab_status status = st->model->run(st->model->user, st->set);
    return status ? status : renew(s);
}

static bool any_runs(const struct lab_bench_state *st)
{
    for (int i = 0; i < st->lab.set_count; i++)
        if (st->lab.sets[i].runs)
            return true;
    return false;
}

static enum lab_status can_run(const struct lab_bench_state *st)
{
    if (st->lab.set_count == 0)
        return lab_fail(LAB_E_STATE, "%s",
                        st->lab.problem[0] ? st->lab.problem
                                           : "wait: nothing can be run yet");
    if (st->lab.running >= 0)
        return lab_fail(LAB_E_STATE, "it is running: x stops it");
    if (!set_of(st)->runs)
        return lab_fail(LAB_E_STATE, "these are recorded results: %s",
                        any_runs(st)
                            ? "m goes to this machine"
                            : "no rung of this lab runs on this machine");
    if (st->size < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to run here");
    return LAB_OK;
}

/* The one that a ladder is about: the largest stands last. */
static int last_size(const struct lab_bench_state *st)
{
    int last = st->size;
    for (int i = 0; i < st->lab.size_count; i++)
        if (st->lab.sizes[i].set == st->set)
            last = i;
    return last;
}

static void hint(struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    char text[200];
    const char *rate = st->lab.unit == LAB_UNIT_FLOPS   ? "a rate, 8.2T"
                       : st->lab.unit == LAB_UNIT_BYTES ? "a rate, 800G"
                                                        : "a time, 25ns";
    snprintf(text, sizeof(text),
             "%s%s; memory, compute or latency; an occupancy, 50%%; or "
             "several of them",
             rate, st->lab.unit == LAB_UNIT_TIME ? "" : "; a time, 3.5ms");
    lab_ui_hint(s->ui, text);
}

/* A prediction comes first; an empty one is skipped. */
static enum lab_status ask_and_run(struct lab_screen *s, const char *text)
{
    struct lab_bench_state *st = s->state;
    char label[64];
    enum lab_status status = can_run(st);
    if (status || anything_predicted(st))
        return status ? status : start(s);
    snprintf(label, sizeof(label),
             "fastest, size %.16s, you expect (Enter skips): ",
             st->lab.sizes[last_size(st)].text);
    lab_ui_prompt(s->ui, PROMPT_RUN, label, text);
    hint(s);
    return LAB_OK;
}

static enum lab_status ask_prediction(struct lab_screen *s, const char *text)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = lab_bench_chosen(st);
    char label[64];
    char said[96];
    if (!r || st->lab.set_count == 0 || !set_of(st)->runs)
        return lab_fail(LAB_E_STATE, "there is nothing to predict here");
    if (r->state == LAB_BENCH_DONE)
        return lab_fail(LAB_E_STATE,
                        "rung %s, size %s, is measured: predictions come "
                        "before",
                        r->variant, r->size);
    snprintf(label, sizeof(label),
             "rung %.16s, size %.16s, you expect: ", r->variant, r->size);
    lab_prediction_text(&st->lab, &r->predicted, said, sizeof(said));
    lab_ui_prompt(s->ui, PROMPT_PREDICT, label, text ? text : said);
    hint(s);
    return LAB_OK;
}

static enum lab_status show_set(struct lab_screen *s, int set)
{
    struct lab_bench_state *st = s->state;
    char size[LAB_BENCH_NAME] = "";
    if (st->size >= 0)
        snprintf(size, sizeof(size), "%s", st->lab.sizes[st->size].text);
    st->set = set;
    st->size = same_size(&st->lab, set, size);
    st->reading = false;
    lab_ui_badge(s->ui, set_of(st)->badge);
    return show_rows(st);
}

static enum lab_status next_set(struct lab_screen *s, bool recorded)
{
    struct lab_bench_state *st = s->state;
    int n = st->lab.set_count;
    for (int k = 1; k < n; k++) {
        int set = (st->set + k) % n;
        if (!recorded || st->lab.sets[set].runs != set_of(st)->runs)
            return show_set(s, set);
    }
    return lab_fail(LAB_E_STATE, recorded && n > 0 && set_of(st)->runs
                                     ? "no recorded results of this lab are "
                                       "installed"
                                     : "there is no other machine to show");
}

static enum lab_status next_size(struct lab_bench_state *st, int by)
{
    int to = st->size + by;
    if (to < 0 || to >= st->lab.size_count || st->lab.sizes[to].set != st->set)
        return LAB_OK;
    st->size = to;
    st->follow = false;
    return show_rows(st);
}

static enum lab_status open_kernel(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = lab_bench_chosen(st);
    struct lab_source_args args = {.symbol = NULL};
    char name[96];
    if (!r)
        return lab_fail(LAB_E_STATE, "there is no rung to look at");
    enum lab_status status =
        st->model->source(st->model->user, r->source, &args.text, &args.bytes);
    if (status)
        return status;
    args.path = r->source;
    lab_bench_kernel_find(args.text, args.bytes, r->variant, name,
                          sizeof(name));
    args.symbol = name;
    return lab_ui_push(s->ui, &lab_view_source, &args);
}

static enum lab_status act(struct lab_screen *s, int what)
{
    struct lab_bench_state *st = s->state;
    enum lab_status status;
    switch (what) {
    case ACT_RUN:
        if (st->lab.command[0]) { /* the shell runs it: the command is shown */
            st->reading = false;
            return LAB_OK;
        }
        return ask_and_run(s, NULL);
    case ACT_STOP:
        if (st->lab.running < 0)
            return lab_fail(LAB_E_STATE, "nothing is running");
        st->model->stop(st->model->user);
        return renew(s);
    case ACT_PREDICT:
        return ask_prediction(s, NULL);
    case ACT_SIZES:
        status = can_run(st);
        if (status)
            return status;
        lab_ui_prompt(s->ui, PROMPT_SIZES, "sizes: ", set_of(st)->sizes);
        return LAB_OK;
    case ACT_TEXT:
        st->reading = !st->reading;
        return LAB_OK;
    case ACT_LOWER:
        if (st->wide && !st->reading)
            lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                           "every view is on the screen already; Tab moves in "
                           "the kernel's source");
        if (st->wide) {
            st->reading = false;
            return LAB_OK;
        }
        st->lower = (enum lab_bench_lower)((st->lower + 1) % LAB_LOWERS);
        st->scrolling = false;
        st->reading = false;
        return LAB_OK;
    case ACT_LOG:
        st->log = !st->log;
        return LAB_OK;
    case ACT_SET:
        return next_set(s, false);
    case ACT_RECORDED:
        return next_set(s, true);
    default:
        return open_kernel(s);
    }
}

static bool move_lab(struct lab_screen *s, int what)
{
    struct lab_bench_state *st = s->state;
    enum lab_status status = LAB_OK;
    if (what == LAB_ACT_LEFT || what == LAB_ACT_RIGHT) {
        status = next_size(st, what == LAB_ACT_LEFT ? -1 : 1);
    } else if (what == LAB_ACT_SORT) {
        lab_table_sort_next(&st->table);
    } else if (what == LAB_ACT_SORT_TURN) {
        lab_table_sort_turn(&st->table);
    } else if (what == LAB_ACT_NEXT_PANE || what == LAB_ACT_PREV_PANE) {
        st->scrolling = !st->scrolling;
        if (st->scrolling)
            st->lower = LAB_LOWER_KERNEL;
    } else if (st->scrolling) {
        return lab_pager_action(&st->kernel_pager, what);
    } else if (lab_table_action(&st->table, what)) {
        lab_bench_kernel_load(st);
    } else {
        return false;
    }
    if (status)
        lab_ui_error(s->ui);
    return true;
}

static bool search_next(struct lab_screen *s, int what)
{
    struct lab_bench_state *st = s->state;
    int dir = what == LAB_ACT_SEARCH_NEXT ? 1 : -1;
    bool found = st->reading
                     ? lab_pager_search(&st->text_pager, "", dir, true)
                     : lab_pager_search(&st->kernel_pager, "", dir, true);
    if (!found)
        lab_ui_message(s->ui, LAB_ROLE_WARN, "search with / first");
    return true;
}

static bool action(struct lab_screen *s, int what)
{
    struct lab_bench_state *st = s->state;
    if (what == LAB_ACT_SEARCH_NEXT || what == LAB_ACT_SEARCH_PREV)
        return search_next(s, what);
    if (what == LAB_ACT_CANCEL) {
        if (st->reading)
            st->reading = false;
        else
            lab_ui_pop(s->ui);
        return true;
    }
    if (what >= LAB_ACT_OWN || what == LAB_ACT_OPEN) {
        if (act(s, what))
            lab_ui_error(s->ui);
        return true;
    }
    return st->reading ? lab_pager_action(&st->text_pager, what)
                       : move_lab(s, what);
}

/* ---- answers ---- */

static void search(struct lab_screen *s, const char *text)
{
    struct lab_bench_state *st = s->state;
    struct lab_pager *p = st->reading ? &st->text_pager : &st->kernel_pager;
    if (!lab_pager_search(p, text, 1, false))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this text",
                       text);
    else if (!st->reading)
        st->lower = LAB_LOWER_KERNEL;
}

/* What was expected, as it was understood; rung "": of the fastest one. */
static void confirm(struct lab_screen *s, const char *rung, int size)
{
    const struct lab_bench_state *st = s->state;
    const struct lab_prediction *what = &st->lab.sizes[size].best;
    char said[96];
    for (int64_t i = 0; rung[0] && i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            st->lab.rows[i].size_index == size &&
            strcmp(st->lab.rows[i].variant, rung) == 0)
            what = &st->lab.rows[i].predicted;
    if (lab_prediction_any(what))
        lab_ui_message(s->ui, LAB_ROLE_GOOD, "%s%s, size %s: expected %s",
                       rung[0] ? "rung " : "fastest", rung,
                       st->lab.sizes[size].text,
                       lab_prediction_text(&st->lab, what, said, sizeof(said)));
    else
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "%s%s, size %s: no prediction",
                       rung[0] ? "rung " : "fastest", rung,
                       st->lab.sizes[size].text);
}

/* What is wrong is said, and asked again with what was typed. */
static void take_prediction(struct lab_screen *s, int id, const char *text)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = lab_bench_chosen(st);
    char rung[LAB_BENCH_NAME] = "";
    int size = id == PROMPT_PREDICT && r ? st->size : last_size(st);
    enum lab_status status = LAB_OK;
    if (id == PROMPT_PREDICT && r)
        snprintf(rung, sizeof(rung), "%s", r->variant);
    if (text[0] || id == PROMPT_PREDICT)
        status =
            st->model->predict(st->model->user, st->set, rung[0] ? rung : NULL,
                               st->lab.sizes[size].text, text);
    if (status) {
        char wrong[320];
        snprintf(wrong, sizeof(wrong), "%s", lab_error());
        status =
            id == PROMPT_RUN ? ask_and_run(s, text) : ask_prediction(s, text);
        if (!status)
            lab_ui_hint(s->ui, wrong);
    } else {
        status = id == PROMPT_RUN ? start(s) : renew(s);
        if (!status && (text[0] || id == PROMPT_PREDICT))
            confirm(s, rung, size);
    }
    if (status)
        lab_ui_error(s->ui);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_bench_state *st = s->state;
    enum lab_status status = LAB_OK;
    if (!text)
        return;
    if (id == LAB_PROMPT_SEARCH) {
        search(s, text);
    } else if (id == PROMPT_SIZES) {
        status = st->model->sizes(st->model->user, st->set, text);
        st->reading = false;
        if (!status)
            status = renew(s);
    } else if (st->size >= 0) {
        take_prediction(s, id, text);
    }
    if (status)
        lab_ui_error(s->ui);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_bench_state *st = s->state;
    if (st->reading || what != LAB_MOUSE_CLICK ||
        !lab_rect_has(st->table.view, y, x))
        return false;
    st->scrolling = false;
    lab_table_click(&st->table, y, x);
    lab_bench_kernel_load(st);
    return true;
}

/* Of a lab that is no ladder: its text, and the command that measures it. */
static const struct lab_binding command_bindings[] = {
    {{'r', LAB_KEY_F1 + 4}, ACT_RUN, "run", "the command that runs it", true},
    {{'t'}, ACT_TEXT, "text", "the lesson's text, or the command", true},
    {{'/', LAB_KEY_F1 + 2}, LAB_ACT_SEARCH, "search", "search the text", false},
    {{LAB_KEY_ESC},
     LAB_ACT_CANCEL,
     "back",
     "close the text, then the lab",
     false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static const struct lab_binding bindings[] = {
    {{'r', LAB_KEY_F1 + 4}, ACT_RUN, "run", "run the ladder", true},
    {{'x', LAB_KEY_F1 + 5}, ACT_STOP, "stop", "stop what is running", true},
    {{'p', LAB_KEY_F1 + 6},
     ACT_PREDICT,
     "predict",
     "what you expect of the chosen rung: 8.2T, 3.5 ms, memory, 50%",
     true},
    {{'t'}, ACT_TEXT, "text", "the lesson's text, or the lab", true},
    {{'v'},
     ACT_LOWER,
     "view",
     "bars, rates, kernel, profile, the course's figures",
     true},
    {{'e'}, ACT_SIZES, "sizes", "other sizes", true},
    {{'L'}, ACT_LOG, "log", "pictures linear or logarithmic", false},
    {{'m'}, ACT_SET, "machine", "CPU, GPU, or recorded results", true},
    {{'g'},
     ACT_RECORDED,
     "recorded",
     "results that ship with the program, or this machine's",
     false},
    {{LAB_KEY_LEFT, '['}, LAB_ACT_LEFT, "size", "the size before", false},
    {{LAB_KEY_RIGHT, ']'}, LAB_ACT_RIGHT, "size", "the next size", false},
    {{LAB_KEY_ENTER},
     LAB_ACT_OPEN,
     "source",
     "the chosen rung's kernel, on a screen of its own",
     true},
    {{LAB_KEY_TAB},
     LAB_ACT_NEXT_PANE,
     "pane",
     "move in the table or in the kernel's source",
     false},
    {{'s'}, LAB_ACT_SORT, "sort", "sort by the next column", false},
    {{'S'}, LAB_ACT_SORT_TURN, "reverse", "turn the order", false},
    {{'/', LAB_KEY_F1 + 2},
     LAB_ACT_SEARCH,
     "search",
     "search the text, or the kernel's source",
     false},
    {{LAB_KEY_ESC},
     LAB_ACT_CANCEL,
     "back",
     "close the text, then the lab",
     false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static const struct lab_binding *bindings_now(const struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    return st->lab.command[0] ? command_bindings : bindings;
}

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_bench_state *st = s->state;
    char place[64];
    if (st->reading)
        snprintf(out, cap, "%s (%s)", st->model->title,
                 lab_pager_place(&st->text_pager, place, sizeof(place)));
    else
        snprintf(out, cap, "%s", st->model->title);
}

const struct lab_screen_ops lab_view_lab = {
    .name = "lab",
    .title = "Lab",
    .state_bytes = sizeof(struct lab_bench_state),
    .bindings = bindings,
    .bindings_now = bindings_now,
    .init = init,
    .release = release,
    .draw = lab_bench_draw,
    .action = action,
    .tick = tick,
    .answer = answer,
    .mouse = mouse,
    .title_now = title_now,
};
