/* kernels/library/blas.c -- what the rows of OpenBLAS share: the library, loaded
 * with the first of them, on one thread; sides that fit, the product. BLAS speaks
 * of columns first, but its C interface takes row-major matrices as they are; a
 * transposed factor is a flag, not a copy. */
#include "library/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library/openblas.h"

/* The second is where the build found it. */
static const char *const names[] = {"libopenblas.so.0", LAB_OPENBLAS_LIBRARY};

static struct lab_openblas openblas;

/* A library that lacks one of the functions is not taken. */
static void *open_library(const char *name)
{
    void *lib = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!lib)
        return NULL;
    /* ISO C has no cast from void * to a function; POSIX promises that it works. */
    bool whole = true;
#define FIND(prefix, name)                                                     \
    *(void **)&openblas.name = dlsym(lib, #prefix #name);                      \
    whole = whole && openblas.name;
    LAB_OPENBLAS(FIND)
#undef FIND
    if (whole)
        return lib;
    dlclose(lib);
    return NULL;
}

static void *open_any(void)
{
    void *lib = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lib; i++)
        lib = open_library(names[i]);
    return lib;
}

/* The kernels that fit this processor, by the library's name for them. */
static const char *widest(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}

/* The kernels that the library has for a processor it does not know: those of its
 * oldest, which know neither AVX nor multiply-adds. */
static bool has_oldest(void)
{
    const char *config = openblas.get_config();
    return strstr(config, "Prescott") ||
           strstr(config, "Barcelona"); /* AMD's */
}

/* A processor that is newer than the library gets the kernels that fit it: 0.3.21
 * multiplies at 15 GFLOP/s a core on an Emerald Rapids, and at 64 with those of
 * SkylakeX. The library chooses when it is loaded, unless a variable of the
 * environment names the kernels. */
static void *open_again(void *lib)
{
    static const char variable[] = "OPENBLAS_CORETYPE";
    const char *fits = widest();
    if (!fits || getenv(variable) || !has_oldest() ||
        setenv(variable, fits, 1) != 0)
        return lib;
    dlclose(lib);
    lib = open_any();
    unsetenv(variable);
    return lib;
}

static void load(void)
{
    void *lib = open_any();
    if (lib)
        lib = open_again(lib);
    if (!lib)
        return;
    openblas.library = lib;
    openblas.set_num_threads(1);
}

const struct lab_openblas *lab_openblas(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return openblas.library ? &openblas : NULL;
}

enum lab_status lab_blas_check(int64_t N, int64_t K, int64_t M)
{
    if (N > INT_MAX || K > INT_MAX || M > INT_MAX)
        return lab_fail(
            LAB_E_RANGE,
            "[launch.blas] blas: a side of %lld x %lld x %lld is more than its "
            "32-bit sizes hold",
            (long long)N, (long long)K, (long long)M);
    return LAB_OK;
}

enum lab_status lab_blas_all_cores(lab_kernel_fn *fn,
                                   const struct lab_call *call)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    lab_openblas()->set_num_threads(cores > 1 ? (int)cores : 1);
    enum lab_status st = fn(call);
    lab_openblas()->set_num_threads(1);
    return st;
}

static void multiply(struct lab_matrix c, struct lab_matrix a,
                     struct lab_matrix b, int64_t rows, int64_t cols,
                     int64_t inner, float alpha, float beta)
{
    for (int64_t r = 0; c.bias && r < rows; r++)
        memcpy(c.data + r * c.ld, c.bias, (size_t)cols * sizeof(*c.data));
    beta = c.bias ? 1 : beta;
    lab_openblas()->sgemm(CblasRowMajor, a.flip ? CblasTrans : CblasNoTrans,
                          b.flip ? CblasTrans : CblasNoTrans, (int)rows,
                          (int)cols, (int)inner, alpha, a.data, (int)a.ld,
                          b.data, (int)b.ld, beta, c.data, (int)c.ld);
}

void lab_blas_multiply(struct lab_matrix c, struct lab_matrix a,
                       struct lab_matrix b, int64_t rows, int64_t cols,
                       int64_t inner, float alpha, float beta)
{
    lab_product_cut(multiply, rows > cols, c, a, b, rows, cols, inner, alpha,
                    beta);
}

enum lab_status lab_lapack_find(const char *name, void *fn)
{
    void *address = dlsym(lab_openblas()->library, name);
    *(void **)fn = address;
    return address ? LAB_OK
                   : lab_fail(LAB_E_UNSUPPORTED,
                              "[launch.no-lapack] this OpenBLAS was built "
                              "without LAPACK: it has "
                              "no %s",
                              name);
}

enum lab_status lab_lapack_judge(int info, const char *name)
{
    return info == 0 ? LAB_OK
                     : lab_fail(LAB_E_CHECK, "%s: info %d", name, info);
}

const char *lab_blas_version(void)
{
    const struct lab_openblas *blas = lab_openblas();
    return blas ? blas->get_config() : NULL;
}

/* ---- the tables ---- */

const struct lab_kernel_set *const *lab_blas_sets(int *count)
{
#define LAB_BLAS_SET(op) &lab_blas_##op,
    static const struct lab_kernel_set *const sets[] = {
        LAB_BLAS_SETS(LAB_BLAS_SET)};
    *count = lab_openblas() ? sizeof(sets) / sizeof(sets[0]) : 0;
    return sets;
}

const struct lab_variant *lab_blas_variant(const char *operation, int i)
{
#define LAB_BLAS_VARIANT(operation) {#operation, lab_blas_variants_##operation},
    static const struct {
        const char *operation;
        const struct lab_variant *variants;
    } tables[] = {LAB_BLAS_VARIANTS(LAB_BLAS_VARIANT)};
    for (size_t t = 0; lab_openblas() && t < sizeof(tables) / sizeof(tables[0]);
         t++) {
        if (strcmp(tables[t].operation, operation) != 0)
            continue;
        for (const struct lab_variant *r = tables[t].variants; r->name; r++) {
            if (i-- == 0)
                return r;
        }
    }
    return NULL;
}
