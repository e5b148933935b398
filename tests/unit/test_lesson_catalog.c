/* The course in a directory, and what lint reports of it. */
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "base/mem.h"
#include "lesson/lint.h"

static char dir[] = "/tmp/lesson_catalog_XXXXXX";
static char lessons[64];

#define DATA "data: {source: inline, x: [[1, 2]], y: [[0, 1]]}\n"
#define NETWORK                                                                \
    "network:\n  - {id: fc1, op: dense, units: 2}\n"                           \
    "loss: {op: mse}\n"
#define TEXT "---\nHello.\n\n## node: fc1\nA.\n\n## node: loss\nB.\n"

static void put(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", lessons, name);
    test_write(path, text);
}

static int make_course(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(lessons, sizeof(lessons), "%s/lessons", dir);
    assert_int_equal(mkdir(lessons, 0700), 0);
    put("30-third.md", "---\nformat: 1\ntitle: C\nsummary: S\norder: 5\n"
                       "prerequisites: [second]\n" DATA NETWORK TEXT);
    put("20-second.md",
        "---\nformat: 1\ntitle: B\nsummary: S\norder: 20\n"
        "prerequisites: [third, frist, second]\n" DATA NETWORK TEXT);
    put("10-first.md",
        "---\nformat: 1\ntitle: A\norder: 20\n" DATA NETWORK
        "watch: [fc1.oat, fc1.out]\n"
        "break: [{step: fc1.matmull}, {step: fc1.W, phase: loss}]\n"
        "printed:\n"
        "  - {tensor: fc1.b.grad, values: [1, 2]}\n"
        "  - {tensor: fc1.b.grad, at: [1], values: [1, 2]}\n"
        "  - {tensor: fc1.c, values: [1]}\n"
        "---\n## step: fc1.matmul\nA.\n## step: fc1.matmull\nB."
        "\n## node: fc2\nC.\n## phase: foreward\nD.\n"
        "## phase: update\n"
        "## Step : fc1.bias\nE.\n## step: fc1.matmul\nF.\n");
    put("40-shape.md", "---\nformat: 1\ntitle: D\nsummary: S\n" DATA NETWORK
                       "parameters: {fc1.W: [[1, 2]]}\n" TEXT);
    put("broken.md", "---\nformat: 1\n---\n");
    put("notes.txt", "no lesson");
    put("README.md", "no lesson");
    return setenv("LAPENNA_LAB_DATA_DIR", dir, 1);
}

static int remove_course(void **state)
{
    static const char *const names[] = {
        "10-first.md", "20-second.md", "30-third.md", "40-shape.md",
        "broken.md",   "notes.txt",    "README.md"};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", lessons, names[i]);
        unlink(path);
    }
    return rmdir(lessons) || rmdir(dir);
}

TEST_CASE(lessons_stand_in_their_order)
{
    static const char *const ids[] = {"third", "first", "second", "shape",
                                      "broken"};
    struct lab_catalog *c = NULL;
    assert_ok(lab_catalog_load(&c, NULL));
    assert_int_equal(c->count, 5);
    for (size_t i = 0; i < c->count; i++)
        assert_string_equal(c->items[i].id, ids[i]);
    assert_null(c->items[4].lesson);
    assert_non_null(strstr(c->items[4].error, "has no title"));
    assert_non_null(lab_catalog_find(c, "second"));
    assert_null(lab_catalog_find(c, "notes"));
    lab_catalog_free(c);
}

/* So many that several threads read them: each has its own text or its own error, and
 * without memory there is none of them. */
