/* The products of rnn and lstm in compiler vectors. */
#define LAB_PRODUCT(f) lab_vector_##f
#define LAB_PRODUCT_NAME "vector"
#define LAB_PRODUCT_PREFERRED false
#include "recurrent/recurrent_products.h"

const struct lab_kernel_set lab_vector_lstm_products = {"lstm", lstm_products,
                                                        4};
const struct lab_kernel_set lab_vector_rnn_products = {"rnn", rnn_products, 4};
