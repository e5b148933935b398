/* Words of commands that are pasted: what a shell makes of them. */
#include "test.h"

#include "base/shell.h"

static void expect(const char *word, bool ascii, const char *wanted)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_shell_add_word(&s, word, ascii);
    assert_string_equal(lab_str_text(&s), wanted);
    lab_str_release(&s);
}

TEST_CASE(only_what_is_special_is_quoted)
{
    expect("runs.db", false, "runs.db");
    expect("/home/anna/a-b_c+d,e:f@g%h=i.db", false,
           "/home/anna/a-b_c+d,e:f@g%h=i.db");
    expect("Übung.db", false, "Übung.db");
    expect("", false, "''");
    expect("my runs.db", false, "'my runs.db'");
    expect("~/runs.db", false, "'~/runs.db'");
    expect("=ls", false, "'=ls'");
    expect("a$b`c`;d&e|f*g?[h]{i}(j)<k>!l#m\"n\\o", false,
           "'a$b`c`;d&e|f*g?[h]{i}(j)<k>!l#m\"n\\o'");
    expect("anna's.db", false, "'anna'\\''s.db'");
}

/* It would not be copied as it is. */
TEST_CASE(what_is_not_shown_is_in_octal)
{
    expect("a\nb", false, "$'a\\012b'");
    expect("a\033[31mb", false, "$'a\\033[31mb'");
    expect("\xFF.db", false, "$'\\377.db'");
    expect("\u202Edb", false, "$'\\342\\200\\256db'");
    expect("it's\t\\", false, "$'it\\047s\\011\\134'");
    expect("Ü b.db", true, "$'\\303\\234 b.db'");
    expect("a b.db", true, "'a b.db'");
}

/* Any bytes, through a shell and back. */
TEST_CASE(a_shell_reads_the_word_itself)
{
    enum { WORDS = 150, MOST = 12 };
    static const char some[] = "ab /'\"\\$`!*?~#&|;<>()[]{}=%\n\t\r\x01\x7F";
    uint64_t seed = 5;
    char words[WORDS][2 * MOST + 1] = {{0}};
    struct lab_str script;
    if (system("command -v bash >/dev/null"))
        skip();
    lab_str_init(&script);
    lab_str_add(&script, "printf '%s\\0'");
    for (int i = 0; i < WORDS; i++) {
        size_t n = 0;
        for (int k = 0; k < MOST; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            size_t at = (size_t)(seed >> 33) % (sizeof(some) + 8);
            if (at < sizeof(some) - 1)
                words[i][n++] = some[at];
            else if (at < sizeof(some) + 2)
                n += (size_t)sprintf(words[i] + n, "é");
            else if (at < sizeof(some) + 4)
                words[i][n++] = (char)0xC3;
        }
        lab_str_add_char(&script, ' ');
        lab_shell_add_word(&script, words[i], i % 2);
    }
    setenv("LAB_TEST_SCRIPT", lab_str_text(&script), 1);
    FILE *pipe = popen("bash -c \"$LAB_TEST_SCRIPT\"", "r");
    assert_non_null(pipe);
    for (int i = 0; i < WORDS; i++) {
        char got[2 * MOST + 1];
        size_t n = 0;
        int c;
        while ((c = fgetc(pipe)) > 0 && n < sizeof(got) - 1)
            got[n++] = (char)c;
        got[n] = '\0';
        if (strcmp(got, words[i]) != 0)
            fail_msg("word %d of %s", i, lab_str_text(&script));
    }
    assert_int_equal(fgetc(pipe), EOF);
    assert_int_equal(pclose(pipe), 0);
    lab_str_release(&script);
}

RUN_TESTS()
