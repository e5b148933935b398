/* doctor: processors, their libraries, the modules, the variants. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/module.h"
#include "doctor.h"
#include "engine/backend.h"
#include "engine/op.h"
#include "profiler/gpu.h"

enum { TEXT = 512, MAX_NAMES = 32, MAX_DEVICES = 64 };

static const double gib = 1024.0 * 1024.0 * 1024.0;

/* Does any step of dense take that variant here? */
static bool offers(struct lab_backend *be, const char *variant)
{
    const char *names[MAX_NAMES];
    int n = lab_backend_variant_names(be, LAB_F32, "dense", names, MAX_NAMES);
    for (int i = 0; i < n && i < MAX_NAMES; i++) {
        if (strcmp(names[i], variant) == 0)
            return true;
    }
    return false;
}

/* One line, or one for each variant that was withdrawn. */
static void check_variants(struct lab_doctor *d, struct lab_backend *be)
{
    struct lab_str said;
    char name[32];
    char ok[TEXT];
    lab_str_init(&said);
    snprintf(name, sizeof(name), "variants (%s)", be->ops->name);
    if (lab_backend_check(be, &said)) {
        lab_doctor_say_error(d, name, LAB_DOCTOR_WARNING, NULL);
    } else if (said.len == 0) {
        snprintf(ok, sizeof(ok), "every variant agrees with the reference");
        lab_doctor_say(d, name, LAB_DOCTOR_OK, ok, NULL);
    }
    for (char *line = said.data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        lab_doctor_say(d, name, LAB_DOCTOR_WARNING, line,
                       "none is needed: it is not offered; please report it");
        line = end ? end + 1 : NULL;
    }
    lab_str_release(&said);
}

/* ---- CPU ---- */

static void check_openblas(struct lab_doctor *d, struct lab_backend *be)
{
    /* OpenBLAS tells what it is, where the linked BLAS is OpenBLAS. */
    char *(*config)(void);
    char text[TEXT] = "a BLAS that does not tell its version";
    *(void **)&config = dlsym(RTLD_DEFAULT, "openblas_get_config");
    if (config)
        snprintf(text, sizeof(text), "%s", config());
    bool found = offers(be, "blas");
    if (found)
        lab_doctor_say(d, "OpenBLAS", LAB_DOCTOR_OK, text, NULL);
    else
        lab_doctor_say(d, "OpenBLAS", LAB_DOCTOR_WARNING,
                       "linked, but no step offers the variant blas",
                       "see the line of the variants");
}

static void check_onednn(struct lab_doctor *d, struct lab_backend *be)
{
    static const char install[] =
        "install libdnnl-dev and build again; steps run without it";
    struct version { /* the head of dnnl_version_t */
        int major;
        int minor;
        int patch;
    };
    const struct version *(*version)(void);
    void *handle;
    void *address;
    char text[TEXT] = "loaded";
    if (lab_module_open("lapenna-lab-onednn.so", &handle)) {
        lab_doctor_say_error(d, "oneDNN", LAB_DOCTOR_MISSING, install);
        return;
    }
    if (!offers(be, "onednn")) {
        lab_doctor_say(d, "oneDNN", LAB_DOCTOR_WARNING,
                       "the module is there, but no step offers the variant "
                       "onednn",
                       "build the program and its modules together");
        return;
    }
    if (lab_module_symbol(handle, "dnnl_version", &address) == LAB_OK) {
        *(void **)&version = address;
        const struct version *v = version();
        snprintf(text, sizeof(text), "version %d.%d.%d", v->major, v->minor,
                 v->patch);
    }
    lab_doctor_say(d, "oneDNN", LAB_DOCTOR_OK, text, NULL);
}

void lab_doctor_cpu(struct lab_doctor *d)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    char text[TEXT];
    if (lab_backend_open(&be, "cpu", 0)) {
        lab_doctor_say_error(d, "CPU", LAB_DOCTOR_WARNING, NULL);
        return;
    }
    lab_backend_info(be, &info);
    snprintf(text, sizeof(text), "%s, %d cores, %.1f GiB", info.name,
             info.sm_count, (double)info.memory_bytes / gib);
    lab_doctor_say(d, "CPU", LAB_DOCTOR_OK, text, NULL);
    check_openblas(d, be);
    check_onednn(d, be);
    check_variants(d, be);
    lab_backend_close(be);
}

/* ---- GPU ---- */

