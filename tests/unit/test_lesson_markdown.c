/* Markdown of lessons as lines of a terminal: paragraphs, lists, tables, code
 * and formulas at every width, and the text of each step. */
#include "test.h"

#include "base/glyph.h"
#include "base/mem.h"
#include "lesson/lesson.h"

#define FRONT                                                                  \
    "---\nformat: 1\ntitle: T\nnetwork: [{op: relu}]\nloss: {op: mse}\n---\n"

static struct lab_lesson *parse(const char *body)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    struct lab_str text;
    lab_str_init(&text);
    lab_findings_init(&found);
    lab_str_addf(&text, "%s%s", FRONT, body);
    if (lab_lesson_parse(&lesson, "t.md", text.data, text.len, &found))
        print_error("%s\n", lab_error());
    lab_findings_release(&found);
    lab_str_release(&text);
    assert_non_null(lesson);
    return lesson;
}

static char *wrapped(const struct lab_md *doc, int columns,
                     lab_md_ascii_fn *ascii)
{
    struct lab_md_lines lines;
    struct lab_str text;
    lab_str_init(&text);
    assert_ok(lab_md_wrap(doc, columns, ascii, &lines));
    for (size_t i = 0; i < lines.count; i++) {
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            lab_str_add(&text, lines.lines[i].spans[k].text);
        lab_str_add_char(&text, '\n');
    }
    lab_md_lines_release(&lines);
    return lab_str_detach(&text);
}

static void check_as(const char *body, int columns, lab_md_ascii_fn *ascii,
                     const char *want)
{
    struct lab_lesson *lesson = parse(body);
    char *got = wrapped(&lesson->sections[0].doc, columns, ascii);
    assert_string_equal(got, want);
    lab_free(got);
    lab_lesson_free(lesson);
}

static void check_wrapped(const char *body, int columns, const char *want)
{
    check_as(body, columns, NULL, want);
}

TEST_CASE(paragraphs_are_filled)
{
    check_wrapped("one two three\nfour five six seven\n\nnext\n", 20,
                  "one two three four\nfive six seven\n\nnext\n");
    check_wrapped("hard  \nbreak", 40, "hard\nbreak\n");
    check_wrapped("abcdefghijklmnopqrstuvwxyzabcdef", 20,
                  "abcdefghijklmnopqrst\nuvwxyzabcdef\n");
    check_wrapped("", 40, "");
}

TEST_CASE(formulas_hold_together)
{
    check_wrapped("a long text and $y = x W + b$ here", 22,
                  "a long text and\ny = x W + b here\n");
    check_wrapped("$$y = \\frac{1}{n}$$", 40, "    y = 1/n\n");
    check_wrapped("costs \\$5 and \\$6", 40, "costs $5 and $6\n");
}

TEST_CASE(lists_hang)
{
    check_wrapped("- one two three four five\n- six\n  - seven\n", 20,
                  "•  one two three\n   four five\n•  six\n   •  seven\n");
    check_wrapped("text\n\n9. nine\n10. ten\n", 40,
                  "text\n\n9. nine\n10. ten\n");
    check_wrapped("1. a\n\n   b\n\n2. c\n", 40, "1. a\n\n   b\n\n2. c\n");
    check_wrapped("-\n- x\n", 40, "•\n•  x\n");
}

TEST_CASE(code_keeps_its_form)
{
    check_wrapped("```c\nint  x;\n\n  y\n```\n", 40, "  int  x;\n\n    y\n");
    check_wrapped("    0123456789012345678901234\n", 20,
                  "  012345678901234567\n  … 8901234\n");
    /* The mark has one column in ASCII too. */
    check_as("    0123456789012345678901234567890123\n", 20, lab_glyph_ascii,
             "  012345678901234567\n  ~ 8901234567890123\n");
    /* What goes on has the line's indentation and a mark. */
    check_wrapped("```c\n  call(one, two, three);\n```\n", 20,
                  "    call(one, two, \n    … three);\n");
    /* A backslash that joins lines takes none of its own. */
    check_wrapped("```c\n#define A(b)          \\\n    do(b)             \\\n"
                  "    while (0)\n```\n",
                  20, "  #define A(b) \\\n      do(b) \\\n      while (0)\n");
    check_wrapped("```c\nx  \\\ny\n```\n", 20, "  x  \\\n  y\n");
}

