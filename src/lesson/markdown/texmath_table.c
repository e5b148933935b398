#include "texmath_table.h"

#include <string.h>

#define SYM(name, text)                                                        \
    {                                                                          \
        name, LAB_TEX_SYMBOL, text                                             \
    }
#define OPR(name, text)                                                        \
    {                                                                          \
        name, LAB_TEX_OPERATOR, text                                           \
    }
#define FUN(name)                                                              \
    {                                                                          \
        name, LAB_TEX_FUNCTION, name                                           \
    }
#define ACC(name, mark)                                                        \
    {                                                                          \
        name, LAB_TEX_ACCENT, mark                                             \
    }
#define LIT(name)                                                              \
    {                                                                          \
        name, LAB_TEX_LITERAL, ""                                              \
    }
#define NIL(name)                                                              \
    {                                                                          \
        name, LAB_TEX_NOTHING, ""                                              \
    }

/* clang-format off */
static const struct lab_texmath_word words[] = {
    SYM("alpha", "α"), SYM("beta", "β"), SYM("gamma", "γ"),
    SYM("delta", "δ"), SYM("epsilon", "ε"), SYM("varepsilon", "ε"),
    SYM("zeta", "ζ"), SYM("eta", "η"), SYM("theta", "θ"),
    SYM("vartheta", "ϑ"), SYM("iota", "ι"), SYM("kappa", "κ"),
    SYM("lambda", "λ"), SYM("mu", "μ"), SYM("nu", "ν"), SYM("xi", "ξ"),
    SYM("pi", "π"), SYM("rho", "ρ"), SYM("sigma", "σ"), SYM("tau", "τ"),
    SYM("upsilon", "υ"), SYM("phi", "φ"), SYM("varphi", "φ"),
    SYM("chi", "χ"), SYM("psi", "ψ"), SYM("omega", "ω"),
    SYM("Gamma", "Γ"), SYM("Delta", "Δ"), SYM("Theta", "Θ"),
    SYM("Lambda", "Λ"), SYM("Xi", "Ξ"), SYM("Pi", "Π"), SYM("Sigma", "Σ"),
    SYM("Phi", "Φ"), SYM("Psi", "Ψ"), SYM("Omega", "Ω"),
    SYM("sum", "∑"), SYM("prod", "∏"), SYM("int", "∫"),
    SYM("partial", "∂"), SYM("nabla", "∇"), SYM("infty", "∞"),
    SYM("odot", "⊙"), SYM("otimes", "⊗"), SYM("oplus", "⊕"),
    SYM("circ", "∘"), SYM("ast", "∗"), SYM("star", "⋆"),
    SYM("prime", "′"), SYM("ell", "ℓ"), SYM("top", "⊤"), SYM("bot", "⊥"),
    SYM("dots", "…"), SYM("ldots", "…"), SYM("cdots", "⋯"),
    SYM("vdots", "⋮"), SYM("emptyset", "∅"), SYM("forall", "∀"),
    SYM("exists", "∃"), SYM("neg", "¬"), SYM("Re", "ℜ"), SYM("Im", "ℑ"),
    SYM("lfloor", "⌊"), SYM("rfloor", "⌋"), SYM("lceil", "⌈"),
    SYM("rceil", "⌉"), SYM("langle", "⟨"), SYM("rangle", "⟩"),
    SYM("lvert", "|"), SYM("rvert", "|"), SYM("vert", "|"),
    SYM("lVert", "‖"), SYM("rVert", "‖"), SYM("Vert", "‖"),
    SYM("lbrace", "{"), SYM("rbrace", "}"), SYM("backslash", "\\"),
    OPR("cdot", "·"), OPR("times", "×"), OPR("div", "÷"), OPR("pm", "±"),
    OPR("mp", "∓"), OPR("le", "≤"), OPR("leq", "≤"), OPR("ge", "≥"),
    OPR("geq", "≥"), OPR("ne", "≠"), OPR("neq", "≠"), OPR("ll", "≪"),
    OPR("gg", "≫"), OPR("approx", "≈"), OPR("sim", "∼"),
    OPR("equiv", "≡"), OPR("propto", "∝"), OPR("to", "→"),
    OPR("rightarrow", "→"), OPR("leftarrow", "←"), OPR("gets", "←"),
    OPR("mapsto", "↦"), OPR("Rightarrow", "⇒"), OPR("Leftarrow", "⇐"),
    OPR("Leftrightarrow", "⇔"), OPR("iff", "⇔"), OPR("in", "∈"),
    OPR("notin", "∉"), OPR("subset", "⊂"), OPR("cup", "∪"),
    OPR("cap", "∩"), OPR("land", "∧"), OPR("lor", "∨"), OPR("mid", "|"),
    OPR("quad", ""), OPR("qquad", ""), OPR("lt", "<"), OPR("gt", ">"),
    FUN("exp"), FUN("log"), FUN("ln"), FUN("sin"), FUN("cos"), FUN("tan"),
    FUN("tanh"), FUN("sinh"), FUN("cosh"), FUN("max"), FUN("min"),
    FUN("arg"), FUN("argmax"), FUN("argmin"), FUN("lim"), FUN("sup"),
    FUN("inf"), FUN("det"), FUN("dim"), FUN("erf"), FUN("softmax"),
    FUN("relu"), FUN("gelu"), FUN("sign"), FUN("mean"), FUN("var"),
    {"frac", LAB_TEX_FRACTION, ""}, {"dfrac", LAB_TEX_FRACTION, ""},
    {"tfrac", LAB_TEX_FRACTION, ""}, {"sqrt", LAB_TEX_ROOT, ""},
    ACC("hat", "\xCC\x82"), ACC("widehat", "\xCC\x82"),
    ACC("bar", "\xCC\x84"), ACC("overline", "\xCC\x84"),
    ACC("tilde", "\xCC\x83"), ACC("widetilde", "\xCC\x83"),
    ACC("dot", "\xCC\x87"), ACC("ddot", "\xCC\x88"),
    ACC("vec", "\xE2\x83\x97"),
    LIT("text"), LIT("mathrm"), LIT("operatorname"), LIT("textbf"),
    LIT("texttt"), LIT("mathtt"), LIT("mbox"), LIT("textit"),
    {"left", LAB_TEX_DELIMITER, ""}, {"right", LAB_TEX_DELIMITER, ""},
    {"bigl", LAB_TEX_DELIMITER, ""}, {"bigr", LAB_TEX_DELIMITER, ""},
    {"big", LAB_TEX_DELIMITER, ""}, {"Big", LAB_TEX_DELIMITER, ""},
    {"Bigl", LAB_TEX_DELIMITER, ""}, {"Bigr", LAB_TEX_DELIMITER, ""},
    {"begin", LAB_TEX_ENVIRONMENT, ""}, {"end", LAB_TEX_ENVIRONMENT, ""},
    NIL("mathbf"), NIL("boldsymbol"), NIL("mathbb"), NIL("mathcal"),
    NIL("mathit"), NIL("displaystyle"), NIL("textstyle"), NIL("limits"),
    NIL("nolimits"), NIL("label"),
};

