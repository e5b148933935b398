/* profiler/cuda/cupti_attach.h -- being CUPTI's one subscriber.
 *
 * Tools find out about each other by it. Tracing and counting share one
 * subscription when both are on. */
#pragma once
#include "cupti_api.h"

#ifdef LAB_HAVE_CUPTI
/* Called for every callback that is enabled, on the thread that made the call
 * of CUDA. */
typedef void lab_cupti_callback_fn(CUpti_CallbackDomain domain,
                                   CUpti_CallbackId id,
                                   const CUpti_CallbackData *data);

/* Loads libcupti and subscribes; a second holder gets the same subscription.
 * Errors: LAB_E_UNSUPPORTED no usable CUPTI, LAB_E_STATE another tool is
 * attached, LAB_E_DEVICE CUPTI refused; `why` has which, and what helps. */
enum lab_status lab_cupti_attach(const struct lab_cupti **cupti,
                                 CUpti_SubscriberHandle *subscriber, char *why,
                                 size_t bytes);
void lab_cupti_detach(void);
/* One listener at a time; NULL: none. */
void lab_cupti_listen(lab_cupti_callback_fn *listener);
/* One call of the driver goes to `listener` instead; NULL: to no listener. */
void lab_cupti_listen_marks(CUpti_CallbackId call,
                            lab_cupti_callback_fn *listener);
/* Puts a refusal into words, with its remedy; gives the status for it. */
enum lab_status lab_cupti_refused(const struct lab_cupti *cupti, CUptiResult r,
                                  const char *what, const char *other,
                                  char *why, size_t bytes);
#endif
