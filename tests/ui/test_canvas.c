/* The canvas on which screens draw: text is cut by columns, wide and combining
 * characters are whole, clips nest, ASCII stands for all else. */
#include "test.h"

#include "base/mem.h"
#include "ui/canvas.h"
#include "base/glyph.h"

static void assert_dump(const struct lab_canvas *c, const char *want)
{
    char *dump = lab_canvas_dump(c);
    assert_non_null(dump);
    assert_string_equal(dump, want);
    lab_free(dump);
}

TEST_CASE(text_is_cut_and_counted)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 2, 6, false));
    assert_int_equal(lab_canvas_text(&c, 0, 1, 3, LAB_ROLE_BAD, "abcdef"), 3);
    assert_int_equal(lab_canvas_text(&c, 1, 4, -1, LAB_ROLE_BAD, "xyz"), 2);
    lab_canvas_text(&c, 9, 0, -1, LAB_ROLE_BAD, "out");
    lab_canvas_text(&c, -1, 0, -1, LAB_ROLE_BAD, "out");
    lab_canvas_text(&c, 0, -2, 9, LAB_ROLE_BAD, "AB!");
    assert_dump(&c, "!abc\n    x…\n");
    assert_int_equal(c.cells[1].role, LAB_ROLE_BAD);
    assert_int_equal(c.cells[4].role, LAB_ROLE_NORMAL);
    lab_canvas_release(&c);
}

TEST_CASE(what_is_cut_has_a_mark)
{
    for (int ascii = 0; ascii < 2; ascii++) {
        struct lab_canvas c;
        assert_ok(lab_canvas_init(&c, 5, 8, ascii));
        lab_canvas_text_cut(&c, 0, 0, 4, LAB_ROLE_NORMAL, "abcd");
        lab_canvas_text_cut(&c, 1, 0, 4, LAB_ROLE_NORMAL, "abcde");
        lab_canvas_text_cut(&c, 2, 0, 4, LAB_ROLE_NORMAL, "ab日本x");
        /* A line in pieces: the second fits no more. */
        int x = lab_canvas_text(&c, 3, 0, -1, LAB_ROLE_NORMAL, "12345678");
        lab_canvas_text(&c, 3, x + 3, -1, LAB_ROLE_NORMAL, "more");
        struct lab_rect old =
            lab_canvas_clip(&c, (struct lab_rect){4, 2, 1, 3});
        lab_canvas_text(&c, 4, 2, -1, LAB_ROLE_NORMAL, "abcde");
        lab_canvas_text(&c, 4, 9, -1, LAB_ROLE_NORMAL, "");
        lab_canvas_unclip(&c, old);
        assert_dump(&c, ascii ? "abcd\nabc~\nab?~\n1234567~\n  ab~\n"
                              : "abcd\nabc…\nab …\n1234567…\n  ab…\n");
        lab_canvas_release(&c);
    }
}

TEST_CASE(wide_characters_are_whole_or_not_there)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 1, 5, false));
    assert_int_equal(lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "日本語"),
                     4);
    assert_dump(&c, "日本…\n");
    lab_canvas_clear(&c);
    assert_int_equal(lab_canvas_text(&c, 0, 0, 5, LAB_ROLE_NORMAL, "日本語"),
                     4);
    assert_dump(&c, "日本\n");
    lab_canvas_text(&c, 0, 1, -1, LAB_ROLE_NORMAL, "x"); /* breaks the first */
    assert_dump(&c, " x本\n");
    lab_canvas_text(&c, 0, 2, -1, LAB_ROLE_NORMAL, "y");
    assert_dump(&c, " xy\n");
    lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "ab日");
    lab_canvas_fill(&c, (struct lab_rect){0, 3, 1, 2}, ".", LAB_ROLE_NORMAL);
    assert_dump(&c, "ab ..\n");
    /* A clip through the middle shows neither half. */
    lab_canvas_clear(&c);
    struct lab_rect old = lab_canvas_clip(&c, (struct lab_rect){0, 0, 1, 2});
    lab_canvas_text(&c, 0, 1, 4, LAB_ROLE_NORMAL, "日");
    lab_canvas_unclip(&c, old);
    assert_dump(&c, "\n");
    lab_canvas_release(&c);
}

TEST_CASE(marks_combine_and_hidden_text_shows)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 1, 12, false));
    assert_int_equal(
        lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "x\xCC\x82y"), 2);
    assert_dump(&c, "x\xCC\x82y\n");
    lab_canvas_clear(&c);
    lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL,
                    "a\033b\x7F\xFF"
                    "c\xE2\x80\xAE"
                    "d\xC2\x9B");
    assert_dump(&c, "a?b??c?d?\n");
    lab_canvas_release(&c);
}

