/* json_line.h -- one JSON object a line on stdout, flushed.
 *
 * Members in the order they are added. Unknown is null; infinities are the
 * strings "inf" and "-inf"; bytes that are not UTF-8 become \xNN; only ASCII is
 * written, so that no recorded name can reach a terminal as a control. Every line
 * ends with its "format", LAB_JSON_FORMAT. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>
#include "base/status.h"
#include "base/str.h"
#include "store/row_fields.h"

/* One more when a key goes away or means something else; a new key or a new type
 * of line changes nothing. */
enum { LAB_JSON_FORMAT = 1 };

/* From now on a line that lacks something for want of memory is an error and is
 * not printed. Before the first use of jansson. */
void lab_json_watch_memory(void);

/* {"type": type}; NULL when memory is short, which every function takes. */
json_t *lab_json_new(const char *type);
void lab_json_text(json_t *object, const char *key, const char *text);
void lab_json_word(json_t *object, const char *key,
                   const char *text); /* "": null */
void lab_json_bool(json_t *object, const char *key, bool v);
void lab_json_int(json_t *object, const char *key, int64_t v);
void lab_json_uint(json_t *object, const char *key, uint64_t v);
void lab_json_real(json_t *object, const char *key, double v);
/* The same for what was computed: a NaN is a value, the string "nan". */
void lab_json_value(json_t *object, const char *key, double v);
void lab_json_ints(json_t *object, const char *key, const int64_t *v, size_t n);
void lab_json_reals(json_t *object, const char *key, const double *v, size_t n);
/* An element of an array of what was computed, as lab_json_value() has it. */
json_t *lab_json_number(double v);
/* Adds a row, the struct that `fields` describe, to `object`, which it takes over
 * and returns: every column of the table with a key is a member, so that a new
 * one is in the lines without a word here. NULL when memory is short. */
json_t *lab_json_fields(json_t *object, const struct lab_fields *fields,
                        const void *row);
/* Prints and frees it. Errors: LAB_E_NOMEM; LAB_E_IO, stdout is gone. */
enum lab_status lab_json_print(json_t *object);
/* The same into a file, not flushed. */
enum lab_status lab_json_write(FILE *to, json_t *object);
/* A line in pieces, of what is too much for an object: the text of one but for its
 * closing brace, appended to `line` (lab_str_init()), and the object freed; numbers as
 * lab_json_number() and integers have them; what closes the line, which is written and
 * released. */
void lab_json_begin(struct lab_str *line, json_t *object);
void lab_json_add_number(struct lab_str *line, double v, bool whole);
enum lab_status lab_json_end(FILE *to, struct lab_str *line);
/* The line of lab_json_new(type), lab_json_int(key) and lab_json_value(key) in turn,
 * made without an object: of finite numbers, and less than 512 bytes. A line of two
 * numbers takes 0.33 us so, and 1.03 us by jansson (docs/measurements.md): training
 * writes one each iteration, of which the shortest lessons take 3 us. */
struct lab_json_member {
    const char *key;
    double value; /* or, where it is whole, */
    int64_t whole;
    bool is_whole;
};
enum lab_status lab_json_write_numbers(FILE *to, const char *type,
                                       const struct lab_json_member *m, int n);
