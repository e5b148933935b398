/* profiler/cuda/cupti_config.h -- what the counters count.
 *
 * CUPTI's host side: metric names, passes and the reading of results. It needs
 * a chip's name and no GPU, so that names and passes are tested anywhere. */
#pragma once
#include "cupti_api.h"
#include "trace/metric.h"

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
                                      const char *const *metrics, int n,
                                      char *why, size_t bytes);
void lab_cupti_config_close(struct lab_cupti_config *c);
/* The metrics of one range of a counter data image, into values[c->n]. */
enum lab_status lab_cupti_config_read(const struct lab_cupti_config *c,
                                      const uint8_t *data, size_t data_bytes,
                                      size_t range, double *values, char *why,
                                      size_t bytes);
#endif
