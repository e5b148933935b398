/* kernels/library/cudnn_types.h -- the functions of cuDNN 9 that are used, by type: as
 * cudnn_ops.h, cudnn_cnn.h and cudnn_adv.h declare them, an enum written as int
 * and a descriptor as void *. They return a cudnnStatus_t. See cudnn_exec.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct CUstream_st;

/* cudnnConvolutionFwdAlgoPerf_t, and those of the two gradients. */
struct lab_cudnn_algorithm {
    int algorithm;
    int status;
    float time_ms; /* an estimate; -1: none */
    size_t workspace_bytes;
    int determinism;
    int math;
    int reserved[3];
};

/* The three directions of a convolution have functions of one form: two
 * tensors in (a, b), one out (c). Forward x, w -> y; input gradient w, dy ->
 * dx; weight gradient x, dy -> dw. */
typedef int lab_cudnn_conv_list_fn(void *handle, void *a, void *b, void *conv,
                                   void *c, int most, int *count,
                                   struct lab_cudnn_algorithm *out);
typedef int lab_cudnn_conv_size_fn(void *handle, void *a, void *b, void *conv,
                                   void *c, int algorithm, size_t *bytes);
typedef int lab_cudnn_conv_run_fn(void *handle, const void *alpha, void *a,
                                  const void *a_data, void *b,
                                  const void *b_data, void *conv, int algorithm,
                                  void *workspace, size_t workspace_bytes,
                                  const void *beta, void *c, void *c_data);
typedef int lab_cudnn_create_fn(void **out);
typedef int lab_cudnn_destroy_fn(void *descriptor);

typedef int lab_cudnn_set_stream_fn(void *handle, struct CUstream_st *stream);
typedef int lab_cudnn_tensor_4d_fn(void *t, int type, int n, int c, int h,
                                   int w, int sn, int sc, int sh, int sw);
typedef int lab_cudnn_tensor_nd_fn(void *t, int type, int rank, const int *dim,
                                   const int *stride);
typedef int lab_cudnn_filter_4d_fn(void *f, int type, int format, int m, int c,
                                   int h, int w);
typedef int lab_cudnn_conv_2d_fn(void *conv, int pad_h, int pad_w, int stride_h,
                                 int stride_w, int dilation_h, int dilation_w,
                                 int mode, int type);
typedef int lab_cudnn_set_math_fn(void *conv, int math);
typedef int lab_cudnn_conv_out_fn(void *conv, void *x, void *w, int *n, int *c,
                                  int *h, int *width);
typedef int lab_cudnn_pool_2d_fn(void *p, int mode, int nan, int h, int w,
                                 int pad_h, int pad_w, int stride_h,
                                 int stride_w);
typedef int lab_cudnn_act_set_fn(void *a, int mode, int nan, double coef);
/* Activation and pooling: y = f(x), dx from y, dy and x. */
typedef int lab_cudnn_act_fn(void *handle, void *f, const void *alpha, void *x,
                             const void *x_data, const void *beta, void *y,
                             void *y_data);
typedef int lab_cudnn_act_back_fn(void *handle, void *f, const void *alpha,
                                  void *y, const void *y_data, void *dy,
                                  const void *dy_data, void *x,
                                  const void *x_data, const void *beta,
                                  void *dx, void *dx_data);
typedef int lab_cudnn_softmax_fn(void *handle, int algorithm, int mode,
                                 const void *alpha, void *x, const void *x_data,
                                 const void *beta, void *y, void *y_data);
typedef int lab_cudnn_softmax_back_fn(void *handle, int algorithm, int mode,
                                      const void *alpha, void *y,
                                      const void *y_data, void *dy,
                                      const void *dy_data, const void *beta,
                                      void *dx, void *dx_data);
typedef int lab_cudnn_bn_train_fn(void *handle, int mode, const void *alpha,
                                  const void *beta, void *x, const void *x_data,
                                  void *y, void *y_data, void *channels,
                                  const void *gamma, const void *shift,
                                  double factor, void *running_mean,
                                  void *running_var, double eps, void *mean,
                                  void *rstd);
typedef int lab_cudnn_bn_infer_fn(void *handle, int mode, const void *alpha,
                                  const void *beta, void *x, const void *x_data,
                                  void *y, void *y_data, void *channels,
                                  const void *gamma, const void *shift,
                                  const void *mean, const void *var,
                                  double eps);
typedef int lab_cudnn_bn_back_fn(void *handle, int mode, const void *alpha,
                                 const void *beta, const void *alpha_params,
                                 const void *beta_params, void *x,
                                 const void *x_data, void *dy,
                                 const void *dy_data, void *dx, void *dx_data,
                                 void *channels, const void *gamma,
                                 void *dgamma, void *dshift, double eps,
                                 const void *mean, const void *rstd);