TEST_CASE(tables_fit)
{
    static const char table[] = "| op | what it does |\n|-|-:|\n"
                                "| relu | the larger of zero and x |\n"
                                "| `tanh` | bends |\n";
    check_wrapped(table, 60,
                  "op   │             what it does\n"
                  "─────┼─────────────────────────\n"
                  "relu │ the larger of zero and x\n"
                  "tanh │                    bends\n");
    check_wrapped(table, 24,
                  "op   │      what it does\n"
                  "─────┼──────────────────\n"
                  "relu │     the larger of\n"
                  "     │        zero and x\n"
                  "tanh │             bends\n");
    /* Narrow columns need only what is in them. */
    check_wrapped("| a | b | c | d | e |\n|-|-|-|-|-|\n| 1 | 2 | 3 | 4 | 5 |",
                  20,
                  "a │ b │ c │ d │ e\n"
                  "──┼───┼───┼───┼──\n"
                  "1 │ 2 │ 3 │ 4 │ 5\n");
    check_wrapped("| a | words | c | d |\n|-|-|-|-|\n| 1 | 234567 | 3 | 4 |",
                  20,
                  "a │ words  │ c │ d\n"
                  "──┼────────┼───┼──\n"
                  "1 │ 234567 │ 3 │ 4\n");
    /* Six of them are 21 wide. */
    check_wrapped("| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n"
                  "| 1 | 2 | 3 | 4 | 5 | 6 |",
                  20, "a:\n  1\nb:\n  2\nc:\n  3\nd:\n  4\ne:\n  5\nf:\n  6\n");
    /* A wide one gives way down to four columns. */
    check_wrapped("| abcdef | b | c | d | e |\n|-|-|-|-|-|\n"
                  "| 1 | 2 | 3 | 4 | 5 |",
                  20,
                  "abcd │ b │ c │ d │ e\n"
                  "ef   │   │   │   │ \n"
                  "─────┼───┼───┼───┼──\n"
                  "1    │ 2 │ 3 │ 4 │ 5\n");
    check_wrapped("| abcdef | bc | c | d | e |\n|-|-|-|-|-|\n"
                  "| 1 | 2 | 3 | 4 | 5 |",
                  20, "abcdef:\n  1\nbc:\n  2\nc:\n  3\nd:\n  4\ne:\n  5\n");
}

TEST_CASE(quotes_headings_rules)
{
    check_wrapped("> quoted\n> so\n", 40, "│ quoted so\n");
    check_wrapped("# Top\n\n### Low\n\n---\n", 20,
                  "Top\n───\n\nLow\n\n────────────────────\n");
    check_wrapped("[text](https://example.org) [#](#a)", 60,
                  "text (https://example.org) #\n");
    check_wrapped("&lt;b&gt; &#955; &#27;[31m &nope;", 60,
                  "<b> λ ^[[31m &nope;\n");
}

TEST_CASE(wide_and_combining_characters)
{
    assert_int_equal(lab_md_columns("abc"), 3);
    assert_int_equal(lab_md_columns("漢字"), 4);
    assert_int_equal(lab_md_columns("x\xCC\x82"), 1);
    /* As the screen draws them. */
    assert_int_equal(lab_md_columns("✅"), 2);
    assert_int_equal(lab_md_columns("🚀🛀"), 4);
    assert_int_equal(lab_md_columns("\xE2\x80\x8D"), 1);
    check_wrapped("漢字漢字漢字漢字漢字漢字", 20,
                  "漢字漢字漢字漢字漢字\n漢字\n");
}

