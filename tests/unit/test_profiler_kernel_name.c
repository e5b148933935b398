/* Names of kernels: demangled, and shortened to a given room without their
 * template arguments. */
#include "test.h"

#include "base/mem.h"
#include "base/kernel_name.h"

TEST_CASE(short_names)
{
    static const char *const cases[][2] = {
        {"saxpy", "saxpy"},
        {"relu_fwd(float*, float const*, long)", "relu_fwd"},
        {"void k<int>(float*)", "k"},
        {"void ns::inner::k<ns::T, 3>(ns::T*)", "k"},
        {"void (anonymous namespace)::k<float>(float*)", "k"},
        {"(anonymous namespace)::k(int)", "k"},
        {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>"
         "(cutlass_80_simt_sgemm_128x32_8x5_nn_align1::Params)",
         "Kernel2"},
        {"void splitKreduce_kernel<32, 16, int, float, float, float, float, "
         "true, false>(cublasSplitKParams<float>, float const*, float const*)",
         "splitKreduce_kernel"},
        {"void gemm<(Mode)1, true>(Args<(Mode)1>)", "gemm"},
        {"unsigned int count<char>(char const*)", "count"},
        {"A::operator()(int) const", "operator()"},
        {"bool operator< <int>(A, A)", "operator< <int>"},
        {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas",
         "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_cublas"},
        {"_Z8relu_fwdPfPKfl", "relu_fwd"},
        {"operators_sum(float*)", "operators_sum"},
        {"", ""},
        {"(", "("},
        {"::", "::"},
        {"<<<<", "<<<<"},
        {"a)>b(c", "a)>b"},
        {"_Z99short", "_Z99short"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[128];
        lab_kernel_short_name(out, sizeof(out), cases[i][0]);
        assert_string_equal(out, cases[i][1]);
    }
}

TEST_CASE(short_name_keeps_to_its_room)
{
    char out[5] = "xxxx";
    lab_kernel_short_name(out, sizeof(out), "abcdefgh(int)");
    assert_string_equal(out, "abcd");
    lab_kernel_short_name(out, 1, "abcdefgh(int)");
    assert_string_equal(out, "");
    out[0] = 'x';
    lab_kernel_short_name(out, 0, "abcdefgh(int)");
    assert_int_equal(out[0], 'x');
}

TEST_CASE(demangles)
{
    static const char *const cases[][2] = {
        {"_Z8relu_fwdPfPKfl", "relu_fwd(float*, float const*, long)"},
        {"_ZN2ns1kIiEEvPf", "void ns::k<int>(float*)"},
        {"saxpy", "saxpy"},
        {"_Znot a name", "_Znot a name"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *out = lab_kernel_demangle(cases[i][0]);
        assert_string_equal(out, cases[i][1]);
        lab_free(out);
    }
    lab_mem_fail_from(1);
    assert_null(lab_kernel_demangle("_Z8relu_fwdPfPKfl"));
    lab_mem_fail_from(0);
}

RUN_TESTS()
