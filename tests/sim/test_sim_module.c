/* What lapenna-lab-sim.so holds: every kernel of the tree is read and lowered, and
 * the rows of libraries are left out. */
#include "test.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "debug/kernel_text.h"
#include "debug/sim_findings.h"
#include "engine/backend.h"
#include "engine/sim_backend.h"
#include "engine/sim_module.h"

/* A kernel whose opcodes are not known is refused, with the opcode. */
TEST_CASE(every_kernel_can_be_executed)
{
    const struct lab_sim_kernels *kernels;
    const struct lab_sim_image *image = NULL;
    const struct lab_sim_image *read = NULL;
    struct lab_sim_memory *memory;
    struct lab_sim_module *module = NULL;
    const char *name;
    int refused = 0;
    int n = 0;
    assert_ok(lab_sim_kernels_load(&kernels));
    assert_ok(lab_sim_memory_open(&memory));
    for (; (name = kernels->kernel(n, &image)); n++) {
        const struct lab_sim_kernel *k;
        if (image != read) {
            lab_sim_module_close(module);
            module = NULL;
            assert_ok(lab_sim_module_open(memory, image->text, image->bytes,
                                          image->name, &module));
            read = image;
        }
        if (lab_sim_kernel_find(module, name, &k)) {
            print_message("%s: %s\n", name, lab_error());
            refused++;
        }
    }
    lab_sim_module_close(module);
    lab_sim_memory_close(memory);
    print_message("%d kernels, %d refused\n", n, refused);
    assert_true(n > 300);
    assert_int_equal(refused, 0);
}

TEST_CASE(no_row_is_a_librarys)
{
    struct lab_backend *be = NULL;
    const struct lab_kernel_set *set;
    int rows = 0;
    assert_ok(lab_backend_open(&be, "sim", 0));
    for (int i = 0; (set = lab_backend_set(be, LAB_F32, i)); i++) {
        for (int k = 0; k < set->count; k++) {
            assert_null(strstr(set->variants[k].name, "cublas"));
            assert_null(strstr(set->variants[k].name, "cudnn"));
            rows++;
        }
    }
    assert_true(rows > 100);
    lab_backend_close(be);
}

TEST_CASE(a_device_model_has_its_limits)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    assert_int_equal(lab_sim_backend_model("NVIDIA T5"), LAB_E_USAGE);
    assert_ok(lab_sim_backend_model("h200"));
    assert_ok(lab_sim_backend_model("T4"));
    assert_ok(lab_backend_open(&be, "sim", 0));
    lab_backend_info(be, &info);
    assert_string_equal(info.name, "NVIDIA T4 (simulated)");
    assert_int_equal(info.compute_major, 7);
    assert_int_equal(info.max_shared_per_block_optin_bytes, 65536);
    lab_backend_close(be);
    assert_ok(lab_sim_backend_model(NULL));
    assert_int_equal(lab_backend_open(&be, "sim", 1), LAB_E_UNSUPPORTED);
}

/* As a kernel with a guard off by one: all but element 7 are written. */
static enum lab_status leave_seven(const struct lab_call *call)
{
    float *y = call->out[0].data;
    enum lab_status st = lab_sim_host.written(y, 7 * sizeof(*y));
    return st ? st
              : lab_sim_host.written(y + 8, (size_t)(call->out[0].count - 8) *
                                                sizeof(*y));
}

/* The first line of JSON of what was found. */
static void read_line(struct lab_backend *be, char *text, int cap)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    lab_sim_findings_print(be, NULL);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    rewind(file);
    assert_non_null(fgets(text, cap, file));
    fclose(file);
}

TEST_CASE(an_element_that_no_kernel_wrote_has_a_line_of_json)
{
    const struct lab_variant v = {.name = "leaves", .run = leave_seven};
    struct lab_view y = {
        .dtype = LAB_F32, .rank = 2, .dim = {3, 5}, .count = 15};
    struct lab_call call = {.out = &y, .n_out = 1};
    struct lab_sim_backend_left left;
    struct lab_backend *be = NULL;
    assert_ok(lab_backend_open(&be, "sim", 0));
    assert_ok(lab_backend_alloc(be, 15 * sizeof(float), &y.data));
    lab_backend_label(be, y.data, 0, "norm1.out", false);
    assert_int_equal(lab_backend_run(be, &v, &call), LAB_E_CHECK);
    assert_true(lab_sim_backend_left(be, 0, &left));
    assert_false(lab_sim_backend_left(be, 1, &left));
    assert_int_equal(left.unwritten, 1);
    assert_non_null(strstr(lab_error(), "the first is norm1.out[1,2]"));
    char text[2048];
    read_line(be, text, sizeof(text));
    assert_non_null(
        strstr(text, "\"type\":\"finding\",\"check\":\"unwritten\""));
    assert_non_null(strstr(text, "\"name\":\"norm1.out\",\"index\":[1,2],"
                                 "\"times\":1"));
    assert_non_null(strstr(lab_error(), "norm1.out[1,2]"));
    lab_backend_free(be, y.data);
    lab_backend_close(be);
}

