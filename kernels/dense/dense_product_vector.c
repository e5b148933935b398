/* The products of a dense layer in compiler vectors. */
#define LAB_MULTIPLY lab_vector_multiply
#define LAB_CHECK_SIDES lab_vector_check
#define LAB_PRODUCT_NAME "vector"
#define LAB_PRODUCT_PREFERRED false
#include "dense/dense_products.inc"

const struct lab_kernel_set lab_vector_dense_products = {"dense",
                                                         dense_products, 2};
