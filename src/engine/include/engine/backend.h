/* engine/backend.h -- where steps run: one table of functions a backend.
 *
 * cpu, null and sim are built in; the CUDA module hands out its table when it is
 * loaded (lab_backend_register). Only backend.c calls the slots; everybody else
 * uses the wrappers below, which turn a slot's error text into lab_error().
 *
 * A backend instance belongs to one device and to one thread at a time (the
 * engine's). Memory from alloc() is device memory: only kernels, upload,
 * download and copy touch it, unless `host_memory` marks it as plain
 * memory. */
#pragma once
#include <stddef.h>
#include "base/stop.h"
#include "base/str.h"
#include "common/kernel.h"

enum { LAB_BACKEND_ABI = 12, LAB_DEVICE_TEXT = 96 };

/* What is known of the device. Unknown numbers are 0 in this struct alone,
 * because it crosses a module edge; the wrappers' users show n/a for 0. */
struct lab_device_info {
    char name[LAB_DEVICE_TEXT]; /* "NVIDIA H200", "AMD EPYC ..." */
    char chip[LAB_DEVICE_TEXT];
    char driver[LAB_DEVICE_TEXT]; /* "580.159" or "CUDA 13.0" */
    char runtime[LAB_DEVICE_TEXT];
    char uuid[LAB_DEVICE_TEXT];
    int device_id;
    int compute_major;
    int compute_minor;
    int sm_count; /* CPU: logical cores */
    int max_threads_per_sm;
    int max_warps_per_sm;
    int max_blocks_per_sm;
    int warp_size;
    int64_t max_registers_per_sm;
    int64_t max_shared_per_sm_bytes;
    int64_t max_shared_per_block_optin_bytes;
    int64_t memory_bytes;
    int64_t l2_bytes;
    int64_t clock_hz;
    int64_t memory_clock_hz;
    int memory_bus_bits;
    double peak_fp32_flops; /* 2 * lanes * clock, from the attributes above */
    double peak_dram_bytes_s;
};

/* What a device can do at best: engine/ceiling.h. */
enum lab_ceiling {
    LAB_CEILING_COPY, /* memory, bytes read and written a second */
    LAB_CEILING_FP32, /* FLOPs a second in large products */
    LAB_CEILING_TF32,
    LAB_CEILING_BF16,
    LAB_CEILING_FP16,
    LAB_CEILING_FMA,  /* in fp32, touching no memory: raises the roof of fp32 */
    LAB_CEILING_INT8, /* products of 8 bits, for labs: no roof of a lesson's */
    LAB_CEILING_COUNT,                  /* as a ceiling: none */
    LAB_CEILING_ROOFS = LAB_CEILING_FMA /* those before are roofs */
};
enum { LAB_CEILING_REPEATS = 16 };
/* One ceiling, measured several times. */
struct lab_ceiling_times {
    double seconds[LAB_CEILING_REPEATS];
    int n;
    double work;  /* of one repeat: bytes read and written, or FLOPs */
    int64_t size; /* struct lab_ceiling_result's */
};

struct lab_plan;
struct lab_variant; /* kernels/common/kernel.h */
struct lab_backend; /* private state embeds `struct lab_backend` first */

/* ---- a whole iteration as one object of the device: a CUDA graph ----
 *
 * The host launches it and goes on; the loss comes later. What is captured runs
 * again with the arguments that it was captured with; kernels that depend on the
 * iteration or the learning rate read them on the device
 * (kernels/common/graph.h). */
enum { LAB_GRAPH_AHEAD = 4, LAB_GRAPH_LANES = 6 };

/* What the device reports of an iteration that was launched as a graph. */
struct lab_graph_report {
    uint64_t iteration;
    float loss;
    int64_t start_ns; /* of the device's clock */
    int64_t end_ns;
};

struct lab_graph;
/* Each status goes through lab_backend_judge(). */
struct lab_graph_ops {
    /* Host memory that upload() reads while the host goes on: it must not be
     * written before the iteration that was launched next has been reported. */
    enum lab_status (*host_alloc)(struct lab_backend *be, size_t bytes,
                                  void **out);
    void (*host_free)(struct lab_backend *be, void *p);
    enum lab_status (*upload)(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes);
    /* What run() queues between begin and end is kept and not done. `loss`: a
     * device address of one f32. out NULL: throws it away. Any failure ends
     * the capture. */
    enum lab_status (*begin)(struct lab_backend *be);
    enum lab_status (*end)(struct lab_backend *be, const void *loss,
                           struct lab_graph **out);
    /* During a capture: what is queued from now on goes into lane 0 ..
     * LAB_GRAPH_LANES - 1, beside what the other lanes hold and after what came
     * before the first lane. -1: what follows comes after all of them. Steps
     * that use the workspace have no lane of their own. */
    enum lab_status (*lane)(struct lab_backend *be, int lane);
    /* During a capture, true: what is queued from now on goes to a side stream. It
     * comes after all that was queued before, and what is queued after the next
     * `false` does not wait for it. Its exec has a workspace and a cuBLAS handle of
     * its own, and no cuDNN. Without memory for these there is no side stream, and
     * the main one takes it. */
    enum lab_status (*beside)(struct lab_backend *be, bool on);
    /* During a capture: what follows comes after all of the side stream. */
    enum lab_status (*join)(struct lab_backend *be);
    /* During a capture: nodes so far. */
    enum lab_status (*count)(struct lab_backend *be, int64_t *nodes);
    void (*free)(struct lab_backend *be, struct lab_graph *g);
    /* `rate`: the iteration's learning rate, NaN where nothing is updated. At
     * most LAB_GRAPH_AHEAD launches may wait to be reported. */
    enum lab_status (*launch)(struct lab_backend *be, struct lab_graph *g,
                              uint64_t iteration, double rate);
    /* The oldest launch that has not been reported, when it is done; `wait`:
     * waits for it. *reported false: none is done. */
    enum lab_status (*report)(struct lab_backend *be, bool wait,
                              struct lab_graph_report *out, bool *reported);
};

