/* kernels/common/tensor_map_sm90.cuh -- the driver's function that describes a
 * tensor to the TMA unit, found without linking the driver. */
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>
#include "common/kernel.h"

typedef decltype(&cuTensorMapEncodeTiled) lab_tensor_map_fn;

/* LAB_E_UNSUPPORTED: a driver older than CUDA 12. */
static inline enum lab_status lab_tensor_map_find(lab_tensor_map_fn *out)
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaError_t err;
#if CUDART_VERSION >= 12050
    err = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                           12000, cudaEnableDefault, &found);
#else
    err = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry,
                                  cudaEnableDefault, &found);
#endif
    if (err != cudaSuccess || found != cudaDriverEntryPointSuccess || !entry)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-tensor-map] the driver has no "
                        "cuTensorMapEncodeTiled: it needs "
                        "version 525 or later");
    *out = reinterpret_cast<lab_tensor_map_fn>(entry);
    return LAB_OK;
}