TEST_CASE(many_lessons_are_read)
{
    enum { MANY = 64, BROKEN = 5 /* each such one */ };
    char many[96];
    char name[32];
    char text[256];
    struct lab_catalog *c;
    snprintf(many, sizeof(many), "%s/many", lessons);
    assert_int_equal(mkdir(many, 0700), 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many/l%02d.md", i);
        snprintf(text, sizeof(text),
                 "---\nformat: 1\n%s: T%02d\n" DATA NETWORK TEXT,
                 i % BROKEN ? "title" : "tilte", i);
        put(name, text);
    }
    assert_ok(lab_catalog_load(&c, many));
    assert_int_equal(c->count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "l%02d", i);
        const struct lab_catalog_entry *e = lab_catalog_find(c, name);
        assert_non_null(e);
        assert_true(!e->lesson == (i % BROKEN == 0));
        snprintf(text, sizeof(text), i % BROKEN ? "T%02d" : "l%02d.md", i);
        assert_non_null(strstr(e->lesson ? e->lesson->title : e->error, text));
    }
    lab_catalog_free(c);
    for (int64_t n = 200; n < 1200; n += 300) {
        lab_mem_fail_from(n);
        enum lab_status st = lab_catalog_load(&c, many);
        lab_mem_fail_from(0);
        assert_int_equal(st, LAB_E_NOMEM);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "%s/l%02d.md", many, i);
        assert_int_equal(unlink(text), 0);
    }
    assert_int_equal(rmdir(many), 0);
}

/* A user's own lessons are among the installed, one in the place of its namesake. */
TEST_CASE(lessons_of_a_user)
{
    char home[64];
    char own[128];
    char path[192];
    struct lab_catalog *c;
    struct lab_str found;
    snprintf(home, sizeof(home), "%s/home", dir);
    snprintf(own, sizeof(own), "%s/lapenna-lab", home);
    assert_int_equal(mkdir(home, 0700) || mkdir(own, 0700), 0);
    assert_int_equal(setenv("XDG_DATA_HOME", home, 1), 0);
    assert_ok(lab_catalog_load(&c, NULL)); /* there is no folder yet */
    assert_int_equal(c->count, 5);
    lab_catalog_free(c);
    snprintf(own, sizeof(own), "%s/lapenna-lab/lessons", home);
    assert_int_equal(mkdir(own, 0700), 0);
    put("../home/lapenna-lab/lessons/second.md",
        "---\nformat: 1\ntitle: Own\nsummary: S\norder: 1\n" DATA NETWORK TEXT);
    put("../home/lapenna-lab/lessons/mine.md",
        "---\nformat: 1\ntitle: Mine\nsummary: S\norder: 2\n" DATA NETWORK
            TEXT);
    assert_ok(lab_catalog_load(&c, NULL));
    assert_int_equal(c->count, 6);
    assert_string_equal(c->items[0].lesson->title, "Own");
    assert_string_equal(c->items[1].lesson->title, "Mine");
    assert_string_equal(c->items[2].id, "third");
    lab_catalog_free(c);
    assert_ok(
        lab_catalog_list(&c, lessons)); /* a folder that is named is alone */
    assert_int_equal(c->count, 5);
    lab_catalog_free(c);
    lab_str_init(&found);
    assert_ok(lab_lesson_find("mine", &found));
    snprintf(path, sizeof(path), "%s/mine.md", own);
    assert_string_equal(lab_str_text(&found), path);
    lab_str_release(&found);
    setenv("XDG_DATA_HOME", "home", 1); /* relative: ignored */
    assert_ok(lab_catalog_list(&c, NULL));
    assert_null(lab_catalog_find(c, "mine"));
    lab_catalog_free(c);
    assert_int_equal(unsetenv("XDG_DATA_HOME"), 0);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/second.md", own);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/lapenna-lab", home);
    assert_int_equal(rmdir(own) || rmdir(path) || rmdir(home), 0);
}

