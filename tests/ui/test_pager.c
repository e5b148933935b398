/* Doc, pager, prompt, and the functions of a source file. */
#include "test.h"

#include "base/mem.h"
#include "ui/pager.h"
#include "ui/prompt.h"
#include "ui/view_text.h"
#include "ui_fixture.h"

static void draw(struct lab_pager *p, int h, int w, const char *want)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, false));
    lab_pager_draw(p, &c, (struct lab_rect){0, 0, h, w});
    char *dump = lab_canvas_dump(&c);
    if (want)
        assert_string_equal(dump, want);
    lab_free(dump);
    lab_canvas_release(&c);
}

static void fill(struct lab_doc *d)
{
    lab_doc_init(d);
    lab_doc_para(d, 2, 4, true);
    lab_doc_add(d, LAB_ROLE_TITLE, "The quick ");
    lab_doc_add(d, LAB_ROLE_NORMAL, "brown fox jumps\nover");
    lab_doc_blank(d);
    lab_doc_para(d, 0, 0, false);
    lab_doc_add(d, LAB_ROLE_CODE, "a\tb = 1; // 日本 a long line of code");
    lab_doc_para(d, 0, 0, true);
    lab_doc_add(d, LAB_ROLE_NORMAL, "esc \033 and incomprehensibilities");
}

TEST_CASE(text_wraps_with_its_indent)
{
    struct lab_doc d;
    struct lab_pager p;
    fill(&d);
    assert_ok(lab_doc_check(&d));
    lab_pager_init(&p, &d);
    draw(&p, 10, 16,
         "  The quick\n    brown fox\n    jumps\n  over\n\n"
         "a       b = 1; >\nesc ^[ and\nincomprehensibil\nities\n\n");
    /* Any width: every byte of the text is in exactly one row. */
    for (int w = 1; w < 90; w++) {
        size_t bytes = 0;
        draw(&p, 50, w, NULL);
        for (size_t i = 0; i < p.row_count; i++)
            bytes += p.rows[i].end - p.rows[i].start;
        assert_int_equal(bytes + d.para_count - 1, d.text.len);
    }
    lab_pager_release(&p);
    lab_doc_release(&d);
}

/* A text longer than its pane goes on beside itself where there is room, moves by
 * rows over all columns, and is one column where it is short. */
TEST_CASE(a_wide_pane_has_columns)
{
    struct lab_doc d;
    struct lab_pager p;
    char place[64];
    lab_doc_init(&d);
    for (int i = 1; i <= 9; i++) {
        lab_doc_para(&d, 0, 0, true);
        lab_doc_addf(&d, LAB_ROLE_NORMAL, "line %d", i);
    }
    lab_pager_init(&p, &d);
    p.text_w = 8;
    draw(&p, 3, 19,
         "line 1   │ line 4\nline 2   │ line 5\nline 3   │ line 6\n");
    assert_string_equal(lab_pager_place(&p, place, sizeof(place)), "1-6 of 9");
    assert_true(lab_pager_action(&p, LAB_ACT_DOWN));
    draw(&p, 3, 19,
         "line 2   │ line 5\nline 3   │ line 6\nline 4   │ line 7\n");
    assert_true(lab_pager_search(&p, "line 9", 1));
    draw(&p, 3, 19,
         "line 4   │ line 7\nline 5   │ line 8\nline 6   │ line 9\n");
    draw(&p, 3, 18, "line 4\nline 5\nline 6\n"); /* too narrow for two */
    draw(&p, 9, 19,
         "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n"
         "line 9\n");
    lab_pager_release(&p);
    lab_doc_release(&d);
}