/* What the kernel's module says, without CUDA. */
static bool driver_version(char *out, size_t size)
{
    FILE *f = fopen("/sys/module/nvidia/version", "r");
    bool found = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (found)
        out[strcspn(out, "\n")] = '\0';
    return found;
}

static void check_driver(struct lab_doctor *d, const struct lab_device_info *i)
{
    char version[LAB_DEVICE_TEXT] = "";
    char text[TEXT];
    if (i && i->driver[0])
        snprintf(version, sizeof(version), "%s", i->driver);
    else
        driver_version(version, sizeof(version));
    if (!version[0]) {
        lab_doctor_say(d, "driver", LAB_DOCTOR_MISSING,
                       "no NVIDIA driver is loaded",
                       "on a machine with an NVIDIA GPU install its driver");
        return;
    }
    snprintf(text, sizeof(text), "%s%s%s", version,
             i && i->runtime[0] ? ", runtime " : "", i ? i->runtime : "");
    lab_doctor_say(d, "driver", LAB_DOCTOR_OK, text, NULL);
}

static void say_device(struct lab_doctor *d, const struct lab_device_info *i)
{
    char name[32];
    char text[TEXT];
    snprintf(name, sizeof(name), "device %d", i->device_id);
    snprintf(text, sizeof(text),
             "%s, compute capability %d.%d, %d multiprocessors, %.1f GiB",
             i->name, i->compute_major, i->compute_minor, i->sm_count,
             (double)i->memory_bytes / gib);
    lab_doctor_say(d, name, LAB_DOCTOR_OK, text, NULL);
}

static void check_cublas(struct lab_doctor *d, struct lab_backend *be)
{
    if (offers(be, "cublas"))
        lab_doctor_say(d, "cuBLAS", LAB_DOCTOR_OK, "loaded", NULL);
    else
        lab_doctor_say(d, "cuBLAS", LAB_DOCTOR_MISSING,
                       "no step offers the variant cublas",
                       "install the cuBLAS of the module's CUDA version, or "
                       "add its directory to LD_LIBRARY_PATH");
}

/* The version, and the ops that have a variant of it. */
static void check_cudnn(struct lab_doctor *d, struct lab_backend *be,
                        const struct lab_cuda_module *module)
{
    static const char install[] =
        "install cuDNN 9 of the module's CUDA version, or add its directory to "
        "LD_LIBRARY_PATH; steps run without it";
    const char *said = "";
    char text[TEXT];
    int n_ops;
    int n = 0;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    if (!module->cudnn(&said)) {
        lab_doctor_say(d, "cuDNN", LAB_DOCTOR_MISSING, said, install);
        return;
    }
    size_t at = (size_t)snprintf(text, sizeof(text), "%s, for", said);
    for (int i = 0; i < n_ops && at < sizeof(text); i++) {
        const char *names[32];
        int count =
            lab_backend_variant_names(be, LAB_F32, ops[i]->name, names, 32);
        bool has = false;
        for (int k = 0; k < count; k++)
            has = has || strcmp(names[k], "cudnn") == 0;
        if (has)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s",
                                   n++ ? "," : "", ops[i]->name);
    }
    if (n > 0)
        lab_doctor_say(d, "cuDNN", LAB_DOCTOR_OK, text, NULL);
    else
        lab_doctor_say(d, "cuDNN", LAB_DOCTOR_WARNING,
                       "loaded, but no step offers the variant cudnn",
                       "see the line of the variants");
}

/* Devices, the driver that they report, and what the first one offers. False:
 * there is none. */
static bool check_devices(struct lab_doctor *d,
                          const struct lab_cuda_module *module)
{
    struct lab_device_info info;
    struct lab_backend *be = NULL;
    if (lab_backend_open(&be, "cuda", 0)) {
        char why[TEXT];
        snprintf(why, sizeof(why), "%s", lab_error());
        check_driver(d, NULL);
        lab_fail(LAB_E_UNSUPPORTED, "%s", why);
        lab_doctor_say_error(d, "device", LAB_DOCTOR_MISSING,
                             "steps run on the CPU");
        lab_doctor_say(d, "cuBLAS", LAB_DOCTOR_MISSING,
                       "cannot be tried without a device",
                       "see the line of the device");
        lab_doctor_say(d, "cuDNN", LAB_DOCTOR_MISSING,
                       "cannot be tried without a device",
                       "see the line of the device");
        return false;
    }
    lab_backend_info(be, &info);
    check_driver(d, &info);
    say_device(d, &info);
    check_cublas(d, be);
    check_variants(d, be); /* first: it withdraws what does not fit */
    check_cudnn(d, be, module);
    lab_backend_close(be);
    for (int i = 1; i < MAX_DEVICES; i++) {
        if (lab_backend_open(&be, "cuda", i))
            break; /* there are no more */
        lab_backend_info(be, &info);
        say_device(d, &info);
        lab_backend_close(be);
    }
    return true;
}

