/* The products of rnn and lstm by OpenBLAS. */
#include "library/blas.h"

#define LAB_PRODUCT(f) lab_blas_##f
#define LAB_PRODUCT_NAME "blas"
#define LAB_PRODUCT_PREFERRED true
#include "recurrent/recurrent_products.h"

const struct lab_kernel_set lab_blas_lstm = {"lstm", lstm_products, 4};
const struct lab_kernel_set lab_blas_rnn = {"rnn", rnn_products, 4};
