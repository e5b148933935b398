/* The products of a dense layer by OpenBLAS. */
#include "library/blas.h"

#define LAB_MULTIPLY lab_blas_multiply
#define LAB_CHECK_SIDES lab_blas_check
#define LAB_PRODUCT_NAME "blas"
#define LAB_PRODUCT_PREFERRED true
#include "dense/dense_products.inc"

const struct lab_kernel_set lab_blas_dense = {"dense", dense_products, 2};