struct script {
    const char *from;
    const char *up;   /* NULL: Unicode has none */
    const char *down;
};

static const struct script scripts[] = {
    {"0", "⁰", "₀"}, {"1", "¹", "₁"}, {"2", "²", "₂"}, {"3", "³", "₃"},
    {"4", "⁴", "₄"}, {"5", "⁵", "₅"}, {"6", "⁶", "₆"}, {"7", "⁷", "₇"},
    {"8", "⁸", "₈"}, {"9", "⁹", "₉"}, {"+", "⁺", "₊"}, {"−", "⁻", "₋"},
    {"-", "⁻", "₋"}, {"=", "⁼", "₌"}, {"(", "⁽", "₍"}, {")", "⁾", "₎"},
    {"a", "ᵃ", "ₐ"}, {"b", "ᵇ", NULL}, {"c", "ᶜ", NULL}, {"d", "ᵈ", NULL},
    {"e", "ᵉ", "ₑ"}, {"f", "ᶠ", NULL}, {"g", "ᵍ", NULL}, {"h", "ʰ", "ₕ"},
    {"i", "ⁱ", "ᵢ"}, {"j", "ʲ", "ⱼ"}, {"k", "ᵏ", "ₖ"}, {"l", "ˡ", "ₗ"},
    {"m", "ᵐ", "ₘ"}, {"n", "ⁿ", "ₙ"}, {"o", "ᵒ", "ₒ"}, {"p", "ᵖ", "ₚ"},
    {"r", "ʳ", "ᵣ"}, {"s", "ˢ", "ₛ"}, {"t", "ᵗ", "ₜ"}, {"u", "ᵘ", "ᵤ"},
    {"v", "ᵛ", "ᵥ"}, {"w", "ʷ", NULL}, {"x", "ˣ", "ₓ"}, {"y", "ʸ", NULL},
    {"z", "ᶻ", NULL}, {"T", "ᵀ", NULL}, {"N", "ᴺ", NULL}, {"H", "ᴴ", NULL},
    {"L", "ᴸ", NULL}, {"K", "ᴷ", NULL}, {"M", "ᴹ", NULL}, {"D", "ᴰ", NULL},
    {"B", "ᴮ", NULL}, {"I", "ᴵ", NULL}, {"R", "ᴿ", NULL}, {"⊤", "ᵀ", NULL},
    {"β", "ᵝ", "ᵦ"}, {"γ", "ᵞ", "ᵧ"}, {"ρ", NULL, "ᵨ"}, {"φ", "ᵠ", "ᵩ"},
    {"χ", "ᵡ", "ᵪ"}, {"′", "′", NULL}, {"*", "*", NULL},
};
/* clang-format on */

const struct lab_texmath_word *lab_texmath_find(const char *name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    }
    return NULL;
}

const char *lab_texmath_script(const char *utf8, size_t len, bool raise)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        const struct script *s = &scripts[i];
        if (strlen(s->from) == len && memcmp(s->from, utf8, len) == 0)
            return raise ? s->up : s->down;
    }
    return NULL;
}
