/* options.c -- the options that step, run and the screens share. */
#include "debug/options.h"

#include <stdlib.h>
#include <string.h>

#include "debug/args.h"
#include "report/exit.h"

enum {
    KEY_BACKEND = 256,
    KEY_DEVICE,
    KEY_PRECISION,
    KEY_VARIANT,
    KEY_BATCH,
    KEY_ITERATIONS,
    KEY_EPOCHS,
    KEY_SEED,
    KEY_LR,
    KEY_COUNTERS,
    KEY_DB,
    KEY_DATA,
    KEY_SAMPLE,
    KEY_PROMPT,
    KEY_TEMPERATURE,
    KEY_TOP_K,
    KEY_NEAR,
    KEY_JSON,
    KEY_PLAIN,
    KEY_ASCII,
    KEY_COLOR,
    KEY_NO_MOUSE,
    KEY_NO_GRAPH,
    KEY_GRAPH_NODES,
    KEY_TRACE,
    KEY_NPY,
    KEY_TENSORS
};

enum {
    STEP = 1 << LAB_OPTIONS_STEP,
    RUN = 1 << LAB_OPTIONS_RUN,
    SCREEN = 1 << LAB_OPTIONS_SCREEN,
    DOCTOR = 1 << LAB_OPTIONS_DOCTOR
};

/* All options, and the commands that do something with them. The others take
 * what is common to all, so that a script may give it to each. */
static const struct {
    struct argp_option argp;
    unsigned of;
} options[] = {
    {{"backend", KEY_BACKEND, "NAME", 0,
      "Where steps run: auto, cpu or cuda (auto: the GPU when there is one)",
      1},
     STEP | RUN | SCREEN},
    {{"device", KEY_DEVICE, "N", 0, "The GPU's number (0)", 1},
     STEP | RUN | SCREEN},
    {{"precision", KEY_PRECISION, "NAME", 0,
      "fp32, tf32, bf16 or fp16; this version computes in fp32", 1},
     STEP | RUN | SCREEN},
    {{"variant", KEY_VARIANT, "TARGET=NAME", 0,
      "The implementation of a node or of an op: fc1=tiled, dense=cublas "
      "(repeatable)",
      1},
     STEP | RUN | SCREEN},
    {{"counters", KEY_COUNTERS, "SET", 0,
      "Hardware counters of one iteration: off, basic or full", 1},
     STEP | RUN | SCREEN},
    {{"no-graph", KEY_NO_GRAPH, NULL, 0,
      "Launch every step by itself, no iteration as one CUDA graph", 1},
     RUN},
    {{"graph-nodes", KEY_GRAPH_NODES, NULL, 0,
      "Launch the recorded iterations as the graph too, and record each of "
      "its nodes",
      1},
     RUN},
    {{"trace", KEY_TRACE, "WHAT", 0,
      "Records of kernels, copies and CUDA calls: off, for times without their "
      "cost; kernels, without the calls, which costs less; or on (on)",
      1},
     STEP | RUN | SCREEN},
    {{"batch", KEY_BATCH, "N", 0, "Samples of one iteration", 2},
     STEP | RUN | SCREEN},
    {{"iterations", KEY_ITERATIONS, "N", 0, "How many iterations", 2},
     STEP | RUN | SCREEN},
    {{"epochs", KEY_EPOCHS, "N", 0, "How many times over the training data", 2},
     RUN | SCREEN},
    {{"seed", KEY_SEED, "S", 0, "All randomness of the run", 2},
     STEP | RUN | SCREEN},
    {{"lr", KEY_LR, "X", 0,
      "The optimizer's learning rate, instead of the lesson's", 2},
     STEP | RUN | SCREEN},
    {{"data", KEY_DATA, "PATH", 0,
      "The data's file or directory, instead of the lesson's", 2},
     STEP | RUN | SCREEN},
    {{"sample", KEY_SAMPLE, "N", 0,
      "Characters that the network writes: after `run`, in the stepper at "
      "`sample`",
      2},
     RUN | SCREEN},
    {{"prompt", KEY_PROMPT, "TEXT", 0, "The text that the network continues",
      2},
     RUN | SCREEN},
    {{"temperature", KEY_TEMPERATURE, "T", 0,
      "Temperature: 0 takes the likeliest character, 1 samples the "
      "probabilities as they are (0.8)",
      2},
     RUN | SCREEN},
    {{"top-k", KEY_TOP_K, "K", 0,
      "Sample from the K likeliest characters only (all)", 2},
     RUN | SCREEN},
    {{"near", KEY_NEAR, "WORDS", 0,
      "After the training, the words that the embedding has put nearest to "
      "WORDS: "
      "king, "
      "or a sum, \"king - man + woman\" (repeatable)",
      2},
     RUN},
    {{"db", KEY_DB, "FILE", 0, "The database of runs, instead of the usual one",
      3},
     STEP | RUN | SCREEN | DOCTOR},
    {{"npy", KEY_NPY, "DIR", 0,
      "Write the tensors as .npy files into DIR, instead of text", 3},
     STEP},
    {{"tensors", KEY_TENSORS, "PATTERN,...", 0,
      "With --npy: only those whose names match one of them: 'loss,*.grad'", 3},
     STEP},
    {{"json", KEY_JSON, NULL, 0, "JSON Lines on standard output", 3},
     STEP | RUN | DOCTOR},
    {{"plain", KEY_PLAIN, NULL, 0, "Lines of text, no screen", 3}, SCREEN},
    {{"ascii", KEY_ASCII, NULL, 0, "No character beyond ASCII", 3},
     STEP | RUN | SCREEN | DOCTOR},
    {{"color", KEY_COLOR, "WHEN", 0, "auto, always or never", 3}, SCREEN},
    {{"no-mouse", KEY_NO_MOUSE, NULL, 0, "Leave the mouse to the terminal", 3},
     SCREEN},
};

enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };

static void add_choice(struct lab_options *o, char *text,
                       struct argp_state *state)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        argp_failure(state, LAB_EXIT_USAGE, 0,
                     "--variant '%s': write NODE=NAME or OP=NAME", text);
    if (o->n_choices == LAB_MAX_OPTION_CHOICES)
        argp_failure(state, LAB_EXIT_USAGE, 0, "too many --variant");
    *equals = '\0';
    o->choices[o->n_choices++] =
        (struct lab_variant_choice){.target = text, .variant = equals + 1};
}

static const char *precision_name(const char *text, struct argp_state *state)
{
    if (lab_precision_find(text) == LAB_PRECISION_COUNT)
        argp_failure(state, LAB_EXIT_USAGE, 0,
                     "--precision '%s': use fp32, tf32, bf16 or fp16", text);
    return text;
}

static double temperature(const char *text, struct argp_state *state)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v >= 0 && v <= 100))
        argp_failure(state, LAB_EXIT_USAGE, 0,
                     "--temperature '%s': a number from 0 to 100 is needed",
                     text);
    return v;
}

static error_t parse_sampling(int key, char *arg, struct argp_state *state)
{
    struct lab_options *o = state->input;
    switch (key) {
    case KEY_SAMPLE:
        o->sample = lab_arg_number(arg, "sample", 1, INT64_MAX, state);
        return 0;
    case KEY_PROMPT:
        o->prompt = arg;
        return 0;
    case KEY_TEMPERATURE:
        o->temperature = temperature(arg, state);
        return 0;
    case KEY_TOP_K:
        o->top_k = lab_arg_number(arg, "top-k", 1, INT64_MAX, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* How fast it goes, and what is recorded of it. */
static error_t parse_speed(int key, char *arg, struct argp_state *state)
{
    static const char *const traces[] = {"off", "kernels", "on", NULL};
    struct lab_options *o = state->input;
    switch (key) {
    case KEY_NO_GRAPH:
        o->no_graph = true;
        return 0;
    case KEY_GRAPH_NODES:
        o->graph_nodes = true;
        return 0;
    case KEY_TRACE:
        (void)lab_arg_one_of(arg, traces, "trace", state);
        o->no_trace = strcmp(arg, "off") == 0;
        o->trace_kernels = strcmp(arg, "kernels") == 0;
        o->trace_asked = !o->no_trace;
        return 0;
    default:
        return parse_sampling(key, arg, state);
    }
}

static error_t parse_run_option(int key, char *arg, struct argp_state *state)
{
    struct lab_options *o = state->input;
    switch (key) {
    case KEY_BACKEND:
        o->backend = lab_arg_backend(arg, state);
        return 0;
    case KEY_DEVICE:
        o->device = lab_arg_device(arg, state);
        return 0;
    case KEY_PRECISION:
        o->precision = precision_name(arg, state);
        return 0;
    case KEY_VARIANT:
        add_choice(o, arg, state);
        return 0;
    case KEY_COUNTERS:
        o->counters = lab_arg_counters(arg, state);
        return 0;
    case KEY_BATCH:
        o->batch = lab_arg_number(arg, "batch", 1, INT64_MAX, state);
        return 0;
    case KEY_ITERATIONS:
        o->iterations = lab_arg_number(arg, "iterations", 1, INT64_MAX, state);
        return 0;
    case KEY_EPOCHS:
        o->epochs = lab_arg_number(arg, "epochs", 1, INT64_MAX, state);
        return 0;
    case KEY_SEED:
        o->seed_given = true;
        o->seed = lab_arg_seed(arg, state);
        return 0;
    case KEY_LR:
        if (lab_lr_read(arg, &o->lr))
            argp_error(state, "--lr: %s", lab_error());
        return 0;
    case KEY_DATA:
        o->data = arg;
        return 0;
    case KEY_NEAR:
        if (o->n_near == LAB_MAX_OPTION_NEAR)
            argp_failure(state, LAB_EXIT_USAGE, 0, "too many --near");
        o->near[o->n_near++] = arg;
        return 0;
    default:
        return parse_speed(key, arg, state);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    static const char *const colors[] = {"auto", "always", "never", NULL};
    struct lab_options *o = state->input;
    switch (key) {
    case KEY_DB:
        o->db = arg;
        return 0;
    case KEY_NPY:
        o->npy = arg;
        return 0;
    case KEY_TENSORS:
        o->tensors = arg;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_PLAIN:
        o->plain = true;
        return 0;
    case KEY_ASCII:
        o->ascii = true;
        return 0;
    case KEY_COLOR:
        o->color = lab_arg_one_of(arg, colors, "color", state);
        return 0;
    case KEY_NO_MOUSE:
        o->no_mouse = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->argument_count++ > 0)
            argp_failure(state, LAB_EXIT_USAGE, 0,
                         "one LESSON at a time: '%s' is one too many", arg);
        o->lesson = arg;
        return 0;
    default:
        return parse_run_option(key, arg, state);
    }
}

void lab_options_init(struct lab_options *o)
{
    *o = (struct lab_options){.backend = "auto",
                              .counters = "off",
                              .color = "auto",
                              .prompt = "",
                              .temperature = 0.8};
}

const char *lab_options_next(enum lab_options_of command, const char *name)
{
    bool passed = name == NULL;
    for (int i = 0; i < N_OPTIONS; i++) {
        if (passed && options[i].of & 1u << command)
            return options[i].argp.name;
        passed = passed || strcmp(options[i].argp.name, name) == 0;
    }
    return NULL;
}

void lab_options_parse(struct lab_options *o, int argc, char **argv,
                       enum lab_options_of command, const char *args_doc,
                       const char *doc)
{
    static const char *const names[] = {[LAB_OPTIONS_STEP] = "lapenna-lab step",
                                        [LAB_OPTIONS_RUN] = "lapenna-lab run",
                                        [LAB_OPTIONS_SCREEN] = "lapenna-lab",
                                        [LAB_OPTIONS_DOCTOR] =
                                            "lapenna-lab doctor"};
    const char *name = names[command];
    struct argp_option shown[N_OPTIONS + 1] = {{0}};
    for (int i = 0; i < N_OPTIONS; i++) {
        shown[i] = options[i].argp;
        if (!(options[i].of & 1u << command))
            shown[i].flags |= OPTION_HIDDEN;
    }
    const struct argp argp = {shown, parse_option, args_doc, doc,
                              NULL,  NULL,         NULL};
    lab_args_parse(&argp, argc, argv, name, o);
    if (o->npy && command != LAB_OPTIONS_STEP) {
        lab_warn("--npy belongs to `lapenna-lab step`");
        exit(LAB_EXIT_USAGE);
    }
    if (o->npy && o->json) {
        lab_warn("--npy and --json exclude each other: give one");
        exit(LAB_EXIT_USAGE);
    }
    if (o->graph_nodes && (o->no_graph || o->no_trace)) {
        lab_warn("--graph-nodes wants graphs and a trace: leave out %s",
                 o->no_graph ? "--no-graph" : "--trace off");
        exit(LAB_EXIT_USAGE);
    }
    if (o->iterations > 0 && o->epochs > 0) {
        lab_warn("--iterations and --epochs exclude each other: give one");
        exit(LAB_EXIT_USAGE);
    }
}
