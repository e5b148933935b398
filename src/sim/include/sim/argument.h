/* sim/argument.h -- a kernel's arguments, written as words.
 *
 *   int:5  float:2.5  half:0.1          a value
 *   in:float[32,33]=random              memory that the kernel reads
 *   inout:float[1024]=@x.npy            memory that it reads and writes
 *   out:float[1024]                     memory that nothing has written yet
 *
 * A number of dimensions up to LAB_SIM_MAX_RANK, outermost first. `random` (the
 * default) is uniform in [-1, 1), of integers from 0 to 9; `zero`; `iota` is 0, 1,
 * 2, ...; a number; @FILE.npy. Threads: one. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"
#include "sim/sim.h"

/* name, bytes, bits of the exponent (0: an integer), of the fraction, signed */
#define LAB_SIM_TYPE_LIST(X)                                                   \
    X(FLOAT, "float", 4, 8, 23, true)                                          \
    X(DOUBLE, "double", 8, 11, 52, true)                                       \
    X(HALF, "half", 2, 5, 10, true)                                            \
    X(BFLOAT16, "bfloat16", 2, 8, 7, true)                                     \
    X(INT, "int", 4, 0, 0, true)                                               \
    X(UNSIGNED, "unsigned", 4, 0, 0, false)                                    \
    X(LONG, "long", 8, 0, 0, true)                                             \
    X(ULONG, "ulong", 8, 0, 0, false)                                          \
    X(SHORT, "short", 2, 0, 0, true)                                           \
    X(USHORT, "ushort", 2, 0, 0, false)                                        \
    X(CHAR, "char", 1, 0, 0, true)                                             \
    X(UCHAR, "uchar", 1, 0, 0, false)                                          \
    X(BOOL, "bool", 1, 0, 0, false)
enum lab_sim_type {
#define X(code, ...) LAB_SIM_TYPE_##code,
    LAB_SIM_TYPE_LIST(X)
#undef X
        LAB_SIM_TYPE_COUNT
};

enum lab_sim_direction {
    LAB_SIM_VALUE,
    LAB_SIM_IN,
    LAB_SIM_OUT,
    LAB_SIM_INOUT
};

enum lab_sim_fill {
    LAB_SIM_FILL_NONE,
    LAB_SIM_FILL_RANDOM,
    LAB_SIM_FILL_IOTA,
    LAB_SIM_FILL_NUMBER, /* `zero`, too */
    LAB_SIM_FILL_FILE
};

struct lab_sim_argument {
    const char *spec; /* as it was written; not owned */
    const char *name; /* of the parameter; NULL: not known. Not owned */
    enum lab_sim_direction direction;
    enum lab_sim_type type;
    int rank; /* of memory, from 1 */
    int64_t dim[LAB_SIM_MAX_RANK];
    int64_t count;
    enum lab_sim_fill fill;
    const char *file; /* in `spec` */
    unsigned char
        value[8]; /* of a value and of LAB_SIM_FILL_NUMBER: its bits */
    void *data;   /* of memory: where the kernel finds it */
};

/* A part of an argument, "y[3,16:32]", as words: an index, `:` for a whole axis or FROM:END
 * for an axis from FROM to before END; negative numbers count from the end, and axes that
 * are missing are whole. */
struct lab_sim_part {
    const char *spec; /* as it was written; not owned */
    int name_bytes;   /* of `spec`: the argument */
    int rank;         /* of what was written */
    int64_t from[LAB_SIM_MAX_RANK];
    int64_t end[LAB_SIM_MAX_RANK];
};

/* A kernel's parameter as its source writes it; "" is not known. */
struct lab_sim_parameter {
    char type[96]; /* "const float *" */
    char name[40];
};

/* An array in shared memory as its source declares it. */
struct lab_sim_array {
    int type; /* of a number of it, enum lab_sim_type; -1: not known */
    int element_bytes;
    int rank;
    int64_t dim[LAB_SIM_MAX_RANK];
};

/* A random word: number i of argument `argument`. */
typedef uint32_t lab_sim_word_fn(uint64_t seed, int argument, uint64_t i);

