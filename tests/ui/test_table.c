/* The table widget: stable sorting with unknown values last, the window that
 * follows the cursor, searching, clicks and alarms. */
#include "test.h"

#include "base/mem.h"
#include "runs/record_list.h"
#include "store/query.h"
#include "trace/record.h"
#include "ui/keymap.h"
#include "ui/table.h"

struct fruit {
    const char *name;
    double weight;
    int64_t count;
};

static const struct fruit FRUIT[] = {
    {"pear", 2.5, 10},  {"Apple", NAN, 3}, {"fig", 0.5, LAB_UNKNOWN},
    {"quince", 9.0, 7}, {"apple", 1.0, 3}, {"pe\033ar", 4.0, 1}};
enum { FRUITS = sizeof(FRUIT) / sizeof(FRUIT[0]) };

static const struct lab_table_column COLUMNS[] = {
    {"name", 8, 1, 0, false, false},
    {"weight", 7, 0, 1, true, true},
    {"count", 6, 0, 2, true, false}};

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct fruit *f = (const struct fruit *)user + row;
    (void)role;
    if (column == 0)
        snprintf(out, cap, "%s", f->name);
    else if (column == 1)
        snprintf(out, cap, "%.1f", f->weight);
    else
        snprintf(out, cap, "%lld", (long long)f->count);
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct fruit *f = user;
    if (column == 1)
        return lab_table_compare_double(f[a].weight, f[b].weight, turned);
    if (column == 2)
        return lab_table_compare_int(f[a].count, f[b].count, turned);
    return strcasecmp(f[a].name, f[b].name);
}

static const struct lab_table_ops OPS = {COLUMNS, 3, cell, compare};
static const struct lab_table_ops TEXT_OPS = {COLUMNS, 3, cell, NULL};

static void assert_order(const struct lab_table *t, const char *want)
{
    char have[FRUITS + 1] = "";
    for (int64_t i = 0; i < t->count; i++)
        have[i] = (char)('0' + t->order[i]);
    assert_string_equal(have, want);
}

TEST_CASE(sorting_is_stable_and_unknown_is_last)
{
    struct lab_table t;
    lab_table_init(&t, &OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, FRUITS));
    assert_order(&t, "012345");
    lab_table_select(&t, 3);
    lab_table_sort(&t, 1, false);
    assert_order(&t, "240531"); /* NaN last ... */
    assert_int_equal(lab_table_row(&t), 3);
    lab_table_action(&t, LAB_ACT_SORT_TURN);
    assert_order(&t, "350421"); /* ... both ways */
    lab_table_sort(&t, 2, false);
    assert_order(&t, "514302"); /* 3 and 3: as given */
    lab_table_sort(&t, 2, true);
    assert_order(&t, "031452");
    lab_table_sort(&t, 0, false);
    assert_order(&t, "142503");
    lab_table_sort(&t, -1, true);
    assert_order(&t, "543210");
    lab_table_release(&t);
    lab_table_init(&t, &TEXT_OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, 5));
    lab_table_sort(&t, 0, false);
    assert_order(&t, "14203");
    lab_table_release(&t);
}

/* Against the plainest sort there is. */
TEST_CASE(sorting_agrees_with_a_simple_sort)
{
    static struct fruit many[500];
    struct lab_table t;
    srand(3);
    for (int i = 0; i < 500; i++)
        many[i].weight = rand() % 7 ? rand() % 40 : NAN;
    lab_table_init(&t, &OPS, many);
    for (int n = 0; n <= 500; n += n < 20 ? 1 : 97) {
        assert_ok(lab_table_set_count(&t, n));
        lab_table_sort(&t, 1, false);
        int64_t seen = 0;
        for (int64_t i = 0; i + 1 < n; i++) {
            double a = many[t.order[i]].weight;
            double b = many[t.order[i + 1]].weight;
            bool same = a == b || (isnan(a) && isnan(b));
            assert_true(same ? t.order[i] < t.order[i + 1] : isnan(b) || a < b);
        }
        for (int64_t i = 0; i < n; i++)
            seen += t.order[i];
        assert_int_equal(seen, (int64_t)n * (n - 1) / 2);
    }
    lab_table_release(&t);
}

static void draw(struct lab_table *t, int h, int w, const char *want)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, true));
    lab_table_draw(t, &c, (struct lab_rect){0, 0, h, w}, true);
    char *dump = lab_canvas_dump(&c);
    if (want)
        assert_string_equal(dump, want);
    lab_free(dump);
    lab_canvas_release(&c);
}

TEST_CASE(the_window_follows_the_cursor)
{
    struct lab_table t;
    lab_table_init(&t, &OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, FRUITS));
    draw(&t, 4, 26,
         " name       weight  count\n>pear          2.5     10\n"
         " Apple         nan      3\nvfig           0.5 -9223~\n");
    assert_true(lab_table_action(&t, LAB_ACT_LAST));
    draw(&t, 4, 26,
         " name       weight  count\n^quince        9.0      7\n"
         " apple         1.0      3\n>pe^[ar        4.0      1\n");
    assert_true(lab_table_action(&t, LAB_ACT_PAGE_UP));
    assert_int_equal(t.cursor, 3);
    assert_true(lab_table_action(&t, LAB_ACT_PAGE_UP));
    assert_true(lab_table_action(&t, LAB_ACT_PAGE_UP));
    assert_int_equal(t.cursor, 0);
    assert_true(lab_table_action(&t, LAB_ACT_UP));
    assert_int_equal(t.cursor, 0);
    assert_false(lab_table_action(&t, LAB_ACT_OPEN));
    /* Narrow: columns go by their drop; the count is the first. */
    draw(&t, 2, 19, " name       weight\n>pear          2.5v\n");
    draw(&t, 2, 10, " name\n>pear    v\n");
    draw(&t, 2, 4, NULL);
    draw(&t, 1, 1, NULL);
    /* Fewer rows: the cursor stays inside. */
    lab_table_action(&t, LAB_ACT_LAST);
    assert_ok(lab_table_set_count(&t, 2));
    assert_int_equal(lab_table_row(&t), 1);
    assert_ok(lab_table_set_count(&t, 0));
    assert_int_equal(lab_table_row(&t), -1);
    t.empty = "nothing";
    draw(&t, 3, 26, " name       weight  count\n nothing\n\n");
    lab_table_action(&t, LAB_ACT_DOWN);
    lab_table_sort(&t, 0, false);
    assert_false(lab_table_search(&t, "x", 1));
    lab_table_release(&t);
}

