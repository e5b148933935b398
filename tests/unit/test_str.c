/* Text that is cut to fit its room: between two characters, never inside one. */
#include "test.h"

#include "base/error.h"
#include "base/str.h"

TEST_CASE(an_incomplete_last_character_is_dropped)
{
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"", ""},
        {"abc", "abc"},
        {"ab\xC3\xA4", "ab\xC3\xA4"},               /* 2 bytes, whole */
        {"ab\xC3", "ab"},                           /* 1 of 2 */
        {"a\xE2\x88", "a"},                         /* 2 of 3 */
        {"a\xE2\x88\x91", "a\xE2\x88\x91"},         /* 3 of 3 */
        {"a\xF0\x9D\x9C", "a"},                     /* 3 of 4 */
        {"a\xF0\x9D\x9C\xBD", "a\xF0\x9D\x9C\xBD"}, /* 4 of 4 */
        {"\xE2", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char s[16];
        strcpy(s, cases[i].text);
        lab_utf8_trim(s);
        assert_string_equal(s, cases[i].wanted);
    }
}

TEST_CASE(a_copy_fits_its_room)
{
    /* Every length of room: always whole characters, as many as fit. */
    const char *text = "\xC3\xA4\x1B\xE2\x88\x91z"; /* shown: ä ^[ ∑ z */
    const char *shown = "\xC3\xA4^[\xE2\x88\x91z";
    for (size_t cap = 1; cap <= strlen(shown) + 3; cap++) {
        char out[32];
        memset(out, '#', sizeof(out));
        lab_visible_copy(out, cap, text);
        assert_true(strlen(out) < cap);
        assert_memory_equal(out, shown, strlen(out));
        assert_int_equal(lab_utf8_check(out, strlen(out)), (size_t)-1);
        if (cap > strlen(shown))
            assert_string_equal(out, shown);
        assert_int_equal(out[cap], '#');
    }
    char out[4];
    lab_visible_copy(out, sizeof(out), NULL);
    assert_string_equal(out, "");
}

TEST_CASE(what_hides_or_reorders_text_is_not_visible)
{
    static const char *const hidden[] = {
        "\xC2\xAD",     "\xCD\x8F",         "\xD8\x9C",     "\xE2\x80\x8B",
        "\xE2\x80\xAE", "\xE2\x81\xA0",     "\xE2\x81\xA6", "\xE3\x85\xA4",
        "\xEF\xBB\xBF", "\xF3\xA0\x81\x81", "\xE2\x80\xA8"};
    static const char *const shown[] = {"\xE2\x80\x8C", "\xE2\x80\x8D",
                                        "\xC3\xA4",     "\xE2\x80\xA6",
                                        "\xC2\xAC",     "\xC2\xAE"};
    char out[16];
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        assert_false(lab_is_visible(hidden[i], strlen(hidden[i]), true));
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        assert_true(lab_is_visible(shown[i], strlen(shown[i]), true));
    lab_visible_copy(out, sizeof(out), hidden[9]);
    assert_string_equal(out, "\\uE0041");
}

TEST_CASE(an_error_is_cut_between_characters)
{
    for (int shift = 0; shift < 3; shift++) {
        char text[1200] = "xx";
        text[shift] = '\0';
        while (strlen(text) < sizeof(text) - 4)
            strcat(text, "\xE2\x88\x91");
        lab_fail(LAB_E_ARG, "%s", text);
        const char *kept = lab_error();
        assert_true(strlen(kept) > 1000 && strlen(kept) < strlen(text));
        assert_int_equal(lab_utf8_check(kept, strlen(kept)), (size_t)-1);
    }
}

TEST_CASE(an_error_is_raised_again_with_its_id)
{
    struct lab_kept_error kept;
    lab_fail(LAB_E_DB, "[db.foreign-file] %s is another's", "a.db");
    lab_error_keep(&kept);
    lab_fail(LAB_E_IO, "another");
    assert_int_equal(lab_error_again(LAB_OK, &kept), LAB_OK);
    assert_string_equal(lab_error_id(), "io");
    assert_int_equal(lab_error_again(LAB_E_DB, &kept), LAB_E_DB);
    assert_string_equal(lab_error_id(), "db.foreign-file");
    assert_string_equal(lab_error(), "a.db is another's");
}

RUN_TESTS()
