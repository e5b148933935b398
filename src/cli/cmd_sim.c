/* lapenna-lab sim FILE: runs a CUDA kernel thread by thread on the CPU, and
 * reports what it counted, what is wrong and what it wrote. What a kernel is
 * given are words (sim/argument.h); FILE.cu is compiled first (sim/compile.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/signals.h"
#include "cmd.h"
#include "common/random.h"
#include "debug/kernel_text.h"
#include "debug/kernel_walk.h"
#include "debug/options.h"
#include "base/kernel_name.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"
#include "sim/argument.h"
#include "sim/compile.h"

enum {
    SIDE_MOST = 0x7fffffff, /* blocks of a grid along x */
    SHOWN_WHOLE = 64, /* elements of an output in text; of more than that: */
    SHOWN_FIRST = 8,
    SHOWN_LAST = 2,
    SOURCE_COLUMNS = 200 /* of a line that is quoted */
};

struct simulation {
    const struct lab_options *o;
    struct lab_str file; /* of the command line, or of the program's own */
    const struct lab_sim_device *device;
    unsigned checks;
    int64_t grid[3];
    int64_t block[3];
    struct lab_sim_argument *args;
    int arg_count;
    struct lab_sim_part *parts; /* of --show, o->n_show of them */
    int *part_of;               /* which argument each is of */
    struct lab_str ptx;
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    const struct lab_ptx *text;
    const struct lab_sim_kernel *kernel;
    const char *symbol;                   /* of the kernel in the PTX */
    char *types;                          /* demangled */
    char name[256];                       /* as a person calls it */
    struct lab_sim_parameter *parameters; /* of the source; NULL: not known */
    struct lab_sim_result result;
    /* The file of the lines that are quoted last. */
    struct lab_kernel_source source;
    enum lab_status printed;
    bool walk_found; /* the walk has met findings */
};

/* ---- words ---- */

