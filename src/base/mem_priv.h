/* mem_priv.h -- for arena.c: pieces of memory that count as allocations. */
#pragma once
#include <stdbool.h>

/* Counts an allocation: is it to fail (lab_mem_fail_from)? So that tests reach
 * the path behind each piece of an arena, not only behind each chunk. */
bool lab_mem_refused(void);
