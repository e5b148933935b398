/* base/names.h -- numbers by name: a hash table of texts.
 *
 * A zeroed struct lab_names is empty. It keeps the pointer to a name, not a
 * copy: the text must stay where it is as long as the table is used. Threads:
 * one at a time; any number may find. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

struct lab_name_slot;

struct lab_names {
    struct lab_name_slot *slots;
    size_t room; /* a power of two, at most half of it used */
    size_t used;
};

LAB_C_BEGIN
/* The first of two equal names stays. false: no memory, and nothing changed. */
bool lab_names_add(struct lab_names *n, const char *name, int64_t number);
/* -1: there is no such name. */
int64_t lab_names_find(const struct lab_names *n, const char *name);
void lab_names_release(struct lab_names *n); /* it is empty then */
LAB_C_END