/* "4", "4,2", "4,2,1", with x in place of a comma too. */
static bool read_sides(const char *text, int64_t out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = 1;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        errno = 0;
        if (*text < '0' || *text > '9')
            return false;
        out[i] = strtoll(text, &end, 10);
        if (errno || out[i] < 1 || out[i] > SIDE_MOST)
            return false;
        if (!*end)
            return true;
        if (*end != ',' && *end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

/* Those that are missing are named once the kernel is known. */
static void check_sides(struct argp_state *state, const char *name,
                        const char *text, int64_t out[3])
{
    if (text && !read_sides(text, out))
        lab_usage_error(state,
                        "[option.sides] --%s '%s': one to three whole numbers "
                        "from 1 to %d, as 256 or 16,16",
                        name, text, SIDE_MOST);
}

/* As it is given, or one of the files that ship with the program. */
static bool is_here(const char *given)
{
    struct stat about;
    struct lab_str path;
    lab_str_init(&path);
    bool here = stat(given, &about) == 0 || lab_data_path(given, &path) == 0;
    lab_str_release(&path);
    return here;
}

static void check_words(struct lab_options *o, struct argp_state *state)
{
    int64_t sides[3];
    if (o->n_words != 1)
        lab_usage_error(
            state,
            o->n_words
                ? "[usage.files] one FILE at a time: '%s' is one too many"
                : "[usage.file] which FILE.cu or FILE.ptx?",
            o->n_words ? o->words[1] : "");
    if (!is_here(o->words[0]))
        return; /* that is reported, and not what else is missing */
    check_sides(state, "grid", o->grid, sides);
    check_sides(state, "block", o->block, sides);
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab sim",
    .commands = LAB_FOR_SIM,
    .args = "FILE.cu|FILE.ptx",
    .doc =
        "Run a CUDA kernel without a GPU, thread by thread, exactly, with "
        "every "
        "access checked and counted.\v"
        "  lapenna-lab sim scale.cu --grid 4 --block 256 --arg float:2 "
        "--arg int:1000 \\\n      --arg 'inout:float[1000]=iota'\n\n"
        "An --arg is a value, TYPE:NUMBER, or memory: in:TYPE[N]=FILL that the "
        "kernel reads, out:TYPE[N], inout:TYPE[N]=FILL. TYPE: float, double, "
        "int, unsigned, long, half, bfloat16. FILL: random (uniform in [-1, "
        "1), "
        "of integers 0 to 9), zero, iota (0, 1, 2, ...), a number, @FILE.npy. "
        "A .cu file is compiled by nvcc, or by clang without any of NVIDIA's "
        "packages. Exit status: 0 nothing found, 1 findings, 2 wrong usage, 3 "
        "bad file or argument, 4 no compiler.",
    .check = check_words};

static enum lab_status find_device(struct simulation *s)
{
    struct lab_str names;
    const struct lab_sim_device *d;
    s->device = s->o->device_model ? lab_sim_device(s->o->device_model)
                                   : lab_sim_device_at(0);
    if (s->device)
        return LAB_OK;
    lab_str_init(&names);
    for (int i = 0; (d = lab_sim_device_at(i)); i++)
        lab_str_addf(&names, "%s'%s'", i ? ", " : "", d->name);
    lab_fail(LAB_E_USAGE,
             "[option.device-model] --device-model '%s' is not known: use %s",
             s->o->device_model, lab_str_text(&names));
    lab_str_release(&names);
    return LAB_E_USAGE;
}

static enum lab_status find_checks(struct simulation *s)
{
    const char *ids[LAB_SIM_CHECK_COUNT];
    unsigned all = (1u << LAB_SIM_CHECK_COUNT) - 1;
    const char *list = s->o->checks ? s->o->checks : "all";
    for (int i = 0; i < LAB_SIM_CHECK_COUNT; i++)
        ids[i] = lab_sim_check_id((enum lab_sim_check)i);
    while (*list) {
        size_t n = strcspn(list, ",");
        char word[32];
        snprintf(word, sizeof(word), "%.*s", n < 31 ? (int)n : 31, list);
        unsigned found = strcmp(word, "all") == 0 ? all : 0;
        for (int i = 0; i < LAB_SIM_CHECK_COUNT; i++) {
            if (strcmp(ids[i], word) == 0)
                found = 1u << i;
        }
        if (!found && strcmp(word, "none") != 0) {
            const char *near = lab_nearest(word, ids, LAB_SIM_CHECK_COUNT);
            return lab_fail(
                LAB_E_USAGE,
                "[option.checks] --checks '%s': no check '%s'%s%s%s: use "
                "memory, race, uninitialised, barrier, shuffle, all or none",
                s->o->checks, word, near ? " (did you mean '" : "",
                near ? near : "", near ? "'?)" : "");
        }
        s->checks |= found;
        list += n + (list[n] == ',');
    }
    s->checks |= 1u << LAB_SIM_BUDGET;
    return LAB_OK;
}

static enum lab_status read_words(struct simulation *s)
{
    const struct lab_options *o = s->o;
    enum lab_status st = find_device(s);
    if (o->grid)
        read_sides(o->grid, s->grid);
    if (o->block)
        read_sides(o->block, s->block);
    if (!st)
        st = find_checks(s);
    s->args = lab_alloc_array((size_t)o->n_arg + 1, sizeof(*s->args));
    if (!st && !s->args)
        st = lab_no_memory("arguments");
    for (; !st && s->arg_count < o->n_arg; s->arg_count++) {
        st =
            lab_sim_argument_read(o->arg[s->arg_count], &s->args[s->arg_count]);
        if (st)
            return lab_fail_context(st, "--arg");
    }
    s->parts = lab_alloc_array((size_t)o->n_show + 1, sizeof(*s->parts));
    s->part_of = lab_alloc_array((size_t)o->n_show + 1, sizeof(*s->part_of));
    if (!st && (!s->parts || !s->part_of))
        st = lab_no_memory("parts of arguments");
    for (int i = 0; i < o->n_show && !st; i++) {
        st = lab_sim_part_read(o->show[i], &s->parts[i]);
        if (st)
            return lab_fail_context(st, "--show");
    }
    return st;
}

/* ---- the file and its kernel ---- */

/* A path that is not here may be one of the files that ship with the program. */
static enum lab_status find_file(struct simulation *s)
{
    const char *given = s->o->words[0];
    struct stat about;
    if (stat(given, &about) == 0 || given[0] == '/' ||
        lab_data_path(given, &s->file)) {
        lab_str_clear(&s->file);
        lab_str_add(&s->file, given);
    }
    s->source.beside = lab_str_text(&s->file);
    return lab_str_check(&s->file, "a path");
}

static enum lab_status read_source(struct simulation *s)
{
    const struct lab_options *o = s->o;
    enum lab_status st = find_file(s);
    if (st)
        return st;
    const struct lab_sim_source source = {
        .path = lab_str_text(&s->file),
        .compiler = o->compiler,
        .include = o->include,
        .include_count = o->n_include,
        .define = o->define,
        .define_count = o->n_define,
        .device = s->device,
    };
    struct lab_str words;
    lab_str_init(&words);
    st = lab_sim_compile(&source, &s->ptx, &words);
    /* As the compiler has them. */
    if (words.len)
        lab_printf(stderr, "%s%s", lab_str_text(&words),
                   words.data[words.len - 1] == '\n' ? "" : "\n");
    lab_str_release(&words);
    if (st)
        return st;
    st = lab_sim_memory_open(&s->memory);
    if (!st)
        st = lab_sim_module_open(s->memory, lab_str_text(&s->ptx), s->ptx.len,
                                 lab_str_text(&s->file), &s->module);
    if (st == LAB_E_UNSUPPORTED)
        st = LAB_E_PARSE; /* of the file, not of this machine */
    for (int i = 0; i < o->n_define && !st; i++)
        st = lab_sim_module_define(s->module, o->define[i]);
    if (!st)
        s->text = lab_sim_module_ptx(s->module);
    return st;
}

/* Is `name` the kernel's name in front of its parameters, with or without its
 * scope and template arguments? */
static bool is_called(const char *types, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = types; n && (at = strstr(at, name)); at++) {
        bool begins = at == types || at[-1] == ' ' || at[-1] == ':';
        if (begins && (at[n] == '(' || at[n] == '\0'))
            return true;
    }
    return false;
}

/* Takes the blanks behind commas away, which a person may leave out. */
static void tighten(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++)
        if (*at != ' ' || at == text || at[-1] != ',')
            *to++ = *at;
    *to = '\0';
}

