/* Arguments as words: what is read and refused, which values memory gets, and how
 * they are compared with a kernel's parameters. */
#include "test.h"
#include "file.h"

#include <unistd.h>

#include "sim/argument.h"

static struct lab_sim_argument read_word(const char *spec)
{
    struct lab_sim_argument a;
    assert_ok(lab_sim_argument_read(spec, &a));
    return a;
}

/* Its status, and what the message must hold. */
static void refuses(enum lab_status st, const char *spec, const char *words)
{
    struct lab_sim_argument a;
    assert_int_equal(lab_sim_argument_read(spec, &a), st);
    if (!error_is(words))
        fail_msg("'%s' is not in: %s", words, lab_error());
}

TEST_CASE(values_have_the_bits_of_their_type)
{
    static const struct {
        const char *spec;
        uint64_t bits;
    } rows[] = {
        {"int:5", 5},
        {"int:-1", 0xffffffff},
        {"int:0x7fffffff", 0x7fffffff},
        {"unsigned:4294967295", 0xffffffff},
        {"long:-2", 0xfffffffffffffffe},
        {"long:9223372036854775807", 0x7fffffffffffffff},
        {"ulong:18446744073709551615", 0xffffffffffffffff},
        {"float:2.5", 0x40200000},
        {"float:-inf", 0xff800000},
        {"float:nan", 0x7fc00000},
        {"float:0.1", 0x3dcccccd},
        {"float:1e-45", 1},
        {"float:3.5e38", 0x7f800000},
        {"double:0.1", 0x3fb999999999999a},
        {"half:1", 0x3c00},
        {"half:65504", 0x7bff},
        {"half:65520", 0x7c00}, /* rounds up to infinity */
        {"half:65519", 0x7bff},
        {"half:6e-8", 1},
        {"half:2049", 0x6800}, /* a tie, to even */
        {"half:2051", 0x6802},
        {"half:-0", 0x8000},
        {"bfloat16:1", 0x3f80},
        {"bfloat16:1.00390625", 0x3f80}, /* a tie, to even */
        {"bfloat16:1.01171875", 0x3f82},
        {"bool:1", 1},
        {"char:-128", 0x80},
        {"ushort:65535", 0xffff},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct lab_sim_argument a = read_word(rows[i].spec);
        uint64_t bits = 0;
        memcpy(&bits, a.value, sizeof(bits));
        assert_int_equal(a.direction, LAB_SIM_VALUE);
        if (bits != rows[i].bits)
            fail_msg("%s: %llx", rows[i].spec, (unsigned long long)bits);
    }
}

TEST_CASE(memory_has_sides_and_a_fill)
{
    struct lab_sim_argument a = read_word("in:float[32,33]=random");
    assert_int_equal(a.direction, LAB_SIM_IN);
    assert_int_equal(a.rank, 2);
    assert_int_equal(a.dim[1], 33);
    assert_int_equal(a.count, 32 * 33);
    assert_int_equal(a.fill, LAB_SIM_FILL_RANDOM);
    a = read_word("out:half[7]");
    assert_int_equal(a.direction, LAB_SIM_OUT);
    assert_int_equal(a.fill, LAB_SIM_FILL_NONE);
    a = read_word("inout:double[1,2,3,4,5,6]=@a file.npy");
    assert_int_equal(a.count, 720);
    assert_string_equal(a.file, "a file.npy");
    assert_int_equal(read_word("in:int[4]").fill, LAB_SIM_FILL_RANDOM);
    assert_int_equal(read_word("in:int[4]=-3").fill, LAB_SIM_FILL_NUMBER);
    struct lab_str shape;
    lab_str_init(&shape);
    a = read_word("in:bfloat16[3,4]=zero");
    lab_sim_shape_add(&shape, &a);
    assert_string_equal(lab_str_text(&shape), "bfloat16[3,4]");
    lab_str_release(&shape);
}

