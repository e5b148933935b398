/* sim/gpu.h -- a simulated GPU as a CUDA runtime sees it: memory, code, launches
 * that are done when they return, and what the checks found in them.
 *
 * The host side of our kernels is C++ that nvcc or clang compiled: a launcher
 * chooses grid and block and calls the CUDA runtime. For the simulator it is
 * compiled once more, into lapenna-lab-sim.so, with a runtime of our own
 * (src/simcuda) that calls back here through struct lab_sim_host. So the
 * executor, its findings and its counts are in the program.
 *
 * A call of the runtime concerns the GPU that its thread has entered, as a CUDA
 * context is current to a thread. Threads: a GPU belongs to one at a time. */
#pragma once
#include "sim/sim.h"

enum { LAB_SIM_MODULE_ABI = 4 };

/* PTX in the module; lives as long as the program. */
struct lab_sim_image {
    const char *name; /* of the source: "kernels/dense/dense.cu" */
    const char *text;
    size_t bytes;
    int arch; /* 75: compiled for compute capability 7.5; 0: not known */
};

/* What cudaFuncGetAttributes() tells of a kernel. */
struct lab_sim_kernel_facts {
    int64_t shared_bytes; /* static */
    int64_t local_bytes;
    int max_threads; /* of a block; by __launch_bounds__, else the device's */
};

struct lab_sim_gpu_launch {
    const struct lab_sim_image *image;
    const char *kernel; /* as in the PTX */
    uint32_t grid[3];
    uint32_t block[3];
    int64_t shared_bytes; /* dynamic */
    void *const *args;
    int registers;   /* of a thread, as ptxas reported; -1: not known */
    int stack_bytes; /* likewise */
};

/* The arguments of cuTensorMapEncodeTiled(); enumerations by their numbers in
 * cuda.h. */
struct lab_sim_tensor_map {
    int type;
    uint32_t rank;
    void *address;
    const uint64_t *dim;
    const uint64_t *stride; /* rank - 1 of them */
    const uint32_t *box;
    const uint32_t *step;
    int interleave;
    int swizzle;
    int fill;
};

/* What the module's runtime calls, all of it for the GPU that the thread has
 * entered: LAB_E_STATE without one. A failure's text: error(). */
struct lab_sim_host {
    uint32_t abi; /* LAB_SIM_MODULE_ABI */
    const char *(*error)(void);
    const struct lab_sim_device *(*device)(void); /* NULL: none entered */
    enum lab_status (*alloc)(size_t bytes, void **out);
    enum lab_status (*free)(void *p);
    enum lab_status (*written)(void *p, size_t bytes);
    enum lab_status (*variable)(const struct lab_sim_image *image,
                                const char *name, void **out, size_t *bytes);
    enum lab_status (*facts)(const struct lab_sim_image *image,
                             const char *kernel,
                             struct lab_sim_kernel_facts *out);
    /* LAB_E_CHECK: something was found. */
    enum lab_status (*launch)(const struct lab_sim_gpu_launch *launch);
    /* Into the 128 bytes at `out`. LAB_E_ARG: the driver would refuse it. */
    enum lab_status (*tensor_map)(void *out,
                                  const struct lab_sim_tensor_map *in);
};

/* Something that was found in a launch. */
struct lab_sim_gpu_finding {
    struct lab_sim_finding found;
    const struct lab_ptx *ptx; /* where `place` is to be looked up */
    char kernel[LAB_SIM_NAME]; /* without types */
    int launch; /* the number of its launch, see struct lab_sim_gpu_call */
};

struct lab_sim_gpu_launched {
    const struct lab_sim_gpu_launch *launch;
    const struct lab_sim_kernel_facts *facts;
    const struct lab_sim_result *result;
    const struct lab_ptx *ptx;
    int64_t start_ns; /* of the host's wall clock: for the order alone */
    int64_t end_ns;
};

/* A launch that is about to run: what lab_sim_debug_open() takes. */
struct lab_sim_gpu_call {
    struct lab_sim_memory *memory;
    const struct lab_sim_launch *launch;
    const struct lab_sim_options *options;
    const struct lab_ptx *ptx;
    const char *kernel; /* as in the PTX */
    int number;         /* since lab_sim_gpu_forget(), from 1 */
};

struct lab_sim_gpu;

LAB_C_BEGIN
extern const struct lab_sim_host lab_sim_host;

/* `device` NULL: the newest known. All checks on. */
enum lab_status lab_sim_gpu_open(const struct lab_sim_device *device,
                                 struct lab_sim_gpu **out);
void lab_sim_gpu_close(struct lab_sim_gpu *gpu); /* NULL allowed */
/* Makes it the calling thread's; NULL: none. */
void lab_sim_gpu_enter(struct lab_sim_gpu *gpu);
struct lab_sim_memory *lab_sim_gpu_memory(struct lab_sim_gpu *gpu);
/* Of the launches that follow; may be changed between two. */
struct lab_sim_options *lab_sim_gpu_options(struct lab_sim_gpu *gpu);
/* Called after every launch, on its thread; NULL: not called. */
void lab_sim_gpu_listen(struct lab_sim_gpu *gpu,
                        void (*launched)(void *user,
                                         const struct lab_sim_gpu_launched *of),
                        void *user);
/* Called before every launch, on its thread; it runs when this returns. NULL:
 * not called. */
void lab_sim_gpu_before(struct lab_sim_gpu *gpu,
                        void (*call)(void *user,
                                     const struct lab_sim_gpu_call *of),
                        void *user);
/* What was found since the last lab_sim_gpu_forget(), in order. Launches are counted
 * from there, too. */
const struct lab_sim_gpu_finding *
lab_sim_gpu_findings(const struct lab_sim_gpu *gpu, int *count);
void lab_sim_gpu_forget(struct lab_sim_gpu *gpu);
/* LAB_OK, or LAB_E_CHECK with the first finding as a sentence and how many there
 * are. */
enum lab_status lab_sim_gpu_judge(const struct lab_sim_gpu *gpu);
/* The source file and line of a place; NULL and 0: not known. */
const char *lab_sim_source(const struct lab_ptx *ptx, int32_t place, int *line);
enum { LAB_SIM_CALLERS = 200 /* bytes of text that are enough for these */ };
/* What follows a line of an inlined function: ", called at rows.cu:12", and of the
 * function that has this line, ", called at rows.cu:30"; "" for other lines. As many of
 * the calls as `cap` bytes hold whole, the innermost first. */
void lab_sim_callers_text(const struct lab_ptx *ptx, int32_t place, char *out,
                          size_t cap);
/* What follows a kernel's name: " (launch 2)"; "" for the first launch. */
void lab_sim_launch_text(int launch, char *out, size_t cap);
/* "race in dense_matmul (launch 2) at kernels/dense/dense.cu:34, block (0,0,0), thread
 * (3,0,0): ...": one line. */
void lab_sim_finding_text(const struct lab_sim_gpu_finding *f, char *out,
                          size_t cap);
LAB_C_END