static bool matches(const char *symbol, const char *given)
{
    char base[256];
    char name[512];
    char *types = lab_kernel_demangle(symbol);
    if (!types)
        return false;
    snprintf(name, sizeof(name), "%s", given);
    lab_kernel_short_name(base, sizeof(base), types);
    tighten(name);
    tighten(base);
    tighten(types);
    bool same = strcmp(base, name) == 0 || strcmp(types, name) == 0 ||
                is_called(types, name);
    lab_free(types);
    return same;
}

static enum lab_status no_kernel(struct simulation *s, int found)
{
    struct lab_str list;
    const char *name = s->o->kernel;
    int kernels = 0;
    lab_str_init(&list);
    for (int i = 0; i < s->text->function_count; i++) {
        const struct lab_ptx_function *f = &s->text->functions[i];
        if (!f->entry || f->declared ||
            (found > 1 && name && !matches(f->name, name)))
            continue;
        char *types = lab_kernel_demangle(f->name);
        lab_str_addf(&list, "\n  %s", types ? types : f->name);
        if (found > 1 && name)
            lab_str_addf(&list, "   --kernel %s", f->name);
        lab_free(types);
        kernels++;
    }
    if (kernels == 0)
        lab_fail(LAB_E_NOTFOUND,
                 "[sim.no-kernel] %s has no kernel: a __global__ function; a "
                 "template has to be instantiated",
                 lab_str_text(&s->file));
    else if (found > 1 && name)
        lab_fail(LAB_E_NOTFOUND,
                 "[option.kernel] --kernel '%s' is one of these:%s", name,
                 lab_str_text(&list));
    else if (name)
        lab_fail(LAB_E_NOTFOUND,
                 "[sim.kernel] %s has no kernel '%s'; it has:%s",
                 lab_str_text(&s->file), name, lab_str_text(&list));
    else
        lab_fail(
            LAB_E_NOTFOUND,
            "[sim.kernels] %s has %d kernels, choose one with --kernel%s:%s",
            lab_str_text(&s->file), kernels,
            s->o->grid && s->o->block ? ""
                                      : "; --grid and --block are needed, too",
            lab_str_text(&list));
    lab_str_release(&list);
    return LAB_E_NOTFOUND;
}

static enum lab_status find_kernel(struct simulation *s)
{
    const char *name = s->o->kernel;
    int found = 0;
    for (int i = 0; i < s->text->function_count; i++) {
        const struct lab_ptx_function *f = &s->text->functions[i];
        if (!f->entry || f->declared)
            continue;
        if (name && strcmp(f->name, name) == 0) {
            s->symbol = f->name;
            found = 1;
            break;
        }
        if (!name || matches(f->name, name)) {
            s->symbol = f->name;
            found++;
        }
    }
    if (found != 1)
        return no_kernel(s, found);
    s->types = lab_kernel_demangle(s->symbol);
    if (!s->types)
        return lab_no_memory("the name of a kernel");
    if (name && strcmp(name, s->symbol) != 0)
        snprintf(s->name, sizeof(s->name), "%s", name);
    else
        lab_kernel_short_name(s->name, sizeof(s->name), s->types);
    enum lab_status st = lab_sim_kernel_find(s->module, s->symbol, &s->kernel);
    return st == LAB_E_UNSUPPORTED ? LAB_E_PARSE : st;
}

/* ---- its parameters ---- */

/* As the source has them: it is one of the files that PTX names lines of. */
static enum lab_status find_parameters(struct simulation *s)
{
    int count = lab_sim_kernel_function(s->kernel)->param_count;
    char base[256];
    lab_kernel_short_name(base, sizeof(base), s->types);
    s->parameters = lab_alloc_array((size_t)count + 1, sizeof(*s->parameters));
    if (!s->parameters)
        return lab_no_memory("the parameters of a kernel");
    bool found =
        lab_kernel_parameters(&s->source, s->text, base, s->parameters, count);
    if (!found)
        memset(s->parameters, 0, (size_t)count * sizeof(*s->parameters));
    for (int i = 0; i < s->arg_count && i < count; i++)
        if (s->parameters[i].name[0])
            s->args[i].name = s->parameters[i].name;
    return LAB_OK;
}