TEST_CASE(spans_carry_styles)
{
    struct lab_lesson *lesson = parse("a **b** *c* `d` $e$ ***f***");
    const struct lab_md_block *b = lesson->sections[0].doc.blocks;
    static const struct {
        const char *text;
        unsigned style;
    } want[] = {{"a ", 0}, {"b", LAB_SPAN_STRONG},
                {" ", 0},  {"c", LAB_SPAN_EMPH},
                {" ", 0},  {"d", LAB_SPAN_CODE},
                {" ", 0},  {"e", LAB_SPAN_MATH},
                {" ", 0},  {"f", LAB_SPAN_STRONG | LAB_SPAN_EMPH}};
    assert_int_equal(lesson->sections[0].doc.n_blocks, 1);
    assert_int_equal(b->n_spans, sizeof(want) / sizeof(*want));
    for (size_t i = 0; i < b->n_spans; i++) {
        assert_string_equal(b->spans[i].text, want[i].text);
        assert_int_equal(b->spans[i].style, want[i].style);
    }
    lab_lesson_free(lesson);
}

static const char sections[] = "Intro.\n\n"          /* line 7 */
                               "# Not a section\n\n" /* 9 */
                               "## node: fc1\n\nN\n" /* 11 */
                               "## step: fc1.matmul\nS\n"
                               "## phase: backward\nP\n"
                               "## step: lstm1.cell\nC\n"
                               "## Reading on\nO\n"
                               "> ## step: quoted\n";

TEST_CASE(sections_are_found)
{
    struct lab_lesson *l = parse(sections);
    assert_int_equal(l->n_sections, 6);
    assert_int_equal(l->sections[0].kind, LAB_SECTION_INTRO);
    assert_int_equal(l->sections[0].doc.n_blocks, 2);
    assert_int_equal(l->sections[1].kind, LAB_SECTION_NODE);
    assert_string_equal(l->sections[1].name, "fc1");
    assert_int_equal(l->sections[1].line, 11);
    assert_int_equal(l->sections[2].line, 14);
    assert_int_equal(l->sections[5].kind, LAB_SECTION_OTHER);
    assert_string_equal(l->sections[5].title, "Reading on");
    assert_int_equal(l->sections[5].doc.n_blocks, 2);
    lab_lesson_free(l);
}

static const char *title_for(const struct lab_lesson *l, const char *step,
                             const char *node, const char *phase)
{
    const struct lab_section *s = lab_lesson_text_for(l, step, node, phase);
    return s ? s->title : NULL;
}

TEST_CASE(a_steps_text_comes_first)
{
    struct lab_lesson *l = parse(sections);
    assert_string_equal(title_for(l, "fc1.matmul", "fc1", "backward"),
                        "step: fc1.matmul");
    assert_string_equal(title_for(l, "fc1.bias", "fc1", "backward"),
                        "node: fc1");
    assert_string_equal(title_for(l, "fc2.bias", "fc2", "backward"),
                        "phase: backward");
    assert_null(title_for(l, "fc2.bias", "fc2", "forward"));
    assert_string_equal(title_for(l, "lstm1.cell.12", "lstm1", "forward"),
                        "step: lstm1.cell");
    assert_null(title_for(l, "lstm1.cell.x", "lstm1", "forward"));
    assert_string_equal(title_for(l, "fc1.in.add", "fc1.in", "forward"),
                        "node: fc1");
    assert_null(title_for(l, NULL, NULL, NULL));
    lab_lesson_free(l);
}

/* The first words of each block that a reader gets in a phase. */
static void expect_part(const struct lab_section *s, const char *phase,
                        const char *want)
{
    struct lab_str have;
    lab_str_init(&have);
    const struct lab_md *part = lab_section_part(s, phase);
    for (size_t i = 0; i < part->n_blocks; i++) {
        const struct lab_md_block *b = &part->blocks[i];
        for (size_t k = 0; k < b->n_spans; k++)
            lab_str_add(&have, b->spans[k].text);
        lab_str_add(&have, "|");
    }
    assert_string_equal(lab_str_text(&have), want);
    lab_str_release(&have);
}

