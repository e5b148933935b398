/* The products of rnn and lstm by OpenBLAS. */
#include "library/blas.h"

#define LAB_MULTIPLY lab_blas_multiply
#define LAB_CHECK_SIDES lab_blas_check
#define LAB_PRODUCT_NAME "blas"
#define LAB_PRODUCT_PREFERRED true
#include "recurrent/recurrent_products.inc"

const struct lab_kernel_set lab_blas_lstm = {"lstm", lstm_products, 4};
const struct lab_kernel_set lab_blas_rnn = {"rnn", rnn_products, 4};