/* All that the command line has not, at once. */
static enum lab_status check_missing(const struct simulation *s)
{
    const struct lab_options *o = s->o;
    const struct lab_ptx_function *f = lab_sim_kernel_function(s->kernel);
    struct lab_str takes;
    char args[80] = "";
    enum lab_status st = LAB_OK;
    if (o->grid && o->block)
        return LAB_OK;
    lab_str_init(&takes);
    lab_sim_parameters_add(&takes, f, s->types, s->parameters);
    if (f->param_count > s->arg_count)
        snprintf(args, sizeof(args), ", and %d --arg more, one a parameter",
                 f->param_count - s->arg_count);
    st = lab_fail(LAB_E_USAGE,
                  "[sim.sides] %s%s%s %s needed, one to three numbers, as 256 "
                  "or 16,16%s; the kernel is %s%s",
                  o->grid ? "" : "--grid", o->grid || o->block ? "" : " and ",
                  o->block ? "" : "--block", o->grid || o->block ? "is" : "are",
                  args, s->name, lab_str_text(&takes));
    lab_str_release(&takes);
    return st;
}

/* Before the launch, which may be long. */
static enum lab_status find_parts(struct simulation *s)
{
    for (int i = 0; i < s->o->n_show; i++) {
        enum lab_status st = lab_sim_part_find(&s->parts[i], s->args,
                                               s->arg_count, &s->part_of[i]);
        if (st)
            return lab_fail_context(st, "--show");
    }
    return LAB_OK;
}

/* ---- the launch ---- */

/* Of argument `argument`; the stream of no tensor of a lesson. */
static uint32_t random_word(uint64_t seed, int argument, uint64_t i)
{
    return lab_random_word(seed, (uint32_t)argument, 0x53494du, i);
}

static void print_report(void *arg, const char *text)
{
    struct simulation *s = arg;
    if (s->printed)
        return;
    if (s->o->json) {
        json_t *line = lab_json_new("print");
        lab_json_text(line, "text", text);
        s->printed = lab_json_print(line);
    } else {
        lab_printf(stdout, "%s", text);
        s->printed = lab_print_check();
    }
}

static enum lab_status walk(struct simulation *s,
                            const struct lab_sim_launch *l,
                            const struct lab_sim_options *options)
{
    static const uint32_t first[3] = {0, 0, 0};
    struct lab_kernel_walk w = {.ptx = s->text,
                                .name = s->name,
                                .beside = lab_str_text(&s->file),
                                .prompts = isatty(STDIN_FILENO) != 0};
    enum lab_status st =
        lab_sim_debug_open(s->memory, l, options, first, &w.debug);
    if (!st)
        st = lab_kernel_walk(&w);
    s->walk_found = w.found;
    lab_sim_debug_close(w.debug);
    return st;
}

static enum lab_status check_arguments(const struct simulation *s)
{
    struct lab_str notes;
    lab_str_init(&notes);
    enum lab_status st =
        lab_sim_arguments_check(lab_sim_kernel_function(s->kernel), s->types,
                                s->parameters, s->args, s->arg_count, &notes);
    if (!st && notes.len)
        lab_warn_lines(lab_str_text(&notes));
    lab_str_release(&notes);
    return st;
}

static enum lab_status launch(struct simulation *s)
{
    const struct lab_options *o = s->o;
    struct lab_sim_options options = {
        .checks = s->checks,
        .lines = o->counts,
        .seed = o->seed,
        .budget = o->given.budget ? o->budget : INT64_C(10000000000),
        .threads = o->threads,
        .when = {lab_signals_asked, NULL},
        .device = s->device,
        .print = print_report,
        .print_arg = s,
    };
    const void **values =
        lab_alloc_array((size_t)s->arg_count + 1, sizeof(*values));
    enum lab_status st = values ? LAB_OK : lab_no_memory("arguments");
    if (!st)
        st = check_arguments(s);
    for (int i = 0; i < s->arg_count && !st; i++) {
        struct lab_sim_argument *a = &s->args[i];
        st = lab_sim_argument_make(s->memory, a, i, o->seed, random_word);
        values[i] = a->direction == LAB_SIM_VALUE ? (const void *)a->value
                                                  : (const void *)&a->data;
    }
    struct lab_sim_launch l = {.kernel = s->kernel,
                               .shared_bytes = o->shared,
                               .args = values,
                               .arg_count = s->arg_count};
    for (int i = 0; i < 3; i++) {
        l.grid[i] = (uint32_t)s->grid[i];
        l.block[i] = (uint32_t)s->block[i];
    }
    if (!st)
        st = o->walk ? walk(s, &l, &options)
                     : lab_sim_run(s->memory, &l, &options, &s->result);
    lab_free(values);
    return st ? st : s->printed;
}

/* ---- places ---- */

/* As the user wrote it, where it is the file of the command line. */
static const char *file_of(const struct simulation *s, int32_t file)
{
    struct stat a;
    struct stat b;
    const char *own = lab_str_text(&s->file);
    const char *path =
        file >= 0 && file < s->text->file_count ? s->text->files[file] : NULL;
    bool same = path && stat(path, &a) == 0 && stat(own, &b) == 0 &&
                a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    return same ? own : path;
}

