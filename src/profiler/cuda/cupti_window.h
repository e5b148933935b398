/* profiler/cuda/cupti_window.h -- which execution a record belongs to, by its
 * correlation id.
 *
 * CUPTI numbers the calls of the whole process with one counter, and a kernel,
 * copy or memset bears the number of the call that made it. So the numbers at
 * push and pop (cupti_trace.c) give to which execution every number in between
 * belongs, without a record of the calls themselves. The numbers have 32 bits
 * and come round again after some hours of launches; here they are kept with
 * 64, and a record's is taken for the one nearest to the newest push or pop.
 *
 * A number does not tell its thread: what another thread launches while an
 * execution is pushed counts as that execution's. Records of calls do tell it:
 * compare it with the view's.
 *
 * The newest 262,143 pushes and pops are kept (4 MiB); what is older belongs to
 * nothing. One thread at a time pushes and pops; any number of readers look,
 * and no thread waits for another. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Forgets everything. No thread pushes meanwhile. */
void lab_cupti_window_reset(void);
/* At most 16 deep; what is deeper belongs to the deepest that is known. Counts
 * from the next note on. */
void lab_cupti_window_push(int64_t exec);
void lab_cupti_window_pop(void);
/* What has this number or a later one belongs to what is pushed now. */
void lab_cupti_window_note(uint32_t correlation_id);
/* Reads what was noted before view() was called: enough for a buffer: its
 * calls were all made before it was handed over. One thread a view. */
struct lab_cupti_view {
    uint64_t end; /* one more than the newest note */
    uint64_t newest;
    uint64_t place; /* of the last answer: it holds for `since` to `until` */
    uint64_t since;
    uint64_t until;
    int64_t exec;
    uint32_t thread; /* that pushed last, by the system's id; 0: none has */
};

void lab_cupti_window_view(struct lab_cupti_view *out);
/* 0: none. */
int64_t lab_cupti_window_find(struct lab_cupti_view *view,
                              uint32_t correlation_id);
