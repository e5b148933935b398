/* lesson/lesson.h -- one lesson: its text and the network that it runs.
 *
 * A lesson is a Markdown file with YAML front matter, format 1 (see
 * docs/lesson-format.md). Reading checks everything that can be known without
 * building the network: keys, types, ids, shapes written out, sizes, text that
 * could steer a terminal. Limits: 4 MiB a file, 32 levels of YAML.
 *
 * Threads: reading one at a time; a lesson never changes after that and any
 * number of threads may read it. */
#pragma once
#include "engine/network.h"
#include "lesson/markdown.h"
#include "lesson/finding.h"

enum lab_section_kind {
    LAB_SECTION_INTRO, /* before the first heading of level 2 */
    LAB_SECTION_STEP,  /* ## step: fc1.matmul */
    LAB_SECTION_NODE,  /* ## node: fc1 */
    LAB_SECTION_PHASE, /* ## phase: backward */
    LAB_SECTION_OTHER  /* read in order */
};

enum lab_lesson_kind {
    LAB_LESSON_NETWORK, /* a network to walk and train */
    LAB_LESSON_LAB      /* kind: lab, a ladder of kernels to climb */
};

/* A figure that course material prints, shown beside this machine's. */
struct lab_lesson_slide {
    const char *label;
    const char *size; /* as --sizes has it; checked */
    double value;
    const char *unit;    /* see slide_keys in front.c */
    const char *machine; /* that it was measured on: "P100" */
    const char *source;  /* where it is printed */
    const char *variant; /* ours that it is held against; NULL: our fastest */
    const char
        *precision; /* NULL: fp32, or fp64 where the ladder has no fp32 */
    struct lab_place place;
};

/* What a lab measures. */
enum lab_measure {
    LAB_MEASURE_LADDER,
    LAB_MEASURE_TUNE,  /* the candidates of a tuned variant */
    LAB_MEASURE_CALLS, /* cuDNN's, one by one */
    /* Of a lesson's network: */
    LAB_MEASURE_BATCH,
    LAB_MEASURE_NETWORK,
    LAB_MEASURE_PRODUCTS,
    LAB_MEASURE_BACKWARD,
    LAB_MEASURES
};

/* The greatest batch or width that a lab takes, here and by --sizes. */
enum { LAB_COUNT_MAX = 1000000000 };

/* The front matter of a lab. Texts are checked: sizes and variants are separated
 * by commas, as --sizes and --variants have them. */
struct lab_lesson_lab {
    enum lab_measure measures;
    const char *ladder; /* name of engine/ladder.h; NULL: of a network */
    const char *of;     /* the lesson that is measured, or "all"; NULL */
    struct lab_place of_place;
    const char *sizes;     /* on a GPU; NULL: the ladder's own */
    const char *cpu_sizes; /* on a CPU; NULL: the ladder's own */
    const char *variants;  /* NULL: all of the backend's */
    struct lab_place variants_place;
    int64_t repeat; /* 0: not given */
    struct lab_lesson_slide *slides;
    int n_slides;
    unsigned precisions; /* on a GPU: bit 1 << p for each; 0: not given */
};

struct lab_section {
    enum lab_section_kind kind;
    const char *name;  /* of step, node, phase: what it is about; else "" */
    const char *title; /* the heading as written; "" for the introduction */
    int line;          /* of its heading */
    struct lab_md doc; /* without the heading */
    /* What a reader gets where a step of that phase has run: what comes before
     * the first part, and that phase's parts. A step's or node's text is cut
     * into parts by "### backward", or by a "**Backward.**" that begins a
     * sentence; without parts it is `doc` in every phase. */
    struct lab_md in_phase[LAB_PHASE_COUNT];
};

struct lab_lesson {
    const char *id;   /* the file's name without NN- and .md */
    const char *path; /* as it was opened */
    const char *title;
    const char *summary; /* "" when there is none */
    int64_t order;       /* LAB_LESSON_NO_ORDER when not given */
    int64_t minutes;     /* 0: not given */
    const char *const *prerequisites;
    struct lab_place *prerequisite_places;
    int n_prerequisites;
    struct lab_place order_place;
    struct lab_place title_place;
    struct lab_place *watch_places; /* of spec.watch */
    enum lab_lesson_kind kind;
    struct lab_lesson_lab lab;    /* of a lab */
    struct lab_network_spec spec; /* of a lab: empty */
    struct lab_section *sections; /* the introduction is the first */
    int n_sections;
};

enum { LAB_LESSON_NO_ORDER = INT32_MAX };

LAB_C_BEGIN
/* Appends the tables of all keys of the front matter, as docs/lesson-format.md
 * has them. */
void lab_lesson_keys(struct lab_str *out);
/* "ladder", "tune", "batch-size" ... */
const char *lab_measure_name(enum lab_measure m);
/* Reads and checks the file at `path`. On failure *out is NULL and the error is
 * the first mistake, as "FILE:LINE:COLUMN: what, and what to do".
 * Errors: LAB_E_IO, LAB_E_PARSE, LAB_E_SHAPE, LAB_E_RANGE, LAB_E_NOMEM. */
enum lab_status lab_lesson_load(struct lab_lesson **out, const char *path);
/* The same, and all findings; `found` must have been initialised and is filled
 * in every case. */
enum lab_status lab_lesson_check(struct lab_lesson **out, const char *path,
                                 struct lab_findings *found);
/* From memory: `path` names it in messages and gives its id and directory. */
enum lab_status lab_lesson_parse(struct lab_lesson **out, const char *path,
                                 const char *bytes, size_t size,
                                 struct lab_findings *found);
void lab_lesson_free(struct lab_lesson *lesson); /* NULL allowed */

/* The section for a step: its own, else its node's, else its phase's, else
 * NULL; one that has nothing for `phase` is passed over. NULL: any phase.
 * Steps of a time step ("lstm1.cell.3") also take the text of "lstm1.cell",
 * nodes inside a block ("block1.attn") that of the block. Any name may be
 * NULL. */
const struct lab_section *lab_lesson_text_for(const struct lab_lesson *lesson,
                                              const char *step,
                                              const char *node,
                                              const char *phase);
/* Its text for a phase, by name; of no phase or an unknown one: the whole. */
const struct lab_md *lab_section_part(const struct lab_section *s,
                                      const char *phase);
/* Appends its heading for a reader: "Step fc1.matmul", "Node fc1", "Backward
 * phase", of others the title; "" for the introduction. */
void lab_section_heading(const struct lab_section *s, struct lab_str *out);
/* The section of that kind and name, or NULL. */
const struct lab_section *lab_lesson_section(const struct lab_lesson *lesson,
                                             enum lab_section_kind kind,
                                             const char *name);
/* "10-dense.md" -> "dense"; the id is appended. */
void lab_lesson_id_of(const char *path, struct lab_str *out);
LAB_C_END