static const struct lab_ptx_place *place_of(const struct simulation *s,
                                            int32_t place)
{
    place =
        place < s->text->place_count ? lab_ptx_user_place(s->text, place) : -1;
    return place >= 0 ? &s->text->places[place] : NULL;
}

/* Line `line` of a file, tabs as blanks; "" where there is none. */
static void add_source(struct simulation *s, int32_t file, int32_t line,
                       struct lab_str *out)
{
    size_t n;
    const char *at =
        lab_kernel_source_line(&s->source, s->text, file, line, &n);
    for (size_t i = 0; i < n && i < SOURCE_COLUMNS && at[i] != '\r'; i++)
        lab_str_add_char(out, at[i] == '\t' ? ' ' : at[i]);
}

/* ---- JSON ---- */

static void json_sides(json_t *line, const char *key, const uint32_t v[3])
{
    lab_json_ints(line, key, (const int64_t[3]){v[0], v[1], v[2]}, 3);
}

static json_t *counts_json(const struct lab_sim_counts *c)
{
    json_t *object = json_object();
#define X(key, title) lab_json_int(object, #key, c->key);
    LAB_SIM_COUNT_LIST(X)
#undef X
    return object;
}

static enum lab_status print_launch_json(const struct simulation *s)
{
    json_t *line = lab_json_new("launch");
    lab_json_text(line, "kernel", s->name);
    lab_json_text(line, "symbol", s->symbol);
    lab_json_text(line, "file", lab_str_text(&s->file));
    lab_json_ints(line, "grid", s->grid, 3);
    lab_json_ints(line, "block", s->block, 3);
    lab_json_int(line, "shared", s->o->shared);
    lab_json_text(line, "device", s->device->name);
    lab_json_uint(line, "seed", s->o->seed);
    json_object_set_new(line, "counts", counts_json(&s->result.counts));
    return lab_json_print(line);
}

static void json_place(json_t *line, const struct simulation *s,
                       const struct lab_sim_where *at)
{
    const struct lab_ptx_place *p = place_of(s, at->place);
    json_t *callers = json_array();
    lab_json_text(line, "file", p ? file_of(s, p->file) : NULL);
    lab_json_int(line, "line", p ? p->line : INT64_MIN);
    for (int32_t up = lab_ptx_caller(s->text, at->place); up >= 0;
         up = lab_ptx_caller(s->text, up)) {
        json_t *call = json_object();
        p = &s->text->places[up];
        lab_json_text(call, "file", file_of(s, p->file));
        lab_json_int(call, "line", p->line);
        json_array_append_new(callers, call);
    }
    json_object_set_new(line, "inlined_at", callers);
    json_sides(line, "block", at->block);
    json_sides(line, "thread", at->thread);
}

static enum lab_status print_finding_json(const struct simulation *s,
                                          const struct lab_sim_finding *f)
{
    json_t *line = lab_json_new("finding");
    lab_json_text(line, "check", lab_sim_check_id(f->check));
    json_place(line, s, &f->at);
    lab_json_int(line, "argument", f->argument >= 0 ? f->argument : INT64_MIN);
    lab_json_word(line, "name", f->name);
    lab_json_ints(line, "index", f->index, (size_t)f->rank);
    if (f->check <= LAB_SIM_UNINITIALISED)
        lab_json_text(line, "access", f->write ? "write" : "read");
    lab_json_int(line, "bytes", f->bytes);
    lab_json_int(line, "times", f->times);
    if (f->has_other) {
        json_t *other = json_object();
        json_place(other, s, &f->other);
        json_object_set_new(line, "other", other);
    }
    lab_json_text(line, "message", f->message);
    lab_json_text(line, "look_at", lab_sim_finding_hint(f));
    return lab_json_print(line);
}

static enum lab_status print_line_json(const struct simulation *s,
                                       const struct lab_sim_line *l)
{
    const struct lab_sim_counts *c = &l->counts;
    json_t *line = lab_json_new("line");
    lab_json_text(line, "file", file_of(s, l->file));
    lab_json_int(line, "line", l->line);
    lab_json_int(line, "executions", c->warp_instructions);
    lab_json_int(line, "lanes", c->lane_instructions);
    lab_json_int(line, "requests", c->global_requests);
    lab_json_int(line, "sectors", c->global_sectors);
    lab_json_int(line, "wavefronts", c->shared_wavefronts);
    lab_json_int(line, "bank_conflicts", c->bank_conflicts);
    json_object_set_new(line, "counts", counts_json(c));
    return lab_json_print(line);
}

static json_t *number_json(const struct lab_sim_argument *a, int64_t i)
{
    char text[LAB_SIM_INTEGER];
    if (!lab_sim_type_is_real(a->type)) {
        const int64_t n = lab_sim_integer_at(a->type, a->data, i);
        /* A parser of JSON has 63 bits at most. */
        return a->type == LAB_SIM_TYPE_ULONG && n < 0
                   ? json_string(
                         lab_sim_integer_text(a->type, a->data, i, text))
                   : json_integer(n);
    }
    double v = lab_sim_real_at(a->type, a->data, i);
    return lab_json_number(v);
}