/* A text of two parts has them beside each other where both are whole there. */
TEST_CASE(the_second_part_is_a_column)
{
    struct lab_doc d;
    struct lab_pager p;
    lab_doc_init(&d);
    for (int i = 1; i <= 5; i++) {
        lab_doc_para(&d, 0, 0, true);
        lab_doc_addf(&d, LAB_ROLE_NORMAL, "line %d", i);
    }
    d.beside = 2;
    lab_pager_init(&p, &d);
    p.text_w = 8;
    draw(&p, 6, 19,
         "line 1   │ line 3\nline 2   │ line 4\n         │ line 5\n"
         "         │\n         │\n         │\n");
    draw(&p, 5, 18, "line 1\nline 2\nline 3\nline 4\nline 5\n");
    draw(&p, 2, 19, "line 1   │ line 3\nline 2   │ line 4\n"); /* it flows */
    assert_true(lab_pager_action(&p, LAB_ACT_DOWN));
    draw(&p, 2, 19, "line 2   │ line 4\nline 3   │ line 5\n");
    draw(&p, 3, 19, /* the place in it does not hide the first lines */
         "line 1   │ line 3\nline 2   │ line 4\n         │ line 5\n");
    lab_pager_release(&p);
    lab_doc_release(&d);
}

/* A pane that is written anew at every drawing: it keeps its row, brings the
 * chosen paragraph into sight, and marks what is above and below. */
TEST_CASE(an_upright_pane_keeps_its_row)
{
    struct lab_doc d;
    struct lab_pager p;
    lab_doc_init(&d);
    lab_pager_init(&p, &d);
    p.upright = true;
    for (int turn = 0; turn < 2; turn++) {
        lab_doc_clear(&d);
        lab_pager_renew(&p);
        for (int i = 0; i < 6; i++) {
            lab_doc_para(&d, 0, 9, i % 2 == 0);
            lab_doc_addf(&d, LAB_ROLE_NORMAL,
                         turn ? "%d      a row of words" : "%d row", i);
        }
        p.chosen = turn ? SIZE_MAX : 3;
        draw(&p, 2, 20,
             turn ? "1      a row of wor▲\n2      a row of    ▼\n"
                  : "2 row              ▲\n3 row              ▼\n");
        assert_int_equal(lab_pager_para(&p, 1), turn ? 2 : 3);
    }
    assert_int_equal(lab_pager_para(&p, 99), SIZE_MAX);
    lab_pager_release(&p);
    lab_doc_release(&d);
}

TEST_CASE(moving_stays_inside)
{
    struct lab_doc d;
    struct lab_pager p;
    char place[64];
    fill(&d);
    lab_pager_init(&p, &d);
    draw(&p, 3, 16, NULL);
    assert_string_equal(lab_pager_place(&p, place, sizeof(place)), "1-3 of 9");
    lab_pager_action(&p, LAB_ACT_UP);
    assert_int_equal(p.top, 0);
    lab_pager_action(&p, LAB_ACT_PAGE_DOWN);
    assert_int_equal(p.top, 2);
    lab_pager_action(&p, LAB_ACT_LAST);
    draw(&p, 3, 16, "esc ^[ and\nincomprehensibil\nities\n");
    lab_pager_action(&p, LAB_ACT_DOWN);
    assert_int_equal(p.top, 6);
    /* The place in the text is kept when the width changes. */
    draw(&p, 3, 60, NULL);
    draw(&p, 1, 16, "esc ^[ and\n");
    lab_pager_goto(&p, 3);
    lab_pager_action(&p, LAB_ACT_RIGHT);
    draw(&p, 1, 16, "b = 1; // 日本 >\n");
    lab_pager_action(&p, LAB_ACT_FIRST);
    draw(&p, 1, 16, "  The quick\n");
    assert_false(lab_pager_action(&p, LAB_ACT_OPEN));
    draw(&p, 20, 60, NULL);
    assert_string_equal(lab_pager_place(&p, place, sizeof(place)), "all");
    lab_pager_release(&p);
    lab_doc_release(&d);
}

