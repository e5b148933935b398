/* Words out of text, their numbers, rows of one length, and the samples of
 * word2vec. */
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "base/mem.h"
#include "base/str.h"
#include "data/data_priv.h"
#include "engine/vocabulary.h"

static enum lab_status join(void *user, const char *word, size_t len)
{
    assert_int_equal(strlen(word), len);
    lab_str_addf(user, "%s|", word);
    return LAB_OK;
}

static void expect_words(const char *text, size_t len, const char *want)
{
    struct lab_str s;
    lab_str_init(&s);
    assert_ok(lab_tokenize(text, len, join, &s));
    assert_string_equal(lab_str_text(&s), want);
    lab_str_release(&s);
}

TEST_CASE(words_are_runs_of_letters)
{
    static const char *const cases[][2] = {
        {"", ""},
        {" ,.!? \t\r\n", ""},
        {"Great restaurant and great service !",
         "great|restaurant|and|great|service|"},
        {"don't 'quote' '' it's'", "don't|quote|it's|"},
        {"don\xE2\x80\x99t \xE2\x80\x9Cquote\xE2\x80\x9D\xE2\x80\x94yes",
         "don't|quote|yes|"},
        {"\xC3\x84pfel \xC3\xBC"
         "ber \xC2\xABz\xC2\xBB 3\xC3\x97"
         "4",
         "\xC3\xA4pfel|\xC3\xBC"
         "ber|z|3|4|"},
        {"a\xFF"
         "b\xC3",
         "a|b|"},
        {"\xE4\xBD\xA0\xE5\xA5\xBD\xE3\x80\x82", "\xE4\xBD\xA0\xE5\xA5\xBD|"},
        {"1984 r2d2", "1984|r2d2|"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_words(cases[i][0], strlen(cases[i][0]), cases[i][1]);
    expect_words("two words", 5, "two|w|");
}

/* A word without end is cut, between two letters and never within one. */
TEST_CASE(long_words_are_cut)
{
    char text[401];
    char want[LAB_WORD_BYTES + 2];
    for (int i = 0; i < 400; i += 2)
        memcpy(text + i, "\xC3\xA4", 2);
    text[400] = '\0';
    memcpy(want, text, LAB_WORD_BYTES - 1);
    strcpy(want + LAB_WORD_BYTES - 1, "|");
    expect_words(text, 400, want);
}

static struct lab_vocabulary *make(const char *text,
                                   const struct lab_vocabulary_rule *rule)
{
    struct lab_vocabulary *v = NULL;
    assert_ok(lab_vocabulary_make(&v, &text, 1, rule));
    return v;
}

static void expect_list(const char *text,
                        const struct lab_vocabulary_rule *rule,
                        const char *want)
{
    struct lab_vocabulary *v = make(text, rule);
    struct lab_str s;
    lab_str_init(&s);
    for (int64_t i = 0; i < v->n; i++) {
        lab_str_addf(&s, "%s%s:%lld", i ? " " : "", v->word[i],
                     (long long)v->times[i]);
        if (i > (v->unknown > 0))
            assert_int_equal(lab_vocabulary_find(v, v->word[i]), i);
    }
    assert_string_equal(lab_str_text(&s), want);
    lab_str_release(&s);
    lab_vocabulary_free(v);
}

TEST_CASE(the_order_of_the_numbers)
{
    static const char text[] = "b a c a c d c";
    struct lab_vocabulary_rule rule = {0};
    expect_list(text, &rule, "<pad>:0 c:3 a:2 b:1 d:1");
    rule.order = LAB_WORDS_AS_THEY_COME;
    expect_list(text, &rule, "<pad>:0 b:1 a:2 c:3 d:1");
    rule.most = 2;
    expect_list(text, &rule, "<pad>:0 a:2 c:3");
    rule.unknown = true;
    expect_list(text, &rule, "<pad>:0 <OOV>:2 a:2 c:3");
    rule.order = LAB_WORDS_FREQUENT_FIRST;
    rule.most = 99;
    expect_list(text, &rule, "<pad>:0 <OOV>:0 c:3 a:2 b:1 d:1");
}

TEST_CASE(what_it_does_not_have)
{
    const struct lab_vocabulary_rule rule = {.unknown = true};
    struct lab_vocabulary *v = make("one two", &rule);
    assert_int_equal(lab_vocabulary_find(v, "three"), -1);
    assert_int_equal(lab_vocabulary_find(v, "<pad>"), -1);
    assert_string_equal(lab_vocabulary_word(v, -1), "?");
    assert_string_equal(lab_vocabulary_word(v, 4), "?");
    lab_vocabulary_free(v);
    const char *nothing = " .. ";
    assert_int_equal(lab_vocabulary_make(&v, &nothing, 1, &rule), LAB_E_PARSE);
}

/* More words than the table starts with. */
TEST_CASE(many_words_are_found)
{
    const struct lab_vocabulary_rule rule = {.order = LAB_WORDS_AS_THEY_COME};
    struct lab_str s;
    lab_str_init(&s);
    for (int i = 0; i < 5000; i++)
        lab_str_addf(&s, "w%d ", i * 7919 % 5003);
    struct lab_vocabulary *v = make(lab_str_text(&s), &rule);
    assert_int_equal(v->n, 5001);
    for (int i = 0; i < 5000; i++) {
        char word[16];
        snprintf(word, sizeof(word), "w%d", i * 7919 % 5003);
        assert_int_equal(lab_vocabulary_find(v, word), i + 1);
    }
    lab_vocabulary_free(v);
    lab_str_release(&s);
}

TEST_CASE(rows_of_one_length)
{
    static const int32_t ids[] = {7, 8, 9};
    static const struct {
        struct lab_padding pad;
        double want[5];
    } cases[] = {
        {{5, false, false}, {0, 0, 7, 8, 9}}, {{5, true, false}, {7, 8, 9}},
        {{3, true, true}, {7, 8, 9}},         {{2, false, false}, {8, 9}},
        {{2, false, true}, {7, 8}},           {{2, true, true}, {7, 8}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double row[5] = {-1, -1, -1, -1, -1};
        lab_vocabulary_pad(ids, 3, &cases[i].pad, row);
        for (int64_t k = 0; k < 5; k++)
            assert_true(row[k] ==
                        (k < cases[i].pad.length ? cases[i].want[k] : -1));
    }
}

/* ---- samples ---- */

TEST_PATH

static enum lab_status read_words(struct lab_data **d, bool skip_gram,
                                  int64_t context)
{
    static struct lab_network_spec spec;
    lab_network_spec_init(&spec);
    spec.data.source = LAB_DATA_WORDS;
    spec.data.skip_gram = skip_gram;
    spec.data.context = context;
    *d = NULL;
    return lab_data_open(d, &spec, path, 1, NULL);
}

/* a is 2, b 3, c 4, d 5, e 6; the lines do not see each other. */
static const char text[] = "a b c\n\nalone?\r\nd E\n";

TEST_CASE(bags_of_words)
{
    static const float x[5][4] = {
        {0, 0, 3, 4}, {0, 2, 4, 0}, {2, 3, 0, 0}, {0, 0, 7, 0}, {0, 6, 0, 0}};
    static const int32_t y[] = {2, 3, 4, 6, 7};
    struct lab_data *d;
    test_write_bytes(path, text, sizeof(text) - 1);
    assert_ok(read_words(&d, false, 0));
    assert_int_equal(d->table.rows, 5);
    assert_int_equal(d->table.features, 4);
    assert_int_equal(d->table.classes, d->words->n);
    assert_memory_equal(d->table.x, x, sizeof(x));
    assert_memory_equal(d->table.label, y, sizeof(y));
    lab_data_free(d);
}

TEST_CASE(pairs_of_words)
{
    static const float x[] = {2, 2, 3, 3, 4, 4, 6, 7};
    static const int32_t y[] = {3, 4, 2, 4, 2, 3, 7, 6};
    struct lab_data *d;
    test_write_bytes(path, text, sizeof(text) - 1);
    assert_ok(read_words(&d, true, 64));
    assert_int_equal(d->table.rows, 8);
    assert_true(d->table.single);
    assert_memory_equal(d->table.x, x, sizeof(x));
    assert_memory_equal(d->table.label, y, sizeof(y));
    lab_data_free(d);
    assert_ok(read_words(&d, true, 1));
    assert_int_equal(d->table.rows, 6);
    lab_data_free(d);
}

static void expect_refused(const char *bytes, size_t n, enum lab_status st,
                           const char *part)
{
    struct lab_data *d;
    test_write_bytes(path, bytes, n);
    assert_int_equal(read_words(&d, false, 0), st);
    assert_true(error_is(part));
    assert_null(d);
}

TEST_CASE(bad_texts_are_refused)
{
    struct lab_data *d;
    expect_refused("", 0, LAB_E_PARSE, "[data.words.none] ");
    expect_refused("?!\n...\n", 7, LAB_E_PARSE, "[data.words.none] ");
    expect_refused("one\ntwo\n", 8, LAB_E_PARSE, "[data.words.lines] ");
    expect_refused("a b\nc \xFF\n", 8, LAB_E_PARSE,
                   "[data.words.utf8] :2: is not UTF-8");
    expect_refused("a b\n\0c\n", 7, LAB_E_PARSE,
                   "[data.words.utf8] :2: is not UTF-8");
    test_write_bytes(path, text, sizeof(text) - 1);
    assert_int_equal(read_words(&d, false, 65), LAB_E_RANGE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_words(&d, false, 0), LAB_E_IO);
}

TEST_CASE(no_memory_anywhere)
{
    struct lab_data *d;
    test_write_bytes(path, text, sizeof(text) - 1);
    enum lab_status st = LAB_E_NOMEM;
    for (int64_t nth = 1; st == LAB_E_NOMEM; nth++) {
        assert_true(nth < 200);
        lab_mem_fail_from(nth);
        st = read_words(&d, true, 0);
        lab_mem_fail_from(0);
    }
    assert_ok(st);
    lab_data_free(d);
}

RUN_TESTS_IN(make_path, remove_path)
