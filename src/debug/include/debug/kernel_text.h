/* debug/kernel_text.h -- words and lines of a kernel that is walked, for lines of
 * text and for a screen. Threads: one. */
#pragma once
#include "base/str.h"
#include "sim/argument.h"
#include "sim/debug.h"

/* A source file, read when a line of it is asked for. */
struct lab_kernel_source {
    const char
        *beside; /* a path: files are looked for in its folder, too; or NULL */
    struct lab_str text;
    int32_t file; /* into lab_ptx.files; -1: none */
    int32_t lines;
};

/* A place in a step to go to. */
struct lab_kernel_goal {
    char name[128]; /* of the kernel, as a person calls it; "": none */
    int launch;     /* of the step, from 1: it may launch one kernel twice */
    uint32_t block[3];
};

LAB_C_BEGIN
/* `beside` must outlive it. */
void lab_kernel_source_init(struct lab_kernel_source *s, const char *beside);
void lab_kernel_source_release(struct lab_kernel_source *s);
/* The name of a kernel as a person calls it, of its symbol in the PTX. */
void lab_kernel_name(const char *symbol, char *out, size_t cap);
/* The text of a line, from 1, and its length; it ends where the file does, with
 * length 0. Until the next call. Not made safe for a terminal. */
const char *lab_kernel_source_line(struct lab_kernel_source *s,
                                   const struct lab_ptx *ptx, int32_t file,
                                   int32_t line, size_t *n);
/* "source not found: /src/kernels/dense/dense.cu", of a file that has no line. */
void lab_kernel_source_missing_add(struct lab_str *out,
                                   const struct lab_ptx *ptx, int32_t file);
/* "dense.cu"; "?": not known. */
const char *lab_kernel_source_name(const struct lab_ptx *ptx, int32_t file);

/* A picture of a tensor that a kernel writes: its last dimension along x, all others
 * along y, and a cell for each[0] x each[1] elements. */
struct lab_kernel_picture {
    int64_t rows;
    int64_t columns;
    int each[2];
    int w; /* cells */
    int h;
    int64_t written; /* elements */
    int lanes; /* elements that the last store of the warp in focus touched */
    int64_t from[32];
    int64_t end[32];
};
/* In at most w x h cells. */
void lab_kernel_picture_make(struct lab_kernel_picture *p,
                             const struct lab_sim_debug *d,
                             const struct lab_sim_written *t, int w, int h);
/* A cell's sign: the warp of the block in focus that wrote there, 0 to 9 and a to v, or
 * # where several of its warps did; another block's + x * =, by turns, so that its tile
 * has an edge; . no block that was walked. *warp is -1 but for one warp of the block in
 * focus. *now: of the elements are some that the warp in focus has touched last. */
char lab_kernel_picture_sign(const struct lab_kernel_picture *p,
                             const struct lab_sim_debug *d,
                             const struct lab_sim_written *t, int x, int y,
                             int *warp, bool *now);
/* "C [64,64]: 256 of 4096 elements are written". */
void lab_kernel_picture_head(struct lab_str *out,
                             const struct lab_kernel_picture *p,
                             const struct lab_sim_written *t);
/* The parameters of the kernel `name`, which has `count`, as the first of the files that
 * the PTX names has them. false: none has, or it cannot be read. */
bool lab_kernel_parameters(struct lab_kernel_source *s,
                           const struct lab_ptx *ptx, const char *name,
                           struct lab_sim_parameter *out, int count);
/* The instruction of a line of the PTX and its function; NULL: none is there. */
const struct lab_ptx_function *lab_kernel_instruction(const struct lab_ptx *ptx,
                                                      int32_t text_line,
                                                      int32_t *number);
/* "@%p1 ld.global.f32 %f1, [%rd4+8]", as the PTX has it but for targets of branches,
 * which are lines of the PTX, constants, which are decimal, and parameters of a
 * kernel, "param_0", without its name. */
void lab_kernel_instruction_add(struct lab_str *out,
                                const struct lab_ptx_function *f,
                                const struct lab_ptx_instr *in);
/* The first finding behind `i` that is of another check or line; n: none. */
int32_t lab_kernel_same_finding(const struct lab_sim_finding *f, int32_t n,
                                int32_t i);
bool lab_kernel_is_global(const struct lab_sim_access_view *v);
/* The lanes whose access took place: not those that a finding stopped. */
uint32_t lab_kernel_inside(const struct lab_sim_access_view *v);
/* "x[0,3]"; in no memory with a name, the address: false. */
bool lab_kernel_element_add(struct lab_str *out, const struct lab_sim_debug *d,
                            uint64_t address);
/* What a lane touched: "fc1.W[3,17]", "byte 128" of shared memory. */
void lab_kernel_place_add(struct lab_str *out, const struct lab_sim_debug *d,
                          const struct lab_sim_access_view *v, int lane);
/* "race at sums.cu:9, block (0,0,0), thread (1,0,0): ... Look at: ...". */
void lab_kernel_finding_add(struct lab_str *out, const struct lab_ptx *ptx,
                            const struct lab_sim_finding *f);
/* The same of the step that the checks stopped last: kernel, place, tensor and
 * element, how many more, and what to look at; and where in its launch it is. false:
 * none was stopped. Any thread. */
bool lab_kernel_found(struct lab_str *out, struct lab_kernel_goal *goal);
/* "relu_forward: 65,536 instructions of warps so far", of the launch that runs now, and
 * how long it has run; false: none does. Any thread. */
bool lab_kernel_running(struct lab_str *out, int64_t *ns);
/* The words that go there: `into` and, inside, those of kernel_walk.h. */
void lab_kernel_way_add(struct lab_str *out,
                        const struct lab_kernel_goal *goal);
/* "3", "3,1" or "3,1,0". LAB_E_PARSE. */
enum lab_status lab_kernel_read_three(const char *text, uint32_t out[3]);
/* "reads x[0,0] to x[0,63]: 64 elements" and "writes ...", each followed by `end`:
 * what a thread of the block touches in global memory, run after run of neighbours.
 * Runs the block. */
enum lab_status lab_kernel_elements_add(struct lab_str *out,
                                        struct lab_sim_debug *d, int warp,
                                        int lane, const char *end);
/* "line 33: 32 lanes read 4 bytes each of global memory, x[0] to x[31]: 4 sectors
 * of 32 bytes"; nothing where none touched any. Behind it ", 1 lane outside: 4 bytes
 * after the end of x" where a finding stopped some. */
void lab_kernel_access_add(struct lab_str *out, const struct lab_sim_debug *d,
                           const struct lab_ptx *ptx,
                           const struct lab_sim_access_view *v);
LAB_C_END