/* Lines that are no chapter are passed over; without the file there are none. */
TEST_CASE(lessons_are_in_chapters)
{
    char path[128];
    struct lab_catalog *c;
    assert_ok(lab_catalog_load(&c, NULL));
    assert_int_equal(c->n_chapters, 0);
    assert_int_equal(lab_catalog_chapter(c, 20), -1);
    lab_catalog_free(c);
    put("chapters", "# comment\n10 First steps\n\nx y\n15\n20 Further  on\n");
    assert_ok(lab_catalog_load(&c, NULL));
    assert_int_equal(c->n_chapters, 2);
    assert_string_equal(c->chapters[0].title, "First steps");
    assert_string_equal(c->chapters[1].title, "Further  on");
    assert_int_equal(lab_catalog_chapter(c, 5), -1);
    assert_int_equal(lab_catalog_chapter(c, 10), 0);
    assert_int_equal(lab_catalog_chapter(c, 19), 0);
    assert_int_equal(lab_catalog_chapter(c, LAB_LESSON_NO_ORDER), 1);
    lab_catalog_free(c);
    snprintf(path, sizeof(path), "%s/chapters", lessons);
    assert_int_equal(remove(path), 0);
}

TEST_CASE(a_lesson_is_found_by_id_or_path)
{
    char want[128];
    struct lab_str path;
    lab_str_init(&path);
    snprintf(want, sizeof(want), "%s/20-second.md", lessons);
    assert_ok(lab_lesson_find("second", &path));
    assert_string_equal(lab_str_text(&path), want);
    lab_str_clear(&path);
    assert_ok(lab_lesson_find("x/y.md", &path));
    assert_string_equal(lab_str_text(&path), "x/y.md");
    lab_str_clear(&path);
    assert_int_equal(lab_lesson_find("secund", &path), LAB_E_NOTFOUND);
    assert_true(error_is("[lesson.missing] did you mean second"));
    lab_str_release(&path);
}

TEST_CASE(a_directory_that_is_missing)
{
    struct lab_catalog *c = NULL;
    assert_int_equal(lab_catalog_load(&c, "/no/such/place"), LAB_E_IO);
    assert_true(error_is("[lesson.list] LAPENNA_LAB_DATA_DIR"));
    assert_null(c);
}

/* A finding from its file's name on; the folder within it is DIR. */
static void add_finding(struct lab_str *text, const struct lab_findings *f,
                        size_t i)
{
    struct lab_str line;
    lab_str_init(&line);
    lab_finding_text(f, i, &line);
    const char *at = lab_str_text(&line) + strlen(lessons) + 1;
    const char *dir_at = strstr(at, lessons);
    size_t before = dir_at ? (size_t)(dir_at - at) : strlen(at);
    lab_str_addf(text, "%c %.*s%s%s\n",
                 lab_severity_name(f->items[i].severity)[0], (int)before, at,
                 dir_at ? "DIR" : "", dir_at ? dir_at + strlen(lessons) : "");
    lab_str_release(&line);
}

static void check_lint(const char *name, const char *want)
{
    char path[128];
    struct lab_catalog *c = NULL;
    struct lab_findings found;
    struct lab_str text;
    snprintf(path, sizeof(path), "%s/%s", lessons, name);
    lab_findings_init(&found);
    lab_str_init(&text);
    assert_ok(lab_catalog_load(&c, lessons));
    assert_ok(lab_lesson_lint(path, c, &found));
    for (size_t i = 0; i < found.count; i++)
        add_finding(&text, &found, i);
    assert_string_equal(lab_str_text(&text), want);
    lab_str_release(&text);
    lab_findings_release(&found);
    lab_catalog_free(c);
}

TEST_CASE(lint_knows_the_course)
{
    check_lint("20-second.md",
               "e 20-second.md:5:1: order 20 is also that of the lesson first "
               "(DIR/10-first.md)\n"
               "e 20-second.md:6:24: no lesson frist; did you mean first?\n"
               "e 20-second.md:6:31: the lesson is its own prerequisite\n");
}

