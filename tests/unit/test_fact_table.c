/* Tables of facts: what is read, what is refused with its line, formulas, one
 * number changed, filter and order. */
#include "test.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/database.h"
#include "store/fact_table.h"
#include "store/query.h"

#define HEAD "#:title T\n"
#define COLUMNS "gpu,sms [count],boost [MHz],source\n"

static struct lab_fact_table *parse(const char *text)
{
    struct lab_fact_table *t = NULL;
    if (lab_fact_parse(&t, "dir/t.csv", text, strlen(text)))
        fail_msg("%s", lab_error());
    return t;
}

static void expect_refusal(const char *text, const char *error)
{
    struct lab_fact_table *t = NULL;
    assert_int_equal(LAB_E_PARSE,
                     lab_fact_parse(&t, "dir/t.csv", text, strlen(text)));
    assert_null(t);
    if (!error_is(error))
        fail_msg("\"%s\" has no \"%s\"", lab_error(), error);
}

TEST_CASE(bad_files_name_their_line)
{
    expect_refusal(HEAD "gpu,sms [cnt],source\nA,1,s\n",
                   "[table.unit] dir/t.csv:2: column "
                   "sms: \"cnt\" is no "
                   "unit");
    expect_refusal(HEAD "gpu,sms [count]\nA,1\n",
                   "[table.source] t.csv:2: the column source");
    expect_refusal(HEAD COLUMNS "A,1,2,s\n\nA,1,2,s\n",
                   "[table.row-twice] t.csv:5: \"A\" is there twice: line 3");
    expect_refusal(HEAD COLUMNS "A,1,2\n",
                   "[table.cells-fewer] t.csv:3: 3 cells where the head "
                   "has 4");
    expect_refusal(HEAD COLUMNS "A,1,2,s,x\n",
                   "[table.cells-more] t.csv:3: 5 cells where the head "
                   "has 4 columns: does it lack one,");
    /* A name is missing in the head: not what its neighbour makes of the cell. */
    expect_refusal(HEAD "gpu,boost [MHz],source\nA,B,1,2,s\n",
                   "[table.cells-more] t.csv:3: 5 cells where the head has 3");
    expect_refusal(HEAD COLUMNS "A,1,2,s",
                   "[table.last-line] t.csv:3: the last line has no end");
    expect_refusal(HEAD COLUMNS "A,1,2,\"s\n",
                   "[table.quote] t.csv:3: a quote");
    expect_refusal(HEAD COLUMNS "A,1,2,\"s\"x\n",
                   "[table.comma] t.csv:3: a comma");
    expect_refusal(HEAD COLUMNS "A,1,2 MHz,s\n",
                   "[table.number] t.csv:3: column boost");
    expect_refusal(HEAD COLUMNS "A,-1,2,s\n", "[table.negative] ");
    expect_refusal(HEAD COLUMNS "A,1,2,\n",
                   "[table.cell-empty] column source is empty");
    expect_refusal(HEAD COLUMNS "A,1,2,\xff\n", "[table.cell-utf8] ");
    expect_refusal(HEAD "sms [count],source\n1,s\n", "[table.key] ");
    expect_refusal(HEAD "a,b,b,source\n1,2,3,s\n",
                   "[table.column-twice] column b is there twice");
    expect_refusal(HEAD "a,b [MHz],b_mhz,source\n1,2,3,s\n",
                   "[table.column-twice] column b_mhz is there twice");
    expect_refusal(HEAD "a,b c [MHz],source\n1,2,s\n",
                   "[table.column-name] \"b c [MHz]\" is no column");
    expect_refusal(HEAD "a,c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3,d4,d5,d6,"
                        "d7,d8,d9,e0,e1,e2,e3,e4,e5,e6,e7,e8,e9,f0,f1,f2,f3,f4,"
                        "f5,f6,f7,f8,f9,g0,g1,g2,g3,g4,g5,g6,source\n",
                   "[table.columns] more than 48 columns");
    expect_refusal(HEAD "a,B,source\n1,2,s\n",
                   "[table.column-name] \"B\" is no column");
    expect_refusal(HEAD "a,,source\n1,2,s\n", "[table.column-name] ");
    expect_refusal(HEAD COLUMNS, "[table.no-rows] ");
    expect_refusal(HEAD, "[table.no-head] ");
    expect_refusal(COLUMNS "A,1,2,s\n", "[table.title] ");
    expect_refusal("#:colour red\n" HEAD COLUMNS "A,1,2,s\n",
                   "[table.directive] t.csv:1: \"colour\" is no key");
    expect_refusal(HEAD "#:formula f [1] = sms * x\n" COLUMNS "A,1,2,s\n",
                   "[table.formula] t.csv:2: formula \"sms * x\", character 7");
    expect_refusal(HEAD "#:formula f [1] = sms *\n" COLUMNS "A,1,2,s\n",
                   "[table.formula] expected a number");
    expect_refusal(HEAD "#:formula f [1] = f + 1\n" COLUMNS "A,1,2,s\n",
                   "[table.formula] no column of numbers before");
    expect_refusal(HEAD "#:formula f = 1\n" COLUMNS "A,1,2,s\n",
                   "[table.computed-unit] ");
    expect_refusal(HEAD "#:formula f [1] = sinus(sms)\n" COLUMNS "A,1,2,s\n",
                   "[table.formula] no such function");
    expect_refusal(HEAD COLUMNS "A,1.5,2,s\n",
                   "[table.whole] t.csv:3: column sms: 1.5 is no whole");
    expect_refusal(HEAD COLUMNS "A,0x10,2,s\n", "[table.number] t.csv:3:");
    expect_refusal(HEAD COLUMNS "A,1,+2,s\n", "[table.number] t.csv:3:");
    expect_refusal(HEAD COLUMNS "A,1,1e400,s\n", "[table.number] t.csv:3:");
    expect_refusal(HEAD "a,b [share],source\nA,1.5,s\n",
                   "[table.part] t.csv:3: column b: 1.5 is more than");
    expect_refusal(HEAD "a,b [%],source\nA,101,s\n", "[table.part] ");
    expect_refusal(HEAD COLUMNS "A,1,2,s\na,1,2,s\n",
                   "[table.row-twice] t.csv:4: \"a\" is there twice: line 3");
    expect_refusal(HEAD COLUMNS "A ,1,2,s\n",
                   "[table.cell-blank] t.csv:3: column gpu: \"A \"");
    expect_refusal(HEAD COLUMNS "A,1,2, \n", "[table.cell-blank] ");
    expect_refusal(HEAD COLUMNS "A\x1b[31m,1,2,s\n",
                   "[table.cell-control] t.csv:3: column gpu");
    expect_refusal(HEAD "#:about x\x1b[31m\n" COLUMNS "A,1,2,s\n",
                   "[table.line-control] t.csv:2:");
    expect_refusal(HEAD HEAD COLUMNS "A,1,2,s\n",
                   "[table.directive-twice] t.csv:2: title is there twice");
    expect_refusal("#:course C01\n#:course C02\n" HEAD COLUMNS "A,1,2,s\n",
                   "[table.directive-twice] t.csv:2: course");
    expect_refusal("#:title\n" COLUMNS "A,1,2,s\n",
                   "[table.directive-empty] t.csv:1: title has no text");
    /* A known unit, and another's: the column of a count has a rate. */
    expect_refusal(HEAD "#:formula lanes [count] = sms * 2\n"
                        "a,sms [GB/s],source\nA,1,s\n",
                   "[table.formula-unit] t.csv:2: lanes = sms * 2 is not in "
                   "count");
    expect_refusal(HEAD "#:formula rate [GB/s] = work / time\n"
                        "a,work [GFLOP/s],time [ms],source\nA,1,2,s\n",
                   "[table.formula-unit] t.csv:2: rate = work / time");
    /* A number has no unit: of a time it needs a column, or the unit 1. */
    expect_refusal(HEAD "#:formula all [ms] = time + 30\n"
                        "a,time [ms],source\nA,2,s\n",
                   "[table.formula-unit] t.csv:2: all = time + 30");
    lab_fact_free(parse(HEAD "#:formula all [1] = time + 30\n"
                             "a,time [ms],source\nA,2,s\n"));
    expect_refusal(HEAD "#:formula all [ms] = time + sms\n"
                        "a,sms [count],time [ms],source\nA,1,2,s\n",
                   "[table.formula-unit] t.csv:2: all = time + sms");
    /* A year is a date, and years are a time. */
    expect_refusal(HEAD "#:formula age [year] = life * 2\n"
                        "a,life [years],source\nA,1,s\n",
                   "[table.formula-unit] t.csv:2: age = life * 2 is not in "
                   "year: by the units of its columns it has another power of "
                   "time (numbers in a formula have none: a time needs a "
                   "column; a year is a date, a time is in years)");
    lab_fact_free(parse(HEAD "#:formula age [years] = life * 2\n"
                             "a,life [years],source\nA,1,s\n"));
    expect_refusal(HEAD "#:formula x [J] = sms\n"
                        "a,sms [count],printed_x [MHz],source\nA,1,1,s\n",
                   "[table.printed-unit] t.csv:3: printed_x is in MHz, and x "
                   "in J");
    expect_refusal(HEAD "#:formula x [J] = sms\n"
                        "a,sms [count],printed_x [J],source\nA,1,1.9,s\n"
                        "B,1,2.1,s\n",
                   "[table.printed] t.csv:5: printed_x is 2.1 J, and x is 1:");
    expect_refusal(HEAD "#:formula x [1] = sms\n"
                        "a,sms [1],printed_x [1],source\nA,-5,-5,s\n"
                        "B,-5,-2,s\n",
                   "[table.printed] t.csv:5: printed_x is -2, and x is -5:");
    expect_refusal(HEAD "#:formula x [J] = sms\n"
                        "a,sms [1],printed_x [J],source\nA,-5,5,s\n",
                   "[table.printed] t.csv:4: printed_x is 5 J, and x is -5:");
}

