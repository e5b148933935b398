/* engine/ceiling.h -- what a device can do at best, measured by the program.
 *
 * * A roofline needs ceilings. A data sheet's are never reached; these are: a
 * plain copy of memory, large matrix products by the best library at hand, and
 * multiply-adds in registers, which no product quite reaches. They are kept
 * with the device and shown beside the data sheet's. */
#pragma once
#include "engine/backend.h"

/* What was measured of one ceiling. */
struct lab_ceiling_result {
    double best;   /* bytes (read and written) or FLOPs a second */
    double median; /* of the repeats */
    double worst;
    int repeats;
    int64_t size; /* bytes copied, the side of the square matrices, or the
                     multiply-adds of each chain */
};

LAB_C_BEGIN
/* LAPENNA_LAB_BENCH=quick, for tests of everything but the times: the ceilings of a
 * CPU are measured in little memory and by small products, and hardly anything is read
 * between the repeats of a lab, where most of a small lab's time goes. */
bool lab_bench_quick(void);
/* "copy", "fp32" ... "fma", stable ids; what it is in a few words. */
const char *lab_ceiling_name(enum lab_ceiling ceiling);
const char *lab_ceiling_text(enum lab_ceiling ceiling);
/* "B/s" or "FLOP/s". */
const char *lab_ceiling_unit(enum lab_ceiling ceiling);
/* Measures one; takes a second at most, and memory for a large copy or three
 * matrices. The backend must be idle. LAB_E_UNSUPPORTED: this device or this
 * machine's libraries cannot do it; LAB_E_NOMEM; LAB_E_DEVICE. */
enum lab_status lab_backend_ceiling(struct lab_backend *be,
                                    enum lab_ceiling ceiling,
                                    struct lab_ceiling_result *out);
LAB_C_END