struct lab_backend_ops {
    const char
        *name; /* stable id, stored in SQLite: "cpu", "cuda", "sim", "null" */
    enum lab_status (*open)(struct lab_backend **out, int device);
    void (*close)(struct lab_backend *be); /* NULL allowed */
    enum lab_status (*alloc)(struct lab_backend *be, size_t bytes, void **out);
    void (*free)(struct lab_backend *be, void *p);
    enum lab_status (*upload)(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes);
    /* Returns when the bytes are there. */
    enum lab_status (*download)(struct lab_backend *be, void *dst,
                                const void *src, size_t bytes);
    enum lab_status (*copy)(struct lab_backend *be, void *dst, const void *src,
                            size_t bytes); /* on the device, ordered */
    /* Sets call->exec and runs one kernel's function. */
    enum lab_status (*run)(struct lab_backend *be, const struct lab_variant *v,
                           struct lab_call *call);
    enum lab_status (*sync)(struct lab_backend *be);
    /* All kernel sets, an array of *count pointers that live as long as the
     * backend. Several sets may serve one op (reference, blas, onednn); the
     * first row that fits a step is its readable reference. */
    const struct lab_kernel_set *const *(*sets)(struct lab_backend *be,
                                                enum lab_dtype real,
                                                int *count);
    void (*info)(struct lab_backend *be, struct lab_device_info *out);
    const char *(*error)(void);    /* text of this thread's last failure */
    const char *(*error_id)(void); /* optional: lab_error_id() of a module */
    /* Optional: device time between two points of the stream. time_end waits
     * for the work and gives nanoseconds. */
    enum lab_status (*time_begin)(struct lab_backend *be);
    enum lab_status (*time_end)(struct lab_backend *be, int64_t *ns);
    const struct lab_graph_ops *graph; /* NULL: none */
    /* Optional: measures an enum lab_ceiling. */
    enum lab_status (*ceiling)(struct lab_backend *be, int ceiling,
                               struct lab_ceiling_times *out);
    /* Optional: variant `i` of an operation (engine/ladder.h) in their order; NULL
     * past the last. `be` may be NULL. */
    const struct lab_variant *(*variant)(struct lab_backend *be,
                                         const char *operation, int i);
    /* Optional: messages call what begins at `offset` of an allocation so, until
     * it is freed. `name` is copied. `kept`: over iterations, so that a step that
     * writes it may read it first. */
    void (*label)(struct lab_backend *be, void *memory, size_t offset,
                  const char *name, bool kept);
    /* Optional: a run that takes long asks this, on any thread, and ends with
     * LAB_E_CANCELLED when the answer is yes. */
    void (*stop_when)(struct lab_backend *be, const struct lab_stop *stop);
};

struct lab_backend {
    const struct lab_backend_ops *ops;
    bool host_memory; /* alloc() gives memory that the host may read */
    bool untimed;     /* how long a step takes means nothing: a simulation */
};

/* ---- a convolution by cuDNN, call by call ----
 *
 * The course's sequence: descriptors, the algorithm, its workspace, memory, the
 * convolution. The CUDA module makes the calls one after the other and reports
 * each when it has returned, so that a learner sees its arguments, what it gave
 * back and how long it took. Tensors as in kernels/conv2d/conv.h: NCHW,
 * fp32, stride 1, (R - 1) / 2 zeros around. One at a time; the call comes on the
 * thread that asked. */
enum { LAB_CONV_CALL_TEXT = 512, LAB_CONV_CALL_DIMS = 6 };

struct lab_conv_call {
    int number;                      /* from 1 */
    char call[LAB_CONV_CALL_TEXT];   /* as it would be written in C */
    char result[LAB_CONV_CALL_TEXT]; /* what it gave back; "" is nothing */
    char status[64];                 /* the library's word: "success" */
    bool failed;
    double ns; /* from the call to its return: queued work goes on */
};

struct lab_conv_calls {
    int device;
    int64_t dim[LAB_CONV_CALL_DIMS]; /* N, C, H, W, K, R */
    int algorithm;                   /* cuDNN's number; -1: its first choice */
    const float *x;                  /* (N, C, H, W), the caller's */
    const float *w;                  /* (K, C, R, R) */
    float *y;                        /* (N, K, P, Q); complete on LAB_OK */
    /* Every call when it has returned, a failed one too; another status than
     * LAB_OK ends the sequence. What was made is destroyed all the same. */
    enum lab_status (*tell)(void *user, const struct lab_conv_call *call);
    void *user;
};

