/* The file of a learner's progress: two programs may write it at once, a
 * damaged file is kept under another name, a later format is not touched. */
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"
#include "file.h"

#include "base/mem.h"
#include "debug/progress.h"

static char dir[256];
static char path[512];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "%s/progress-XXXXXX", LAB_BINARY_DIR);
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/a/b/progress.json", dir);
    return 0;
}

static int drop_dir(void **state)
{
    char command[600];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    return system(command);
}

static struct lab_progress_entry entry(const char *id, int64_t seen,
                                       bool finished, const char *opened)
{
    struct lab_progress_entry e = {
        .steps_seen = seen, .steps_total = 24, .finished = finished};
    snprintf(e.id, sizeof(e.id), "%s", id);
    snprintf(e.opened, sizeof(e.opened), "%s", opened);
    return e;
}

static void save_one(const char *id, int64_t seen, bool finished,
                     const char *opened)
{
    struct lab_progress p;
    struct lab_progress_entry e = entry(id, seen, finished, opened);
    assert_ok(lab_progress_load(&p, path));
    assert_ok(lab_progress_update(&p, &e));
    assert_ok(lab_progress_save(&p));
    lab_progress_release(&p);
}

TEST_CASE_WITH(what_is_saved_comes_back, make_dir, drop_dir)
{
    struct lab_progress p;
    save_one("mlp", 7, false, "2025-06-01T10:00:00Z");
    save_one("mlp", 5, true, "2025-06-01T09:00:00Z"); /* nothing goes back */
    save_one("softmax \"x\"", 1, false, "");
    assert_ok(lab_progress_load(&p, path));
    assert_int_equal(p.count, 2);
    const struct lab_progress_entry *e = lab_progress_find(&p, "mlp");
    assert_non_null(e);
    assert_int_equal(e->steps_seen, 7);
    assert_int_equal(e->steps_total, 24);
    assert_true(e->finished);
    assert_string_equal(e->opened, "2025-06-01T10:00:00Z");
    assert_null(lab_progress_find(&p, "ml"));
    assert_string_equal(p.note, "");
    lab_progress_release(&p);
}

TEST_CASE_WITH(two_programs_lose_nothing, make_dir, drop_dir)
{
    struct lab_progress one;
    struct lab_progress two;
    struct lab_progress_entry a = entry("a", 1, false, "");
    struct lab_progress_entry b = entry("b", 2, false, "");
    assert_ok(lab_progress_load(&one, path));
    assert_ok(lab_progress_load(&two, path));
    assert_ok(lab_progress_update(&one, &a));
    assert_ok(lab_progress_update(&two, &b));
    assert_ok(lab_progress_save(&one));
    assert_ok(lab_progress_save(&two));
    lab_progress_release(&one);
    assert_ok(lab_progress_load(&one, path));
    assert_int_equal(one.count, 2);
    lab_progress_release(&one);
    lab_progress_release(&two);
}

