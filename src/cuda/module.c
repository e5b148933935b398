/* module.c -- what the program finds in lapenna-lab-cuda.so: one function.
 *
 * It hands out the backend, the profiler where it was built, and cuDNN, with
 * the ABI number that engine/backend/cuda_load.c compares. */
#include "cuda_priv.h"

#ifdef LAB_WITH_CUPTI
#include "profiler/gpu.h"
extern const struct lab_gpu_profiler_ops lab_gpu_profiler_cupti;
#define GPU_PROFILER &lab_gpu_profiler_cupti
#else
#define GPU_PROFILER NULL /* built without CUPTI's part */
#endif

__attribute__((visibility("default"))) lab_cuda_module_fn lab_cuda_module;

const struct lab_cuda_module *lab_cuda_module(void)
{
    static const struct lab_cuda_module module = {
        .abi = LAB_BACKEND_ABI,
        .backend = &lab_backend_cuda,
        .profiler = GPU_PROFILER,
        .cudnn = lab_cudnn_available,
        .conv_calls = lab_cudnn_conv_calls,
    };
    return &module;
}