TEST_CASE(what_a_spreadsheet_writes_is_read)
{
    struct lab_fact_table *t =
        parse("\xef\xbb\xbf" HEAD "a,b [MHz],source\r\nA,1,s\r\n");
    assert_int_equal(1, t->rows);
    assert_string_equal("s", lab_fact_at(t, 0, 2)->text);
    assert_true(lab_fact_at(t, 0, 1)->value == 1);
    lab_fact_free(t);
    t = parse(HEAD "#:formula x [J] = sms\n"
                   "a,sms [count],printed_x [J],differs,source\n"
                   "A,1,9,a reason,s\n");
    lab_fact_free(t);
}

/* ---- every table that ships, with one thing wrong ---- */

enum { MOST_CELLS = LAB_FACT_COLUMNS };

/* A line of a file, and its cells; quotes belong to a cell. */
struct line {
    size_t from;
    size_t to;                   /* its '\n' */
    size_t cell[MOST_CELLS + 1]; /* where each begins, and one past the last */
    int cells;
};

static void read_line(const char *text, size_t from, struct line *out)
{
    bool quoted = false;
    *out = (struct line){.from = from, .cell = {from}};
    size_t i = from;
    for (; text[i] && text[i] != '\n'; i++) {
        quoted = quoted != (text[i] == '"');
        if (text[i] == ',' && !quoted && out->cells < MOST_CELLS - 1)
            out->cell[++out->cells] = i + 1;
    }
    out->to = i;
    out->cell[++out->cells] = i + 1;
}

