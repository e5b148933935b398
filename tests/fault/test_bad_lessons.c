/* Every lesson that bad_lessons.sh makes is refused with exactly the findings that
 * ids.txt lists: the place and the id. wording.txt has their texts.
 * Those named plan-* can be read, but no network can be built of them: nodes and
 * shapes are named. LAB_GOLDEN_UPDATE=1 writes both files. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "base/mem.h"
#include "lesson/lesson.h"
#include "lesson/lint.h"

#define SOURCE LAB_SOURCE_DIR "/tests/fault/bad_lessons"
static const char directory[] = LAB_BINARY_DIR "/bad_lessons";

static int make_lessons(void **state)
{
    (void)state;
    return system("sh '" SOURCE ".sh' '" LAB_BINARY_DIR "/bad_lessons'");
}

/* A file named plan-* can be read and may still describe no network: then the
 * errors that lint finds, without its warnings. */
static void add_findings(const char *name, struct lab_str *ids,
                         struct lab_str *wording)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    bool plan = strncmp(name, "plan-", 5) == 0;
    size_t errors = 0;
    lab_findings_init(&found);
    enum lab_status st = plan ? lab_lesson_lint(name, NULL, &found)
                              : lab_lesson_check(&lesson, name, &found);
    assert_true(plan ? !st : st && !lesson);
    for (size_t i = 0; i < found.count; i++) {
        const struct lab_finding *f = &found.items[i];
        if (f->severity != LAB_SEVERITY_ERROR)
            continue;
        lab_str_addf(ids, "%s:%d:%d: %s\n", name, f->at.line, f->at.column,
                     f->id);
        lab_finding_text(&found, i, wording);
        lab_str_add_char(wording, '\n');
        errors++;
    }
    if (errors == 0 || errors != found.errors)
        fail_msg("%s: %zu errors listed, %zu found", name, errors,
                 found.errors);
    lab_findings_release(&found);
}

static int by_name(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return dot && strcmp(dot, ".md") == 0;
}

/* In the order of their bytes, whatever the locale. */
static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* The first line that differs is printed. */
static bool matches(const char *name, const struct lab_str *text)
{
    const char *got = lab_str_text(text);
    if (getenv("LAB_GOLDEN_UPDATE"))
        test_write(name, got);
    char *file = test_read(name);
    const char *want = file;
    while (*want && *got) {
        size_t n = strcspn(want, "\n");
        if (strncmp(want, got, n + 1) != 0)
            break;
        want += n + (want[n] == '\n');
        got += n + (got[n] == '\n');
    }
    bool same = !*want && !*got;
    if (!same)
        print_error("%s:\nexpected %.*s\nfound    %.*s\n", name,
                    (int)strcspn(want, "\n"), want, (int)strcspn(got, "\n"),
                    got);
    test_free(file);
    return same;
}

TEST_CASE(every_bad_lesson_has_its_error)
{
    struct dirent **files;
    struct lab_str ids;
    struct lab_str wording;
    lab_str_init(&ids);
    lab_str_init(&wording);
    assert_int_equal(chdir(directory), 0);
    int n = scandir(".", &files, by_name, compare_names);
    assert_true(n >= 155);
    for (int i = 0; i < n; i++) {
        add_findings(files[i]->d_name, &ids, &wording);
        free(files[i]);
    }
    free(files);
    bool same = matches(SOURCE "/ids.txt", &ids);
    assert_true(matches(SOURCE "/wording.txt", &wording) && same);
    lab_str_release(&ids);
    lab_str_release(&wording);
}

/* The first finding is also the error that the short form returns. */
TEST_CASE(the_error_names_file_line_and_column)
{
    struct lab_lesson *lesson = (struct lab_lesson *)"untouched";
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(lab_lesson_load(&lesson, "op-unknown.md"), LAB_E_PARSE);
    assert_null(lesson);
    assert_string_equal(lab_error_id(), "lesson.word.unknown");
    assert_true(error_is("[lesson.word.unknown] op-unknown.md:9:19: "));
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
    assert_string_equal(lab_error_id(), "lesson.file.read");
    assert_true(error_is("[lesson.file.read] no/such/lesson.md"));
    assert_int_equal(lab_lesson_load(&lesson, directory), LAB_E_IO);
    assert_true(error_is("[lesson.file.read] not a regular file"));
    /* A pipe is not waited for, and a device is not opened. */
    assert_int_equal(mkfifo("pipe.md", 0600), 0);
    assert_int_equal(lab_lesson_load(&lesson, "pipe.md"), LAB_E_IO);
    unlink("pipe.md");
    assert_true(error_is("[lesson.file.read] pipe.md: "));
    assert_int_equal(lab_lesson_load(&lesson, "/dev/zero"), LAB_E_IO);
    assert_true(error_is("[lesson.file.read] not a regular file"));
    /* A name with an escape sequence is shown, not sent. */
    assert_int_equal(lab_lesson_load(&lesson, "\033[2J.md"), LAB_E_IO);
    assert_null(strchr(lab_error(), '\033'));
}

TEST_CASE(a_file_that_is_too_large_is_refused)
{
    size_t size = (size_t)5 << 20;
    char *big = lab_alloc(size);
    assert_non_null(big);
    memset(big, ' ', size);
    assert_int_equal(load_text(big, size), LAB_E_RANGE);
    assert_string_equal(lab_error_id(), "lesson.file.large");
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
    assert_true(error_is("[lesson.tensor.memory] this machine has "));
}

/* A file cut at any byte is read or refused, never a crash, and what is
 * refused reports why. */
TEST_CASE(every_cut_of_a_lesson)
{
    char *text =
        test_read(LAB_SOURCE_DIR "/tests/golden/lessons/viii_layernorm.md");
    for (size_t n = 0; n < strlen(text); n++) {
        if (load_text(text, n) != LAB_OK)
            assert_int_not_equal(strlen(lab_error()), 0);
    }
    test_free(text);
}

RUN_TESTS_IN(make_lessons, NULL)
