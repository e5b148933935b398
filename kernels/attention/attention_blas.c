/* The products of attention by OpenBLAS. */
#include "library/blas.h"

#define LAB_MULTIPLY lab_blas_multiply
#define LAB_CHECK_SIDES lab_blas_check
#define LAB_PRODUCT_NAME "blas"
#define LAB_PRODUCT_PREFERRED true
#include "attention/attention_products.inc"

const struct lab_kernel_set lab_blas_attention = {"attention",
                                                  attention_products, 12};
const struct lab_kernel_set lab_blas_scaled_dot_attention = {
    "scaled_dot_attention", attention_products, 4};
