/* trace/intern.h -- names as numbers.
 *
 * One table for the process: a name gets an id once and keeps it, and its text
 * lives until the process ends (or lab_intern_release()). Id 0 is "". When
 * memory is short a name becomes id 0. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
uint32_t lab_intern(const char *text);
const char *lab_intern_text(uint32_t id); /* "" for an unknown id */
/* Has a name become id 0 for want of memory (or of ids) in this process? */
bool lab_intern_lacks_memory(void);
uint32_t lab_intern_count(void); /* ids are 0 .. count-1 */
void lab_intern_release(void);   /* at exit, for leak checks */
LAB_C_END
