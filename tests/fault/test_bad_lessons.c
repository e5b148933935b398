/* Every file of bad_lessons/ is refused with exactly the findings that its
 * .expect file lists: the place, what is wrong, what to do. Those named plan-*
 * can be read, but no network can be built of them: nodes and shapes are named.
 */
#include <dirent.h>
#include <unistd.h>

#include "test.h"

#include "base/mem.h"
#include "lesson/lesson.h"
#include "lesson/lint.h"

static const char directory[] = LAB_SOURCE_DIR "/tests/fault/bad_lessons";

static char *read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    if (!f)
        return NULL;
    char *text = lab_alloc(65536);
    assert_non_null(text);
    size_t n = fread(text, 1, 65535, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

/* A file named plan-* can be read and may still describe no network: then the
 * errors that lint finds, without its warnings. */
static char *findings_of(const char *name, enum lab_status *st)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    struct lab_str text;
    bool plan = strncmp(name, "plan-", 5) == 0;
    lab_findings_init(&found);
    lab_str_init(&text);
    *st = plan ? lab_lesson_lint(name, NULL, &found)
               : lab_lesson_check(&lesson, name, &found);
    if (plan) {
        assert_ok(*st);
        *st = found.errors > 0 ? LAB_E_SHAPE : LAB_OK;
    } else {
        assert_true((*st == LAB_OK) == (lesson != NULL));
        assert_true((*st == LAB_OK) == (found.errors == 0));
    }
    for (size_t i = 0; i < found.count; i++) {
        if (plan && found.items[i].severity != LAB_SEVERITY_ERROR)
            continue;
        lab_finding_text(&found, i, &text);
        lab_str_add_char(&text, '\n');
    }
    lab_lesson_free(lesson);
    lab_findings_release(&found);
    return lab_str_detach(&text);
}

TEST_CASE(every_bad_lesson_says_why)
{
    int tried = 0;
    int wrong = 0;
    assert_int_equal(chdir(directory), 0);
    DIR *d = opendir(".");
    assert_non_null(d);
    struct dirent *e;
    while ((e = readdir(d))) {
        char expect[300];
        char *dot = strrchr(e->d_name, '.');
        enum lab_status st;
        if (!dot || strcmp(dot, ".md") != 0)
            continue;
        snprintf(expect, sizeof(expect), "%.*s.expect", (int)(dot - e->d_name),
                 e->d_name);
        char *want = read_file(expect);
        char *got = findings_of(e->d_name, &st);
        assert_non_null(want);
        assert_non_null(got);
        if (st == LAB_OK || strcmp(want, got) != 0) {
            print_error("%s:\nexpected\n%sfound\n%s", e->d_name, want, got);
            wrong++;
        }
        lab_free(want);
        lab_free(got);
        tried++;
    }
    closedir(d);
    assert_int_equal(wrong, 0);
    assert_true(tried >= 155);
}

/* The first finding is also the error that the short form returns. */
TEST_CASE(the_error_names_file_line_and_column)
{
    struct lab_lesson *lesson = (struct lab_lesson *)"untouched";
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(lab_lesson_load(&lesson, "op-unknown.md"), LAB_E_PARSE);
    assert_null(lesson);
    assert_string_equal(lab_error(),
                        "op-unknown.md:9:19: unknown op dens; did you mean "
                        "dense?");
}

static enum lab_status load_text(const char *text, size_t size)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    lab_findings_init(&found);
    enum lab_status st = lab_lesson_parse(&lesson, "a.md", text, size, &found);
    lab_lesson_free(lesson);
    lab_findings_release(&found);
    return st;
}

TEST_CASE(files_that_cannot_be_read)
{
    struct lab_lesson *lesson = NULL;
    assert_int_equal(lab_lesson_load(&lesson, "no/such/lesson.md"), LAB_E_IO);
    assert_string_equal(lab_error(), "no/such/lesson.md: cannot read it: No "
                                     "such file or directory");
    assert_int_equal(lab_lesson_load(&lesson, directory), LAB_E_IO);
    assert_non_null(strstr(lab_error(), "Is a directory"));
    /* A name with an escape sequence is shown, not sent. */
    assert_int_equal(lab_lesson_load(&lesson, "\033[2J.md"), LAB_E_IO);
    assert_null(strchr(lab_error(), '\033'));
}

TEST_CASE(a_file_without_end_is_refused)
{
    struct lab_lesson *lesson = NULL;
    assert_int_equal(lab_lesson_load(&lesson, "/dev/zero"), LAB_E_RANGE);
    assert_non_null(strstr(lab_error(), "larger than 4 MiB"));
    size_t size = (size_t)5 << 20;
    char *big = lab_alloc(size);
    assert_non_null(big);
    memset(big, ' ', size);
    assert_int_equal(load_text(big, size), LAB_E_RANGE);
    lab_free(big);
}

TEST_CASE(a_tensor_larger_than_memory_is_refused)
{
    static const char text[] =
        "---\nformat: 1\ntitle: T\ndata:\n  source: inline\n"
        "  x: {shape: [100000, 100000, 100000], fill: 1}\n  y: [0]\n"
        "network:\n  - {op: relu}\nloss: {op: mse}\n---\n";
    assert_int_equal(load_text(text, strlen(text)), LAB_E_SHAPE);
    assert_non_null(strstr(lab_error(), "a.md:6:14: 1000000000000000 "
                                        "elements take "));
    assert_non_null(strstr(lab_error(), "this machine has "));
}

/* A file cut at any byte is read or refused, never a crash, and what is
 * refused says why. */
TEST_CASE(every_cut_of_a_lesson)
{
    char *text =
        read_file(LAB_SOURCE_DIR "/tests/golden/lessons/viii_layernorm.md");
    assert_non_null(text);
    for (size_t n = 0; n < strlen(text); n++) {
        if (load_text(text, n) != LAB_OK)
            assert_int_not_equal(strlen(lab_error()), 0);
    }
    lab_free(text);
}

RUN_TESTS()
