/* tests/unit/fake_cupti.h -- how a test plays libcupti.
 *
 * fake_cupti.c is a library with CUPTI's names; the module opens it through
 * LAPENNA_LAB_CUPTI. Launches become records in the module's buffers, as CUPTI
 * would write them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct fake_cupti {
    int subscribe_gives; /* CUptiResult */
    const char *other_tool;
    int enable_fails_for; /* CUpti_ActivityKind */
    int flush_gives;
    int callback_gives; /* for the marking call */
    int no_ids;         /* the marking call is not reported */
    int init_first;     /* before cuInit() it is not */
    int marks_traced;   /* it leaves a record though it was left out */
    uint32_t version;   /* 0: that of the headers */
    size_t dropped;     /* reported once */
    uint32_t thread;    /* that launches; 0: the one that calls */

    /* Counters: kernels a pass, passes, and what is refused. */
    int passes;
    int availability_gives; /* CUptiResult */
    int start_gives;
    int vgpu;       /* CUpti_Profiler_Support_Level; 0: all is supported */
    int lost_range; /* the image has one kernel less */
    int idle_tensor_cores; /* no instruction of theirs */

    int subscribed; /* seen */
    int kinds_on;
    int records_on;     /* of these, all but graphs as a whole */
    int calls_left_out; /* since their kind was switched on */
    int thread_ids;     /* CUpti_ActivityThreadIdType */
    int callbacks_on;
    int hosts;   /* host objects that are open */
    int enabled; /* the range profiler */
    int passes_run;
    int kinds_on_while_counting;
    int launched; /* kernels of this pass */
    int marks_on; /* the callback of the marking call */
    int forced_flushes;
    int buffers_requested;
    int buffers_out; /* not given back yet */
    uint32_t correlation_id;
    size_t lost; /* records that found no buffer */
};

struct fake_cupti *fake_cupti_state(void);
/* One launch of a kernel: the driver's call and the kernel. */
void fake_cupti_launch(const char *name, int times_known);
/* The same as seen by a callback and by the counters, without a record. */
void fake_cupti_count_launch(void);
/* A record of every other kind, and one of a kind that was not asked for. */
void fake_cupti_others(void);
/* A record that cannot be read ends the buffer. */
void fake_cupti_spoil(void);
/* Gives the open buffer back from a thread of its own, as CUPTI's worker. */
void fake_cupti_hand_over(void);
