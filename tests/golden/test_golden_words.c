/* The course's sentences, numbered and padded, beside the golden rows. */
#include "test.h"

#include "base/mem.h"
#include "engine/vocabulary.h"
#include "golden/golden.h"

static const char *const training[] = {"I love my dog", "I love my cat",
                                       "You love my dog!",
                                       "Do you think my dog is amazing?"};
static const char *const unseen[] = {"I really love my dog",
                                     "My dog loves my manatee"};

static struct lab_vocabulary *course_words(void)
{
    const struct lab_vocabulary_rule rule = {.unknown = true};
    struct lab_vocabulary *v = NULL;
    assert_ok(lab_vocabulary_make(&v, training, 4, &rule));
    return v;
}

static void compare(const struct golden *g, const char *name,
                    const struct lab_vocabulary *v, const char *const *texts,
                    int64_t skip)
{
    const struct golden_tensor *t = golden_tensor(g, name);
    assert_non_null(t);
    struct lab_padding pad = {.length = t->dim[1] + skip};
    for (int64_t i = 0; i < t->dim[0]; i++) {
        double row[16];
        int32_t *ids = NULL;
        int64_t n = 0;
        assert_ok(lab_encode(v, texts[i], &ids, &n));
        lab_vocabulary_pad(ids, n, &pad, row);
        lab_free(ids);
        for (int64_t k = 0; k < t->dim[1]; k++)
            assert_true(row[skip + k] == t->data[i * t->dim[1] + k]);
    }
}

TEST_CASE(the_index_has_the_printed_numbers)
{
    static const char *const words[] = {"<pad>", "<OOV>", "my",  "love",
                                        "dog",   "i",     "you", "cat",
                                        "do",    "think", "is",  "amazing"};
    struct lab_vocabulary *v = course_words();
    assert_int_equal(v->n, 12);
    for (int64_t i = 0; i < 12; i++) {
        assert_string_equal(lab_vocabulary_word(v, i), words[i]);
        if (i > 1)
            assert_int_equal(lab_vocabulary_find(v, words[i]), i);
    }
    lab_vocabulary_free(v);
}

TEST_CASE(rows_are_padded_as_printed)
{
    struct golden *g = NULL;
    struct lab_vocabulary *v = course_words();
    assert_ok(golden_load("seed_tokenise_pad", &g));
    compare(g, "padded", v, training, 0);
    compare(g, "test_padded_9", v, unseen, 0);
    compare(g, "test_padded_10", v, unseen, 0);
    compare(g, "test_padded_5", v, unseen, 0);
    compare(g, "test_padded_9", v, unseen, 1); /* the last nine of ten */
    golden_free(g);
    lab_vocabulary_free(v);
}

RUN_TESTS()