TEST_CASE(other_words_are_refused_with_the_reason)
{
    static const struct {
        const char *spec;
        const char *words;
    } rows[] = {
        {"", "[sim.arg-form] "},
        {"5", "[sim.arg-form] "},
        {"flaot:5", "[sim.arg-type] did you mean 'float'?"},
        {"in:flaot[5]", "[sim.arg-type] did you mean 'float'?"},
        {"int:", "[sim.arg-number] is no number that int holds"},
        {"int:5x", "[sim.arg-number] is no number that int holds"},
        {"int:2147483648", "[sim.arg-number] is no number that int holds"},
        {"unsigned:-1", "[sim.arg-number] is no number that unsigned holds"},
        {"int:1.5", "[sim.arg-number] is no number that int holds"},
        {"long:9223372036854775808",
         "[sim.arg-number] is no number that long holds"},
        {"float: 1", "[sim.arg-number] is no number that float holds"},
        {"bool:2", "[sim.arg-number] is no number that bool holds"},
        {"in:float", "[sim.arg-count] "},
        {"in:float[]", "[sim.arg-shape] "},
        {"in:float[0]", "[sim.arg-shape] "},
        {"in:float[-4]", "[sim.arg-shape] "},
        {"in:float[4", "[sim.arg-shape] "},
        {"in:float[4,]", "[sim.arg-shape] "},
        {"in:float[4 ]", "[sim.arg-shape] "},
        {"in:float[99999999999999999999]", "[sim.arg-shape] "},
        {"in:float[1,1,1,1,1,1,1]", "[sim.arg-rank] at most 6 dimensions"},
        {"in:float[4]x", "[sim.arg-rest] not understood from 'x' on"},
        {"in:float[4]=many", "[sim.arg-fill] "},
        {"in:int[4]=1.5", "[sim.arg-fill] "},
        {"in:float[4]=@", "[sim.arg-fill] "},
        {"out:float[4]=zero", "[sim.arg-out] "},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        refuses(LAB_E_USAGE, rows[i].spec, rows[i].words);
    refuses(LAB_E_RANGE, "in:float[4294967296,4294967296]",
            "[sim.arg-elements] ");
}

/* ---- memory ---- */

/* A word that tells argument and element. */
static uint32_t word(uint64_t seed, int argument, uint64_t i)
{
    return (uint32_t)(seed + (uint64_t)argument * 0x10000000u + i * 0x1000000u);
}

static void make(struct lab_sim_memory *m, struct lab_sim_argument *a)
{
    assert_ok(lab_sim_argument_make(m, a, 3, 7, word));
}

TEST_CASE(memory_is_filled_as_asked)
{
    struct lab_sim_memory *m;
    assert_ok(lab_sim_memory_open(&m));
    int64_t first;
    struct lab_sim_argument a = read_word("in:float[4]=random");
    make(m, &a);
    for (int i = 0; i < 4; i++)
        assert_true(lab_sim_real_at(a.type, a.data, i) ==
                    (double)(word(7, 3, (uint64_t)i) >> 8) / 8388608.0 - 1);
    assert_int_equal(lab_sim_argument_unwritten(m, &a, &first), 0);
    a = read_word("inout:int[200]=random");
    make(m, &a);
    for (int i = 0; i < 200; i++)
        assert_in_range(lab_sim_integer_at(a.type, a.data, i), 0, 9);
    a = read_word("in:half[5]=iota");
    make(m, &a);
    assert_true(lab_sim_real_at(a.type, a.data, 4) == 4);
    a = read_word("in:long[5]=-12");
    make(m, &a);
    assert_int_equal(lab_sim_integer_at(a.type, a.data, 4), -12);
    a = read_word("in:uchar[5]=zero");
    make(m, &a);
    assert_int_equal(lab_sim_integer_at(a.type, a.data, 4), 0);
    /* Nothing has written it, until the host does. */
    a = read_word("out:short[5]");
    make(m, &a);
    assert_int_equal(lab_sim_argument_unwritten(m, &a, &first), 5);
    assert_ok(lab_sim_written(m, a.data, 6));
    assert_int_equal(lab_sim_argument_unwritten(m, &a, &first), 2);
    assert_int_equal(first, 3);
    a = read_word("out:float[999999999999]");
    assert_int_equal(lab_sim_argument_make(m, &a, 0, 1, word), LAB_E_RANGE);
    lab_sim_memory_close(m);
}

/* ---- .npy ---- */

TEST_PATH

static void write_npy(const char *dictionary, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    size_t n = strlen(dictionary);
    fwrite("\x93NUMPY\x01\x00", 1, 8, f);
    fputc((int)(n & 255), f);
    fputc((int)(n >> 8), f);
    fwrite(dictionary, 1, n, f);
    fwrite(data, 1, bytes, f);
    fclose(f);
}

#define HEADER(descr, shape)                                                   \
    "{'descr': '" descr "', 'fortran_order': False, 'shape': " shape ", }\n"

static enum lab_status from_file(struct lab_sim_memory *m, const char *what,
                                 struct lab_sim_argument *a)
{
    static char spec[256];
    snprintf(spec, sizeof(spec), "in:%s=@%s", what, path);
    *a = read_word(spec);
    return lab_sim_argument_make(m, a, 0, 1, word);
}

TEST_CASE(numbers_come_from_npy_files)
{
    struct lab_sim_memory *m;
    struct lab_sim_argument a;
    const double reals[] = {1.5, -2, 1e300, 0.1};
    const int64_t whole[] = {1, -2, 300, 70000};
    const uint16_t bits[] = {0x3f80, 0x4000};
    assert_ok(lab_sim_memory_open(&m));
    write_npy(HEADER("<f8", "(2, 2)"), reals, sizeof(reals));
    assert_ok(from_file(m, "double[4]", &a));
    assert_memory_equal(a.data, reals, sizeof(reals));
    assert_ok(from_file(m, "float[2,2]", &a));
    assert_true(lab_sim_real_at(a.type, a.data, 3) == (double)0.1f);
    assert_true(isinf(lab_sim_real_at(a.type, a.data, 2)));
    assert_int_equal(from_file(m, "int[4]", &a), LAB_E_RANGE);
    assert_true(error_is("[sim.arg-file-value] element 0 of the file is 1.5"));
    assert_int_equal(from_file(m, "double[5]", &a), LAB_E_RANGE);
    assert_true(error_is("[sim.arg-file-size] has 4 elements, and 5"));
    write_npy(HEADER("<i8", "(4,)"), whole, sizeof(whole));
    assert_ok(from_file(m, "int[4]", &a));
    assert_int_equal(lab_sim_integer_at(a.type, a.data, 3), 70000);
    assert_int_equal(from_file(m, "short[4]", &a), LAB_E_RANGE);
    assert_int_equal(from_file(m, "unsigned[4]", &a), LAB_E_RANGE);
    write_npy(HEADER("<u2", "(2,)"), bits, sizeof(bits));
    assert_ok(from_file(m, "bfloat16[2]", &a));
    assert_true(lab_sim_real_at(a.type, a.data, 1) == 2);
    assert_ok(from_file(m, "int[2]", &a));
    assert_int_equal(lab_sim_integer_at(a.type, a.data, 1), 0x4000);
    lab_sim_memory_close(m);
}

TEST_CASE(what_is_no_npy_file_is_refused)
{
    static const struct {
        const char *header;
        const char *words;
    } rows[] = {
        {HEADER("<f4", "(5,)"), "[sim.npy-cut] is cut off"},
        {HEADER("<f4", "(4611686018427387904, 4)"), "[sim.npy-shape] "},
        {HEADER("<f4", "(4611686018427387904,)"), "[sim.npy-cut] is cut off"},
        {HEADER("<f4", "(-1,)"), "[sim.npy-shape] "},
        {HEADER(">f4", "(1,)"), "[sim.npy-type] "},
        {HEADER("<c8", "(1,)"), "[sim.npy-type] "},
        {HEADER("O", "(1,)"), "[sim.npy-type] "},
        {HEADER("", "(1,)"), "[sim.npy-type] "},
        {"{}", "[sim.npy-header] "},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}",
         "[sim.npy-order] "},
    };
    struct lab_sim_memory *m;
    struct lab_sim_argument a;
    const char data[16] = {0};
    assert_ok(lab_sim_memory_open(&m));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_npy(rows[i].header, data, sizeof(data));
        assert_int_equal(from_file(m, "float[4]", &a), LAB_E_PARSE);
        if (!error_is(rows[i].words))
            fail_msg("'%s' is not in: %s", rows[i].words, lab_error());
    }
    test_write(path, "1,2,3\n");
    assert_int_equal(from_file(m, "float[4]", &a), LAB_E_PARSE);
    a = read_word("in:float[4]=@/no/such/file.npy");
    assert_int_equal(lab_sim_argument_make(m, &a, 0, 1, word), LAB_E_IO);
    a = read_word("in:float[4]=@/dev/zero");
    assert_int_equal(lab_sim_argument_make(m, &a, 0, 1, word), LAB_E_IO);
    lab_sim_memory_close(m);
}

