/* TeX formulas of lessons as plain text, and hostile input: deep nesting ends,
 * and no control character passes. */
#include "test.h"

#include "base/mem.h"
#include "lesson/texmath.h"

static const struct {
    const char *tex;
    const char *text;
} cases[] = {
    {"", ""},
    {"x", "x"},
    {"\\alpha + \\Omega", "α + Ω"},
    {"y = x W + b", "y = x W + b"},
    {"y=xW", "y = xW"},
    {"x_i", "xᵢ"},
    {"x_{12}", "x₁₂"},
    {"W_1", "W₁"},
    {"x_{n,3}", "x_{n,3}"},
    {"x^2", "x²"},
    {"e^{-x}", "e⁻ˣ"},
    {"e^{-x/2}", "e^(−x/2)"},
    {"A^T", "Aᵀ"},
    {"A^{\\top}", "Aᵀ"},
    {"x^{q}", "x^q"},
    {"x_i^2", "xᵢ²"},
    {"\\sum_n x_n", "∑ₙ xₙ"},
    {"\\sum_{i=1}^{n} x_i", "∑ᵢ₌₁ⁿ xᵢ"},
    {"\\frac{a}{b}", "a/b"},
    {"\\frac{a + b}{2}", "(a + b)/2"},
    {"\\frac{\\partial L}{\\partial W}", "(∂ L)/(∂ W)"},
    {"\\frac{1}{1+e^{-x}}", "1/(1+e⁻ˣ)"},
    {"\\frac12", "1/2"},
    {"\\sqrt{x}", "√x"},
    {"\\sqrt{1/64}", "√(1/64)"},
    {"\\sqrt[3]{x}", "³√x"},
    {"\\hat{x}", "x\xCC\x82"},
    {"\\hat y", "y\xCC\x82"},
    {"\\bar{xyz}", "bar(xyz)"},
    {"a \\cdot b", "a · b"},
    {"a\\cdot b", "a · b"},
    {"64 \\cdot 16 + 16", "64 · 16 + 16"},
    {"a \\times b \\le c", "a × b ≤ c"},
    {"x \\in \\mathbb{R}", "x ∈ R"},
    {"\\max(0, x)", "max(0, x)"},
    {"\\log x", "log x"},
    {"-\\log p_y", "−log p_y"},
    {"\\tanh x", "tanh x"},
    {"\\left( \\frac{a}{b} \\right)", "( a/b )"},
    {"\\text{loss of n} = 1", "loss of n = 1"},
    {"\\mathrm{relu}(x)", "relu(x)"},
    {"f'(x)", "f′(x)"},
    {"\\{1, 2\\}", "{1, 2}"},
    {"a\\,b", "a b"},
    {"\\| x \\|", "‖ x ‖"},
    {"\\infty", "∞"},
    {"\\unknowncommand x", "unknowncommand x"},
    {"fc1.W[3,5]", "fc1.W[3,5]"},
    {"p_0 \\to p_1", "p₀ → p₁"},
    /* what is not well-formed shows what is there */
    {"{", ""},
    {"}", ""},
    {"\\", "\\"},
    {"\\frac", "/"},
    {"\\frac{a", "a/"},
    {"x_", "x_"},
    {"^", "^"},
    {"\\sqrt", "√"},
    {"\\hat", "hat()"},
    {"\\left", ""},
    {"\\text", ""},
    {"\\begin{aligned} a &= b \\\\ c \\end{aligned}", "a = b ; c"},
};

TEST_CASE(formulas_as_text)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct lab_str out;
        lab_str_init(&out);
        lab_texmath_add(&out, cases[i].tex, strlen(cases[i].tex));
        assert_false(out.failed);
        if (strcmp(lab_str_text(&out), cases[i].text) != 0) {
            print_error("%s\n  expected %s\n  found    %s\n", cases[i].tex,
                        cases[i].text, lab_str_text(&out));
            wrong++;
        }
        lab_str_release(&out);
    }
    assert_int_equal(wrong, 0);
}

/* Nesting far beyond any formula ends, and in time. */
TEST_CASE(hostile_nesting_ends)
{
    static const char *const parts[] = {"{", "_{",     "\\frac{", "\\sqrt[",
                                        "}", "\\left", "\\text{", "^"};
    for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++) {
        struct lab_str tex;
        struct lab_str out;
        lab_str_init(&tex);
        lab_str_init(&out);
        for (int i = 0; i < 20000; i++)
            lab_str_add(&tex, parts[p]);
        lab_texmath_add(&out, tex.data, tex.len);
        assert_false(out.failed);
        assert_true(out.len < 40 * tex.len);
        lab_str_release(&tex);
        lab_str_release(&out);
    }
}

TEST_CASE(text_stays_harmless)
{
    struct lab_str out;
    lab_str_init(&out);
    lab_texmath_add(&out, "a\033[31m\xff", 7);
    assert_string_equal(lab_str_text(&out), "a^[[31m\\xFF");
    lab_str_release(&out);
}

TEST_CASE(short_memory_is_an_error)
{
    for (int64_t n = 1; n < 100; n++) {
        struct lab_str out;
        lab_str_init(&out);
        lab_mem_fail_from(n);
        lab_texmath_add(&out, "\\frac{a_1}{\\sqrt{b}^2} + \\hat{c}", 33);
        bool ran_out = lab_mem_count() >= n;
        lab_mem_fail_from(0);
        assert_int_equal(out.failed, ran_out);
        lab_str_release(&out);
        if (!ran_out)
            return;
    }
    fail();
}

RUN_TESTS()