static int tried;
static bool in_head;

/* The text with `by` in the place of [from, to): refused, with the line. */
static void expect_wrong(const char *name, const char *text, size_t from,
                         size_t to, const char *by)
{
    struct lab_fact_table *t = NULL;
    struct lab_str changed;
    char place[80];
    int line = 1;
    for (size_t i = 0; i < from; i++)
        line += text[i] == '\n';
    lab_str_init(&changed);
    lab_str_add_bytes(&changed, text, from);
    lab_str_add(&changed, by);
    lab_str_add(&changed, text + to);
    enum lab_status st =
        lab_fact_parse(&t, name, lab_str_text(&changed), changed.len);
    snprintf(place, sizeof(place), "%s:%d: ", name, line);
    if (st != LAB_E_PARSE)
        fail_msg("%s \"%s\" in the place of \"%.*s\" is taken", place, by,
                 (int)(to - from), text + from);
    /* A column that is missing in the head is missed where it is used. */
    if (!strstr(lab_error(), place) &&
        !(in_head && strstr(lab_error(), name) == lab_error()))
        fail_msg("%s \"%s\": %s", place, by, lab_error());
    lab_fact_free(t);
    lab_str_release(&changed);
    tried++;
}

static bool is_given_number(const char *head, const char *cell)
{
    const char *open = strchr(head, '[');
    const char *end = strchr(head, ',');
    return open && end && open < end && *cell != '@' && *cell != ',';
}

static bool has_unit(const char *head, const char *unit)
{
    const char *open = strchr(head, '[');
    const char *end = strchr(head, ',');
    return open && (!end || open < end) &&
           strncmp(open + 1, unit, strlen(unit)) == 0;
}

