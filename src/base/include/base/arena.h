/* arena.h -- memory of a lesson: taken piece by piece, given back at once.
 *
 * What a lesson holds (nodes, texts, blocks) has one owner and one end, so
 * nothing in it is freed singly and every failure path is one release.
 * Threads: one at a time. */
#pragma once
#include <stddef.h>
#include "base/status.h"

struct lab_arena_chunk;

struct lab_arena {
    struct lab_arena_chunk *head;
};

LAB_C_BEGIN
/* Zeroed, aligned for any type; NULL when memory is short. */
void *lab_arena_take(struct lab_arena *a, size_t bytes);
void *lab_arena_array(struct lab_arena *a, size_t count, size_t bytes_each);
/* A copy that ends in NUL; NULL when memory is short. */
char *lab_arena_text(struct lab_arena *a, const char *text, size_t n);
void lab_arena_release(struct lab_arena *a);
LAB_C_END
