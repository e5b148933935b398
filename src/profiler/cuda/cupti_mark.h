/* profiler/cuda/cupti_mark.h -- a number in the row of the process's CUDA calls.
 *
 * The cheapest call of the driver that CUPTI can be asked to report is made, and
 * its correlation id is read in the callback. Kernels launched before have
 * smaller ids, kernels launched after it larger ones; no record of any call has
 * to be written for that (seen with CUPTI 13.0, all kinds off but kernels). */
#pragma once
#include <stdbool.h>
#include "cupti_api.h"

#ifdef LAB_HAVE_CUPTI
/* CUPTI reports the marking call from now on, or no longer. The caller is
 * attached. Errors, with `why`: LAB_E_UNSUPPORTED: there is no driver, or it
 * gives no ids; LAB_E_DEVICE. */
enum lab_status lab_cupti_mark_open(const struct lab_cupti *cupti,
                                    CUpti_SubscriberHandle subscriber,
                                    char *why, size_t bytes);
void lab_cupti_mark_close(const struct lab_cupti *cupti,
                          CUpti_SubscriberHandle subscriber);
/* false: there was no id. Any thread. */
bool lab_cupti_mark(uint32_t *correlation_id);
/* The call that marks: its own record says nothing. */
bool lab_cupti_is_mark(CUpti_CallbackId driver_call);
#endif
