#include "export_sample.h"

#include "test.h"

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

static const char evil[] = "a\",b<script>&'\\\033[2J\n=1";

int export_cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("no file %s", path);
    char *text = test_malloc(4 << 20);
    text[fread(text, 1, (4 << 20) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* What a step brings besides its kernels. */
static void push_others(const struct lab_sink *sink, int64_t exec)
{
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api = (struct lab_api_record){
        .exec = exec,
        .start_ns = exec * 10000 - 900,
        .end_ns = exec * 10000 - 100,
        .name = lab_intern("cudaLaunchKernel_v7000"),
        .correlation_id = (uint32_t)(exec * 10000),
        .global_tid = INT64_C(77) << 24 | 78,
    };
    sink->push(sink->user, &r);
    r = (struct lab_record){.kind = LAB_RECORD_MEMCPY};
    r.u.memcpy_ = (struct lab_memcpy_record){
        .exec = exec,
        .start_ns = exec * 10000 + 3000,
        .end_ns = exec * 10000 + 3100,
        .bytes = 4096,
        .stream_id = 7,
        .copy_kind = 1,
        .src_kind = 1,
        .dst_kind = 3,
    };
    sink->push(sink->user, &r);
    r = (struct lab_record){.kind = LAB_RECORD_RANGE};
    r.u.range = (struct lab_range_record){
        .start_ns = exec * 10000 - 1000,
        .end_ns = exec * 10000 + 4000,
        .text = lab_intern(evil),
        .level = 4,
        .global_tid = INT64_C(77) << 24 | 78,
        .number = LAB_UNKNOWN,
    };
    sink->push(sink->user, &r);
}

void record_gpu_run(const char *path)
{
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_writer *writer;
    int64_t exec = 1;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.lesson = "mlp-digits";
    info.title = evil;
    info.backend = "cuda";
    info.variants = evil;
    info.device.name = "NVIDIA H200";
    info.device.gpu = true;
    info.device.device_id = 0;
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < 3; i++)
        sample_iteration(&sink, i, 4, &exec);
    for (exec = 1; exec <= 12; exec++)
        push_others(&sink, exec);
    struct lab_record last = sample_kernel(LAB_UNKNOWN, 200000, 700);
    last.u.kernel.demangled_name = lab_intern(evil);
    sink.push(sink.user, &last);
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    /* Steps lie where their kernels and calls do, in the same process. */
    sample_sql(path,
               "UPDATE step SET start_ns = exec * 10000 - 1000, end_ns = exec "
               "* 10000 + 8000;"
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 77 << 24");
}

char *export_as(const char *db, const char *format, const char *name)
{
    char args[1024];
    snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @", format,
             sample_path(name));
    if (profile(db, args) != 0)
        fail_msg("%s: %s", format, errors);
    assert_string_equal(output, "");
    return read_file(sample_path(name));
}

void no_control_byte(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\r')
            fail_msg("byte %02X", (unsigned char)*p);
}
