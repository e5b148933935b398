/* sim_device.c -- stands in for src/cuda where the tests of tests/gpu run on a
 * simulated GPU: opens it, and has no library of NVIDIA's. */
#include "cuda_priv.h"
#include "library/cudnn_exec.h"
#include "sim/gpu.h"
#include "simcuda_priv.h"
#include "gpu_harness.h"

static struct lab_sim_gpu *gpu;

enum lab_status lab_cuda_select(int device)
{
    (void)device;
    if (simcuda_broken()[0])
        return lab_fail(LAB_E_UNSUPPORTED, "the build holds %s",
                        simcuda_broken());
    simcuda_host = &lab_sim_host;
    enum lab_status st = gpu ? LAB_OK : lab_sim_gpu_open(NULL, &gpu);
    if (!st)
        lab_sim_gpu_enter(gpu);
    return st;
}

/* The blocks' warps take their turns in another order. */
void gpu_other_order(void)
{
    lab_sim_gpu_options(gpu)->seed += UINT64_C(0x9E3779B97F4A7C15);
}

int gpu_end(void)
{
    lab_sim_gpu_close(gpu);
    gpu = NULL;
    return 0;
}

bool lab_cublas_available(const char **why)
{
    *why = "a library's kernels are not simulated";
    return false;
}

enum lab_status lab_cublas_open(struct lab_cublas *out,
                                struct CUstream_st *stream, void *workspace,
                                size_t workspace_bytes)
{
    (void)out;
    (void)stream;
    (void)workspace;
    (void)workspace_bytes;
    return lab_fail(LAB_E_UNSUPPORTED, "no cuBLAS");
}

void lab_cublas_close(struct lab_cublas *cublas)
{
    (void)cublas;
}

bool lab_cudnn_available(const char **report)
{
    *report = "a library's kernels are not simulated";
    return false;
}

bool lab_cudnn_open(struct lab_cudnn *out)
{
    (void)out;
    return false;
}