TEST_CASE(lint_knows_the_network)
{
    check_lint(
        "10-first.md",
        "w 10-first.md:3:1: no summary: add one line on what the "
        "learner will see\n"
        "e 10-first.md:4:1: order 20 is also that of the lesson second "
        "(DIR/20-second.md)\n"
        "w 10-first.md:7:5: no text for the step fc1.bias (forward): add "
        "## step: fc1.bias, ## node: fc1 or ## phase: forward\n"
        "w 10-first.md:7:5: no text for the step fc1.bias (backward): add "
        "## step: fc1.bias, ## node: fc1 or ## phase: backward\n"
        "w 10-first.md:8:7: no text for the step loss.sample (loss): add "
        "## step: loss.sample, ## node: loss or ## phase: loss\n"
        "w 10-first.md:8:7: no text for the step loss.reduce (loss): add "
        "## step: loss.reduce, ## node: loss or ## phase: loss\n"
        "w 10-first.md:8:7: no text for the step loss.sample (backward): add "
        "## step: loss.sample, ## node: loss or ## phase: backward\n"
        "e 10-first.md:9:9: no tensor fc1.oat in this lesson; did you mean "
        "fc1.out?\n"
        "e 10-first.md:10:9: no step fc1.matmull in this lesson; did you mean "
        "fc1.matmul?\n"
        "e 10-first.md:10:30: the step fc1.W has no phase loss\n"
        "e 10-first.md:13:5: 2 printed values do not fit into fc1.b.grad, "
        "which has the shape [2]\n"
        "e 10-first.md:14:5: no tensor fc1.c in this lesson; did you mean "
        "fc1.W?\n"
        "e 10-first.md:18:1: no step fc1.matmull in this lesson; did you mean "
        "fc1.matmul?\n"
        "e 10-first.md:20:1: no node fc2 in this lesson; did you mean fc1?\n"
        "e 10-first.md:22:1: no phase foreward in this lesson; did you mean "
        "forward?\n"
        "w 10-first.md:24:1: no text under this heading\n"
        "w 10-first.md:25:1: this heading is read in order; one that belongs "
        "to a step begins with \"step: \"\n"
        "e 10-first.md:27:1: a second text for step: fc1.matmul; the one in "
        "line 16 is shown\n");
}

TEST_CASE(lint_builds_the_network)
{
    check_lint("40-shape.md", "e 40-shape.md:9:14: parameter fc1.W is [2,2] "
                              "in this network, the lesson gives [1,2]\n");
}

/* The lessons of the program and of the golden cases have no error. */
TEST_CASE(the_shipped_lessons_are_clean)
{
    static const char *const dirs[] = {LAB_SOURCE_DIR "/lessons",
                                       LAB_SOURCE_DIR "/tests/golden/lessons"};
    size_t tried = 0;
    for (size_t k = 0; k < 2; k++) {
        struct lab_catalog *c = NULL;
        assert_ok(lab_catalog_load(&c, dirs[k]));
        for (size_t i = 0; i < c->count; i++, tried++) {
            struct lab_findings found;
            lab_findings_init(&found);
            assert_ok(lab_lesson_lint(c->items[i].path, c, &found));
            if (found.errors)
                print_error("%s: %s\n", c->items[i].path,
                            found.items[0].message);
            assert_int_equal(found.errors, 0);
            lab_findings_release(&found);
        }
        lab_catalog_free(c);
    }
    assert_true(tried > 20);
}

TEST_CASE(every_allocation_may_fail)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/10-first.md", lessons);
    for (int64_t n = 1; n < 100000; n++) {
        struct lab_catalog *c = NULL;
        struct lab_findings found;
        lab_findings_init(&found);
        lab_mem_fail_from(n);
        enum lab_status st = lab_catalog_load(&c, lessons);
        if (!st)
            st = lab_lesson_lint(path, c, &found);
        bool ran_out = lab_mem_count() >= n;
        lab_mem_fail_from(0);
        assert_int_equal(st, ran_out ? LAB_E_NOMEM : LAB_OK);
        lab_findings_release(&found);
        lab_catalog_free(c);
        if (!ran_out)
            return;
    }
    fail();
}

RUN_TESTS_IN(make_course, remove_course)