TEST_CASE_WITH(many_writers_at_once_lose_nothing, make_dir, drop_dir)
{
    enum { WRITERS = 8, EACH = 10 };
    for (int w = 0; w < WRITERS; w++) {
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                char id[32];
                struct lab_progress p;
                snprintf(id, sizeof(id), "w%d-%d", w, i);
                struct lab_progress_entry e = entry(id, i, false, "");
                if (lab_progress_load(&p, path) ||
                    lab_progress_update(&p, &e) || lab_progress_save(&p))
                    _exit(1);
                lab_progress_release(&p);
            }
            _exit(0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    struct lab_progress p;
    assert_ok(lab_progress_load(&p, path));
    assert_int_equal(p.count, WRITERS * EACH);
    lab_progress_release(&p);
}

TEST_CASE_WITH(a_bad_file_is_named_and_kept, make_dir, drop_dir)
{
    static const struct {
        const char *text;
        const char *note;
    } cases[] = {
        {"{\n  \"format\": 1,\n  oops\n}", "progress.json:3:"},
        {"", "progress.json:1:"},
        {"[]", "\"format\" is missing"},
        {"{\"format\":1}", "\"lessons\" is missing"},
        {"{\"format\":1,\"lessons\":{\"a\":{\"steps_seen\":-1}}}",
         "lesson \"a\": \"steps_seen\""},
        {"{\"format\":1,\"lessons\":{\"a\\u001b[31m\":7}}",
         "lesson \"a^[[31m\": not an object"},
        {"{\"format\":1,\"lessons\":{\"\":{}}}", "the id is empty"},
        {"{\"format\":1,\"lessons\":{\"a\":{\"finished\":3}}}", "finished"},
        {"{\"format\":1,\"format\":1}", "duplicate"},
    };
    save_one("x", 1, false, "");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_progress p;
        char kept[600];
        test_write(path, cases[i].text);
        assert_ok(lab_progress_load(&p, path));
        assert_int_equal(p.count, 0);
        if (!strstr(p.note, cases[i].note))
            fail_msg("%s", p.note);
        snprintf(kept, sizeof(kept), i ? "%s.bad%zu" : "%s.bad", path, i);
        char *text = test_read(kept);
        assert_string_equal(text, cases[i].text);
        test_free(text);
        assert_int_equal(access(path, F_OK), -1);
        lab_progress_release(&p);
    }
}

TEST_CASE_WITH(a_later_format_is_left_alone, make_dir, drop_dir)
{
    struct lab_progress p;
    struct lab_progress_entry e = entry("a", 1, false, "");
    save_one("x", 1, false, "");
    test_write(path, "{\"format\": 2, \"courses\": []}");
    assert_ok(lab_progress_load(&p, path));
    assert_true(p.newer);
    assert_non_null(strstr(p.note, "later version"));
    assert_ok(lab_progress_update(&p, &e));
    assert_int_equal(lab_progress_save(&p), LAB_E_STATE);
    lab_progress_release(&p);
}

TEST_CASE_WITH(what_cannot_be_written_is_reported, make_dir, drop_dir)
{
    struct lab_progress p;
    struct lab_progress_entry e = entry("a", 1, false, "");
    struct lab_progress_entry none = entry("", 1, false, "");
    assert_ok(lab_progress_load(&p, "/proc/nowhere/progress.json"));
    assert_int_equal(lab_progress_update(&p, &none), LAB_E_ARG);
    assert_ok(lab_progress_update(&p, &e));
    assert_int_equal(lab_progress_save(&p), LAB_E_IO);
    assert_true(error_is("[progress.directory] /proc/nowhere"));
    lab_progress_release(&p);
    save_one("x", 1, false, "");
    assert_ok(lab_progress_load(&p, path));
    lab_mem_fail_from(1);
    assert_int_equal(lab_progress_update(&p, &e), LAB_E_NOMEM);
    lab_mem_fail_from(0);
    lab_progress_release(&p);
    assert_int_equal(lab_progress_load(&p, dir), LAB_E_IO);
}

TEST_CASE(the_place_follows_the_rules)
{
    char out[256];
    setenv("HOME", "/home/ada", 1);
    unsetenv("XDG_STATE_HOME");
    assert_ok(lab_progress_path(out, sizeof(out)));
    assert_string_equal(out,
                        "/home/ada/.local/state/lapenna-lab/progress.json");
    setenv("XDG_STATE_HOME", "relative", 1); /* ignored */
    assert_ok(lab_progress_path(out, sizeof(out)));
    assert_string_equal(out,
                        "/home/ada/.local/state/lapenna-lab/progress.json");
    setenv("XDG_STATE_HOME", "/s", 1);
    assert_ok(lab_progress_path(out, sizeof(out)));
    assert_string_equal(out, "/s/lapenna-lab/progress.json");
    assert_int_equal(lab_progress_path(out, 10), LAB_E_RANGE);
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(lab_progress_path(out, sizeof(out)), LAB_E_NOTFOUND);
}

RUN_TESTS()