/* LAB_E_UNSUPPORTED: no GPU or no cuDNN, or cuDNN refuses; LAB_E_DEVICE: a call
 * failed; LAB_E_CANCELLED and others: what `tell` returned. */
typedef enum lab_status lab_conv_calls_fn(const struct lab_conv_calls *c);

/* What lapenna-lab-cuda.so exports as `lab_cuda_module()`. */
struct lab_gpu_profiler_ops; /* profiler/gpu.h */
struct lab_cuda_module {
    uint32_t abi; /* LAB_BACKEND_ABI, or the module is refused */
    const struct lab_backend_ops *backend;
    const struct lab_gpu_profiler_ops *profiler;
    /* Is cuDNN there? *report: its version, or what was tried. */
    bool (*cudnn)(const char **report);
    lab_conv_calls_fn *conv_calls;
};
typedef const struct lab_cuda_module *lab_cuda_module_fn(void);

LAB_C_BEGIN
extern const struct lab_backend_ops lab_backend_cpu;
extern const struct lab_backend_ops lab_backend_null;
extern const struct lab_backend_ops lab_backend_sim; /* backend_sim.c */

/* Loads the CUDA module once (base/module.h has where it is looked for).
 * LAB_E_UNSUPPORTED with what is missing and the remedy. Any thread. */
enum lab_status lab_cuda_load(const struct lab_cuda_module **out);

/* What a slot of the table returned; a failure with the text that the backend
 * has for it: a module keeps its own. */
enum lab_status lab_backend_judge(const struct lab_backend_ops *ops,
                                  enum lab_status st);
/* name: "cpu", "cuda", "sim" or "null"; "auto": cuda where it opens, else cpu. */
enum lab_status lab_backend_open(struct lab_backend **out, const char *name,
                                 int device);
void lab_backend_close(struct lab_backend *be);
enum lab_status lab_backend_alloc(struct lab_backend *be, size_t bytes,
                                  void **out);
void lab_backend_free(struct lab_backend *be, void *p);
void lab_backend_label(struct lab_backend *be, void *memory, size_t offset,
                       const char *name, bool kept);
void lab_backend_stop_when(struct lab_backend *be, const struct lab_stop *stop);
enum lab_status lab_backend_upload(struct lab_backend *be, void *dst,
                                   const void *src, size_t bytes);
enum lab_status lab_backend_download(struct lab_backend *be, void *dst,
                                     const void *src, size_t bytes);
enum lab_status lab_backend_copy(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes);
enum lab_status lab_backend_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call);
/* Before the first run of these shapes, and not while a graph is captured: see
 * lab_variant.prepare. May be repeated. */
enum lab_status lab_backend_prepare(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    struct lab_call *call);
/* Set `i` of the kernels for this precision: those of the backend's ops, then
 * the rows of labs that can do a step; NULL past the last. */
const struct lab_kernel_set *lab_backend_set(struct lab_backend *be,
                                             enum lab_dtype real, int i);
enum lab_status lab_backend_sync(struct lab_backend *be);
/* Device time between the two calls; LAB_E_UNSUPPORTED where there is none. */
enum lab_status lab_backend_time_begin(struct lab_backend *be);
enum lab_status lab_backend_time_end(struct lab_backend *be, int64_t *ns);
void lab_backend_info(struct lab_backend *be, struct lab_device_info *out);
/* Variant `i` of an operation ("gemm"), NULL past the last. */
const struct lab_variant *lab_backend_variant_at(struct lab_backend *be,
                                                 const char *operation, int i);
/* Runs every variant of the plan's ops (plan NULL: of every op) on small odd shapes,
 * an op once in the process, and compares it with the reference in double
 * (verify/verify.c). One that is off by more than 1e-5 * (1 + max|ref|), or fails, is
 * not offered again, and a line for it is appended to `report`. A variant may refuse
 * some of the shapes (LAB_E_UNSUPPORTED). Threads: the engine's. */
enum lab_status lab_backend_check(struct lab_backend *be,
                                  const struct lab_plan *plan,
                                  struct lab_str *report);

/* The variant `name` of a step (step NULL: of the group), or NULL. name NULL:
 * the first row. Disabled variants are never returned. */
const struct lab_variant *
lab_backend_variant(struct lab_backend *be, enum lab_dtype real, const char *op,
                    const char *step, enum lab_phase phase, const char *name);
/* The row that is marked as preferred for a step, or NULL. */
const struct lab_variant *
lab_backend_preferred(struct lab_backend *be, enum lab_dtype real,
                      const char *op, const char *step, enum lab_phase phase);
/* Names that any step or group of the op has, without repeats, the reference
 * first; returns how many, at most max. */
int lab_backend_variant_names(struct lab_backend *be, enum lab_dtype real,
                              const char *op, const char **names, int max);
LAB_C_END
