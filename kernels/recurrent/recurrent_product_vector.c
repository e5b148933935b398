/* The products of rnn and lstm in compiler vectors. */
#define LAB_MULTIPLY lab_vector_multiply
#define LAB_CHECK_SIDES lab_vector_check
#define LAB_PRODUCT_NAME "vector"
#define LAB_PRODUCT_PREFERRED false
#include "recurrent/recurrent_products.inc"

const struct lab_kernel_set lab_vector_lstm_products = {"lstm", lstm_products,
                                                        4};
const struct lab_kernel_set lab_vector_rnn_products = {"rnn", rnn_products, 4};
