/* The products of a dense layer by OpenBLAS. */
#include "library/blas.h"

#define LAB_PRODUCT(f) lab_blas_##f
#define LAB_PRODUCT_NAME "blas"
#define LAB_PRODUCT_PREFERRED true
#include "dense/dense_products.h"

const struct lab_kernel_set lab_blas_dense = {"dense", dense_products, 2};