/* ---- against parameters ---- */

static const struct lab_ptx_variable params[] = {
    {.type = LAB_PTX_U64, .elements = 1}, {.type = LAB_PTX_F32, .elements = 1},
    {.type = LAB_PTX_U32, .elements = 1}, {.type = LAB_PTX_B8, .elements = 2},
    {.type = LAB_PTX_B8, .elements = 16},
};

static const struct lab_sim_parameter *of_source; /* of the calls of fits() */
static char noted[256];                           /* by the last one */

static void fits(const char *types, int count, const char *specs[],
                 const char *words)
{
    struct lab_sim_argument a[8];
    const struct lab_ptx_function kernel = {
        .name = "k", .params = params, .param_count = count};
    int n = 0;
    for (; specs[n]; n++)
        a[n] = read_word(specs[n]);
    struct lab_str notes;
    lab_str_init(&notes);
    enum lab_status st =
        lab_sim_arguments_check(&kernel, types, of_source, a, n, &notes);
    snprintf(noted, sizeof(noted), "%s", lab_str_text(&notes));
    lab_str_release(&notes);
    assert_int_equal(st, words ? LAB_E_RANGE : LAB_OK);
    if (words && !error_is(words))
        fail_msg("'%s' is not in: %s", words, lab_error());
}

#define SPECS(...)                                                             \
    (const char *[])                                                           \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }

