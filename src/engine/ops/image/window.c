/* window.c -- a window that moves over an image: its sizes and its result.
 *
 * Reads size, stride, padding and dilation of a node's keys and computes the
 * output's shape, or an error that names all of them. conv2d and the poolings
 * call it. */
#include "window.h"

#include <stdio.h>

enum { SAME, VALID }; /* the choices of `padding`, in this order */

static void refuse_size(struct lab_builder *b, const struct lab_shape *x,
                        const struct lab_window *win, const int64_t *dilation,
                        int64_t n)
{
    char text[LAB_SHAPE_TEXT];
    char padded[64] = "";
    char spread[64] = "";
    int64_t large[2];
    for (int axis = 0; axis < 2; axis++)
        large[axis] =
            (win->size[axis] - 1) * (dilation ? dilation[axis] : 1) + 1;
    if (large[0] != win->size[0] || large[1] != win->size[1])
        snprintf(spread, sizeof(spread), " (%lld x %lld with dilation)",
                 (long long)win->size[0], (long long)win->size[1]);
    if (n > 0)
        snprintf(padded, sizeof(padded), ", with %lld of padding on each side",
                 (long long)n);
    lab_build_fail(b, LAB_E_SHAPE,
                   "[op.window.large] its window of %lld x %lld%s is larger "
                   "than the images of %s%s",
                   (long long)large[0], (long long)large[1], spread,
                   lab_shape_text(x, text), padded);
}

/* One axis; false: the window does not fit. */
static bool place(struct lab_window *win, int axis, int64_t size,
                  int64_t dilation, const struct lab_attr *padding,
                  int64_t *out)
{
    int64_t k = (win->size[axis] - 1) * dilation + 1;
    int64_t s = win->stride[axis];
    if (padding->choice == SAME) {
        *out = (size + s - 1) / s;
        int64_t total = (*out - 1) * s + k - size;
        win->pad[axis] = total > 0 ? total / 2 : 0;
        return true;
    }
    int64_t pad = padding->choice == VALID ? 0 : padding->i;
    win->pad[axis] = pad;
    if (k > size + 2 * pad)
        return false;
    *out = (size + 2 * pad - k) / s + 1;
    return true;
}

bool lab_window_of(struct lab_builder *b, const struct lab_shape *x,
                   const char *size_key, const int64_t *dilation,
                   struct lab_window *win, int64_t out[2])
{
    const struct lab_attr *size = lab_build_attr(b, size_key);
    const struct lab_attr *stride = lab_build_attr(b, "stride");
    const struct lab_attr *padding = lab_build_attr(b, "padding");
    char text[LAB_SHAPE_TEXT];
    *win = (struct lab_window){.nhwc = lab_build_nhwc(b)};
    if (x->rank != 4) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.window.shape] reads %s; it takes images, %s (layout: %s)",
            lab_shape_text(x, text), win->nhwc ? "[N,H,W,C]" : "[N,C,H,W]",
            win->nhwc ? "nhwc" : "nchw");
        return false;
    }
    struct lab_image image = lab_image_of(x->dim, win->nhwc);
    for (int axis = 0; axis < 2; axis++) {
        int one = stride->n == 1 ? 0 : axis; /* one number for both */
        win->size[axis] = size->list[size->n == 1 ? 0 : axis];
        win->stride[axis] = stride->list[one];
        if (win->stride[axis] == 0)
            win->stride[axis] = win->size[axis];
    }
    for (int axis = 0; axis < 2; axis++) {
        int64_t sides[2] = {image.H, image.W};
        if (!place(win, axis, sides[axis], dilation ? dilation[axis] : 1,
                   padding, &out[axis])) {
            refuse_size(b, x, win, dilation, win->pad[axis]);
            return false;
        }
    }
    return true;
}

struct lab_shape lab_window_shape(const struct lab_window *win, int64_t N,
                                  int64_t C, const int64_t rows_cols[2])
{
    struct lab_shape nchw = {4, {N, C, rows_cols[0], rows_cols[1]}};
    struct lab_shape nhwc = {4, {N, rows_cols[0], rows_cols[1], C}};
    return win->nhwc ? nhwc : nchw;
}
