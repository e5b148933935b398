/* wrong_blas.c -- a library that calls itself OpenBLAS and whose products of floats
 * are all wrong: the check of variants withdraws what uses them. It has the functions
 * of kernels/library/openblas.h; those without arguments here are found and not
 * called. */

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta,
                 float *c, int ldc);
void openblas_set_num_threads(int n);
const char *openblas_get_config(void);
void cblas_ddot(void);
void cblas_dgemm(void);
void cblas_dtrsv(void);
void cblas_saxpy(void);
void cblas_sgemv(void);
void cblas_somatcopy(void);

void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta,
                 float *c, int ldc)
{
    (void)order, (void)ta, (void)tb, (void)k, (void)alpha, (void)beta;
    (void)a, (void)lda, (void)b, (void)ldb;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            c[i * ldc + j] = 12345;
    }
}

void openblas_set_num_threads(int n)
{
    (void)n;
}

const char *openblas_get_config(void)
{
    return "OpenBLAS 0.0 that is wrong";
}

void cblas_ddot(void)
{
}

void cblas_dgemm(void)
{
}

void cblas_dtrsv(void)
{
}

void cblas_saxpy(void)
{
}

void cblas_sgemv(void)
{
}

void cblas_somatcopy(void)
{
}