TEST_CASE(arguments_are_compared_with_parameters)
{
    const char *types = "void ns::k<float, 3>(float const*, float, int)";
    fits(types, 3, SPECS("in:float[4]", "float:1", "int:4"), NULL);
    fits(NULL, 3, SPECS("in:float[4]", "float:1", "unsigned:4"), NULL);
    fits(NULL, 3, SPECS("long:4", "float:1", "int:4"), NULL);
    fits(types, 3, SPECS("in:float[4]", "float:1"),
         "[sim.args-count] takes 3 arguments (float const*, float, int), and 2 "
         "are given");
    fits(NULL, 3, SPECS("in:float[4]"),
         "[sim.args-count] takes 3 arguments (pointer or 8 bytes, float, 4 "
         "bytes), and 1 is");
    fits(types, 3, SPECS("long:4", "float:1", "int:4"),
         "[sim.arg-kind] is a pointer: write in:");
    fits(types, 3, SPECS("in:float[4]", "in:float[4]", "int:4"),
         "[sim.arg-kind] parameter 1, float, is no pointer");
    fits(types, 3, SPECS("in:float[4]", "double:1", "int:4"),
         "[sim.arg-kind] has 4 bytes");
    fits(types, 3, SPECS("in:float[4]", "int:1", "int:4"),
         "[sim.arg-kind] is a real number");
    fits(types, 3, SPECS("in:float[4]", "float:1", "float:4"),
         "[sim.arg-kind] is a whole number");
    fits("k(long, float, int)", 3, SPECS("in:int[4]", "float:1", "int:4"),
         "[sim.arg-kind] parameter 0, long, is no pointer");
    fits("k(float (*) [32], float, int)", 3,
         SPECS("in:int[4]", "float:1", "int:4"), NULL);
    fits(types, 3, SPECS("inout:double[4]=zero", "float:1", "int:4"),
         "[sim.arg-type] parameter 0, float const*, points to float, not to "
         "double: write inout:float[...]");
    assert_string_equal(noted, "");
    fits(types, 3, SPECS("in:int[4]", "float:1", "int:4"), NULL);
    assert_string_equal(noted, "--arg 'in:int[4]': parameter 0, float const*, "
                               "points to float: the kernel reads the bits of "
                               "int as float");
    fits("k(int*, float, int)", 3, SPECS("in:float[4]", "float:1", "int:4"),
         NULL);
    assert_non_null(strstr(noted, "the bits of float as int"));
    fits("k(unsigned int*, float, int)", 3,
         SPECS("in:int[4]", "float:1", "int:4"), NULL);
    fits("k(unsigned int*, float, int)", 3,
         SPECS("in:float[4]", "float:1", "int:4"), NULL);
    fits("k(unsigned char*, float, int)", 3,
         SPECS("in:float[4]", "float:1", "int:4"), NULL);
    assert_string_equal(noted, "");
    fits("k(unsigned long long*, float, int)", 3,
         SPECS("in:int[4]", "float:1", "int:4"), "[sim.arg-type] to ulong");
    fits("k(float4 const*, float, int)", 3,
         SPECS("in:float[4]", "float:1", "int:4"), NULL);
    fits("k(float4*, float, int)", 3, SPECS("in:half[4]", "float:1", "int:4"),
         "[sim.arg-type] points to float");
    /* Bytes of anything, and what has another name. */
    fits("k(void*, float, int)", 3, SPECS("in:half[4]", "float:1", "int:4"),
         NULL);
    fits("k(pair*, float, int)", 3, SPECS("in:half[4]", "float:1", "int:4"),
         NULL);
    fits("k(float**, float, int)", 3, SPECS("in:long[4]", "float:1", "int:4"),
         NULL);
    fits(NULL, 5, SPECS("in:int[4]", "float:1", "int:4", "half:1", "int:1"),
         "[sim.arg-kind] is a structure");
    fits(NULL, 4, SPECS("in:int[4]", "float:1", "int:4", "float:1"),
         "[sim.arg-kind] has 2 bytes");
    /* A name that was not demangled has no type. */
    fits("_Z1kPKffi", 3, SPECS("in:float[4]", "float:1", "int:4"), NULL);
    fits("k(float const*)", 3, SPECS("long:4", "float:1", "int:4"), NULL);
}