TEST_CASE(ascii_canvas_holds_only_ascii)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 3, 40, true));
    lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "Σ a×b ≤ é … 日 → ∂ ₂ ▓ ⠿");
    assert_int_equal(lab_canvas_columns(&c, "Σ≤"), 5);
    assert_int_equal(lab_text_columns("Σ≤", strlen("Σ≤"), false), 2);
    lab_canvas_box(&c, (struct lab_rect){1, 0, 2, 12}, "Tïtle");
    assert_dump(&c, "sum axb <= e ... ? -> d _2 % :\n"
                    "+= Title ==+\n+==========+\n");
    for (int i = 0; i < c.h * c.w; i++)
        for (const char *p = c.cells[i].text; *p; p++)
            assert_true((unsigned char)*p < 0x80);
    lab_canvas_release(&c);
}

TEST_CASE(every_stand_in_is_ascii)
{
    int known = 0;
    for (unsigned code = 0x80; code < 0x30000; code++) {
        const char *ascii = lab_glyph_ascii(code);
        for (const char *p = ascii; p && *p; p++)
            assert_true(*p >= 0x20 && *p < 0x7F);
        known += ascii != NULL;
    }
    assert_true(known > 500);
    assert_string_equal(lab_glyph_ascii(0x2557), "+");
    assert_string_equal(lab_glyph_ascii(0x0159), "r");
    assert_null(lab_glyph_ascii(0x65E5));
}

TEST_CASE(clips_nest)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 4, 8, false));
    struct lab_rect all = lab_canvas_clip(&c, (struct lab_rect){1, 2, 9, 4});
    struct lab_rect one = lab_canvas_clip(&c, (struct lab_rect){0, 0, 2, 99});
    lab_canvas_fill(&c, (struct lab_rect){-5, -5, 50, 50}, "#", LAB_ROLE_GOOD);
    lab_canvas_unclip(&c, one);
    lab_canvas_cursor(&c, 0, 0);
    assert_int_equal(c.cursor_y, -1);
    lab_canvas_cursor(&c, 3, 3);
    assert_int_equal(c.cursor_y, 3);
    lab_canvas_unclip(&c, all);
    lab_canvas_paint(&c, (struct lab_rect){1, 0, 1, 3}, LAB_ROLE_MARK);
    assert_int_equal(c.cells[8 + 2].role, LAB_ROLE_MARK);
    assert_int_equal(c.cells[8 + 3].role, LAB_ROLE_GOOD);
    assert_dump(&c, "\n  ####\n\n\n");
    lab_canvas_release(&c);
}

TEST_CASE(paragraphs_wrap)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, 5, 10, false));
    struct lab_rect r = {0, 0, 5, 8};
    assert_int_equal(lab_canvas_paragraph(&c, r, LAB_ROLE_NORMAL,
                                          "one two three\nabcdefghij"),
                     4);
    assert_dump(&c, "one two\nthree\nabcdefgh\nij\n\n");
    lab_canvas_clear(&c);
    r.w = 0;
    assert_int_equal(lab_canvas_paragraph(&c, r, LAB_ROLE_NORMAL, "x"), 0);
    r.w = 1;
    assert_int_equal(lab_canvas_paragraph(&c, r, LAB_ROLE_NORMAL, "日 ab"), 3);
    lab_canvas_clear(&c);
    r = (struct lab_rect){0, 0, 2, 8}; /* what does not fit is marked */
    assert_int_equal(
        lab_canvas_paragraph(&c, r, LAB_ROLE_NORMAL, "one two three four five"),
        2);
    assert_dump(&c, "one two\nthree f…\n\n\n\n");
    assert_int_equal(
        lab_canvas_paragraph_rows(&c, 8, 9, "one two three four five"), 4);
    assert_int_equal(
        lab_canvas_paragraph_rows(&c, 8, 2, "one two three four five"), 2);
    assert_int_equal(lab_canvas_paragraph_rows(&c, 8, 9, ""), 0);
    lab_canvas_release(&c);
}

TEST_CASE(sizes_that_cannot_be_are_refused)
{
    struct lab_canvas c;
    assert_int_equal(lab_canvas_init(&c, -1, 5, false), LAB_E_ARG);
    assert_ok(lab_canvas_init(&c, 0, 0, false));
    lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "x");
    lab_canvas_box(&c, (struct lab_rect){0, 0, 3, 3}, "t");
    lab_canvas_release(&c);
    lab_mem_fail_from(1);
    assert_int_equal(lab_canvas_init(&c, 3, 3, false), LAB_E_NOMEM);
    lab_mem_fail_from(0);
}

RUN_TESTS()
