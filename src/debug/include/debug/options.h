/* options.h -- the options that step, run and the screens share. */
#pragma once
#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "engine/setup.h"

enum { LAB_MAX_OPTION_CHOICES = 32, LAB_MAX_OPTION_NEAR = 32 };

struct lab_options {
    const char *lesson;  /* id or path; NULL: none given */
    const char *backend; /* "auto", "cpu", "cuda" */
    int device;
    const char *precision; /* NULL: the lesson's */
    struct lab_variant_choice choices[LAB_MAX_OPTION_CHOICES];
    int n_choices;
    int64_t batch;      /* 0: the lesson's */
    int64_t iterations; /* 0 */
    int64_t epochs;     /* 0 */
    bool seed_given;
    uint64_t seed;
    double lr;                             /* 0: the lesson's */
    const char *counters;                  /* "off", "basic", "full" */
    const char *db;                        /* NULL: the usual place */
    const char *data;                      /* NULL: the lesson's */
    const char *near[LAB_MAX_OPTION_NEAR]; /* run: questions after it */
    int n_near;
    const char *npy;     /* step: directory for tensors; NULL: none */
    const char *tensors; /* with it: patterns of their names; NULL: all */
    int64_t sample;      /* characters to write after the training; 0 */
    const char *prompt;  /* what they begin with; "" */
    double temperature;  /* 0: always the likeliest */
    int64_t top_k;       /* 0: all */
    bool json;
    bool plain;
    bool ascii;
    const char *color;  /* "auto", "always", "never" */
    bool no_trace;      /* CUPTI stays away */
    bool trace_kernels; /* and copies, no calls */
    bool trace_asked;   /* --trace was written, and not off */
    bool graph_nodes;   /* recorded iterations as graphs, node by node */
    bool no_graph;      /* at speed, too, every step is launched by itself */
    bool no_mouse;
    int argument_count;
};

void lab_options_init(struct lab_options *o);
/* The commands that share them. */
enum lab_options_of {
    LAB_OPTIONS_STEP,
    LAB_OPTIONS_RUN,
    LAB_OPTIONS_SCREEN, /* the home screen, LESSON, and both with --plain */
    LAB_OPTIONS_DOCTOR
};

/* Parses all of a command's arguments; on wrong usage prints what is wrong
 * and exits with LAB_EXIT_USAGE, as argp does. --help lists the options that do
 * something in `command`; the others are taken too, but --npy. `doc` is argp's.
 */
void lab_options_parse(struct lab_options *o, int argc, char **argv,
                       enum lab_options_of command, const char *args_doc,
                       const char *doc);
/* The option that --help of `command` lists after `name`, the first after NULL,
 * without dashes; NULL after the last. */
const char *lab_options_next(enum lab_options_of command, const char *name);