TEST_CASE(a_steps_text_has_parts)
{
    struct lab_lesson *l =
        parse("## step: a.new\nBoth.\n\n### forward\nF1.\n\nF2.\n\n"
              "### Why\nF3.\n\n### backward\nB.\n\n"
              "## node: old\n**Forward.** One.\n\nMore.\n\n**Backward**, at "
              "last. **Update:** three.\n\n"
              "## node: inner\n**Forward** as before. **Backward** back.\n\n"
              "## node: plain\nThe **forward** way, and the **Backward** one."
              "\n\n## node: one\n**Forward.** Only.\n\n"
              "## phase: backward\nP.\n");
    const struct lab_section *s = &l->sections[1];
    expect_part(s, "forward", "Both.|F1.|F2.|Why|F3.|");
    expect_part(s, "backward", "Both.|B.|");
    expect_part(s, "update", "Both.|");
    s = &l->sections[2];
    expect_part(s, "forward", "Forward. One.|More.|");
    expect_part(s, "backward", "Backward, at last. |");
    expect_part(s, "update", "Update: three.|");
    expect_part(s, "loss", "");
    s = &l->sections[3];
    expect_part(s, "forward", "Forward as before. |");
    expect_part(s, "backward", "Backward back.|");
    s = &l->sections[4];
    expect_part(s, "backward", "The forward way, and the Backward one.|");
    /* Nothing for the phase: the phase's text. */
    assert_string_equal(title_for(l, NULL, "one", "forward"), "node: one");
    assert_string_equal(title_for(l, NULL, "one", "backward"),
                        "phase: backward");
    assert_null(title_for(l, NULL, "one", "update"));
    lab_lesson_free(l);
}

TEST_CASE(no_line_is_too_long)
{
    struct lab_lesson *l = parse(
        "# A heading that is rather long for a narrow terminal\n\n"
        "Text with `code that has blanks` and $a + b + c + d + e + f$.\n\n"
        "123456789. a list item far out\n   - deep\n     - deeper\n"
        "       - deepest of them all\n         - and one more\n\n"
        "> > > > > > quotes within quotes within quotes\n\n"
        "| a | b | c |\n|-|:-:|-:|\n| one two | three | four five six |\n\n"
        "```\nsome code that runs on and on and on and on\n```\n\n"
        "$$\\sum_{i=1}^{n} \\frac{a_i + b_i}{c_i + d_i} = e + f + g$$\n");
    for (int columns = 20; columns <= 200; columns++) {
        struct lab_md_lines lines;
        assert_ok(lab_md_wrap(&l->sections[0].doc, columns, NULL, &lines));
        for (size_t i = 0; i < lines.count; i++) {
            int used = 0;
            for (size_t k = 0; k < lines.lines[i].n_spans; k++)
                used += lab_md_columns(lines.lines[i].spans[k].text);
            assert_in_range(used, 0, columns);
        }
        lab_md_lines_release(&lines);
    }
    lab_lesson_free(l);
}

TEST_CASE(short_memory_is_an_error)
{
    struct lab_lesson *l = parse("- a **b**\n\n| a | b |\n|-|-|\n| c | d |\n"
                                 "\n```\ncode\n```\n");
    for (int64_t n = 1; n < 1000; n++) {
        struct lab_md_lines lines = {0};
        lab_mem_fail_from(n);
        enum lab_status st = lab_md_wrap(&l->sections[0].doc, 40, NULL, &lines);
        bool ran_out = lab_mem_count() >= n;
        lab_mem_fail_from(0);
        assert_int_equal(st, ran_out ? LAB_E_NOMEM : LAB_OK);
        lab_md_lines_release(&lines);
        if (!ran_out) {
            lab_lesson_free(l);
            return;
        }
    }
    fail();
}

RUN_TESTS()