static void try_row(const char *name, const char *text, const struct line *head,
                    const struct line *row)
{
    for (int i = 0; i < row->cells; i++) {
        const char *title = text + head->cell[i];
        size_t from = row->cell[i];
        size_t to = row->cell[i + 1] - 1;
        if (i == 0)
            expect_wrong(name, text, from, to, "");
        if (i == 0)
            expect_wrong(name, text, from, to, "\" x\"");
        if (!is_given_number(title, text + from))
            continue;
        expect_wrong(name, text, from, to, "12x");
        expect_wrong(name, text, from, to, "0x10");
        expect_wrong(name, text, from, to, "1,2");
        expect_wrong(name, text, from, to, "nan");
        if (!has_unit(title, "1]") && !has_unit(title, "points]"))
            expect_wrong(name, text, from, to, "-1");
        if (has_unit(title, "count]"))
            expect_wrong(name, text, from, to, "1.5");
        if (has_unit(title, "share]") || has_unit(title, "%]"))
            expect_wrong(name, text, from, to, "100.5");
    }
    expect_wrong(name, text, row->to, row->to, ",x");
    expect_wrong(name, text, row->cell[row->cells - 1] - 1, row->to, "");
}

static void try_head(const char *name, const char *text,
                     const struct line *head)
{
    for (int i = 0; i < head->cells; i++) {
        size_t from = head->cell[i];
        size_t to = head->cell[i + 1] - 1;
        const char *open = memchr(text + from, '[', to - from);
        expect_wrong(name, text, from, from, "X");
        expect_wrong(name, text, from, to, "");
        if (open)
            expect_wrong(name, text, (size_t)(open - text) + 1, to, "furlong]");
        if (i > 0) { /* twice, and left out */
            char other[200];
            snprintf(other, sizeof(other), "%.*s",
                     (int)(head->cell[i] - 1 - head->cell[i - 1]),
                     text + head->cell[i - 1]);
            expect_wrong(name, text, from, to, other);
            expect_wrong(name, text, from - 1, to, "");
        }
    }
}

static void try_table(const char *name, const char *text)
{
    struct line head = {.cells = 0};
    char first[2000];
    for (size_t at = 0; text[at]; at = strchr(text + at, '\n') - text + 1) {
        struct line line;
        if (text[at] == '\n')
            continue;
        read_line(text, at, &line);
        if (text[at] == '#' && text[at + 1] == ':')
            expect_wrong(name, text, at + 2, at + 3, "z");
        if (text[at] == '#')
            continue;
        if (head.cells == 0) {
            head = line;
            in_head = true;
            try_head(name, text, &head);
            in_head = false;
            continue;
        }
        try_row(name, text, &head, &line);
        /* The same key in the next line. */
        snprintf(first, sizeof(first), "%.*s\n", (int)(line.to - line.from),
                 text + line.from);
        expect_wrong(name, text, line.to + 1, line.to + 1, first);
    }
    expect_wrong(name, text, strlen(text) - 1, strlen(text), "");
}

TEST_CASE(one_thing_wrong_in_a_table_that_ships)
{
    static const char folder[] = LAB_SOURCE_DIR "/profiles/tables";
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        char text[64 * 1024];
        if (!strstr(e->d_name, ".csv"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof(text) - 1, f);
        fclose(f);
        assert_in_range(n, 1, sizeof(text) - 2);
        text[n] = '\0';
        try_table(e->d_name, text);
    }
    closedir(d);
    assert_in_range(tried, 5000, 1000000);
}

static bool no_name(void *user, const char *name, long double *out)
{
    (void)user;
    if (strcmp(name, "unknown") != 0)
        return false;
    *out = NAN;
    return true;
}

static long double value(const char *text)
{
    long double v = -1;
    if (lab_fact_expression(text, no_name, NULL, &v))
        fail_msg("%s", lab_error());
    return v;
}

