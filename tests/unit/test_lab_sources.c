/* Where a recorded variant's source is, on a machine without the CUDA module: the names of a
 * ladder's variants on the CPU and on a GPU are the same. */
#include "test.h"

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/model.h"
#include "engine/backend.h"

enum lab_status __wrap_lab_cuda_load(const struct lab_cuda_module **out);
enum lab_status __wrap_lab_cuda_load(const struct lab_cuda_module **out)
{
    *out = NULL;
    return lab_fail(LAB_E_UNSUPPORTED, "there is no module");
}

TEST_CASE(a_recorded_variant_has_the_source_of_the_gpu)
{
    static const struct lab_variant here = {.name = "naive",
                                            .source = "kernels/gemm/cpu.c"};
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    int recorded = 0;
    assert_non_null(lab);
    lab_bench_data_init(&lab->data);
    assert_ok(lab_ladder_find("gemm", &lab->ladder));
    assert_ok(lab_ladder_size(lab->ladder, "64", 2, &lab->sizes[0]));
    lab->variants[0] = &here;
    lab->n_sizes = lab->n_variants = lab->course_from = 1;
    const int set = lab_bench_model_add_set(&lab->data, "CPU", "a CPU");
    assert_ok(lab_bench_model_plan(&lab->data, set, lab));
    assert_int_equal(lab->data.row_count, 1);
    assert_ok(lab_bench_model_recorded(&lab->data, lab));
    for (int64_t i = 0; i < lab->data.row_count; i++) {
        const struct lab_bench_result *r = &lab->data.rows[i];
        if (strcmp(r->variant, here.name) != 0)
            continue;
        recorded += r->set != set;
        assert_string_equal(r->source, r->set == set ? here.source
                                                     : "kernels/gemm/naive.cu");
    }
    assert_true(recorded > 1);
    lab_bench_data_release(&lab->data);
    lab_free(lab);
}

RUN_TESTS()
