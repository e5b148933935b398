/* base/mem.h -- memory that knows about overflow and can be made to fail.
 *
 * All memory of the program comes from here, so that a test can make the Nth
 * allocation fail and see that nothing crashes and nothing leaks. Every
 * function returns NULL when memory is short or a size overflows; the caller
 * states what it wanted the memory for. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
/* Zeroed memory. A size of 0 gives a valid pointer. Free with lab_free(). */
void *lab_alloc(size_t bytes);
void *lab_alloc_array(size_t count, size_t bytes_each);
/* Grows or shrinks; new bytes are not cleared; `p` stays valid on failure. */
void *lab_realloc_array(void *p, size_t count, size_t bytes_each);
/* Room for one more in a list that grows: `list` is the address of a pointer to
 * `count` elements of `each` bytes, with room for *room. A full one is doubled.
 * LAB_E_NOMEM, "no memory for WHAT": nothing has changed. */
enum lab_status lab_grow(void *list, size_t count, size_t *room, size_t each,
                         const char *what);
/* Zeroed, aligned for any vector load (64 bytes). Free with lab_free(). */
void *lab_alloc_aligned(size_t bytes);
/* The same without the zeros: what is in it is anything. */
void *lab_alloc_uncleared(size_t bytes);
void lab_free(void *p);
/* Zeroed pages that begin at address `at`, a multiple of a page (0: anywhere); elsewhere,
 * where that is taken or the system does not let a program choose. The same address in each
 * run makes what depends on it repeatable. Free with lab_unmap(). */
void *lab_map(uint64_t at, size_t bytes);
void lab_unmap(void *p, size_t bytes); /* NULL allowed */
char *lab_strdup(const char *s);
char *lab_strndup(const char *s, size_t bytes);

/* false and *out untouched on overflow. */
int lab_mul_size(size_t a, size_t b, size_t *out);
int lab_add_size(size_t a, size_t b, size_t *out);

/* Bytes of memory that this machine has, or where it is less that its control group
 * lets this process use (cgroup v2, memory.max); 0: not known. */
int64_t lab_host_memory(void);

/* For tests: the nth allocation from now (1 = the next) fails, and every one
 * after it until it is called with 0. */
void lab_mem_fail_from(int64_t nth);
/* Allocations tried since the last lab_mem_fail_from(). */
int64_t lab_mem_count(void);
LAB_C_END