/* ---- parameters of a source ---- */

static void source_has(const char *text, const char *name, int count,
                       const char *want)
{
    struct lab_sim_parameter p[8];
    char got[512] = "";
    size_t n = 0;
    if (!lab_sim_source_parameters(text, strlen(text), name, p, count)) {
        assert_null(want);
        return;
    }
    assert_non_null(want);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s|%s",
                              i ? "; " : "", p[i].type, p[i].name);
    assert_string_equal(got, want);
}

/* The word's ends of each axis, or its status. */
TEST_CASE(a_part_of_an_argument_is_read)
{
    static const struct {
        const char *spec;
        enum lab_status st;
        int number;
        int64_t from[2];
        int64_t end[2];
    } rows[] = {
        {"y", LAB_OK, 1, {0, 0}, {4, 9}},
        {"1", LAB_OK, 1, {0, 0}, {4, 9}},
        {"y[3]", LAB_OK, 1, {3, 0}, {4, 9}},
        {"y[-1,2:5]", LAB_OK, 1, {3, 2}, {4, 5}},
        {"y[:,-2]", LAB_OK, 1, {0, 7}, {4, 8}},
        {"y[1:,:-8]", LAB_OK, 1, {1, 0}, {4, 1}},
        {"y[4]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[-5]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[2:2]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[3:1]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[0,0,0]", LAB_E_RANGE, 0, {0}, {0}},
        {"n", LAB_E_RANGE, 0, {0}, {0}},
        {"z[1]", LAB_E_RANGE, 0, {0}, {0}},
        {"2", LAB_E_RANGE, 0, {0}, {0}},
        {"", LAB_E_USAGE, 0, {0}, {0}},
        {"[1]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[", LAB_E_USAGE, 0, {0}, {0}},
        {"y[]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[1", LAB_E_USAGE, 0, {0}, {0}},
        {"y[1,]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[1]]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[1:2:3]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[9999999999999999999]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[9223372036854775807]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[0:9223372036854775807]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[9223372036854775807:]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[9223372036854775806]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[-9223372036854775808]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[2:99]", LAB_E_RANGE, 0, {0}, {0}},
        {"y[+3]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[-+3]", LAB_E_USAGE, 0, {0}, {0}},
        {"y[0,0,0,0,0,0,0,0,0,0,0,0]", LAB_E_USAGE, 0, {0}, {0}},
    };
    struct lab_sim_argument args[2] = {read_word("int:5"),
                                       read_word("out:float[4,9]")};
    args[0].name = "n";
    args[1].name = "y";
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        struct lab_sim_part p;
        int number = -1;
        enum lab_status st = lab_sim_part_read(rows[k].spec, &p);
        if (!st)
            st = lab_sim_part_find(&p, args, 2, &number);
        if (st != rows[k].st)
            fail_msg("'%s' has status %d", rows[k].spec, (int)st);
        for (int axis = 0; !st && axis < 2; axis++) {
            assert_int_equal(p.from[axis], rows[k].from[axis]);
            assert_int_equal(p.end[axis], rows[k].end[axis]);
            assert_int_equal(number, rows[k].number);
        }
    }
}

TEST_CASE(a_source_names_its_parameters)
{
    source_has("__global__ void k(const float *x, float *__restrict__ y, int n)"
               "{}",
               "k", 3, "const float *|x; float *__restrict__|y; int|n");
    source_has("template <typename T, int N>\n__global__ void\n"
               "__launch_bounds__(256, 2) k(T const * __restrict__ in,\n"
               "   T out[], pair<int, T> p = {1, 2}, unsigned n = N)\n{\n}",
               "k", 4,
               "T const * __restrict__|in; T *|out; pair<int, T>|p; "
               "unsigned|n");
    source_has("__global__ void k(float (*tile)[32], const int) {}", "k", 2,
               "|tile; const int|");
    /* Comments, strings, directives, calls and other functions. */
    source_has("// __global__ void k(int a)\n/* __global__ void k(int b) */\n"
               "#define K __global__ void k(int c) \\\n , __global__ k(int d)\n"
               "const char *s = \"__global__ void k(int e)\";\n"
               "__device__ void k(int f) {}\nvoid go() { k(1); }\n"
               "__global__ void kk(int g) {}\n"
               "__global__ void k(int /* not h */ i) { k(2); }",
               "k", 1, "int|i");
    source_has("__global__ void k() {}", "k", 0, "");
    source_has("__global__ void k(void) {}", "k", 0, "");
    source_has("__global__ void k(int a, int b) {}", "k", 1, NULL);
    source_has("KERNEL(k, int a)", "k", 1, NULL);
    source_has("__global__ void k(int a", "k", 1, NULL);
    source_has("__global__ void k(int a /*", "k", 1, NULL);
    source_has("", "k", 1, NULL);
    /* Two that differ. */
    source_has("#if A\n__global__ void k(int a, float *x) {}\n#else\n"
               "__global__ void k(int b, float *x) {}\n#endif",
               "k", 2, "int|; float *|x");
}

