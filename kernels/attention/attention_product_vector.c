/* The products of attention in compiler vectors. */
#define LAB_MULTIPLY lab_vector_multiply
#define LAB_CHECK_SIDES lab_vector_check
#define LAB_PRODUCT_NAME "vector"
#define LAB_PRODUCT_PREFERRED false
#include "attention/attention_products.inc"

const struct lab_kernel_set lab_vector_attention_products = {
    "attention", attention_products, 12};
const struct lab_kernel_set lab_vector_scaled_dot_attention_products = {
    "scaled_dot_attention", attention_products, 4};
