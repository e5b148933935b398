/* Texts in the front matter become tensors. */
#include "test.h"

#include "base/mem.h"
#include "engine/setup.h"
#include "engine/vocabulary.h"
#include "lesson/lesson.h"

static enum lab_status parse(struct lab_lesson **out, const char *data)
{
    char text[2000];
    struct lab_findings found;
    lab_findings_init(&found);
    snprintf(text, sizeof(text),
             "---\nformat: 1\ntitle: T\ndata:\n%s"
             "network:\n  - {id: fc1, op: dense, units: 2, from: x}\n"
             "loss: {op: softmax_cross_entropy}\n---\nText.\n",
             data);
    *out = NULL;
    enum lab_status st =
        lab_lesson_parse(out, "words.md", text, strlen(text), &found);
    lab_findings_release(&found);
    return st;
}

static void expect(const struct lab_tensor_spec *t, const char *name,
                   int64_t rows, int64_t cols, const double *values)
{
    assert_string_equal(t->name, name);
    assert_int_equal(t->shape.rank, 2);
    assert_int_equal(t->shape.dim[0], rows);
    assert_int_equal(t->shape.dim[1], cols);
    assert_int_equal(t->count, rows * cols);
    assert_true(t->integers);
    for (int64_t i = 0; i < t->count; i++)
        assert_true(t->values[i] == values[i]);
}

TEST_CASE(the_first_makes_the_vocabulary)
{
    static const double x[] = {0, 2, 2, 3, 4, 5, 6, 2};
    static const double more[] = {2, 1};
    struct lab_lesson *l;
    assert_ok(parse(&l,
                    "  x: {texts: ['a a b', 'c d e a'], maxlen: 4}\n"
                    "  more: {texts: [a f g], maxlen: 2, truncating: post}\n"
                    "  y: [0, 1]\n"));
    const struct lab_data_spec *d = &l->spec.data;
    assert_int_equal(d->words->n, 7);
    assert_int_equal(d->n_tensors, 3);
    expect(&d->tensors[0], "x", 2, 4, x);
    expect(&d->tensors[1], "more", 1, 2, more);
    lab_lesson_free(l);
}

TEST_CASE(forms_and_sides)
{
    static const double one_hot[] = {1, 1, 0, 0, 1, 1};
    static const double counts[] = {2, 1, 0, 0, 1, 1};
    static const double longest[] = {1, 1, 2, 2, 3, 0};
    static const double none[] = {0};
    struct lab_lesson *l;
    assert_ok(parse(&l,
                    "  x: {texts: [a a b, b c], form: one_hot, oov: false}\n"
                    "  c: {texts: [a a b, b c], form: counts}\n"
                    "  d: {texts: [a a b, b c], padding: post}\n"
                    "  e: {texts: [z]}\n"
                    "  y: [0, 1]\n"));
    const struct lab_tensor_spec *t = l->spec.data.tensors;
    expect(&t[0], "x", 2, 3, one_hot);
    expect(&t[1], "c", 2, 3, counts);
    expect(&t[2], "d", 2, 3, longest);
    expect(&t[3], "e", 1, 1, none);
    lab_lesson_free(l);
}

TEST_CASE(the_data_knows_the_words)
{
    struct lab_lesson *l;
    struct lab_data *data = NULL;
    assert_ok(parse(&l, "  x: {texts: [a b]}\n  y: [0]\n"));
    assert_ok(lab_data_open(&data, &l->spec, NULL, 0, NULL));
    assert_ptr_equal(lab_data_words(data), l->spec.data.words);
    lab_data_free(data);
    lab_lesson_free(l);
    assert_ok(parse(&l, "  x: [[1, 2]]\n  y: [0]\n"));
    assert_ok(lab_data_open(&data, &l->spec, NULL, 0, NULL));
    assert_null(lab_data_words(data));
    lab_data_free(data);
    lab_lesson_free(l);
}

static void expect_word(struct lab_walk *w, const char *tensor, int64_t index,
                        const char *text)
{
    struct lab_explanation e;
    int id = lab_plan_tensor(lab_walk_plan(w), tensor);
    assert_true(id >= 0);
    assert_ok(lab_walk_explain(w, id, index, &e));
    assert_true(e.agrees);
    assert_string_equal(e.symbolic, text);
    lab_explanation_release(&e);
}

/* Point at a number of the data, and the text has which word it is about. */
TEST_CASE(explanations_name_words)
{
    struct lab_lesson *l;
    struct lab_walk *w = NULL;
    struct lab_plan *plan = NULL;
    struct lab_str notice;
    assert_ok(parse(&l, "  x: {texts: [a b, b c], form: one_hot}\n"
                        "  ids: {texts: [c zebra], maxlen: 3}\n"
                        "  y: [0, 1]\n"));
    const struct lab_setup setup = {.spec = &l->spec, .backend = "cpu"};
    lab_str_init(&notice);
    assert_ok(lab_setup_open(&setup, &w, &plan, &notice));
    expect_word(w, "x", 1, "from the data, the word b");
    expect_word(w, "x", 7, "from the data, the word c");
    expect_word(w, "ids", 0, "from the data, the word <pad>");
    expect_word(w, "ids", 1, "from the data, the word c");
    expect_word(w, "ids", 2, "from the data, the word <OOV>");
    expect_word(w, "y", 0, "from the data");
    lab_walk_free(w);
    lab_plan_free(plan);
    lab_str_release(&notice);
    lab_lesson_free(l);
}

TEST_CASE(no_memory_anywhere)
{
    struct lab_lesson *l;
    enum lab_status st = LAB_E_NOMEM;
    for (int64_t nth = 1; st == LAB_E_NOMEM; nth++) {
        assert_true(nth < 2000);
        lab_mem_fail_from(nth);
        st = parse(&l, "  x: {texts: [a a b, b c]}\n"
                       "  z: {texts: [c], form: counts}\n  y: [0, 1]\n");
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || !l);
    }
    assert_ok(st);
    lab_lesson_free(l);
}

RUN_TESTS()
