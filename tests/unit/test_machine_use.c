/* A GPU's state by an NVML that the test plays, a CPU's energy from files that it
 * writes, and what is unknown without them. */
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "base/unknown.h"
#include "engine/machine_use.h"
#include "fake_nvml.h"

static struct fake_nvml *fake;

static struct lab_device_info gpu(const char *uuid)
{
    struct lab_device_info info = {0};
    snprintf(info.uuid, sizeof(info.uuid), "%s", uuid);
    return info;
}

static int play(void **state)
{
    (void)state;
    setenv("LAPENNA_LAB_NVML", LAB_FAKE_NVML, 1);
    setenv("LAPENNA_LAB_POWERCAP", "/no/such/folder", 1);
    void *lib = dlopen(LAB_FAKE_NVML, RTLD_NOW);
    fake = lib ? dlsym(lib, "fake_nvml") : NULL;
    return fake ? 0 : -1;
}

TEST_CASE(state_of_a_gpu)
{
    struct lab_device_info info = gpu(FAKE_NVML_UUID);
    struct lab_device_state s;
    *fake = (struct fake_nvml){.power_mw = 512500,
                               .busy_pct = 97,
                               .used_bytes = 600,
                               .energy_mj = 1234567};
    lab_device_state_read(&info, &s);
    assert_true(s.sm_clock_hz == 1.98e9 && s.memory_clock_hz == 2.619e9);
    assert_true(s.temperature_c == 41 && s.power_w == 512.5);
    assert_true(s.memory_bytes == 600 && s.utilization_pct == 97);
    assert_true(s.energy_j == 1234.567);
}

TEST_CASE(another_gpu_and_a_cpu_are_unknown)
{
    const char *const uuids[] = {"GPU-another", ""};
    for (int i = 0; i < 2; i++) {
        struct lab_device_info info = gpu(uuids[i]);
        struct lab_machine_watch *w = NULL;
        struct lab_machine_use use;
        struct lab_device_state s;
        lab_device_state_read(&info, &s);
        assert_true(isnan(s.sm_clock_hz) && isnan(s.memory_bytes) &&
                    isnan(s.power_w) && isnan(s.energy_j));
        assert_ok(lab_machine_watch_start(&w, &info));
        assert_null(w);
        lab_machine_watch_read(w, &use);
        assert_true(isnan(use.energy_j) && isnan(use.utilization_pct));
        assert_true(use.memory_peak_bytes == LAB_UNKNOWN);
        lab_machine_watch_free(w);
    }
}

TEST_CASE(a_run_on_a_gpu)
{
    struct lab_device_info info = gpu(FAKE_NVML_UUID);
    struct lab_machine_watch *w;
    struct lab_machine_use use;
    *fake = (struct fake_nvml){
        .busy_pct = 60, .used_bytes = 700, .energy_mj = 5000};
    assert_ok(lab_machine_watch_start(&w, &info));
    assert_non_null(w);
    lab_machine_watch_read(w, &use); /* the counter did not move */
    assert_true(isnan(use.energy_j) && use.counted_j == 0);
    fake->used_bytes = 300; /* the most is kept */
    fake->energy_mj = 7500;
    lab_machine_watch_read(w, &use);
    assert_true(use.energy_j == 2.5 && use.counted_j == 2.5);
    assert_true(use.utilization_pct == 60);
    assert_int_equal(use.memory_peak_bytes, 700);
    lab_machine_watch_free(w);
}

/* The thread samples between start and end: a moment of full memory is seen. */
TEST_CASE(samples_are_taken_meanwhile)
{
    struct lab_device_info info = gpu(FAKE_NVML_UUID);
    struct lab_machine_watch *w;
    struct lab_machine_use use = {0};
    *fake = (struct fake_nvml){.busy_pct = 100, .used_bytes = 10};
    assert_ok(lab_machine_watch_start(&w, &info));
    fake->used_bytes = 900;
    sleep(1);
    fake->used_bytes = 10;
    fake->busy_pct = 0;
    lab_machine_watch_read(w, &use);
    assert_int_equal(use.memory_peak_bytes, 900);
    assert_true(use.utilization_pct > 0 && use.utilization_pct < 100);
    lab_machine_watch_free(w);
}

TEST_CASE(power_over_time_where_nothing_counts)
{
    struct lab_device_info info = gpu(FAKE_NVML_UUID);
    struct lab_machine_watch *w;
    struct lab_machine_use use;
    struct lab_machine_use later;
    *fake = (struct fake_nvml){.power_mw = 1000000, .no_energy = true};
    assert_ok(lab_machine_watch_start(&w, &info));
    lab_machine_watch_read(w, &use);
    usleep(20000);
    lab_machine_watch_read(w, &later);
    assert_true(later.energy_j - use.energy_j >= 20); /* 1 kW, 20 ms */
    assert_true(isnan(later.counted_j)); /* the driver's mean is no counter */
    lab_machine_watch_free(w);
}

/* ---- a CPU ---- */

static void domain(const char *at, const char *name, const char *energy)
{
    char path[64];
    mkdir(at, 0700);
    snprintf(path, sizeof(path), "%s/name", at);
    test_write(path, name);
    snprintf(path, sizeof(path), "%s/max_energy_range_uj", at);
    test_write(path, "10000000\n");
    snprintf(path, sizeof(path), "%s/energy_uj", at);
    test_write(path, energy);
}

TEST_CASE(packages_of_a_cpu)
{
    struct lab_device_info info = gpu("");
    struct lab_machine_watch *w;
    struct lab_machine_use use;
    char dir[] = "/tmp/lab-powercap-XXXXXX";
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chdir(dir), 0);
    setenv("LAPENNA_LAB_POWERCAP", dir, 1);
    domain("intel-rapl:0", "package-0\n", "1000000\n");
    domain("intel-rapl:1", "psys\n", "0\n"); /* the whole computer: not added */
    domain("intel-rapl:2", "package-1\n", "9000000\n");
    assert_ok(lab_machine_watch_start(&w, &info));
    assert_non_null(w);
    test_write("intel-rapl:0/energy_uj", "1500000\n");
    test_write("intel-rapl:1/energy_uj", "7000000\n");
    test_write("intel-rapl:2/energy_uj", "250000\n"); /* past its range */
    lab_machine_watch_read(w, &use);
    assert_true(fabs(use.energy_j - (0.5 + 1.25)) < 1e-9);
    assert_true(use.counted_j == use.energy_j);
    assert_true(isnan(use.utilization_pct));
    assert_int_equal(unlink("intel-rapl:0/energy_uj"), 0);
    lab_machine_watch_read(w, &use);
    assert_true(isnan(use.energy_j)); /* not less than what was used */
    lab_machine_watch_free(w);
}

RUN_TESTS_IN(play, NULL)
