/* onednn_load.c -- opens the oneDNN module when it is there and adds its
 * kernels to the CPU backend. */
#include <pthread.h>

#include "base/error.h"
#include "base/module.h"
#include "cpu_sets.h"
#include "library/onednn_abi.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct lab_kernel_set *const *found_sets;
static int found_count;
static enum lab_status found_status;
static struct lab_kept_error found_error;

static void report(enum lab_status st, const char *id, const char *text)
{
    lab_fail_id(st, id, "%s", text);
}

static enum lab_status open_module(void)
{
    void *handle;
    lab_onednn_sets_fn *get_sets;
    lab_onednn_report_to_fn *report_to;
    enum lab_status st = lab_module_open(LAB_ONEDNN_MODULE, &handle);
    if (st)
        return st;
    if (lab_module_symbol(handle, "lab_onednn_sets", &get_sets) ||
        lab_module_symbol(handle, "lab_onednn_report_to", &report_to))
        return lab_fail_context(LAB_E_UNSUPPORTED, "%s", LAB_ONEDNN_MODULE);
    report_to(report);
    int count = 0;
    int abi = 0;
    const struct lab_kernel_set *const *sets = get_sets(&count, &abi);
    if (abi != LAB_ONEDNN_ABI)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[module.version] %s has interface version %d, the program %d",
            LAB_ONEDNN_MODULE, abi, LAB_ONEDNN_ABI);
    if (!sets)
        return lab_fail_context(LAB_E_DEVICE, "%s", LAB_ONEDNN_MODULE);
    found_sets = sets;
    found_count = count;
    return LAB_OK;
}

static void open_once(void)
{
    found_status = open_module();
    lab_error_keep(&found_error);
}

enum lab_status lab_onednn_open(const struct lab_kernel_set *const **sets,
                                int *count)
{
    pthread_once(&once, open_once);
    *sets = found_sets;
    *count = found_count;
    return lab_error_again(found_status, &found_error);
}
