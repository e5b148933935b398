/* The products of a dense layer in compiler vectors, and the whole layer: its bias is
 * added where a tile of the product is stored. */
#define LAB_MULTIPLY lab_vector_multiply
#define LAB_CHECK_SIDES lab_vector_check
#define LAB_PRODUCT_NAME "vector"
#define LAB_PRODUCT_PREFERRED false
#include "dense/dense_products.inc"

const struct lab_kernel_set lab_vector_dense_products = {"dense",
                                                         dense_products, 2};

static enum lab_status dense_fused_forward(const struct lab_call *call)
{
    return dense_product(call, call->in[2].data);
}

static const struct lab_variant fused[] = {
    {.name = "fused",
     .phase = LAB_FORWARD,
     .run = dense_fused_forward,
     .source = "kernels/dense/dense_product_vector.c",
     .symbol = "dense_fused_forward",
     .steps_first = true},
};
const struct lab_kernel_set lab_vector_dense_fused = {"dense", fused, 1};