TEST_CASE(searching_finds_over_row_ends_only)
{
    struct lab_doc d;
    struct lab_pager p;
    fill(&d);
    lab_pager_init(&p, &d);
    draw(&p, 2, 16, NULL);
    assert_true(lab_pager_search(&p, "QUICK BROWN", 1));
    assert_int_equal(p.match, 4); /* over a row's end ... */
    struct lab_canvas c;          /* where screen readers look */
    assert_ok(lab_canvas_init(&c, 4, 16, false));
    lab_pager_draw(&p, &c, (struct lab_rect){1, 0, 2, 16});
    assert_int_equal(c.cursor_y, 1);
    assert_int_equal(c.cursor_x, 6);
    assert_false(c.cursor_shown);
    lab_canvas_release(&c);
    assert_false(lab_pager_search(&p, "jumpsover", 1)); /* no para's */
    assert_true(lab_pager_search(&p, "o", 1));
    size_t first = p.match;
    int count = 0;
    do {
        assert_true(lab_pager_search(&p, "", 1));
        count++;
    } while (p.match != first);
    assert_int_equal(count, 7); /* brown fox over long of code incom... */
    assert_true(lab_pager_search(&p, "", -1));
    assert_true(p.match > first);
    lab_pager_release(&p);
    lab_doc_release(&d);
}

TEST_CASE(memory_may_be_short)
{
    for (int64_t nth = 1; nth < 12; nth++) {
        struct lab_doc d;
        struct lab_pager p;
        lab_mem_fail_from(nth);
        fill(&d);
        lab_mem_fail_from(0);
        lab_pager_init(&p, &d);
        draw(&p, 5, 10, NULL);
        if (nth < 3)
            assert_int_equal(lab_doc_check(&d), LAB_E_NOMEM);
        lab_pager_release(&p);
        lab_doc_release(&d);
    }
}

static void type(struct lab_prompt *p, const char *keys)
{
    for (; *keys; keys++)
        assert_int_equal(lab_prompt_key(p, *keys), LAB_PROMPT_MORE);
}

TEST_CASE(prompts_edit)
{
    static struct lab_history h;
    struct lab_prompt p;
    lab_prompt_start(&p, ":", NULL, &h);
    type(&p, "one two");
    lab_prompt_key(&p, LAB_KEY_LEFT);
    lab_prompt_key(&p, 0x65E5);
    assert_string_equal(p.text, "one tw日o");
    lab_prompt_key(&p, LAB_KEY_BACKSPACE);
    lab_prompt_key(&p, LAB_KEY_DELETE);
    assert_string_equal(p.text, "one tw");
    lab_prompt_complete(&p, "twelve");
    assert_string_equal(p.text, "one twelve");
    lab_prompt_key(&p, 23);
    assert_string_equal(p.text, "one ");
    lab_prompt_key(&p, 1);
    type(&p, "x");
    lab_prompt_key(&p, 11);
    assert_string_equal(p.text, "x");
    assert_int_equal(lab_prompt_key(&p, LAB_KEY_ENTER), LAB_PROMPT_DONE);
    lab_prompt_start(&p, ":", "y", &h);
    lab_prompt_key(&p, LAB_KEY_UP);
    assert_string_equal(p.text, "x");
    lab_prompt_key(&p, LAB_KEY_UP);
    assert_string_equal(p.text, "x");
    lab_prompt_key(&p, LAB_KEY_DOWN);
    assert_string_equal(p.text, "y");
    lab_prompt_key(&p, 21);
    assert_int_equal(lab_prompt_key(&p, LAB_KEY_BACKSPACE),
                     LAB_PROMPT_CANCELLED);
    assert_int_equal(lab_prompt_key(&p, LAB_KEY_ESC), LAB_PROMPT_CANCELLED);
    for (int i = 0; i < 1000; i++)
        lab_prompt_key(&p, i % 3 ? 'a' : 0x1F600);
    assert_true(strlen(p.text) < LAB_PROMPT_BYTES);
    for (int i = 0; i < 100; i++) {
        char line[16];
        snprintf(line, sizeof(line), "%d", i / 2);
        lab_history_add(&h, line);
    }
    assert_int_equal(h.count, LAB_HISTORY_LINES);
    assert_string_equal(h.line[LAB_HISTORY_LINES - 1], "49");
    assert_string_equal(h.line[0], "0");
}