static const char writes[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry writes(.param .u64 to)\n{\n"
                             ".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
                             "ld.param.u64 %rd1, [to];\nmov.u32 %r1, 0;\n"
                             "st.global.u32 [%rd1], %r1;\nret;\n}\n";

/* One kernel twice, as for two gradients: the second launch writes past its end. */
static enum lab_status launch_twice(const struct lab_call *call)
{
    static const struct lab_sim_image image = {
        .name = "writes.ptx", .text = writes, .bytes = sizeof(writes) - 1};
    float *to = call->out[0].data;
    void *args[] = {&to};
    const struct lab_sim_gpu_launch launch = {.image = &image,
                                              .kernel = "writes",
                                              .grid = {1, 1, 1},
                                              .block = {1, 1, 1},
                                              .args = args};
    enum lab_status st = lab_sim_host.launch(&launch);
    to += call->out[0].count;
    return st ? st : lab_sim_host.launch(&launch);
}

TEST_CASE(a_finding_is_of_one_launch_of_its_step)
{
    const struct lab_variant v = {.name = "twice", .run = launch_twice};
    struct lab_view y = {.dtype = LAB_F32, .rank = 1, .dim = {1}, .count = 1};
    struct lab_call call = {.out = &y, .n_out = 1};
    struct lab_kernel_goal goal;
    struct lab_backend *be = NULL;
    struct lab_str text;
    char line[2048];
    lab_str_init(&text);
    assert_ok(lab_backend_open(&be, "sim", 0));
    assert_ok(lab_backend_alloc(be, sizeof(float), &y.data));
    for (int again = 0; again < 2; again++) { /* a step's own number */
        assert_int_equal(lab_backend_run(be, &v, &call), LAB_E_CHECK);
        lab_str_clear(&text);
        assert_true(lab_kernel_found(&text, &goal));
        assert_string_equal(goal.name, "writes");
        assert_int_equal(goal.launch, 2);
    }
    assert_non_null(strstr(lab_error(), "memory in writes (launch 2), block"));
    assert_non_null(
        strstr(lab_str_text(&text), "memory in writes (launch 2), block"));
    read_line(be, line, sizeof(line));
    assert_non_null(strstr(line, "\"kernel\":\"writes\",\"launch\":2,"));
    lab_str_clear(&text);
    lab_kernel_way_add(&text, &goal);
    assert_non_null(
        strstr(lab_str_text(&text),
               "`kernel` to the next one; in launch 2 `block 0,0,0`"));
    lab_str_release(&text);
    lab_backend_free(be, y.data);
    lab_backend_close(be);
}

static const char endless[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry endless()\n{\n$A: bra $A;\n}\n";

static enum lab_status launch_endless(const struct lab_call *call)
{
    static const struct lab_sim_image image = {
        .name = "endless.ptx", .text = endless, .bytes = sizeof(endless) - 1};
    const struct lab_sim_gpu_launch launch = {.image = &image,
                                              .kernel = "endless",
                                              .grid = {2, 1, 1},
                                              .block = {64, 1, 1}};
    (void)call;
    return lab_sim_host.launch(&launch);
}

struct watched {
    atomic_bool stop;
    char wrong[64]; /* what a screen would show that it should not */
};

/* Stops it once a screen could show what runs. */
static bool stop_when_shown(void *user)
{
    struct watched *w = user;
    struct lab_str text;
    int64_t ns = -1;
    if (atomic_load(&w->stop))
        return true;
    lab_str_init(&text);
    if (!lab_kernel_running(&text, &ns) || ns < 0 ||
        strncmp(lab_str_text(&text), "endless: ", 9) != 0)
        snprintf(w->wrong, sizeof(w->wrong), "%s", lab_str_text(&text));
    else if (!strstr(lab_str_text(&text), " 0 instructions"))
        atomic_store(&w->stop, true);
    lab_str_release(&text);
    return atomic_load(&w->stop);
}

TEST_CASE(a_launch_that_is_stopped_is_a_finding)
{
    const struct lab_variant v = {.name = "endless", .run = launch_endless};
    struct lab_call call = {.n_out = 0};
    struct watched watched = {.stop = false};
    struct lab_kernel_goal goal;
    struct lab_backend *be = NULL;
    struct lab_str text;
    int64_t ns;
    lab_str_init(&text);
    assert_ok(lab_backend_open(&be, "sim", 0));
    assert_false(lab_kernel_running(&text, &ns));
    lab_backend_stop_when(be, &(struct lab_stop){stop_when_shown, &watched});
    assert_int_equal(lab_backend_run(be, &v, &call), LAB_E_CANCELLED);
    assert_string_equal(watched.wrong, "");
    assert_false(lab_kernel_running(&text, &ns));
    assert_int_equal(lab_sim_backend_stopped(be), LAB_E_CHECK);
    assert_non_null(strstr(lab_error(), "budget in endless"));
    assert_true(lab_kernel_found(&text, &goal));
    assert_string_equal(goal.name, "endless");
    assert_non_null(strstr(lab_str_text(&text), "stopped here, after "));
    lab_backend_close(be);

    /* The budget of backends to come. */
    lab_sim_backend_budget(100000);
    assert_ok(lab_backend_open(&be, "sim", 0));
    lab_sim_backend_budget(LAB_SIM_LAB_BUDGET);
    assert_int_equal(lab_backend_run(be, &v, &call), LAB_E_CHECK);
    assert_non_null(strstr(lab_error(), "more than 100000 instructions"));
    lab_str_release(&text);
    lab_backend_close(be);
}

int main(void)
{
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    return test_run_all(NULL, NULL);
}