static enum lab_status print_output_json(const struct simulation *s, int number)
{
    const struct lab_sim_argument *a = &s->args[number];
    json_t *line = lab_json_new("output");
    json_t *data = json_array();
    int64_t first;
    lab_json_int(line, "argument", number);
    lab_json_text(line, "dtype", lab_sim_type_name(a->type));
    lab_json_ints(line, "shape", a->dim, (size_t)a->rank);
    lab_json_int(line, "unwritten",
                 lab_sim_argument_unwritten(s->memory, a, &first));
    for (int64_t i = 0; i < a->count; i++)
        json_array_append_new(data, number_json(a, i));
    json_object_set_new(line, "data", data);
    return lab_json_print(line);
}

static enum lab_status print_json(const struct simulation *s)
{
    const struct lab_sim_result *r = &s->result;
    enum lab_status st = print_launch_json(s);
    for (int32_t i = 0; i < r->finding_count && !st; i++)
        st = print_finding_json(s, &r->findings[i]);
    for (int32_t i = 0; i < r->line_count && !st && s->o->counts; i++)
        st = print_line_json(s, &r->lines[i]);
    for (int i = 0; i < s->arg_count && !st; i++) {
        if (s->args[i].direction >= LAB_SIM_OUT)
            st = print_output_json(s, i);
    }
    if (st)
        return st;
    json_t *line = lab_json_new("end");
    lab_json_int(line, "findings", r->finding_count + r->findings_left_out);
    if (r->stopped)
        lab_json_bool(line, "stopped", true);
    return lab_json_print(line);
}

/* ---- text ---- */

static void add_where(const struct simulation *s, struct lab_str *out,
                      const struct lab_sim_where *at)
{
    const struct lab_ptx_place *p = place_of(s, at->place);
    const char *file = p ? file_of(s, p->file) : NULL;
    if (p)
        lab_str_addf(out, "%s:%d, ", file ? file : "?", p->line);
    else
        lab_str_add(out, "line n/a (PTX without -lineinfo), ");
    lab_str_addf(out, "block (%u,%u,%u), thread (%u,%u,%u)", at->block[0],
                 at->block[1], at->block[2], at->thread[0], at->thread[1],
                 at->thread[2]);
}

/* The line, and a caret below its column. */
static void add_quote(struct simulation *s, struct lab_str *out, int32_t place)
{
    const struct lab_ptx_place *p = place_of(s, place);
    const char *file = p ? file_of(s, p->file) : NULL;
    struct lab_str text;
    lab_str_init(&text);
    if (file)
        add_source(s, p->file, p->line, &text);
    if (text.len) {
        lab_str_addf(out, "%7d | %s\n", p->line, lab_str_text(&text));
        if (p->column > 0 && (size_t)p->column <= text.len)
            lab_str_addf(out, "%7s | %*s^\n", "", p->column - 1, "");
    }
    lab_str_release(&text);
}

/* The line of an access, and those that called the functions it is in. */
static void add_lines(struct simulation *s, struct lab_str *out,
                      const struct lab_sim_where *at)
{
    add_where(s, out, at);
    lab_str_add(out, "\n");
    add_quote(s, out, at->place);
    for (int32_t up = lab_ptx_caller(s->text, at->place); up >= 0;
         up = lab_ptx_caller(s->text, up)) {
        const struct lab_ptx_place *p = &s->text->places[up];
        lab_str_addf(out, "  called at %s:%d\n", file_of(s, p->file), p->line);
        add_quote(s, out, up);
    }
}

static enum lab_status print_finding(struct simulation *s,
                                     const struct lab_sim_finding *f)
{
    struct lab_str out;
    lab_str_init(&out);
    lab_str_addf(&out, "\n%s: %s\n  at ", lab_sim_check_id(f->check),
                 f->message);
    add_lines(s, &out, &f->at);
    if (f->has_other) {
        lab_str_add(&out, "  before: ");
        add_lines(s, &out, &f->other);
    }
    lab_str_addf(&out, "  look at: %s\n", lab_sim_finding_hint(f));
    if (f->times > 1)
        lab_str_addf(&out, "  %s times on this line; this is the first\n",
                     LAB_INT_TEXT(f->times));
    enum lab_status st = lab_str_check(&out, "a finding");
    if (!st)
        lab_print_lines(&out);
    lab_str_release(&out);
    return st ? st : lab_print_check();
}

static enum lab_status print_counts(const struct simulation *s)
{
    static const char *const heads[] = {">count", "of", NULL};
    struct lab_text_table t;
    const struct lab_sim_counts *c = &s->result.counts;
    lab_text_table_init(&t, heads);
#define X(key, title)                                                          \
    if (c->key) {                                                              \
        lab_text_table_add(&t, LAB_INT_TEXT(c->key));                          \
        lab_text_table_add(&t, title);                                         \
    }
    LAB_SIM_COUNT_LIST(X)
#undef X
    return lab_text_table_put(&t, "\n");
}

