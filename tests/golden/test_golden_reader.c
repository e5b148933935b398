/* The reader of golden files: what it reads, and what it refuses. */
#include <unistd.h>

#include "test.h"

#include "base/mem.h"
#include "golden/golden.h"

TEST_CASE(reads_a_case)
{
    struct golden *g = NULL;
    assert_ok(golden_load("ii_mlp_4_3_2_relu_ce", &g));
    assert_string_equal(g->name, "ii_mlp_4_3_2_relu_ce");
    assert_string_equal(g->family, "ii");
    assert_true(golden_scalar(g, "loss") == 0.6570912213665595);
    assert_true(isnan(golden_scalar(g, "nothing")));
    const struct golden_tensor *W1 = golden_tensor(g, "W1");
    assert_non_null(W1);
    assert_int_equal(W1->rank, 2);
    assert_int_equal(W1->dim[0], 4);
    assert_int_equal(W1->dim[1], 3);
    assert_int_equal(W1->count, 12);
    assert_string_equal(W1->role, "input");
    assert_false(W1->is_int);
    assert_true(W1->data[11] == -0.43521688871149583);
    const struct golden_tensor *labels = golden_tensor(g, "labels");
    assert_true(labels && labels->is_int && labels->data[1] == 1);
    assert_null(golden_tensor(g, "W3"));
    golden_free(g);
}

static enum lab_status load_text(const char *text, struct golden **g)
{
    char path[] = "/tmp/golden-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    enum lab_status st = golden_load_file(path, g);
    unlink(path);
    return st;
}

TEST_CASE(refuses_what_is_not_whole)
{
    static const char *const bad[] = {
        "",
        "golden 2\nend\n",
        "golden 1\ncase c\n",
        "golden 1\nscalar loss\nend\n",
        "golden 1\ntensor x input f64 1 2 2\n1\nend\n",
        "golden 1\ntensor x input f64 1 2 3\n1 2 3\nend\n",
        "golden 1\ntensor x input f32 1 1 1\n1\nend\n",
        "golden 1\ntensor x input f64 9 1 1\n1\nend\n",
        "golden 1\ntensor x input f64 1 -1 -1\nend\n",
        "golden 1\nsomething\nend\n",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct golden *g = NULL;
        assert_int_equal(load_text(bad[i], &g), LAB_E_PARSE);
        assert_null(g);
    }
    struct golden *g = NULL;
    assert_int_equal(golden_load("no_such_case", &g), LAB_E_IO);
    assert_ok(load_text("golden 1\ntensor x input f64 0 1\n-2.5\nend\n", &g));
    assert_true(golden_tensor(g, "x")->data[0] == -2.5);
    golden_free(g);
}

TEST_CASE(survives_short_memory)
{
    enum lab_status st = LAB_E_NOMEM;
    for (int nth = 1; st != LAB_OK; nth++) {
        struct golden *g = NULL;
        lab_mem_fail_from(nth);
        st = golden_load("viii_softmax", &g);
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        assert_true((st == LAB_OK) == (g != NULL));
        assert_true(nth < 100);
        golden_free(g);
    }
}

RUN_TESTS()
