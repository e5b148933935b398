/* The line of the variants that a run's steps ran: the most frequent first,
 * shortened to its room, and what two runs differ in. */
#include "test.h"

#include "store/query.h"

static const char *words(const char *kind, const char *variants)
{
    static char out[LAB_VARIANT_WORDS];
    struct lab_run_row run = {.kind = kind, .variants = variants};
    return lab_variant_words(&run, out);
}

TEST_CASE(the_commonest_comes_first)
{
    assert_string_equal(words("lesson", "norm=warp fc1=cublas fc2=cublas"),
                        "cublas, warp");
    assert_string_equal(words("lesson", "a=x b=y c=y d=x"), "x, y");
    assert_string_equal(words("lesson", "fc1=fused"), "fused");
    /* One name may begin like another. */
    assert_string_equal(words("lesson", "a=fuse b=fused c=fused"),
                        "fused, fuse");
}

/* Of each size, or all sizes of a lesson without them. */
TEST_CASE(a_sweep_has_the_names_alone)
{
    assert_string_equal(
        words("lab", "1: fc1=cublas fc1.bias=vector; 4, 16: fc1=cublas_lt "
                     "fc2=cublas_lt; 64, 256: fc1=fused fc2=fused"),
        "cublas_lt, fused, cublas, vector");
    assert_string_equal(words("lab", "4, 16 on cuda: fc1=warp; 4 on cpu: "),
                        "warp");
    assert_string_equal(words("lab", "fc1=warp; fc1=naive; fc1=warp"),
                        "warp, naive");
}

TEST_CASE(what_kept_none_ran_naive_ones)
{
    assert_string_equal(words("lesson", NULL), "naive");
    assert_string_equal(words("lesson", ""), "naive");
    assert_null(words("lab", NULL));
    assert_null(words(NULL, NULL)); /* another tool's */
}

TEST_CASE(what_others_wrote_stays_within_its_room)
{
    char text[4096] = "";
    for (int i = 0; i < 300; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " n%d=v%d",
                 i, i);
    const char *cut = words("lesson", text);
    assert_true(strlen(cut) < LAB_VARIANT_WORDS);
    assert_memory_equal(cut, "v0, v1, ", 8);
    assert_string_equal(cut + strlen(cut) - 3, "...");
    assert_string_equal(words("lesson", "no sign  = =x y="), "x");
}

TEST_CASE(two_runs_differ_in_what_is_shown)
{
    char words[2][LAB_VARIANT_WORDS];
    const char *kept[2] = {"fc1=cublas fc2=warp", NULL};
    lab_variant_words_beside(kept, words);
    assert_string_equal(kept[0], "cublas, warp");
    assert_string_equal(kept[1], "naive");
    kept[0] = "a=x fc1=cublas fc2=warp";
    kept[1] = "a=x fc1=warp fc2=cublas z=x";
    lab_variant_words_beside(kept, words); /* "x, warp, cublas": not the same */
    assert_string_equal(kept[0], "x, cublas, warp");
    kept[0] = "a=x fc10=x b=y";
    kept[1] = "a=x fc11=x b=y";
    lab_variant_words_beside(kept, words);
    assert_string_equal(kept[0], "fc10=x b=y");
    assert_string_equal(kept[1], "fc11=x b=y");
}

RUN_TESTS()