/* "4 [16][17]"; NULL: not known. `given`: of the command line. */
static void array_in(const char *scope, const char *given, const char *text,
                     const char *name, int64_t total, const char *want)
{
    struct lab_sim_array a;
    char got[128];
    if (!lab_sim_source_array(text, strlen(text), given, scope, name, total,
                              &a)) {
        assert_null(want);
        return;
    }
    size_t n = (size_t)snprintf(got, sizeof(got), "%d", a.element_bytes);
    for (int k = 0; k < a.rank; k++)
        n += (size_t)snprintf(got + n, sizeof(got) - n, "%s[%lld]",
                              k ? "" : " ", (long long)a.dim[k]);
    assert_non_null(want);
    assert_string_equal(got, want);
}

static void array_given(const char *given, const char *text, const char *name,
                        int64_t total, const char *want)
{
    array_in(NULL, given, text, name, total, want);
}

static void array_is(const char *text, const char *name, int64_t total,
                     const char *want)
{
    array_given(NULL, text, name, total, want);
}

TEST_CASE(a_side_of_an_array_is_defined_by_the_command_line)
{
    static const char text[] = "#ifndef SIDE\n#define SIDE 16\n#endif\n"
                               "__shared__ float s[SIDE][SIDE + 1];";
    array_given("", text, "s", 16 * 17 * 4, "4 [16][17]");
    array_given("#define SIDE 8\n", text, "s", 8 * 9 * 4, "4 [8][9]");
    array_given("#define FAST 1\n#define SIDE 8\n", text, "s", 8 * 9 * 4,
                "4 [8][9]");
    /* What does not come to the array's size is not believed. */
    array_given("#define SIDE 8\n", text, "s", 16 * 17 * 4, NULL);
    array_given("#define SIDE f(8)\n", text, "s", 16 * 17 * 4, NULL);
    array_given("#define SIDES 8\n", "__shared__ int s[2][SIDE];", "s", 64,
                NULL);
}

TEST_CASE(a_source_names_arrays_in_shared_memory)
{
    static const char two[] =
        "#define TILE 16 /* a side */\n"
        "constexpr int PAD = 1, ALL = TILE * (TILE + 2);\n"
        "enum side { ROWS = 4 };\n"
        "__global__ void k() {\n"
        "__shared__ float a[TILE][TILE + PAD], b[ALL];\n"
        "__shared__ alignas(16) unsigned char c[ROWS - 1];\n"
        "__shared__ struct pair p[ROWS][2]; __shared__ int n;\n"
        "extern __shared__ double d[]; }";
    array_is(two, "a", 16 * 17 * 4, "4 [16][17]");
    array_is(two, "b", 16 * 18 * 4, "4 [288]");
    array_is(two, "c", 3, "1 [3]");
    array_is(two, "p", 4 * 2 * 12, "12 [4][2]");
    array_is(two, "n", 4, "4");
    array_is(two, "d", -1, "8 [0]");
    array_is(two, "e", 4, NULL);
    /* Another size than the source has: it is not that one. */
    array_is(two, "a", 16 * 16 * 4, NULL);
    array_is(two, "p", 7, NULL);
    array_is(two, "d", 64, NULL);
    /* Of a template the first side follows from the bytes, an inner one does not. */
    array_is("template <int N> void k() { __shared__ float s[N]; }", "s", 256,
             "4 [64]");
    array_is("template <int N> void k() { __shared__ float s[N][8]; }", "s",
             256, "4 [8][8]");
    array_is("template <int N> void k() { __shared__ float s[8][N]; }", "s",
             256, NULL);
    array_is("template <class T> void k() { __shared__ T s[8]; }", "s", 64,
             "8 [8]");
    array_is("template <class T, int N> void k() { __shared__ T s[N]; }", "s",
             64, NULL);
    /* Of several kernels: the one with as many bytes, if there is one. */
    array_is("void k() { __shared__ int s[64]; } void m() { __shared__ double "
             "s[64]; }",
             "s", 512, "8 [64]");
    array_is("void k() { __shared__ int s[2][64]; } void m() { __shared__ "
             "double s[64]; }",
             "s", 512, NULL);
    /* What two #defines do not agree on, and what is no constant. */
    array_is("#define N 8\n#define N 9\n__shared__ float s[4][N];", "s", 128,
             NULL);
    array_is("void f() { int n; n = 8; __shared__ float s[4][n]; }", "s", 128,
             NULL);
    array_is("const int n = n; __shared__ float s[4][n];", "s", 128, NULL);
    array_is("__shared__ float s[4][8", "s", 128, NULL);
    array_is(
        "__shared__ float s[((((((((((((((((((((8))))))))))))))))))))][2];",
        "s", 64, "4 [8][2]");
    array_is("", "s", 64, NULL);
}