TEST_CASE(formulas_follow_the_rules)
{
    assert_true(value("1 + 2 * 3 ^ 2 - 4 / 2") == 17);
    assert_true(value("2 ^ 3 ^ 2") == 512);
    assert_true(value("-2 ^ 2 + 2 ^ -1 * -3") == -5.5L);
    assert_true(value("-(1 - 3) * sqrt(16)") == 8);
    assert_true(value("min(3, 2) + max(4, 5) + ceil(1.2) + floor(1.8)") == 10);
    assert_true(value("log2(8) + exp(0)") == 4);
    assert_true(value("if(2 > 1, 10, 20) + if(2 <= 1, 1, 2)") == 12);
    assert_true(isnan(value("1 / 0")));
    assert_true(isnan(value("unknown + 1")));
    assert_true(isnan(value("if(unknown > 1, 1, 2)")));
    assert_true(isnan(value("min(unknown, 1)")));
    long double v;
    static const char *const wrong[] = {"",      "1 +",    "(1",     "1 1",
                                        "if(1)", "sqrt(1", "min(1)", "$"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(LAB_E_PARSE,
                         lab_fact_expression(wrong[i], no_name, NULL, &v));
    char deep[300];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(LAB_E_PARSE, lab_fact_expression(deep, no_name, NULL, &v));
}

static const char three[] =
    HEAD "#:formula peak [TFLOP/s] = sms * 64 * 2 * boost / 1e6\n" COLUMNS
         "P100,56,1480,\"a, \"\"b\"\"\"\nV100,80,1530,s\nA100,108,,s\n";

TEST_CASE(cells_and_formulas_are_read)
{
    struct lab_fact_table *t = parse(three);
    char text[32];
    assert_int_equal(3, t->rows);
    assert_int_equal(5, t->columns);
    assert_string_equal("t", t->name);
    assert_string_equal("boost_mhz", t->column[2].sql);
    assert_string_equal("peak_tflop_s", t->column[4].sql);
    assert_string_equal("a, \"b\"", lab_fact_at(t, 0, 3)->text);
    assert_true(fabsl(lab_fact_at(t, 0, 4)->value - 10.60864L) < 1e-12L);
    assert_string_equal("10.609", lab_fact_text(t, 0, 4, text, sizeof(text)));
    assert_string_equal("n/a", lab_fact_text(t, 2, 4, text, sizeof(text)));
    lab_fact_free(t);
}

static enum lab_status try_change(struct lab_fact_table *t, const char *text)
{
    struct lab_fact_change c;
    enum lab_status st = lab_fact_change(t, text, &c);
    return st ? st : lab_fact_set(t, &c);
}

TEST_CASE(one_number_changes_what_follows)
{
    struct lab_fact_table *t = parse(three);
    static const struct {
        const char *text;
        enum lab_status status;
    } wrong[] = {{"boost=-1", LAB_E_RANGE},     {"boost=1530000", LAB_E_RANGE},
                 {"sms=1.5", LAB_E_RANGE},      {"boost=inf", LAB_E_USAGE},
                 {"boost=", LAB_E_USAGE},       {"boost", LAB_E_USAGE},
                 {"peak=1", LAB_E_USAGE},       {"gpu=1", LAB_E_USAGE},
                 {"H100:boost=1", LAB_E_USAGE}, {"boost=1 MHz", LAB_E_USAGE}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (try_change(t, wrong[i].text) != wrong[i].status)
            fail_msg("%s: %s", wrong[i].text, lab_error());
    assert_true(isnan(lab_fact_at(t, 1, 4)->was));
    assert_int_equal(LAB_OK, try_change(t, "v100:boost=1000"));
    assert_true(lab_fact_at(t, 1, 2)->was == 1530);
    assert_true(fabsl(lab_fact_at(t, 1, 4)->value - 10.24L) < 1e-12L);
    assert_true(fabsl(lab_fact_at(t, 1, 4)->was - 15.6672L) < 1e-12L);
    assert_true(isnan(lab_fact_at(t, 0, 4)->was));
    lab_fact_free(t);
}

#define LONG_KEY                                                               \
    "a name of more than sixty-three bytes, as a card or a kernel may have it"

TEST_CASE(a_long_key_is_found)
{
    struct lab_fact_table *t =
        parse(HEAD COLUMNS "\"" LONG_KEY "\",56,1480,s\n");
    assert_int_equal(LAB_E_USAGE, try_change(t, "a name:boost=1000"));
    assert_string_equal(lab_error_id(), "table.change-row");
    assert_int_equal(LAB_OK, try_change(t, LONG_KEY ":boost=1000"));
    assert_true(lab_fact_at(t, 0, 2)->value == 1000);
    lab_fact_free(t);
}

static void expect_rows(const struct lab_fact_table *t, const char *filter,
                        int sort, bool reverse, const char *keys)
{
    char found[64] = "";
    int *shown = NULL;
    int count = 0;
    if (lab_fact_select(t, &filter, filter ? 1 : 0, sort, reverse, &shown,
                        &count))
        fail_msg("%s", lab_error());
    for (int i = 0; i < count; i++) {
        strcat(found, i ? " " : "");
        strcat(found, lab_fact_key(t, shown[i]));
    }
    assert_string_equal(keys, found);
    lab_free(shown);
}

TEST_CASE(rows_are_filtered_and_sorted)
{
    struct lab_fact_table *t = parse(three);
    expect_rows(t, NULL, -1, false, "P100 V100 A100");
    expect_rows(t, NULL, 0, false, "A100 P100 V100");
    expect_rows(t, NULL, 1, true, "A100 V100 P100");
    expect_rows(t, NULL, 2, true, "V100 P100 A100"); /* unknown comes last */
    expect_rows(t, NULL, 2, false, "P100 V100 A100");
    expect_rows(t, "sms>56", -1, false, "V100 A100");
    expect_rows(t, "sms >= 56", -1, false, "P100 V100 A100");
    expect_rows(t, "sms!=80", -1, false, "P100 A100");
    expect_rows(t, "peak=10.60864", -1, false, "P100");
    expect_rows(t, "boost<2000", -1, false, "P100 V100");
    expect_rows(t, "gpu=v1", -1, false, "V100");
    expect_rows(t, "gpu!=v1", -1, false, "P100 A100");
    expect_rows(t, "1530", -1, false, "V100");
    expect_rows(t, "nothing", -1, false, "");
    static const char *const wrong[] = {"sms>x", "size>1", "gpu>1", "sms=<1",
                                        "sms!1"};
    int *shown = NULL;
    int count = 0;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(LAB_E_USAGE, lab_fact_select(t, &wrong[i], 1, -1,
                                                      false, &shown, &count));
    lab_fact_free(t);
}

/* ---- the run that stands for a lesson ---- */

static bool has_own_variants(void *user, const struct lab_run_row *r)
{
    assert_string_equal(r->kind, "lesson");
    assert_string_equal(r->lesson, user);
    assert_string_equal(r->trace_state, "on");
    assert_string_not_equal(r->variants_from, "chosen");
    return true;
}

static bool has_no_counters(void *user, const struct lab_run_row *r)
{
    (void)user;
    assert_string_equal(r->counters, "off");
    return true;
}

/* Of these the newest has chosen variants, no trace, or is a sweep. */
TEST_CASE(a_lesson_has_a_run_of_its_own_variants)
{
    static const char *const lesson[] = {"mlp-digits", "cnn-digits", "gpt",
                                         "port", "tokenise"};
    const struct lab_database_options options = {.read_only = true};
    const char *path = LAB_SOURCE_DIR "/profiles/recorded/h200.db";
    struct lab_database *db = NULL;
    if (access(path, R_OK))
        skip(); /* not made yet */
    assert_ok(lab_database_open(&db, path, &options));
    for (size_t i = 0; i < sizeof(lesson) / sizeof(lesson[0]); i++) {
        int64_t run = LAB_UNKNOWN;
        assert_ok(lab_fact_recorded_run(path, lesson[i], "cuda", &run));
        assert_ok(lab_query_run(db, run, has_own_variants, (void *)lesson[i]));
    }
    /* Another is newer, of small sizes alone. */
    int64_t run = LAB_UNKNOWN;
    assert_ok(lab_fact_recorded_run(path, "lab-batched", "cuda", &run));
    assert_ok(lab_query_run(db, run, has_no_counters, NULL));
    lab_database_close(db);
    run = LAB_UNKNOWN;
    assert_ok(lab_fact_recorded_run(path, "nothing", "cuda", &run));
    assert_true(run == LAB_UNKNOWN);
}

TEST_CASE(memory_may_fail_anywhere)
{
    enum lab_status st = LAB_E_NOMEM;
    for (int64_t nth = 1; st && nth < 200; nth++) {
        struct lab_fact_table *t = NULL;
        lab_mem_fail_from(nth);
        st = lab_fact_parse(&t, "t.csv", three, sizeof(three) - 1);
        lab_mem_fail_from(0);
        if (st)
            assert_int_equal(LAB_E_NOMEM, st);
        lab_fact_free(t);
    }
    assert_int_equal(LAB_OK, st);
}

RUN_TESTS()