TEST_CASE(a_long_line_scrolls_to_its_cursor)
{
    struct lab_canvas c;
    struct lab_prompt p;
    assert_ok(lab_canvas_init(&c, 1, 8, false));
    lab_prompt_start(&p, "/", "abcdefghijkl", NULL);
    lab_prompt_draw(&p, &c, (struct lab_rect){0, 0, 1, 8});
    char *dump = lab_canvas_dump(&c);
    assert_string_equal(dump, "/ghijkl\n");
    assert_int_equal(c.cursor_x, 7);
    lab_free(dump);
    lab_canvas_release(&c);
}

/* The role of the span that ends behind the first `what` of the document. */
static enum lab_role role_of(const struct lab_doc *d, const char *what)
{
    const char *text = lab_str_text(&d->text);
    const char *at = strstr(text, what);
    assert_non_null(at);
    size_t end = (size_t)(at - text) + strlen(what);
    for (size_t i = 0; i < d->span_count; i++)
        if (d->spans[i].end >= end)
            return d->spans[i].role;
    return LAB_ROLE_COUNT;
}

TEST_CASE(a_source_has_colours)
{
    static const char text[] = "#include <math.h>\n"
                               "static float half(int x) /* int: 2 */\n"
                               "{\n"
                               "    puts(\"if \\\" // 3\"); // for 4\n"
                               "    return 0x1Fp2f * intx;\n"
                               "}\n";
    struct lab_doc d;
    lab_doc_init(&d);
    lab_source_write(&d, text, strlen(text), false);
    assert_ok(lab_doc_check(&d));
    assert_int_equal(role_of(&d, "#include"), LAB_ROLE_HEADING);
    assert_int_equal(role_of(&d, "static"), LAB_ROLE_HEADING);
    assert_int_equal(role_of(&d, "half"), LAB_ROLE_NORMAL);
    assert_int_equal(role_of(&d, "int: 2"), LAB_ROLE_CODE);
    assert_int_equal(role_of(&d, "// 3\""), LAB_ROLE_FORMULA);
    assert_int_equal(role_of(&d, "for 4"), LAB_ROLE_CODE);
    assert_int_equal(role_of(&d, "0x1Fp2f"), LAB_ROLE_FORMULA);
    assert_int_equal(role_of(&d, "intx"), LAB_ROLE_NORMAL);
    /* Cut anywhere, it ends. */
    for (size_t n = 0; n < strlen(text); n++) {
        lab_doc_clear(&d);
        lab_source_write(&d, text, n, false);
    }
    lab_doc_release(&d);
}

TEST_CASE(functions_are_found)
{
    struct lab_source_symbol s[8];
    const char *text = fixture_source_text();
    assert_int_equal(lab_source_symbols(text, strlen(text), s, 8), 3);
    assert_string_equal(s[0].name, "scale_fwd_v1");
    assert_int_equal(s[0].line, 12);
    assert_string_equal(s[1].name, "lab_scale");
    assert_int_equal(s[1].line, 22);
    assert_string_equal(s[2].name, "last");
    assert_int_equal(s[2].line, 29);
    assert_int_equal(lab_source_symbols(text, strlen(text), s, 1), 3);
    /* Cut anywhere, it ends and finds no more than there is. */
    for (size_t n = 0; n <= strlen(text); n++)
        assert_true(lab_source_symbols(text, n, s, 8) <= 3);
    const char *plain = "int a;\nint f(void)\n{\n    return '\"';\n}\n"
                        "int g(int x);\n#define H(x) int x(void) {\n"
                        "LAB_C_BEGIN\nvoid k(void) {}\n";
    assert_int_equal(lab_source_symbols(plain, strlen(plain), s, 8), 2);
    assert_string_equal(s[0].name, "f");
    assert_string_equal(s[1].name, "k");
    assert_int_equal(s[1].line, 9);
}

RUN_TESTS()
