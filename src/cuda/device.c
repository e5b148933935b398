/* What the machine has: a driver, devices, their properties, and what to do
 * when one of them is missing. */
#include <stdio.h>
#include <string.h>

#include "cuda_priv.h"

struct remedy {
    cudaError_t err;
    enum lab_status st;
    const char *text;
};

/* What a person can do about it. Faults of a kernel are not here. */
static const struct remedy remedies[] = {
    {cudaErrorNoDevice, LAB_E_UNSUPPORTED,
     "the driver sees no CUDA device: check nvidia-smi, CUDA_VISIBLE_DEVICES, "
     "and in a container that it was started with its GPUs (--gpus all)"},
    {cudaErrorInvalidDevice, LAB_E_UNSUPPORTED,
     "choose a device that `nvidia-smi -L` lists"},
    {cudaErrorDevicesUnavailable, LAB_E_UNSUPPORTED,
     "another process holds the device for itself: wait for it, choose another "
     "device, or set its compute mode to Default"},
    {cudaErrorSystemDriverMismatch, LAB_E_UNSUPPORTED,
     "the driver's kernel module and its libraries differ: reboot after the "
     "update"},
    {cudaErrorSystemNotReady, LAB_E_UNSUPPORTED,
     "the GPUs' fabric is not up: start nvidia-fabricmanager"},
    {cudaErrorCompatNotSupportedOnDevice, LAB_E_UNSUPPORTED,
     "this device takes no forward-compatible driver: install a newer one"},
    {cudaErrorNoKernelImageForDevice, LAB_E_UNSUPPORTED,
     "the module holds no code for this GPU: build it with "
     "-DCMAKE_CUDA_ARCHITECTURES=native"},
    {cudaErrorUnsupportedPtxVersion, LAB_E_UNSUPPORTED,
     "the driver is older than the module's toolkit: update the driver"},
    {cudaErrorOperatingSystem, LAB_E_UNSUPPORTED,
     "the driver was refused by the system: check /dev/nvidia* and the "
     "permissions of this user"},
    {cudaErrorMemoryAllocation, LAB_E_NOMEM,
     "free memory on the device, take a smaller --batch, or another device"},
    {cudaErrorECCUncorrectable, LAB_E_DEVICE,
     "the device's memory has failed: see nvidia-smi -q -d ECC"},
};

static const struct remedy *remedy_for(cudaError_t err)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
        if (remedies[i].err == err)
            return &remedies[i];
    }
    return NULL;
}

enum lab_status lab_cuda_fail(cudaError_t err, const char *doing)
{
    const struct remedy *r = remedy_for(err);
    (void)cudaGetLastError();
    if (r) {
        return lab_fail(r->st, "%s: %s. Remedy: %s", doing,
                        cudaGetErrorString(err), r->text);
    }
    return lab_fail(LAB_E_DEVICE, "%s: %s (%s)", doing, cudaGetErrorString(err),
                    cudaGetErrorName(err));
}

enum lab_status lab_cuda_judge(cudaError_t err, const char *doing)
{
    return err == cudaSuccess ? LAB_OK : lab_cuda_fail(err, doing);
}

/* The runtime has one code for a driver that is missing and one that is too
 * old; the driver's version tells them apart. */
static enum lab_status no_driver(void)
{
    int has = 0;
    int needs = CUDART_VERSION;
    (void)cudaGetLastError();
    if (cudaDriverGetVersion(&has) != cudaSuccess || has == 0) {
        (void)cudaGetLastError();
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cuda.no-driver] no NVIDIA driver: libcuda.so.1 was "
                        "not found. Remedy: "
                        "install the driver of this machine's GPU");
    }
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[cuda.old-driver] the NVIDIA driver supports CUDA %d.%d, "
                    "this module was "
                    "built with CUDA %d.%d. Remedy: update the driver, or "
                    "build with an older toolkit",
                    has / 1000, has % 1000 / 10, needs / 1000,
                    needs % 1000 / 10);
}

enum lab_status lab_cuda_select(int device)
{
    int count = 0;
    cudaError_t err = cudaGetDeviceCount(&count);
    if (err == cudaErrorInsufficientDriver || err == cudaErrorStubLibrary)
        return no_driver();
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot use CUDA");
    if (device < 0 || device >= count) {
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cuda.device] no CUDA device %d: this machine has %d, "
                        "numbered from "
                        "0 (nvidia-smi -L lists them)",
                        device, count);
    }
    err = cudaSetDevice(device);
    if (err == cudaSuccess)
        err = cudaFree(NULL); /* makes the context, so that it fails here */
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "cannot use the CUDA device");
    return LAB_OK;
}