TEST_CASE(a_quotient_in_a_define_is_not_its_first_number)
{
    static const char *const unknown[] = {"64/2", "64 / 2", "(64)/2",
                                          "64 /* half */ / 2", "64 /* half"};
    static const char *const known[] = {"32 // half", "32/* half */",
                                        "(32) /* half *//* of all */ // 64"};
    char text[128];
    for (size_t k = 0; k < sizeof(unknown) / sizeof(unknown[0]); k++) {
        snprintf(text, sizeof(text),
                 "#define HALF %s\n__shared__ struct pair h[HALF];",
                 unknown[k]);
        array_is(text, "h", 256, NULL);
    }
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        snprintf(text, sizeof(text),
                 "#define HALF %s\n__shared__ struct pair h[HALF];", known[k]);
        array_is(text, "h", 256, "8 [32]");
    }
}

TEST_CASE(a_parameter_of_a_template_is_what_the_symbol_has)
{
    static const char text[] =
        "template <typename T, int W, bool PAD = false> __global__ void k(T x) "
        "{ const int M = W / 2; __shared__ T s[8][W + PAD]; "
        "__shared__ pair p[M][M]; }\n"
        "template <class OP, int N> struct part { void run() { "
        "__shared__ double r[2][N]; } };";
    array_in("void k<float, 32, true>(float)::s", NULL, text, "s", 8 * 33 * 4,
             "4 [8][33]");
    array_in("void a::k<double, 16, false>(double)", NULL, text, "s",
             8 * 16 * 8, "8 [8][16]");
    array_in("void k<unsigned char, (int)16, (bool)1>(int)", NULL, text, "s",
             8 * 17, "1 [8][17]");
    array_in("void k<float*, 8, false>(float*)", NULL, text, "s", 8 * 8 * 8,
             "8 [8][8]");
    array_in("void k<pair<int, 4>, 8, false>(pair<int, 4>)", NULL, text, "p",
             4 * 4 * 12, "12 [4][4]");
    array_in("part<sum<float, 3>, 64>::run()", NULL, text, "r", 2 * 64 * 8,
             "8 [2][64]");
    /* What does not come to the bytes, is another function's, or is cut off. */
    array_in("void k<float, 32, true>(float)", NULL, text, "s", 8 * 32 * 4,
             NULL);
    array_in("void kk<float, 32, true>(float)", NULL, text, "s", 8 * 33 * 4,
             NULL);
    array_in("void m<float, 32, true>(float)", NULL, text, "s", 8 * 33 * 4,
             NULL);
    array_in("void k<float>(float)", NULL, text, "s", 8 * 33 * 4, NULL);
    array_in("void k<float, 32", NULL, text, "s", 8 * 33 * 4, NULL);
    array_in("void k<float, SIDE, true>(float)", NULL, text, "s", 8 * 33 * 4,
             NULL);
    array_in("", NULL, text, "s", 8 * 33 * 4, NULL);
}

