/* doctor on a machine with the CUDA module, and without a device or with one
 * that CUPTI refuses: played, for the machine of this test has its own. */
#include "test.h"

#include "ui/doctor.h"
#include "engine/backend.h"
#include "profiler/gpu.h"

static struct lab_str printed;

static void note(void *user, const struct lab_finding_line *line)
{
    (void)user;
    lab_str_addf(&printed, "%s: %s: %s\n", line->name, line->detail,
                 line->remedy ? line->remedy : "ok");
}

static enum lab_status refuse(char *out, size_t size)
{
    (void)out;
    (void)size;
    return lab_fail(LAB_E_UNSUPPORTED, "another profiler has it");
}

static const struct lab_gpu_profiler_ops profiler = {
    .abi = LAB_GPU_PROFILER_ABI, .error = lab_error, .probe = refuse};

static bool no_cudnn(const char **text)
{
    *text = "not found";
    return false;
}

static const struct lab_cuda_module module = {.profiler = &profiler,
                                              .cudnn = no_cudnn};
static bool has_device;

enum lab_status __wrap_lab_cuda_load(const struct lab_cuda_module **out);
enum lab_status __wrap_lab_cuda_load(const struct lab_cuda_module **out)
{
    *out = &module;
    return LAB_OK;
}

enum lab_status __real_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device);
enum lab_status __wrap_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device);
/* The CPU stands in for the first GPU. */
enum lab_status __wrap_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device)
{
    (void)name;
    return has_device && device == 0
               ? __real_lab_backend_open(out, "cpu", 0)
               : lab_fail(LAB_E_UNSUPPORTED, "no device is there");
}

static void look(bool device)
{
    struct lab_doctor d = {.line = note};
    has_device = device;
    lab_str_clear(&printed);
    lab_doctor_gpu(&d);
}

/* Nothing is timed by CUDA events there, and no remedy of CUPTI's would help. */
TEST_CASE(without_a_device_there_is_no_cupti)
{
    look(false);
    assert_non_null(strstr(lab_str_text(&printed),
                           "CUPTI: cannot be tried without a device: see the "
                           "line of the device\n"));
    assert_null(strstr(lab_str_text(&printed), "CUDA events"));
}

TEST_CASE(a_refusal_has_a_remedy)
{
    look(true);
    assert_non_null(strstr(lab_str_text(&printed),
                           "CUPTI: another profiler has it: end another "
                           "profiler"));
}

int main(void)
{
    lab_str_init(&printed);
    int failed = test_run_all(NULL, NULL);
    lab_str_release(&printed);
    return failed;
}
