/* Theoretical occupancy against hand-made cases and, where the toolkit's header
 * is there, against NVIDIA's own calculation over thousands of launches. */
#include "test.h"

#include "profiler/occupancy.h"
#include "trace/record.h"

struct chip {
    int major;
    int minor;
    int threads;
    int blocks;
    int shared_kib;
    int optin_kib;
    int sms;
};

static const struct chip chips[] = {
    {7, 0, 2048, 32, 96, 96, 80},     {7, 5, 1024, 16, 64, 64, 40},
    {8, 0, 2048, 32, 164, 163, 108},  {8, 6, 1536, 16, 100, 99, 84},
    {8, 9, 1536, 24, 100, 99, 128},   {9, 0, 2048, 32, 228, 227, 132},
    {10, 0, 2048, 32, 228, 227, 148}, {12, 0, 1536, 24, 100, 99, 170},
};
enum { CHIPS = sizeof(chips) / sizeof(chips[0]) };

static struct lab_device_info info_of(const struct chip *c)
{
    return (struct lab_device_info){
        .name = "test",
        .compute_major = c->major,
        .compute_minor = c->minor,
        .sm_count = c->sms,
        .max_threads_per_sm = c->threads,
        .max_warps_per_sm = c->threads / 32,
        .max_blocks_per_sm = c->blocks,
        .warp_size = 32,
        .max_registers_per_sm = 65536,
        .max_shared_per_sm_bytes = (int64_t)c->shared_kib * 1024,
        .max_shared_per_block_optin_bytes = (int64_t)c->optin_kib * 1024,
    };
}

static struct lab_occupancy_device device_of(const struct chip *c)
{
    struct lab_device_info info = info_of(c);
    struct lab_occupancy_device d;
    assert_ok(lab_occupancy_device_init(&d, &info));
    return d;
}

static const struct chip *hopper(void)
{
    return &chips[5];
}

static struct lab_occupancy compute(const struct chip *c,
                                    struct lab_occupancy_launch l)
{
    struct lab_occupancy_device d = device_of(c);
    struct lab_occupancy o;
    assert_ok(lab_occupancy_compute(&o, &d, &l));
    return o;
}

/* The first trap: 16 KiB of static shared memory, 128 threads, 64 registers.
 * A zeroed state read as "most L1" gives 6.25 %; the truth is 50 %. */
TEST_CASE(carveout_left_out_is_the_drivers_choice)
{
    struct lab_occupancy_launch l = {.launch.block = {128, 1, 1},
                                     .launch.registers_per_thread = 64,
                                     .launch.static_shared_bytes = 16384};
    struct lab_occupancy o = compute(hopper(), l);
    assert_int_equal(o.active_blocks_per_sm, 8);
    assert_true(o.occupancy_pct == 50.0);
    assert_int_equal(o.limit, LAB_LIMIT_REGISTERS);
    l.carveout_pct = LAB_CARVEOUT_MAX_L1;
    o = compute(hopper(), l);
    assert_true(o.occupancy_pct == 6.25);
    assert_int_equal(o.limit, LAB_LIMIT_SHARED);
}

/* The second trap: a kernel with 200 KiB has opted in, or it had not run. */
TEST_CASE(large_shared_memory_is_opted_in)
{
    struct lab_occupancy_launch l = {.launch.block = {384, 1, 1},
                                     .launch.registers_per_thread = 168,
                                     .launch.dynamic_shared_bytes = 200 * 1024};
    struct lab_occupancy o = compute(hopper(), l);
    assert_int_equal(o.active_blocks_per_sm, 1);
    assert_true(o.occupancy_pct == 18.75);
    assert_true(o.limit & LAB_LIMIT_SHARED);
    l.no_shared_optin = true;
    o = compute(hopper(), l);
    assert_int_equal(o.active_blocks_per_sm, 0);
    assert_true(o.occupancy_pct == 0.0);
    assert_true(isnan(o.waves));
}

TEST_CASE(every_resource_can_be_the_limit)
{
    struct lab_occupancy_launch l = {.launch.block = {1024, 1, 1},
                                     .launch.registers_per_thread = 16};
    assert_int_equal(compute(hopper(), l).limit, LAB_LIMIT_WARPS);
    l.launch.block[0] = 32;
    assert_int_equal(compute(hopper(), l).limit, LAB_LIMIT_BLOCKS);
    assert_int_equal(compute(hopper(), l).active_warps_per_sm, 32);
    l.launch.block[0] = 256;
    l.launch.registers_per_thread = 255;
    assert_int_equal(compute(hopper(), l).limit, LAB_LIMIT_REGISTERS);
    assert_int_equal(compute(hopper(), l).active_blocks_per_sm, 1);
    l.launch.registers_per_thread = 16;
    l.barriers = 16;
    l.launch.block[0] = 64;
    struct lab_occupancy o = compute(hopper(), l);
    assert_int_equal(o.limit, LAB_LIMIT_BARRIERS);
    assert_int_equal(o.active_blocks_per_sm, 4);
}

