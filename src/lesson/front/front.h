/* front.h -- from the YAML tree to what the engine builds.
 *
 * One function for each part of the front matter, in the order that lesson.c
 * calls them: later parts look up names that earlier ones declared. Each goes
 * on after a mistake and returns only LAB_OK or LAB_E_NOMEM; mistakes are in
 * r->found. Threads: one at a time. */
#pragma once
#include "engine/network.h"
#include "ytree.h"

enum {
    LAB_FRONT_NAME_BYTES = 63, /* ids, tensor names, variants */
    LAB_FRONT_TEXT_BYTES = 2000
};

struct lab_front {
    struct lab_reader *r;
    struct lab_network_spec *spec;
    const char *dir;        /* the lesson's directory, for paths in it */
    struct lab_arena *tree; /* scratch that lives as long as the tree */
    struct lab_place *watch_places; /* out: of spec->watch, in r->arena */
};

LAB_C_BEGIN
/* A list of whole numbers, each at least `least`, into a shape. */
enum lab_status lab_front_data(struct lab_front *f,
                               const struct lab_ynode *node);
enum lab_status lab_front_network(struct lab_front *f,
                                  const struct lab_ynode *node);
/* The loss and the optimizer: one node without inputs of its own. */
enum lab_status lab_front_single(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 enum lab_op_kind kind,
                                 struct lab_node_spec *out);
enum lab_status lab_front_parameters(struct lab_front *f,
                                     const struct lab_ynode *node);
enum lab_status lab_front_variants(struct lab_front *f,
                                   const struct lab_ynode *node);
enum lab_status lab_front_watch(struct lab_front *f,
                                const struct lab_ynode *node);
enum lab_status lab_front_breaks(struct lab_front *f,
                                 const struct lab_ynode *node);
enum lab_status lab_front_printed(struct lab_front *f,
                                  const struct lab_ynode *node);

/* Whether the front matter says kind: lab; and the keys of one: lab, sizes,
 * cpu_sizes, variants, repeat, slide. */
bool lab_front_is_lab(const struct lab_ynode *root);
/* A lab that measures a lesson's network. */
bool lab_front_is_sweep(const struct lab_ynode *root);
struct lab_lesson_lab;
enum lab_status lab_front_lab(struct lab_front *f, const struct lab_ynode *root,
                              struct lab_lesson_lab *out);
/* The list `slide`: figures that the course prints. `ladder` NULL: its name was
 * wrong, and sizes cannot be checked. */
struct lab_operation;

/* A checked text as memory of its own (lab_free). */
struct lab_place lab_front_place(const struct lab_ynode *node);
struct lab_place lab_front_key_place(const struct lab_ynode *node);
/* The node of the network whose id is `name` or, with `prefix`, the longest
 * dotted beginning of it ("fc1" of "fc1.W.grad"); NULL when there is none. */
const struct lab_node_spec *
lab_front_find_node(const struct lab_network_spec *spec, const char *name,
                    bool prefix);
/* The lesson's text, split into its sections; what is wrong with it
 * goes to `found`. Errors: LAB_E_NOMEM. */
struct lab_lesson;
enum lab_status lab_sections_read(struct lab_lesson *lesson,
                                  struct lab_arena *arena, const char *md,
                                  size_t n, int first_line,
                                  struct lab_findings *found);
/* Only memory stops reading: LAB_OK for every other status. */
enum lab_status lab_front_pass(enum lab_status st);
LAB_C_END