typedef int lab_cudnn_dropout_set_fn(void *d, void *handle, float p,
                                     void *states, size_t bytes,
                                     unsigned long long seed);
typedef int lab_cudnn_rnn_set_fn(void *rnn, int algorithm, int cell, int bias,
                                 int direction, int input, int type,
                                 int precision, int math, int32_t D, int32_t H,
                                 int32_t projection, int32_t layers,
                                 void *dropout, uint32_t flags);
typedef int lab_cudnn_rnn_data_set_fn(void *d, int type, int layout, int T,
                                      int N, int D, const int *lengths,
                                      void *fill);
typedef int lab_cudnn_rnn_room_fn(void *handle, void *rnn, int mode, void *x,
                                  size_t *workspace, size_t *reserve);
typedef int lab_cudnn_rnn_weights_fn(void *handle, void *rnn, size_t *bytes);
typedef int lab_cudnn_rnn_part_fn(void *handle, void *rnn, int32_t layer,
                                  size_t bytes, const void *space,
                                  int32_t which, void *matrix, void **matrix_at,
                                  void *bias, void **bias_at);
typedef int lab_cudnn_rnn_run_fn(void *handle, void *rnn, int mode,
                                 const int32_t *lengths, void *x,
                                 const void *x_data, void *y, void *y_data,
                                 void *h, const void *hx, void *hy, void *c,
                                 const void *cx, void *cy, size_t weight_bytes,
                                 const void *weights, size_t work_bytes,
                                 void *work, size_t reserve_bytes,
                                 void *reserve);
typedef int lab_cudnn_rnn_data_fn(
    void *handle, void *rnn, const int32_t *lengths, void *y,
    const void *y_data, const void *dy, void *x, void *dx, void *h,
    const void *hx, const void *dhy, void *dhx, void *c, const void *cx,
    const void *dcy, void *dcx, size_t weight_bytes, const void *weights,
    size_t work_bytes, void *work, size_t reserve_bytes, void *reserve);
typedef int lab_cudnn_rnn_weight_fn(void *handle, void *rnn, int add,
                                    const int32_t *lengths, void *x,
                                    const void *x_data, void *h, const void *hx,
                                    void *y, const void *y_data,
                                    size_t weight_bytes, void *dweights,
                                    size_t work_bytes, void *work,
                                    size_t reserve_bytes, void *reserve);

/* Attention: cuDNN may come without these. */
typedef int lab_cudnn_seq_set_fn(void *s, int type, int rank, const int *dim,
                                 const int *axes, size_t n_lengths,
                                 const int *lengths, void *fill);
typedef int lab_cudnn_attn_set_fn(void *a, unsigned mode, int heads,
                                  double scale, int type, int precision,
                                  int math, void *dropout, void *dropout_after,
                                  int q, int k, int v, int q_projection,
                                  int k_projection, int v_projection,
                                  int o_projection, int most_q, int most_k,
                                  int most_batch, int most_beams);
typedef int lab_cudnn_attn_room_fn(void *handle, void *a, size_t *weights,
                                   size_t *work, size_t *reserve);
typedef int
lab_cudnn_attn_run_fn(void *handle, void *a, int at, const int *from,
                      const int *to, const int *q_lengths, const int *k_lengths,
                      void *q, const void *q_data, const void *residuals,
                      void *k, const void *k_data, void *v, const void *v_data,
                      void *o, void *o_data, size_t weight_bytes,
                      const void *weights, size_t work_bytes, void *work,
                      size_t reserve_bytes, void *reserve);
typedef int lab_cudnn_attn_back_fn(
    void *handle, void *a, const int *from, const int *to, const int *q_lengths,
    const int *k_lengths, void *o, const void *do_data, void *q, void *dq_data,
    const void *q_data, void *k, void *dk_data, const void *k_data, void *v,
    void *dv_data, const void *v_data, size_t weight_bytes, const void *weights,
    size_t work_bytes, void *work, size_t reserve_bytes, void *reserve);

/* The graph interface: descriptors with attributes, by number. An attribute of
 * descriptors is read into descriptors that the caller has made. */
typedef int lab_cudnn_graph_create_fn(int kind, void **out);
typedef int lab_cudnn_graph_set_fn(void *d, int name, int type, int64_t count,
                                   const void *values);
typedef int lab_cudnn_graph_get_fn(void *d, int name, int type, int64_t most,
                                   int64_t *count, void *values);
typedef int lab_cudnn_graph_execute_fn(void *handle, void *plan, void *pack);