/* 0, not known, where the runtime does not report it. */
static int attribute(int device, enum cudaDeviceAttr what)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, what, device) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return value;
}

/* fp32 lanes of a multiprocessor: CUDA C++ Programming Guide, throughput of
 * native arithmetic instructions. 0: not known for this capability. */
static int fp32_lanes(int major, int minor)
{
    if (major == 7 || (major == 8 && minor == 0))
        return 64;
    if (major == 8 || major == 9 || major == 10 || major == 12)
        return 128;
    return 0;
}

static void describe_versions(struct lab_device_info *out)
{
    int version = 0;
    FILE *f = fopen("/sys/module/nvidia/version", "r");
    if (f && fgets(out->driver, sizeof(out->driver), f))
        out->driver[strcspn(out->driver, "\n")] = '\0';
    if (f)
        fclose(f);
    if (!out->driver[0] && cudaDriverGetVersion(&version) == cudaSuccess) {
        snprintf(out->driver, sizeof(out->driver), "CUDA %d.%d", version / 1000,
                 version % 1000 / 10);
    }
    if (cudaRuntimeGetVersion(&version) == cudaSuccess) {
        snprintf(out->runtime, sizeof(out->runtime), "CUDA %d.%d",
                 version / 1000, version % 1000 / 10);
    }
}

/* As nvidia-smi writes it: GPU-8-4-4-4-12 hexadecimal digits. */
static void format_uuid(char *out, size_t size, const cudaUUID_t *uuid)
{
    int at = snprintf(out, size, "GPU-");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += snprintf(out + at, size - (size_t)at, "%s%02x", dash,
                       (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

static void describe_limits(int device, struct lab_device_info *out)
{
    out->max_threads_per_sm =
        attribute(device, cudaDevAttrMaxThreadsPerMultiProcessor);
    out->warp_size = attribute(device, cudaDevAttrWarpSize);
    if (out->warp_size > 0)
        out->max_warps_per_sm = out->max_threads_per_sm / out->warp_size;
    out->max_blocks_per_sm =
        attribute(device, cudaDevAttrMaxBlocksPerMultiprocessor);
    out->max_registers_per_sm =
        attribute(device, cudaDevAttrMaxRegistersPerMultiprocessor);
    out->max_shared_per_sm_bytes =
        attribute(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    out->max_shared_per_block_optin_bytes =
        attribute(device, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    out->l2_bytes = attribute(device, cudaDevAttrL2CacheSize);
}

void lab_cuda_describe(int device, struct lab_device_info *out)
{
    struct cudaDeviceProp prop;
    *out = (struct lab_device_info){.device_id = device};
    if (cudaGetDeviceProperties(&prop, device) == cudaSuccess) {
        snprintf(out->name, sizeof(out->name), "%.95s", prop.name);
        format_uuid(out->uuid, sizeof(out->uuid), &prop.uuid);
        out->memory_bytes = (int64_t)prop.totalGlobalMem;
    }
    describe_versions(out);
    describe_limits(device, out);
    out->compute_major = attribute(device, cudaDevAttrComputeCapabilityMajor);
    out->compute_minor = attribute(device, cudaDevAttrComputeCapabilityMinor);
    out->sm_count = attribute(device, cudaDevAttrMultiProcessorCount);
    /* The runtime counts in kHz. */
    out->clock_hz = (int64_t)attribute(device, cudaDevAttrClockRate) * 1000;
    out->memory_clock_hz =
        (int64_t)attribute(device, cudaDevAttrMemoryClockRate) * 1000;
    out->memory_bus_bits = attribute(device, cudaDevAttrGlobalMemoryBusWidth);
    int lanes = fp32_lanes(out->compute_major, out->compute_minor);
    /* A lane does a multiply and an add a cycle. */
    out->peak_fp32_flops = 2.0 * lanes * out->sm_count * (double)out->clock_hz;
    /* The bus moves data on both edges of the memory clock. */
    out->peak_dram_bytes_s =
        2.0 * (double)out->memory_clock_hz * out->memory_bus_bits / 8.0;
    (void)cudaGetLastError();
}