TEST_CASE(a_small_grid_is_a_limit_of_its_own)
{
    struct lab_occupancy_launch l = {.launch.block = {256, 1, 1},
                                     .launch.registers_per_thread = 32,
                                     .launch.grid = {8 * 132 - 1, 1, 1}};
    struct lab_occupancy o = compute(hopper(), l);
    assert_int_equal(o.wave_blocks, 8 * 132);
    assert_int_equal(o.limit,
                     LAB_LIMIT_WARPS | LAB_LIMIT_REGISTERS | LAB_LIMIT_GRID);
    l.launch.grid[0]++;
    o = compute(hopper(), l);
    assert_int_equal(o.limit, LAB_LIMIT_WARPS | LAB_LIMIT_REGISTERS);
    assert_true(o.waves == 1.0);
    l.launch.grid[0] = 0;
    assert_true(isnan(compute(hopper(), l).waves));
    memcpy(l.launch.cluster, (int64_t[]){5, 1, 1}, sizeof(l.launch.cluster));
    assert_int_equal(compute(hopper(), l).wave_blocks, 8 * 132 / 5 * 5);
}

TEST_CASE(bad_input_is_refused)
{
    struct lab_device_info info = info_of(hopper());
    struct lab_occupancy_device d;
    struct lab_occupancy o = {.active_blocks_per_sm = 77};
    assert_ok(lab_occupancy_device_init(&d, &info));
    struct lab_occupancy_launch bad[] = {
        {.launch.block = {0, 1, 1}},
        {.launch.block = {-1, 1, 1}},
        {.launch.block = {32, 1, 1}, .launch.registers_per_thread = -1},
        {.launch.block = {32, 1, 1}, .launch.static_shared_bytes = -1},
        {.launch.block = {32, 1, 1}, .launch.dynamic_shared_bytes = INT64_MAX},
        {.launch.block = {32, 1, 1}, .carveout_pct = 101},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(lab_occupancy_compute(&o, &d, &bad[i]), LAB_E_ARG);
    assert_int_equal(o.active_blocks_per_sm, 77);
    struct lab_occupancy_launch huge = {.launch.block = {INT32_MAX, 1, 1}};
    assert_ok(lab_occupancy_compute(&o, &d, &huge));
    assert_int_equal(o.active_blocks_per_sm, 0);
    info.compute_major = 0; /* a CPU */
    assert_int_equal(lab_occupancy_device_init(&d, &info), LAB_E_UNSUPPORTED);
    info.compute_major = 13; /* not invented */
    assert_int_equal(lab_occupancy_device_init(&d, &info), LAB_E_UNSUPPORTED);
    info = info_of(hopper());
    info.max_registers_per_sm = 0;
    assert_int_equal(lab_occupancy_device_init(&d, &info), LAB_E_UNSUPPORTED);
}

TEST_CASE(limits_have_words)
{
    char text[64];
    lab_occupancy_limit_text(text, sizeof(text),
                             LAB_LIMIT_REGISTERS | LAB_LIMIT_SHARED);
    assert_string_equal(text, "registers, shared memory");
    lab_occupancy_limit_text(text, sizeof(text), LAB_LIMIT_NONE);
    assert_string_equal(text, "");
    lab_occupancy_limit_text(text, 8, LAB_LIMIT_REGISTERS);
    assert_int_equal(strlen(text), 7);
}

#ifdef LAB_HAVE_CUDA_OCCUPANCY
#include <cuda_occupancy.h>

static struct cudaOccDeviceProp nvidia_device(const struct chip *c)
{
    return (struct cudaOccDeviceProp){
        .computeMajor = c->major,
        .computeMinor = c->minor,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiprocessor = c->threads,
        .regsPerBlock = 65536,
        .regsPerMultiprocessor = 65536,
        .warpSize = 32,
        .sharedMemPerBlock = 49152,
        .sharedMemPerMultiprocessor = (size_t)c->shared_kib * 1024,
        .numSms = c->sms,
        .sharedMemPerBlockOptin = (size_t)c->optin_kib * 1024,
        .reservedSharedMemPerBlock = c->major >= 8 ? 1024 : 0,
    };
}

static int nvidia_limits(unsigned factors)
{
    return (factors & OCC_LIMIT_WARPS ? LAB_LIMIT_WARPS : 0) |
           (factors & OCC_LIMIT_REGISTERS ? LAB_LIMIT_REGISTERS : 0) |
           (factors & OCC_LIMIT_SHARED_MEMORY ? LAB_LIMIT_SHARED : 0) |
           (factors & OCC_LIMIT_BLOCKS ? LAB_LIMIT_BLOCKS : 0);
}

static void check_launch(const struct chip *c, struct lab_occupancy_launch l)
{
    struct cudaOccDeviceProp p = nvidia_device(c);
    struct cudaOccFuncAttributes a = {
        .maxThreadsPerBlock = 1024,
        .numRegs = (int)l.launch.registers_per_thread,
        .sharedSizeBytes = (size_t)l.launch.static_shared_bytes,
        .shmemLimitConfig = l.no_shared_optin ? FUNC_SHMEM_LIMIT_DEFAULT
                                              : FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = (size_t)l.launch.dynamic_shared_bytes,
        .numBlockBarriers = l.barriers,
    };
    struct cudaOccDeviceState s = {
        .carveoutConfig = l.carveout_pct == 0  ? SHAREDMEM_CARVEOUT_DEFAULT
                          : l.carveout_pct < 0 ? 0
                                               : l.carveout_pct,
    };
    struct cudaOccResult r = {0};
    cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(
        &r, &p, &a, &s, (int)l.launch.block[0],
        (size_t)l.launch.dynamic_shared_bytes);
    struct lab_occupancy o = compute(c, l);
    if (e != CUDA_OCC_SUCCESS) { /* more than the chip can be asked for */
        assert_int_equal(o.active_blocks_per_sm, 0);
        return;
    }
    int blocks = r.activeBlocksPerMultiprocessor;
    if (o.active_blocks_per_sm != blocks)
        fail_msg("sm_%d%d threads %d registers %d shared %d+%d carveout %d "
                 "optin %d: %d blocks, not %d",
                 c->major, c->minor, (int)l.launch.block[0],
                 (int)l.launch.registers_per_thread,
                 (int)l.launch.static_shared_bytes,
                 (int)l.launch.dynamic_shared_bytes, l.carveout_pct,
                 !l.no_shared_optin, o.active_blocks_per_sm, blocks);
    int warps = ((int)l.launch.block[0] + 31) / 32;
    assert_true(o.occupancy_pct == 100.0 * blocks * warps / (c->threads / 32));
    /* NVIDIA keeps limits that the barriers have overtaken. */
    if (l.barriers == 0)
        assert_int_equal(o.limit, nvidia_limits(r.limitingFactors));
    assert_int_equal(o.registers_per_block, r.allocatedRegistersPerBlock);
    assert_int_equal(o.shared_per_block_bytes, r.allocatedSharedMemPerBlock);
}

static uint64_t next(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return *x >> 33;
}

TEST_CASE(agrees_with_nvidia_on_a_grid)
{
    static const int threads[] = {1,   31,  32,  33,  64,  96,   128,  160,
                                  192, 256, 384, 512, 768, 1000, 1024, 1025};
    static const int registers[] = {0,  1,   16,  24,  32,  40,  48,  64, 72,
                                    96, 127, 128, 168, 200, 255, 256, 257};
    static const int shared_kib[] = {0,  1,  7,  16,  31,  47,  48,  49,
                                     64, 96, 99, 100, 163, 200, 227, 228};
    static const int carveouts[] = {0, LAB_CARVEOUT_MAX_L1, 50, 100};
    int n = 0;
    for (size_t c = 0; c < CHIPS; c++)
        for (size_t t = 0; t < 16; t++)
            for (size_t r = 0; r < 17; r++)
                for (size_t s = 0; s < 16; s++)
                    for (int k = 0; k < 8; k++, n++)
                        check_launch(
                            &chips[c],
                            (struct lab_occupancy_launch){
                                .launch.block = {threads[t], 1, 1},
                                .launch.registers_per_thread = registers[r],
                                .launch.dynamic_shared_bytes =
                                    shared_kib[s] * 1024,
                                .carveout_pct = carveouts[k / 2],
                                .no_shared_optin = k & 1});
    assert_int_equal(n, (int)CHIPS * 16 * 17 * 16 * 8);
}

TEST_CASE(agrees_with_nvidia_on_random_launches)
{
    uint64_t x = 20250711;
    for (int i = 0; i < 200000; i++) {
        const struct chip *c = &chips[next(&x) % CHIPS];
        check_launch(
            c,
            (struct lab_occupancy_launch){
                .launch.block = {(int)(next(&x) % 1100) + 1, 1, 1},
                .launch.registers_per_thread = (int)(next(&x) % 260),
                .launch.static_shared_bytes = (int64_t)(next(&x) % (48 * 1024)),
                .launch.dynamic_shared_bytes =
                    (int64_t)(next(&x) % (180 * 1024)),
                .carveout_pct = (int)(next(&x) % 102) - 1,
                .barriers = (int)(next(&x) % 17),
                .no_shared_optin = next(&x) % 4 == 0});
    }
}
#endif

RUN_TESTS()
