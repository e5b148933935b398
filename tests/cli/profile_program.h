/* profile_program.h -- the profile command of the program, for its tests. */
#pragma once
#include <jansson.h>
#include <stdint.h>

extern char output[1 << 20]; /* of the last call */
extern char errors[1 << 16];

/* Runs `lapenna-lab profile ARGS` ($LAB_EXE) and returns its exit code; @ in
 * ARGS is the database. */
int profile(const char *db, const char *args);
/* The nth line of the output as an object; NULL after the last. */
json_t *line_object(int nth);
const char *text_of(const json_t *o, const char *key); /* or "(none)" */
int64_t int_of(const json_t *o, const char *key);
double real_of(const json_t *o, const char *key); /* must be a number */