static enum lab_status print_lines(struct simulation *s)
{
    static const char *const heads[] = {
        ">line",       ">executions", ">lanes", ">requests", ">sectors",
        ">wavefronts", ">conflicts",  "source", NULL};
    const struct lab_sim_result *r = &s->result;
    struct lab_text_table t;
    struct lab_str text;
    lab_text_table_init(&t, heads);
    lab_str_init(&text);
    for (int32_t i = 0; i < r->line_count; i++) {
        const struct lab_sim_line *l = &r->lines[i];
        const struct lab_sim_counts *c = &l->counts;
        const char *file = file_of(s, l->file);
        const int64_t numbers[] = {c->warp_instructions, c->lane_instructions,
                                   c->global_requests,   c->global_sectors,
                                   c->shared_wavefronts, c->bank_conflicts};
        const char *slash = file ? strrchr(file, '/') : NULL;
        if (file && strcmp(file, lab_str_text(&s->file)) == 0)
            lab_text_table_addf(&t, "%d", l->line);
        else
            lab_text_table_addf(&t, "%s:%d",
                                slash  ? slash + 1
                                : file ? file
                                       : "?",
                                l->line);
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            lab_text_table_add_int(&t, numbers[k]);
        lab_str_clear(&text);
        if (file)
            add_source(s, l->file, l->line, &text);
        const char *source = lab_str_text(&text);
        lab_text_table_add(&t, source + strspn(source, " "));
    }
    lab_str_release(&text);
    return lab_text_table_put(&t, "\n");
}

static void add_number(struct lab_str *out, const struct lab_sim_argument *a,
                       int64_t i)
{
    char text[LAB_FORMAT_BYTES];
    if (!lab_sim_type_is_real(a->type))
        lab_str_addf(out, " %s",
                     lab_sim_integer_text(a->type, a->data, i, text));
    else
        lab_str_addf(out, " %s",
                     lab_format_value(lab_sim_real_at(a->type, a->data, i), 9,
                                      text, sizeof(text)));
}

/* A part, in rows along the last axis that begin with the index of their first. */
static void add_part(struct lab_str *out, const struct lab_sim_argument *a,
                     const struct lab_sim_part *p)
{
    const int last = a->rank - 1;
    int64_t at[LAB_SIM_MAX_RANK];
    memcpy(at, p->from, sizeof(at));
    for (int axis = last; axis >= 0;) {
        int64_t i = 0;
        for (int k = 0; k < a->rank; k++)
            i = i * a->dim[k] + at[k];
        if ((at[last] - p->from[last]) % SHOWN_FIRST == 0) {
            lab_str_add(out, "\n  [");
            for (int k = 0; k < a->rank; k++)
                lab_str_addf(out, "%s%" PRId64, k ? "," : "", at[k]);
            lab_str_add(out, "]:");
        }
        add_number(out, a, i);
        for (axis = last; axis >= 0 && ++at[axis] == p->end[axis]; axis--)
            at[axis] = p->from[axis];
    }
}

/* Was a part of it asked for? */
static bool has_part(const struct simulation *s, int number)
{
    for (int i = 0; i < s->o->n_show; i++)
        if (s->part_of[i] == number)
            return true;
    return false;
}

static void add_parts(const struct simulation *s, struct lab_str *out,
                      int number)
{
    for (int i = 0; i < s->o->n_show; i++)
        if (s->part_of[i] == number)
            add_part(out, &s->args[number], &s->parts[i]);
}

/* How the rest can be seen. */
static void add_show_hint(struct lab_str *out, const struct lab_sim_argument *a,
                          int number)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%d", number);
    const char *called = a->name ? a->name : digits;
    lab_str_addf(out,
                 "  %s more: --show '%s[%s]' prints a part, --show %s all\n",
                 LAB_INT_TEXT(a->count - SHOWN_FIRST - SHOWN_LAST), called,
                 a->rank > 1 ? "0" : "8:24", called);
}

/* All of few, in rows that begin with the number of their first. */
static void add_values(struct lab_str *out, const struct lab_sim_argument *a)
{
    bool whole = a->count <= SHOWN_WHOLE;
    bool rows = whole && a->count > SHOWN_FIRST + SHOWN_LAST;
    for (int64_t i = 0; i < a->count; i++) {
        if (i == SHOWN_FIRST && !whole) {
            lab_str_add(out, " ...");
            i = a->count - SHOWN_LAST;
        }
        if (rows && i % SHOWN_FIRST == 0)
            lab_str_addf(out, "\n%6" PRId64 ":", i);
        add_number(out, a, i);
    }
}

