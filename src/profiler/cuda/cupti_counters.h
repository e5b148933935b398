/* profiler/cuda/cupti_counters.h -- hardware counters of every kernel, by
 * CUPTI's Range Profiler; the functions of struct lab_gpu_counter_ops.
 *
 * One range a kernel (auto range), and whoever counts runs the work again for
 * every pass (user replay): that is many times faster than having CUPTI save
 * and restore memory around each kernel. */
#pragma once
#include "cupti_api.h"
#include "profiler/gpu.h"
#include "trace/metric.h"

extern const struct lab_gpu_counter_ops lab_cupti_counter_ops;

/* What is counted: CUPTI's host side, metric names, passes and the reading of
 * results. It needs a chip's name and no GPU, so that names and passes are
 * tested anywhere. */
#ifdef LAB_HAVE_COUNTERS
struct lab_cupti_config {
    const struct lab_cupti *cupti;
    CUpti_Profiler_Host_Object *host;
    const char *names[LAB_MAX_METRICS]; /* that this chip knows */
    int asked[LAB_MAX_METRICS];         /* their places among those asked for */
    int n;
    int passes;
    uint8_t *image; /* owned */
    size_t image_bytes;
};

/* `chip` as CUPTI names it ("GH100"); `availability`: the device's own image,
 * or NULL where there is no device. Names are constants of the caller. Metrics
 * that the chip does not know are left out; without any it is
 * LAB_E_UNSUPPORTED. Errors: also LAB_E_NOMEM, LAB_E_DEVICE. */
enum lab_status lab_cupti_config_open(struct lab_cupti_config *out,
                                      const struct lab_cupti *cupti,
                                      const char *chip,
                                      const uint8_t *availability,
                                      const char *const *metrics, int n);
void lab_cupti_config_close(struct lab_cupti_config *c);
#endif
