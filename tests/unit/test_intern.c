/* Interned texts: equal texts have one id, from several threads too, and a text
 * keeps its address. */
#include "test.h"

#include <pthread.h>

#include "base/mem.h"
#include "trace/intern.h"

static int forget(void **state)
{
    (void)state;
    lab_intern_release();
    return 0;
}

TEST_CASE_WITH(same_text_same_id, NULL, forget)
{
    char copy[] = "fc1.matmul";
    uint32_t a = lab_intern("fc1.matmul");
    uint32_t b = lab_intern("fc1.bias");
    assert_true(a > 0 && b > 0 && a != b);
    assert_int_equal(lab_intern(copy), a);
    copy[0] = 'X'; /* the table has its own copy */
    assert_string_equal(lab_intern_text(a), "fc1.matmul");
    assert_string_equal(lab_intern_text(b), "fc1.bias");
    assert_int_equal(lab_intern_count(), 3);
}

TEST_CASE_WITH(nothing_is_id_zero, NULL, forget)
{
    assert_int_equal(lab_intern(""), 0);
    assert_int_equal(lab_intern(NULL), 0);
    assert_string_equal(lab_intern_text(0), "");
    assert_string_equal(lab_intern_text(12345), "");
    assert_string_equal(lab_intern_text(UINT32_MAX), "");
}

TEST_CASE_WITH(texts_stay_where_they_are, NULL, forget)
{
    const char *first = lab_intern_text(lab_intern("first"));
    for (int i = 0; i < 20000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "kernel_%d", i);
        assert_int_equal(lab_intern(text), i + 2);
    }
    assert_ptr_equal(lab_intern_text(1), first);
    assert_string_equal(lab_intern_text(20001), "kernel_19999");
    assert_int_equal(lab_intern("kernel_777"), 779);
}

static void *intern_all(void *arg)
{
    uint32_t *ids = arg;
    for (uint32_t i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "name %u", i);
        ids[i] = lab_intern(text);
        if (strcmp(lab_intern_text(ids[i]), text) != 0)
            ids[i] = 0;
    }
    return NULL;
}

TEST_CASE_WITH(threads_agree, NULL, forget)
{
    static uint32_t ids[4][5000];
    pthread_t thread[4];
    for (int t = 0; t < 4; t++)
        pthread_create(&thread[t], NULL, intern_all, ids[t]);
    for (int t = 0; t < 4; t++)
        pthread_join(thread[t], NULL);
    assert_int_equal(lab_intern_count(), 5001);
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(ids[0][i] > 0);
        for (int t = 1; t < 4; t++)
            assert_int_equal(ids[t][i], ids[0][i]);
    }
}

TEST_CASE_WITH(short_memory_gives_zero, NULL, forget)
{
    for (int64_t nth = 1; nth <= 3; nth++) {
        lab_intern_release();
        lab_mem_fail_from(nth);
        assert_int_equal(lab_intern("text"), 0);
        lab_mem_fail_from(0);
        assert_int_equal(lab_intern("text"), 1); /* and recovers */
        assert_string_equal(lab_intern_text(1), "text");
    }
}

RUN_TESTS()
