/* What the CUDA runtime of the simulator's module chooses by the device: the PTX that
 * a GPU would run, the registers that ptxas counted for it, and how many blocks an SM
 * then holds. */
#include "test.h"

#include <string.h>

#include "base/mem.h"
#include "simcuda_abi.h"
#include "simcuda_priv.h"

/* ---- fat binaries as nvcc writes them ---- */

struct entry {
    uint16_t kind;
    uint16_t version;
    uint32_t header_bytes;
    uint64_t bytes;
    uint32_t compressed_bytes;
    uint32_t options_at;
    uint16_t minor;
    uint16_t major;
    uint32_t arch;
    uint32_t name_at;
    uint32_t name_bytes;
    uint64_t flags;
    char text[16];
};

static struct {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes;
    struct entry entry[3];
} fat;

static struct {
    int32_t magic;
    int32_t version;
    const void *data;
    const void *unused;
} wrapper = {0x466243b1, 1, &fat, NULL};

static void make(void)
{
    static const uint32_t arch[] = {90, 75, 80};
    memset(&fat, 0, sizeof(fat));
    fat.magic = 0xBA55ED50u;
    fat.version = 1;
    fat.header_bytes = 16;
    fat.bytes = sizeof(fat.entry);
    for (int i = 0; i < 3; i++) {
        struct entry *e = &fat.entry[i];
        *e = (struct entry){.kind = 1,
                            .header_bytes = offsetof(struct entry, text),
                            .bytes = sizeof(e->text),
                            .arch = arch[i]};
        snprintf(e->text, sizeof(e->text), "// for %u", arch[i]);
    }
}

static const char *text_for(const struct simcuda_images *images, int capability)
{
    return simcuda_image(images, capability)->text;
}

TEST_CASE(a_gpu_has_the_newest_ptx_that_it_can_run)
{
    char why[128];
    make();
    struct simcuda_images *images = simcuda_images(&wrapper, why, sizeof(why));
    assert_non_null(images);
    assert_int_equal(images->count, 3);
    assert_string_equal(text_for(images, 75), "// for 75");
    assert_string_equal(text_for(images, 80), "// for 80");
    assert_string_equal(text_for(images, 89), "// for 80");
    assert_string_equal(text_for(images, 90), "// for 90");
    assert_string_equal(text_for(images, INT32_MAX), "// for 90");
    /* Where all is too new: a source that is the same for every GPU. */
    assert_string_equal(text_for(images, 70), "// for 90");
    simcuda_images_free(images);
}

TEST_CASE(what_is_cut_off_or_compressed_is_refused)
{
    char why[128];
    make();
    fat.entry[1].bytes = UINT64_MAX - 8; /* the first alone can be read */
    struct simcuda_images *images = simcuda_images(&wrapper, why, sizeof(why));
    assert_int_equal(images->count, 1);
    simcuda_images_free(images);
    make();
    fat.entry[2].flags = 0x8000;
    assert_null(simcuda_images(&wrapper, why, sizeof(why)));
    assert_string_equal(why, "PTX that is compressed");
    make();
    for (int i = 0; i < 3; i++)
        fat.entry[i].kind = 2; /* machine code */
    assert_null(simcuda_images(&wrapper, why, sizeof(why)));
    assert_string_equal(why, "a fat binary without PTX");
    fat.magic = 1;
    assert_null(simcuda_images(&wrapper, why, sizeof(why)));
    assert_string_equal(why, "a fat binary of an unknown kind");
}

/* ---- registers ---- */

#define SOURCE "kernels/dense/dense.cu"
static const struct simcuda_ptxas rows[] = {
    {SOURCE, "product", 75, false, 40, 0},
    {SOURCE, "product", 80, false, 72, 16},
    {SOURCE, "product", 86, false, 80, 0},
    {SOURCE, "product", 90, true, 96, 0},
    {"kernels/gemm/tile.cu", "product", 80, false, 255, 0},
};

static int registers_on(const char *device)
{
    const struct simcuda_ptxas *p =
        simcuda_ptxas_of("/build/" SOURCE, "product", lab_sim_device(device));
    return p ? p->registers : -1;
}

TEST_CASE(registers_are_those_of_the_code_that_a_gpu_runs)
{
    simcuda_ptxas = rows;
    simcuda_ptxas_count = 5;
    assert_int_equal(registers_on("NVIDIA T4"), 40);   /* 7.5 */
    assert_int_equal(registers_on("NVIDIA A100"), 72); /* 8.0: not 8.6's */
    assert_int_equal(registers_on("NVIDIA L40S"), 80); /* 8.9 */
    assert_int_equal(registers_on("NVIDIA H200"), 96); /* 9.0, of 90a */
    simcuda_ptxas_count = 1;
    assert_int_equal(registers_on("NVIDIA A100"), -1);
    assert_null(simcuda_registers_missing(lab_sim_device("NVIDIA T4")));
    assert_non_null(
        strstr(simcuda_registers_missing(lab_sim_device("NVIDIA A100")),
               "no machine code for that device"));
    simcuda_ptxas_count = 0;
    assert_non_null(strstr(
        simcuda_registers_missing(lab_sim_device("NVIDIA T4")), "PTX alone"));
}

/* ---- occupancy ---- */

static const struct lab_sim_device *device(void)
{
    return lab_sim_device("NVIDIA A100");
}

static enum lab_status facts(const struct lab_sim_image *image,
                             const char *kernel,
                             struct lab_sim_kernel_facts *out)
{
    (void)image;
    (void)kernel;
    *out = (struct lab_sim_kernel_facts){.shared_bytes = 2048,
                                         .max_threads = 1024};
    return LAB_OK;
}

TEST_CASE(an_sm_holds_as_many_blocks_as_its_registers_allow)
{
    static const struct lab_sim_host host = {
        .error = lab_error, .device = device, .facts = facts};
    static char stub;
    static char path[] = SOURCE;
    static char name[] = "product";
    int blocks = 0;
    make();
    void **handle = __cudaRegisterFatBinary(&wrapper);
    assert_non_null(handle);
    struct simcuda_images *images = (struct simcuda_images *)(void *)handle;
    for (int i = 0; i < images->count; i++) {
        lab_free((void *)(uintptr_t)images->image[i].name);
        images->image[i].name = lab_strdup(path);
    }
    simcuda_host = &host;
    __cudaRegisterFunction(handle, &stub, name, name, -1, NULL, NULL, NULL,
                           NULL, NULL);
    /* 256 threads are 8 warps. Without registers the warps limit: 64 / 8 = 8. */
    simcuda_ptxas_count = 0;
    assert_int_equal(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 256, 0),
        cudaSuccess);
    assert_int_equal(blocks, 8);
    /* 72 registers are 72 * 32 = 2304 a warp, a multiple of 256. A quarter of the SM
     * has 16384: 7 warps. All four hold 28, and 28 / 8 = 3 blocks. */
    simcuda_ptxas_count = 5;
    assert_int_equal(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub, 256, 0),
        cudaSuccess);
    assert_int_equal(blocks, 3);
    struct cudaFuncAttributes a;
    assert_int_equal(cudaFuncGetAttributes(&a, &stub), cudaSuccess);
    assert_int_equal(a.numRegs, 72);
    __cudaUnregisterFatBinary(handle);
}

RUN_TESTS()