static enum lab_status print_output(const struct simulation *s, int number)
{
    const struct lab_sim_argument *a = &s->args[number];
    struct lab_str out;
    int64_t first = 0;
    int64_t n = lab_sim_argument_unwritten(s->memory, a, &first);
    lab_str_init(&out);
    lab_str_addf(&out, "\nargument %d, ", number);
    if (a->name)
        lab_str_addf(&out, "%s, ", a->name);
    lab_sim_shape_add(&out, a);
    lab_str_add(&out, ":");
    if (has_part(s, number))
        add_parts(s, &out, number);
    else
        add_values(&out, a);
    lab_str_add(&out, "\n");
    if (!has_part(s, number) && a->count > SHOWN_WHOLE)
        add_show_hint(&out, a, number);
    if (n > 0)
        lab_str_addf(&out,
                     "  %s of its %s elements were not written; the first is "
                     "number %" PRId64 "\n",
                     LAB_INT_TEXT(n), LAB_INT_TEXT(a->count), first);
    enum lab_status st = lab_str_check(&out, "an output");
    if (!st)
        lab_print_lines(&out);
    lab_str_release(&out);
    return st;
}

static enum lab_status print_text(struct simulation *s)
{
    const struct lab_sim_result *r = &s->result;
    int64_t blocks = s->grid[0] * s->grid[1] * s->grid[2];
    int64_t threads = s->block[0] * s->block[1] * s->block[2];
    int64_t findings = r->finding_count + r->findings_left_out;
    lab_printf(stdout,
               "%s of %s: %s block%s of %s thread%s, on a simulated %s\n",
               s->name, lab_str_text(&s->file), LAB_INT_TEXT(blocks),
               blocks == 1 ? "" : "s", LAB_INT_TEXT(threads),
               threads == 1 ? "" : "s", s->device->name);
    enum lab_status st = print_counts(s);
    if (!st && s->o->counts)
        st = print_lines(s);
    for (int32_t i = 0; i < r->finding_count && !st; i++)
        st = print_finding(s, &r->findings[i]);
    for (int i = 0; i < s->arg_count && !st; i++) {
        if (s->args[i].direction >= LAB_SIM_OUT || has_part(s, i))
            st = print_output(s, i);
    }
    if (st)
        return st;
    if (r->stopped)
        lab_printf(stdout, "\nstopped: this is of a part of the launch\n");
    if (findings)
        lab_printf(stdout, "\n%s finding%s%s\n", LAB_INT_TEXT(findings),
                   findings == 1 ? "" : "s",
                   r->findings_left_out ? " (the first are shown)" : "");
    else if (!r->stopped)
        lab_printf(stdout, "\nnothing found\n");
    return lab_print_check();
}

/* ---- the command ---- */

static enum lab_status simulate(struct simulation *s)
{
    bool here = is_here(s->o->words[0]);
    enum lab_status st =
        s->o->walk && s->o->json
            ? lab_fail(LAB_E_USAGE, "[sim.walk-json] --walk prints lines of "
                                    "text: it has no --json")
        : s->o->n_show && (s->o->walk || s->o->json)
            ? lab_fail(LAB_E_USAGE,
                       "[sim.show-text] --show is of the text after a launch: "
                       "--json has all elements, and --walk has no outputs")
        : here ? read_words(s)
               : LAB_OK;
    if (!st)
        st = read_source(s);
    if (!st)
        st = find_kernel(s);
    if (!st)
        st = find_parameters(s);
    if (!st)
        st = check_missing(s);
    if (!st)
        st = find_parts(s);
    if (!st)
        st = launch(s);
    /* Also of a launch that was stopped: what came before. */
    if ((!st || st == LAB_E_CANCELLED) && !s->o->walk && s->result.counted) {
        enum lab_status printed = s->o->json ? print_json(s) : print_text(s);
        st = printed ? printed : st;
    }
    return st;
}

static int cmd_sim(int argc, char **argv)
{
    struct lab_options o;
    lab_options_parse(&o, argc, argv, &usage);
    lab_signals_catch();
    struct simulation s = {.o = &o};
    lab_str_init(&s.ptx);
    lab_str_init(&s.file);
    lab_kernel_source_init(&s.source, NULL);
    enum lab_status st = simulate(&s);
    bool found = !st && (s.result.finding_count > 0 || s.walk_found);
    int code = st == LAB_E_CANCELLED ? LAB_EXIT_SIGNAL + lab_signals_caught()
               : st                  ? lab_exit_error(st)
               : found               ? LAB_EXIT_CHECK
                                     : LAB_EXIT_DONE;
    lab_sim_result_release(&s.result);
    lab_sim_module_close(s.module);
    lab_sim_memory_close(s.memory);
    lab_free(s.types);
    lab_free(s.args);
    lab_free(s.parts);
    lab_free(s.part_of);
    lab_free(s.parameters);
    lab_kernel_source_release(&s.source);
    lab_str_release(&s.ptx);
    lab_str_release(&s.file);
    return code;
}

const struct lab_cmd lab_cmd_sim = {
    .name = "sim",
    .run = cmd_sim,
    .help = "FILE: any CUDA kernel, thread by thread, checked"};
