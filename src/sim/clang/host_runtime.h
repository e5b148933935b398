/* host_runtime.h -- the part of NVIDIA's CUDA runtime that the host code of a .cu
 * file calls, declared for C and C++. `lapenna-lab sim` keeps a file's kernels alone,
 * and calls none of these. The simulator's module, where it is built by clang, has
 * those that our kernels call (src/simcuda/runtime.c, which this header declares them
 * for). Numbers are those of CUDA: the simulator reads some. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define LAB_HOST_DEFAULT(value) = value
#else
#define LAB_HOST_DEFAULT(value)
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
/* In C++ the vectors are those of cuda_runtime.h. */
typedef struct uint3 {
    unsigned x, y, z;
} uint3;
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
#endif

enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNotReady = 600,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUkern_st *cudaKernel_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess,
    cudaDriverEntryPointSymbolNotFound,
    cudaDriverEntryPointVersionNotSufficent
};
enum {
    cudaMemAttachGlobal = 1,
    cudaHostAllocDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDisableTiming = 2,
    cudaEnableDefault = 0
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    size_t sharedMemPerBlockOptin;
    size_t sharedMemPerMultiprocessor;
    int regsPerBlock;
    int lab_warp_size;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    int memoryClockRate;
    int memoryBusWidth;
    int major;
    int minor;
    int multiProcessorCount;
    int maxThreadsPerMultiProcessor;
    int l2CacheSize;
    int concurrentKernels;
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int maxDynamicSharedSizeBytes;
};

/* ---- the driver: tensor maps ---- */

typedef enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef struct CUtensorMap {
    uint64_t opaque[16];
} __attribute__((aligned(64))) CUtensorMap;
typedef enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
} CUtensorMapDataType;
typedef enum {
    CU_TENSOR_MAP_INTERLEAVE_NONE,
    CU_TENSOR_MAP_INTERLEAVE_16B,
    CU_TENSOR_MAP_INTERLEAVE_32B
} CUtensorMapInterleave;
typedef enum {
    CU_TENSOR_MAP_SWIZZLE_NONE,
    CU_TENSOR_MAP_SWIZZLE_32B,
    CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B
} CUtensorMapSwizzle;
typedef enum {
    CU_TENSOR_MAP_L2_PROMOTION_NONE,
    CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B
} CUtensorMapL2promotion;
typedef enum {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
} CUtensorMapFloatOOBfill;

/* ---- functions ---- */

#ifdef __cplusplus
extern "C" {
#endif
CUresult cuTensorMapEncodeTiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t,
                                void *, const cuuint64_t *, const cuuint64_t *,
                                const cuuint32_t *, const cuuint32_t *,
                                CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill);
cudaError_t cudaGetDriverEntryPoint(const char *, void **, unsigned long long,
                                    enum cudaDriverEntryPointQueryResult *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                             cudaStream_t);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind,
                            cudaStream_t LAB_HOST_DEFAULT(0));
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t,
                            cudaStream_t LAB_HOST_DEFAULT(0));
cudaError_t cudaMemcpyToSymbol(
    const void *, const void *, size_t, size_t LAB_HOST_DEFAULT(0),
    enum cudaMemcpyKind kind LAB_HOST_DEFAULT(cudaMemcpyHostToDevice));
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t,
                                    enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *, const void *);
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *,
                                                          int, size_t);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int,
                                 cudaStream_t LAB_HOST_DEFAULT(0));
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t LAB_HOST_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t,
                                unsigned LAB_HOST_DEFAULT(0));
cudaError_t cudaStreamIsCapturing(cudaStream_t, enum cudaStreamCaptureStatus *);
cudaError_t cudaStreamDestroy(cudaStream_t);
#ifdef __cplusplus
/* clang's: the configuration of <<<>>>. */
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                     struct CUstream_st * = 0);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
}

/* What C++ calls with other types. */
template <typename T> inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void **>(p), bytes);
}
template <typename T>
inline cudaError_t cudaMallocHost(T **p, size_t bytes, unsigned = 0)
{
    return cudaMallocHost(reinterpret_cast<void **>(p), bytes);
}
template <typename T>
inline cudaError_t
cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                   size_t offset = 0,
                   cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), from,
                              bytes, offset, kind);
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from,
                                           size_t bytes, size_t offset,
                                           cudaMemcpyKind kind,
                                           cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync(reinterpret_cast<const void *>(&symbol),
                                   from, bytes, offset, kind, stream);
}
template <typename T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, T *kernel)
{
    return cudaFuncGetAttributes(out, reinterpret_cast<const void *>(kernel));
}
template <typename T>
inline cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute what,
                                        int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), what,
                                value);
}
template <typename T>
inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, T *kernel, int block,
                                              size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        out, reinterpret_cast<const void *>(kernel), block, shared);
}

/* Declared alone: a learner's file compiles. */
template <typename T>
cudaError_t cudaMallocManaged(T **, size_t, unsigned = cudaMemAttachGlobal);
template <typename T> cudaError_t cudaHostAlloc(T **, size_t, unsigned);
template <typename T> cudaError_t cudaMallocAsync(T **, size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <typename T> cudaError_t cudaGetSymbolAddress(void **, const T &);
template <typename T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *, int *, T, size_t = 0,
                                               int = 0);
#endif
