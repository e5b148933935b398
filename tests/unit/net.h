/* unit/net.h -- networks for tests, in a few lines.
 *
 *     struct net n;
 *     net_init(&n);
 *     net_tensor(&n, "x 5,4", NULL);
 *     net_labels(&n, "y 5", 3);
 *     net_node(&n, "fc1 dense units=6");
 *     net_node(&n, "act relu from=fc1");
 *     net_loss(&n, "softmax_cross_entropy");
 *     net_optimizer(&n, "adam lr=0.1");
 *     net_walk(&n, "cpu");
 *     ...
 *     net_free(&n);
 *
 * Node i stands at line 100 + i, column 5 of the file "net.md", tensor i of the
 * data at line 10 + i, parameter i at line 50 + i, the loss at line 200 and the
 * optimizer at line 201. Whatever goes wrong while a net is described ends the
 * cmocka test; net_build() returns the engine's status. */
#pragma once
#include "engine/gradcheck.h"

struct net {
    struct lab_network_spec spec;
    struct lab_data *data; /* the walk's, once there is one */
    struct lab_data_shapes shapes;
    struct lab_plan *plan;
    struct lab_walk *walk;
};

void net_init(struct net *n);
void net_free(struct net *n);
int net_setup(void **state);
int net_teardown(void **state);
/* A test of a net `n`, which is initialised before the test and freed after it. */
#define NET_CASE(name)                                                         \
    TEST_CASE_OF(name, net_setup, net_teardown, struct net *n)

/* "name 5,4": values row-major, or NULL: random in [-1.5, 1.5). */
void net_tensor(struct net *n, const char *text, const double *values);
/* Class labels 0 .. classes-1 in turn. */
void net_labels(struct net *n, const char *text, int classes);
/* A parameter that the lesson gives, as net_tensor(). */
void net_param(struct net *n, const char *text, const double *values);
/* "id op key=value ... from=a,b" */
void net_node(struct net *n, const char *text);
/* The same, one after another. */
#define net_nodes(n, ...)                                                      \
    net_nodes_of(n, (const char *const[]){__VA_ARGS__, NULL})
void net_nodes_of(struct net *n, const char *const *texts);
void net_loss(struct net *n, const char *text);      /* "op key=value ..." */
void net_optimizer(struct net *n, const char *text); /* the same */
void net_train(struct net *n, const char *loss, const char *optimizer);
/* Every layer of the program, dense before each activation, small and odd:
 * x [5,7], what the loss reads [5,3]. With two turns of choices and yes-or-no
 * keys. Then only loss and optimizer, with the y that the loss takes. */
void net_every_op(struct net *n, const char *loss, const char *optimizer);

/* Classes of the digits, in batches. */
#define net_digits_of(n, batch, optimizer, ...)                                \
    net_classes_of(n, batch, optimizer,                                        \
                   (const char *const[]){__VA_ARGS__, NULL})
void net_classes_of(struct net *n, int64_t batch, const char *optimizer,
                    const char *const *nodes);
/* 64-8-10, with dropout and adam: everything that has a memory. */
void net_digits(struct net *n);

/* Data and plan, without a walk; after it, or after a failure, net_free(). */
enum lab_status net_build(struct net *n);
/* The same and a walk on the backend; a failure ends the test. */
void net_walk(struct net *n, const char *backend);
void net_walk_on(struct net *n, struct lab_backend *be);

int net_id(const struct net *n, const char *tensor); /* must exist */
const struct lab_tensor *net_at(const struct net *n, const char *tensor);
/* One element as the walk has it. */
double net_get(struct net *n, const char *tensor, int64_t i);
void net_put(struct net *n, const char *tensor, int64_t i, double value);
/* The whole tensor in double; lab_free() it. */
double *net_read(struct net *n, const char *tensor);
/* The plan's step of that name and phase; must exist. */
const struct lab_step *net_step(const struct net *n, const char *name,
                                enum lab_phase phase);
/* How many steps of the schedule this one of the walk's runs in place of, itself
 * included. */
int net_hidden_at(const struct net *n, const char *name, enum lab_phase phase);
int net_steps_of(const struct net *n);          /* of the walk's schedule */
void net_steps(struct net *n, int count);       /* each must be LAB_OK */
void net_iterate(struct net *n, int64_t count); /* whole ones, the same */
/* Back an iteration and forward again from its middle: the same bits. */
void net_back_and_forth(struct net *n);
/* Every tensor that both wrote, to 2e-5; returns how many. */
int net_agree(struct net *a, struct net *b);
void net_choose(struct net *n, const char *target, const char *variant);

/* All that the walk holds at a moment: bits of every tensor that is written,
 * the loss, the iteration and the position. */
struct net_moment;
struct net_moment *net_keep(struct net *n);
void net_moment_free(struct net_moment *m);
/* Ends the test at the first tensor whose bits differ. */
void net_same(const struct net *n, const char *what,
              const struct net_moment *want, const struct net_moment *got);
/* The same of what the walk holds now, and of what two walks hold. */
void net_still(struct net *n, const char *what, const struct net_moment *want);
void net_alike(struct net *n, const char *what, struct net *want);
/* false instead. */
bool net_is_same(const struct net *n, const struct net_moment *want,
                 const struct net_moment *got);
