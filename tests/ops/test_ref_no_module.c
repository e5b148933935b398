/* A machine without the oneDNN module: one clear answer, the same each time,
 * and the rest works. The reason is remembered for every thread. */
#include <pthread.h>

#include "test.h"

#include "backend/cpu/cpu_sets.h"
#include "library/blas.h"
#include "ops/step_table.h"

static void check_answer(void)
{
    int count = 9;
    const struct lab_kernel_set *const *sets = lab_blas_sets(&count);
    assert_int_equal(lab_onednn_open(&sets, &count), LAB_E_NOTFOUND);
    assert_null(sets);
    assert_int_equal(count, 0);
    assert_true(error_is("[module.file] lapenna-lab-onednn.so"));
}

static void *check_on_thread(void *arg)
{
    check_answer();
    return arg;
}

TEST_CASE(the_module_is_missed_politely)
{
    pthread_t thread;
    int done = 0;
    void *answer = NULL;
    setenv("LAPENNA_LAB_MODULE_DIR", "/nonexistent", 1);
    check_answer();
    check_answer();
    assert_int_equal(pthread_create(&thread, NULL, check_on_thread, &done), 0);
    pthread_join(thread, &answer);
    assert_ptr_equal(answer, &done);
    assert_false(rig_available(RIG_ONEDNN));
    assert_true(rig_available(RIG_BLAS));
    assert_true(rig_has(RIG_BLAS, "dense", "matmul", LAB_FORWARD));
}

RUN_TESTS()
