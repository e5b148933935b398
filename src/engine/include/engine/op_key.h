/* engine/op_key.h -- the keys that an op takes in a lesson, and their values. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { LAB_MAX_KEYS = 8, LAB_KEY_ITEMS = 4 };

enum lab_key_type {
    LAB_KEY_INT,
    LAB_KEY_FLOAT,
    LAB_KEY_BOOL,
    LAB_KEY_CHOICE,
    LAB_KEY_INTS,   /* a list of min_items..max_items, or one for all */
    LAB_KEY_PADDING /* a choice (same, valid) or a whole number */
};

struct lab_key_def {
    const char *name;
    enum lab_key_type type;
    bool required;
    double fallback; /* INT, FLOAT, BOOL; CHOICE, PADDING: index of a choice */
    double min;      /* INT, FLOAT, INTS: smallest allowed */
    double max;      /* largest allowed */
    bool open_max;   /* FLOAT: max itself is not allowed (dropout's p < 1) */
    const char *const *choices; /* NULL-terminated */
    int min_items;
    int max_items;
};

/* The value of one key. Keys that the lesson leaves out hold the fallback. */
struct lab_attr {
    bool set; /* written in the lesson */
    int64_t i;
    double f;
    bool b;
    int choice; /* index into choices; -1: PADDING given as a number (i) */
    int64_t list[LAB_KEY_ITEMS];
    int n;
    int line;
    int column;
};