TEST_CASE(searching_goes_around)
{
    struct lab_table t;
    lab_table_init(&t, &OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, FRUITS));
    assert_false(lab_table_search(&t, "", 1));
    assert_true(lab_table_search(&t, "APPLE", 1));
    assert_int_equal(t.cursor, 1);
    assert_true(lab_table_search(&t, "", 1));
    assert_int_equal(t.cursor, 4);
    assert_true(lab_table_search(&t, "", 1));
    assert_int_equal(t.cursor, 1);
    assert_true(lab_table_search(&t, "", -1));
    assert_int_equal(t.cursor, 4);
    assert_true(lab_table_search(&t, "9.0", 1)); /* any column */
    assert_int_equal(t.cursor, 3);
    assert_false(lab_table_search(&t, "kiwi", 1));
    assert_int_equal(t.cursor, 3);
    lab_table_release(&t);
}

TEST_CASE(clicks_choose_and_sort)
{
    struct lab_table t;
    lab_table_init(&t, &OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, FRUITS));
    draw(&t, 4, 26, NULL);
    assert_int_equal(lab_table_click(&t, 2, 5), 1);
    assert_int_equal(lab_table_row(&t), 1);
    assert_int_equal(lab_table_click(&t, 9, 5), -1);
    assert_int_equal(lab_table_click(&t, 0, 16), -1);
    assert_int_equal(t.sort, 1);
    assert_true(t.turned); /* weights start with the largest */
    lab_table_click(&t, 0, 16);
    assert_false(t.turned);
    lab_table_action(&t, LAB_ACT_SORT);
    assert_int_equal(t.sort, 2);
    lab_table_action(&t, LAB_ACT_SORT);
    assert_int_equal(t.sort, -1);
    lab_table_release(&t);
}

TEST_CASE(memory_may_be_short)
{
    struct lab_table t;
    lab_table_init(&t, &OPS, FRUIT);
    assert_ok(lab_table_set_count(&t, 3));
    lab_mem_fail_from(1);
    assert_int_equal(lab_table_set_count(&t, FRUITS), LAB_E_NOMEM);
    assert_int_equal(t.count, 3);
    lab_table_sort(&t, 1, false);
    lab_mem_fail_from(0);
    assert_order(&t, "201");
    lab_table_release(&t);
}

/* A run that was left is no fault: only one that failed alarms. */
TEST_CASE(states_that_alarm)
{
    static const struct {
        const char *status;
        enum lab_role role;
    } want[] = {{"done", LAB_ROLE_NORMAL},
                {"cancelled", LAB_ROLE_NORMAL},
                {"interrupted", LAB_ROLE_NORMAL},
                {"running", LAB_ROLE_GOOD},
                {"failed", LAB_ROLE_BAD}};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct lab_run_row row = {.status = want[i].status};
        struct lab_record_list list;
        bool found = false;
        lab_record_list_init(&list, &lab_run_fields, 0);
        list.rows = &row;
        for (int k = 0; k < list.ops.column_count; k++) {
            char text[LAB_TABLE_CELL_BYTES];
            enum lab_role role = LAB_ROLE_NORMAL;
            lab_record_cell(&list, 0, k, text, sizeof(text), &role);
            if (strcmp(text, want[i].status) == 0) {
                assert_int_equal(role, want[i].role);
                found = true;
            }
        }
        assert_true(found);
    }
}

static bool is_second(const void *user, const void *row)
{
    return ((const struct lab_run_row *)row)->id == *(const int64_t *)user;
}

/* What matters little recedes; what alarms does not. */
TEST_CASE(a_row_may_be_faint)
{
    const struct lab_run_row rows[] = {{.id = 1, .status = "done"},
                                       {.id = 2, .status = "done"},
                                       {.id = 2, .status = "failed"}};
    static const enum lab_role want[] = {LAB_ROLE_NORMAL, LAB_ROLE_DIM,
                                         LAB_ROLE_BAD};
    const int64_t second = 2;
    struct lab_record_list list;
    lab_record_list_init(&list, &lab_run_fields, 0);
    list.rows = rows;
    list.faint = is_second;
    list.color_user = &second;
    for (int64_t i = 0; i < 3; i++)
        for (int k = 0; k < list.ops.column_count; k++) {
            char text[LAB_TABLE_CELL_BYTES];
            enum lab_role role = LAB_ROLE_NORMAL;
            lab_record_cell(&list, i, k, text, sizeof(text), &role);
            if (strcmp(text, rows[i].status) == 0)
                assert_int_equal(role, want[i]);
        }
}

RUN_TESTS()
