/* kernel_watch.h -- a profiler for a moment's measurement: the kernels of each
 * step in a window of memory, without ranges and API calls. Only on a GPU with
 * CUPTI. Threads: the one that launches. */
#pragma once
#include "profiler/profiler.h"
#include "store/live.h"

struct lab_kernel_watch { /* stays where it is while it is open */
    struct lab_live *live;
    struct lab_profiler *profiler; /* NULL: not open */
    struct lab_sink sink;
};

/* `then` gets the records too; NULL: nobody. Before the backend is opened where
 * its first launches count. On failure *w is closed. Errors: LAB_E_UNSUPPORTED,
 * kernels cannot be traced, and why; LAB_E_NOMEM. */
enum lab_status lab_kernel_watch_open(struct lab_kernel_watch *w,
                                      const char *backend,
                                      const struct lab_sink *then);
void lab_kernel_watch_close(struct lab_kernel_watch *w);