static void check_tracing(struct lab_doctor *d,
                          const struct lab_gpu_profiler_ops *ops, bool device)
{
    char text[LAB_GPU_TEXT] = "";
    if (!ops || ops->abi != LAB_GPU_PROFILER_ABI) {
        const char *why = ops ? "the module's profiler is of another version"
                              : "the CUDA module was built without CUPTI";
        lab_doctor_say(d, "CUPTI", LAB_DOCTOR_MISSING, why,
                       "install cuda-cupti-dev and build again; until then "
                       "times come from CUDA events");
        lab_doctor_say(d, "NVTX", LAB_DOCTOR_MISSING, why,
                       "as for CUPTI; only nsys and ncu need it");
        return;
    }
    if (!device)
        lab_doctor_say(d, "CUPTI", LAB_DOCTOR_MISSING,
                       "cannot be tried without a device",
                       "see the line of the device");
    else if (ops->probe(text, sizeof(text)))
        lab_doctor_say(d, "CUPTI", LAB_DOCTOR_MISSING, text,
                       "end another profiler of this process (nsys, ncu), or "
                       "install the CUPTI of the module's CUDA version; until "
                       "then times come from CUDA events");
    else
        lab_doctor_say(d, "CUPTI", LAB_DOCTOR_OK, text, NULL);
    lab_doctor_say(d, "NVTX", LAB_DOCTOR_OK,
                   "ranges in the domain lapenna-lab, for nsys and ncu", NULL);
}

/* Counters belong to a device that is open: the first one is, for this. */
static void check_counters(struct lab_doctor *d,
                           const struct lab_gpu_profiler_ops *gpu)
{
    struct lab_backend *be = NULL;
    char text[LAB_GPU_TEXT];
    if (!gpu || gpu->abi != LAB_GPU_PROFILER_ABI || !gpu->counters) {
        lab_doctor_say(d, "hardware counters", LAB_DOCTOR_MISSING,
                       "the CUDA module has none",
                       "build program and module together");
        return;
    }
    if (lab_backend_open(&be, "cuda", 0)) {
        lab_doctor_say(d, "hardware counters", LAB_DOCTOR_MISSING,
                       "cannot be tried without a device",
                       "see the line of the device");
        return;
    }
    bool ok = gpu->counters->probe(text, sizeof(text)) == LAB_OK;
    char chip[LAB_GPU_TEXT + 64];
    snprintf(chip, sizeof(chip), "readable (%s): --counters basic or full",
             text);
    if (ok)
        lab_doctor_say(d, "hardware counters", LAB_DOCTOR_OK, chip, NULL);
    else
        lab_doctor_say(d, "hardware counters", LAB_DOCTOR_MISSING,
                       "refused: FLOPs and bytes are analytic, occupancy is "
                       "theoretical",
                       text);
    lab_backend_close(be);
}

static void without_module(struct lab_doctor *d)
{
    static const char *const rest[] = {"device", "cuBLAS", "cuDNN",
                                       "CUPTI",  "NVTX",   "hardware counters"};
    check_driver(d, NULL);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        lab_doctor_say(d, rest[i], LAB_DOCTOR_MISSING,
                       "cannot be tried without the CUDA module",
                       "see the line of the CUDA module");
}

void lab_doctor_gpu(struct lab_doctor *d)
{
    const struct lab_cuda_module *module;
    if (lab_cuda_load(&module)) {
        lab_doctor_say_error(d, "CUDA module", LAB_DOCTOR_MISSING,
                             "put nvcc on PATH and build again; steps run on "
                             "the CPU");
        without_module(d);
    } else {
        lab_doctor_say(d, "CUDA module", LAB_DOCTOR_OK, "loaded", NULL);
        bool device = check_devices(d, module);
        check_tracing(d, module->profiler, device);
        check_counters(d, module->profiler);
    }
}