LAB_C_BEGIN
/* Reads one. `spec` must live on. LAB_E_USAGE: it is no such word, and why. */
enum lab_status lab_sim_argument_read(const char *spec,
                                      struct lab_sim_argument *out);

/* Reads one. `spec` must live on. LAB_E_USAGE: it is no such word. */
enum lab_status lab_sim_part_read(const char *spec, struct lab_sim_part *out);
/* Which of the arguments it is a part of, by name or by number from 0, and all axes of
 * that with both ends from 0. LAB_E_RANGE: of none, of a value, outside, or empty. */
enum lab_status lab_sim_part_find(struct lab_sim_part *part,
                                  const struct lab_sim_argument *args,
                                  int count, int *number);

/* The parameters of the kernel `name`, which has `count`, in the text of a source;
 * false where that defines no such kernel. Of several of one name (overloads, #if)
 * what they agree on. */
bool lab_sim_source_parameters(const char *text, size_t bytes, const char *name,
                               struct lab_sim_parameter *out, int count);

/* The array `name` of `total` bytes in shared memory that a text declares; total -1: of
 * dynamic shared memory, of rank 1. `given`: lines "#define NAME 32" that hold before the
 * text, or NULL. `scope`: the demangled name that the array's is behind, "void k<32>(int)",
 * or NULL. Its sides are numbers, constants that the text has, or parameters of a template
 * that the scope has; the first one, and the size of an element, may follow from the
 * others. false: there is none, several that differ, or one whose sides are not known. */
bool lab_sim_source_array(const char *text, size_t bytes, const char *given,
                          const char *scope, const char *name, int64_t total,
                          struct lab_sim_array *out);

/* "(float const* x, int n)", or with the types of PTX. `types` and `source` as below. */
void lab_sim_parameters_add(struct lab_str *out,
                            const struct lab_ptx_function *kernel,
                            const char *types,
                            const struct lab_sim_parameter *source);

/* Do they fit the kernel's parameters, in number, kind, bytes and, where it is known,
 * in the size of what a pointer points to? `types` is the kernel's demangled name, or
 * NULL: it has the types of C++. `source` is its parameters in the source, or NULL.
 * LAB_E_RANGE with the parameters that it takes. `notes` gets a line for each memory of
 * whole numbers that is read as real ones, or the other way. */
enum lab_status lab_sim_arguments_check(const struct lab_ptx_function *kernel,
                                        const char *types,
                                        const struct lab_sim_parameter *source,
                                        const struct lab_sim_argument *args,
                                        int count, struct lab_str *notes);

/* Takes memory for an argument, fills and labels it; a value needs none. LAB_E_RANGE:
 * more than this machine has, or the file does not fit. LAB_E_IO, LAB_E_PARSE: the
 * file. */
enum lab_status lab_sim_argument_make(struct lab_sim_memory *m,
                                      struct lab_sim_argument *a, int number,
                                      uint64_t seed, lab_sim_word_fn *random);

/* How many elements of its memory nothing has written, and the first of them. */
int64_t lab_sim_argument_unwritten(struct lab_sim_memory *m,
                                   const struct lab_sim_argument *a,
                                   int64_t *first);

const char *lab_sim_type_name(enum lab_sim_type type);
int lab_sim_type_bytes(enum lab_sim_type type);
/* The type that words of C++ name, of a number of float4 too; -1: none of these. */
int lab_sim_type_of_words(const char *text, size_t n);
bool lab_sim_type_is_real(enum lab_sim_type type);
/* Element i at `data` as a double, of an integer too. */
double lab_sim_real_at(enum lab_sim_type type, const void *data, int64_t i);
/* Element i of integers; ULONG's bits as they are. */
int64_t lab_sim_integer_at(enum lab_sim_type type, const void *data, int64_t i);
/* The same in words, at least LAB_SIM_INTEGER long: of ULONG without a sign. */
enum { LAB_SIM_INTEGER = 24 };
const char *lab_sim_integer_text(enum lab_sim_type type, const void *data,
                                 int64_t i, char *out);
/* "float[32,33]" */
void lab_sim_shape_add(struct lab_str *out, const struct lab_sim_argument *a);
LAB_C_END
