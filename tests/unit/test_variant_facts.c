/* What names of variants mean. */
#include "test.h"

#include "engine/op.h"
#include "report/variant_facts.h"

TEST_CASE(libraries_by_their_names)
{
    assert_true(lab_variant_is_library("blas"));
    assert_true(lab_variant_is_library("openblas"));
    assert_true(lab_variant_is_library("onednn"));
    assert_true(lab_variant_is_library("threads"));
    assert_false(lab_variant_is_library("thread_1d"));
    assert_true(lab_variant_is_library("cublaslt"));
    assert_true(lab_variant_is_library("cudnn_fft"));
    assert_true(lab_variant_is_library("cusparselt"));
    assert_false(lab_variant_is_library("blocked"));
    assert_false(lab_variant_is_library("naive"));
    assert_false(lab_variant_is_library(NULL));
}

static bool can(const char *op, int64_t phase, const char *step,
                const char *variant)
{
    return lab_variant_can_fuse("cuda", op, phase, step, variant);
}

TEST_CASE(only_what_is_apart_can_be_fused)
{
    assert_true(can("dense", LAB_FORWARD, "fc1.matmul", "cublas"));
    assert_false(can("dense", LAB_FORWARD, "fc1.dense", "fused"));
    assert_false(can("dense", LAB_BACKWARD, "fc1.matmul", "cublas"));
    assert_true(can("attention", LAB_BACKWARD, "a.scores", "cublas"));
    assert_false(can("attention", LAB_FORWARD, "a.attention", "cudnn"));
    assert_false(can("attention", LAB_FORWARD, "a.q", "fused"));
    assert_false(can("adam", LAB_UPDATE, "fc1.W", "naive"));
    assert_false(can("relu", LAB_FORWARD, "r.relu", "naive"));
    assert_false(can("nothing", LAB_FORWARD, "r.x", "naive"));
    assert_false(can(NULL, LAB_FORWARD, NULL, NULL));
    /* oneDNN has some */
    assert_true(lab_variant_can_fuse("cpu", "dense", LAB_FORWARD, "fc1.matmul",
                                     "blas"));
    assert_false(lab_variant_can_fuse("cpu", "dense", LAB_FORWARD, "fc1.dense",
                                      "onednn"));
    assert_false(lab_variant_can_fuse("cpu", "attention", LAB_FORWARD,
                                      "a.scores", "blas"));
    assert_false(lab_variant_can_fuse(NULL, "dense", LAB_FORWARD, "fc1.matmul",
                                      "naive"));
}

RUN_TESTS()
