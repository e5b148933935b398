/* engine/sim_backend.h -- the backend "sim": our CUDA kernels on a GPU inside the
 * program (sim/gpu.h). What is particular to it, beside engine/backend.h. */
#pragma once
#include "engine/backend.h"
#include "sim/gpu.h"

/* What the checks found first in the last step that they stopped. */
struct lab_sim_backend_found {
    char kernel[LAB_SIM_NAME]; /* as in the PTX */
    int launch;                /* of the step, from 1 */
    struct lab_sim_finding first;
    char file[256]; /* "": not known */
    int line;
    char callers[LAB_SIM_CALLERS]; /* of lab_sim_callers_text() */
    int count;
};

/* An output that the kernels of a call left in part as it was. */
struct lab_sim_backend_left {
    char name[LAB_SIM_NAME];
    int argument; /* of the call: inputs, then outputs */
    int64_t elements;
    int64_t unwritten; /* of them */
    int rank;
    int64_t index[LAB_SIM_MAX_RANK]; /* of the first unwritten one */
    char message[256];
};

/* A launch that runs now. */
struct lab_sim_backend_running {
    char kernel[LAB_SIM_NAME * 4]; /* as in the PTX */
    int launch;                    /* of the step, from 1 */
    int64_t executed;              /* instructions of warps so far */
    int64_t ns;                    /* how long, by the host's clock */
};

/* Instructions of warps that a launch may take, unless the caller sets another number.
 * A lesson's: 7 times those of the largest launch of a shipped one (142 million: dW of
 * cnn-mnist), which a core executes in 3 s of a bare loop and in 50 s of one that reads
 * and writes memory. A lab's sizes are the caller's. */
#define LAB_SIM_LESSON_BUDGET INT64_C(1000000000)
#define LAB_SIM_LAB_BUDGET INT64_C(10000000000)

LAB_C_BEGIN
/* Of any such backend; false: none runs. Any thread. */
bool lab_sim_backend_running(struct lab_sim_backend_running *out);
/* LAB_E_CHECK, with a sentence and for lab_sim_backend_found(): a stop came within a
 * launch of the last call. LAB_OK: none did, or it is another backend. */
enum lab_status lab_sim_backend_stopped(struct lab_backend *be);
/* Of backends that are opened from now on: instructions of warps that a launch may
 * take, 0: any number. Not while another thread opens one. */
void lab_sim_backend_budget(int64_t instructions);
/* Of any such backend; false: none was stopped. Any thread. */
bool lab_sim_backend_found(struct lab_sim_backend_found *out);

/* Backends that are opened from now on have this device's limits; NULL: the
 * newest known. LAB_E_USAGE with the names that there are. Not while another
 * thread opens one. */
enum lab_status lab_sim_backend_model(const char *name);
/* Why the chosen device's launches have no registers and no occupancy; NULL: those
 * of kernels that nvcc compiled for it have. */
const char *lab_sim_backend_registers_missing(void);
/* The GPU of an open backend "sim"; NULL for another one. */
struct lab_sim_gpu *lab_sim_backend_gpu(struct lab_backend *be);
/* Output number i of those that the last call left in part unwritten; false: there are
 * no more. */
bool lab_sim_backend_left(struct lab_backend *be, int i,
                          struct lab_sim_backend_left *out);
/* Called after every launch of every such backend, on the thread that runs it;
 * NULL: not called. One listener for the process. Not while a backend runs. */
void lab_sim_backend_listen(
    void (*launched)(void *user, const struct lab_sim_gpu_launched *of),
    void *user);
/* Called before every launch of every such backend, on the thread that runs it,
 * which goes on when it returns; NULL: not called. One for the process. */
void lab_sim_backend_before(void (*call)(void *user,
                                         const struct lab_sim_gpu_call *of),
                            void *user);
LAB_C_END
