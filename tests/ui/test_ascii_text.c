/* Every lesson's text on a screen that shows ASCII alone: no word is cut, and
 * every character has a stand-in. */
#include "test.h"

#include "base/mem.h"
#include "base/str.h"
#include "lesson/catalog.h"
#include "base/glyph.h"
#include "ui/pager.h"

/* `text` without blanks. */
static void add_letters(struct lab_str *out, const char *text)
{
    for (; *text; text++)
        if (*text != ' ' && *text != '\n' && *text != '\t')
            lab_str_add_char(out, *text);
}

static size_t questions(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '?';
    return n;
}

/* What a block has to show. */
static void add_source(struct lab_str *out, const struct lab_md_block *b)
{
    for (size_t i = 0; i < b->n_spans; i++) {
        size_t room = 8 * strlen(b->spans[i].text) + 1;
        char *plain = lab_alloc(room);
        assert_non_null(plain);
        lab_text_to_ascii(b->spans[i].text, plain, room);
        if (questions(plain) != questions(b->spans[i].text))
            fail_msg("no stand-in: %s", b->spans[i].text);
        add_letters(out, plain);
        lab_free(plain);
    }
}

static void check_lines(const char *lesson, const struct lab_md *doc,
                        const struct lab_md_lines *lines, int width)
{
    struct lab_str want;
    struct lab_str got;
    lab_str_init(&want);
    lab_str_init(&got);
    for (size_t b = 0; b < doc->n_blocks; b++) {
        lab_str_clear(&want);
        lab_str_clear(&got);
        for (size_t i = 0; i < lines->count; i++) {
            const struct lab_md_line *line = &lines->lines[i];
            int used = 0;
            if (line->block != (int)b)
                continue;
            for (size_t k = 0; k < line->n_spans; k++) {
                used += lab_text_columns(line->spans[k].text,
                                         strlen(line->spans[k].text), true);
                if (!(line->spans[k].style & LAB_SPAN_FRAME))
                    add_letters(&got, line->spans[k].text);
            }
            if (used > width)
                fail_msg("%s at %d: a line of %d", lesson, width, used);
        }
        if (doc->blocks[b].kind == LAB_MD_TABLE)
            continue; /* its cells stand side by side */
        add_source(&want, &doc->blocks[b]);
        assert_string_equal(lab_str_text(&got), lab_str_text(&want));
    }
    lab_str_release(&want);
    lab_str_release(&got);
}

TEST_CASE(lessons_keep_every_word)
{
    struct lab_catalog *all;
    assert_ok(lab_catalog_load(&all, LAB_SOURCE_DIR "/lessons"));
    assert_true(all->count > 50);
    for (size_t n = 0; n < all->count; n++) {
        const struct lab_lesson *l = all->items[n].lesson;
        assert_non_null(l);
        for (int i = 0; i < l->n_sections; i++) {
            for (int width = 40; width <= 120; width += 4) {
                struct lab_md_lines lines;
                assert_ok(lab_md_wrap(&l->sections[i].doc, width,
                                      lab_glyph_ascii, &lines));
                check_lines(l->id, &l->sections[i].doc, &lines, width);
                lab_md_lines_release(&lines);
            }
        }
    }
    lab_catalog_free(all);
}

/* A pane's lines, as of explanations. */
TEST_CASE(lines_of_formulas_are_as_wide_as_they_are_shown)
{
    struct lab_doc doc;
    struct lab_pager p;
    lab_doc_init(&doc);
    lab_doc_add(&doc, LAB_ROLE_NORMAL,
                "∑ₖ ∑ₖ ∑ₖ ∑ₖ ∑ₖ ∑ₖ ∑ₖ ∑ₖ the column sums of the gradient");
    lab_pager_init(&p, &doc);
    p.upright = true;
    assert_in_range(lab_pager_lines(&p, 26, true), 3, 20);
    for (size_t i = 0; i < p.row_count; i++) {
        size_t n = p.rows[i].end - p.rows[i].start;
        char one[256];
        memcpy(one, lab_str_text(&doc.text) + p.rows[i].start, n);
        while (n > 0 && one[n - 1] == ' ')
            n--;
        one[n] = '\0';
        assert_in_range(lab_text_columns(one, strlen(one), true), 1, 24);
    }
    lab_pager_release(&p);
    lab_doc_release(&doc);
}

RUN_TESTS()