TEST_CASE(an_array_has_the_type_of_the_source)
{
    static const struct {
        const char *scope;
        const char *text;
        int64_t bytes;
        int type; /* -1: not known */
    } cases[] = {
        {NULL, "__shared__ double s[8];", 64, LAB_SIM_TYPE_DOUBLE},
        {NULL, "__shared__ __align__(16) unsigned char s[8];", 8,
         LAB_SIM_TYPE_UCHAR},
        {NULL, "__shared__ int4 s[8];", 128, LAB_SIM_TYPE_INT},
        {NULL, "__shared__ int2 s[8];", 64, LAB_SIM_TYPE_INT},
        {NULL, "__shared__ uint4 s[8];", 128, LAB_SIM_TYPE_UNSIGNED},
        {NULL, "__shared__ uint2 s[8];", 64, LAB_SIM_TYPE_UNSIGNED},
        {NULL, "__shared__ signed int s[8];", 32, LAB_SIM_TYPE_INT},
        {NULL, "__shared__ uint8_t s[8];", 8, LAB_SIM_TYPE_UCHAR},
        {NULL, "__shared__ int8_t s[8];", 8, LAB_SIM_TYPE_CHAR},
        {NULL, "__shared__ unsigned short int s[8];", 16, LAB_SIM_TYPE_USHORT},
        {NULL, "__shared__ volatile int s[8];", 32, LAB_SIM_TYPE_INT},
        {NULL, "static __shared__ float4 s[8];", 128, LAB_SIM_TYPE_FLOAT},
        {NULL, "__shared__ unsigned long long s[2];", 16, LAB_SIM_TYPE_ULONG},
        {NULL, "__shared__ struct pair s[2];", 16, -1},
        {NULL, "__shared__ long unsigned int s[2];", 16, LAB_SIM_TYPE_ULONG},
        {NULL, "__shared__ unsigned char volatile s[8];", 8,
         LAB_SIM_TYPE_UCHAR},
        {NULL, "__shared__ int short s[8];", 16, LAB_SIM_TYPE_SHORT},
        {NULL, "__shared__ __nv_bfloat162 s[8];", 32, LAB_SIM_TYPE_BFLOAT16},
        {NULL, "__shared__ alignas(16) uint4 s[8];", 128,
         LAB_SIM_TYPE_UNSIGNED},
        {NULL, "__shared__ float3 s[8];", 96, LAB_SIM_TYPE_FLOAT},
        {NULL, "__shared__ uchar4 s[8];", 32, LAB_SIM_TYPE_UCHAR},
        {NULL, "__shared__ ushort2 s[8];", 32, LAB_SIM_TYPE_USHORT},
        {NULL, "__shared__ longlong2 s[8];", 128, LAB_SIM_TYPE_LONG},
        {NULL, "__shared__ ulonglong4 s[8];", 256, LAB_SIM_TYPE_ULONG},
        {NULL, "__shared__ half2 s[8];", 32, LAB_SIM_TYPE_HALF},
        {NULL, "__shared__ half4 s[8];", 64, -1},
        {"void k<double>(int)",
         "template <class T> void k(int) { __shared__ T s[8]; }", 64,
         LAB_SIM_TYPE_DOUBLE},
        {NULL, "template <class T> void k(int) { __shared__ T s[8]; }", 64, -1},
        {"void k<float*>(int)",
         "template <class T> void k(int) { __shared__ T s[8]; }", 64, -1},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct lab_sim_array a;
        assert_true(lab_sim_source_array(cases[k].text, strlen(cases[k].text),
                                         NULL, cases[k].scope, "s",
                                         cases[k].bytes, &a));
        assert_int_equal(a.type, cases[k].type);
    }
}

TEST_CASE(a_parameter_of_a_template_is_no_constant)
{
    static const char *const unknown[] = {
        "template <class T, int N> void k() { __shared__ T s[N]; }",
        "template <int N, class T = pair<int>> void k(T x) { { __shared__ T "
        "s[N]; } }",
        "template <class T, int N> struct a { void k() { __shared__ T s[N]; } "
        "};",
        "template <class T, int N> void k() { const int M = N; __shared__ T "
        "s[M]; }"};
    static const char *const known[] = {
        "template <int N> void m() { } template <class T> void k() { "
        "__shared__ T s[N]; }",
        "template <class T, int M = N> void k() { __shared__ T s[N]; }",
        "template <int N> void m(); template <class T> void k() { __shared__ "
        "T s[N]; }"};
    char text[256];
    for (size_t k = 0; k < sizeof(unknown) / sizeof(unknown[0]); k++) {
        snprintf(text, sizeof(text), "%s void host() { const int N = 64; }",
                 unknown[k]);
        array_is(text, "s", 256, NULL);
    }
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        snprintf(text, sizeof(text), "const int N = 64; %s", known[k]);
        array_is(text, "s", 256, "4 [64]");
    }
}

/* Where the mangled name has no types, the source's are known. */
TEST_CASE(types_of_a_source_are_compared)
{
    static const struct lab_sim_parameter source[] = {
        {"const float *__restrict__", "x"}, {"float", "a"}, {"int", "n"}};
    of_source = source;
    fits("k", 3, SPECS("in:float[4]", "float:1", "int:4"), NULL);
    fits("k", 3, SPECS("in:double[4]", "float:1", "int:4"),
         "[sim.arg-type] parameter 0, const float *__restrict__ x, points to "
         "float, not to double");
    fits("k", 3, SPECS("in:float[4]"),
         "[sim.args-count] takes 3 arguments (const float *__restrict__ x, "
         "float a, int n), and 1 is given");
    of_source = NULL;
}

RUN_TESTS_IN(make_path, remove_path)
