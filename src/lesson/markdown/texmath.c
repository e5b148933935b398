/* texmath.c -- TeX formulas as text of a terminal.
 *
 * The Markdown reader hands it what is between dollar signs. One pass through
 * the source: commands become their sign, sub- and superscripts the raised
 * characters where all of them exist, else ^(...) and _(...). A command that is
 * not known stays as it is. */
#include "lesson/texmath.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum kind {
    TEX_SYMBOL,
    TEX_OPERATOR,
    TEX_FUNCTION,
    TEX_FRACTION,
    TEX_ROOT,
    TEX_ACCENT,
    TEX_LITERAL,
    TEX_DELIMITER,
    TEX_ENVIRONMENT,
    TEX_NOTHING
};

struct word {
    const char *name; /* without the backslash */
    enum kind kind;
    const char *text;
};

/* clang-format off */
#define SYM(name, text) {name, TEX_SYMBOL, text}
#define OPR(name, text) {name, TEX_OPERATOR, text}
#define FUN(name) {name, TEX_FUNCTION, name}
#define ACC(name, mark) {name, TEX_ACCENT, mark}
#define LIT(name) {name, TEX_LITERAL, ""}
#define NIL(name) {name, TEX_NOTHING, ""}
#define ENV(name) {name, TEX_ENVIRONMENT, ""}
#define DEL(name) {name, TEX_DELIMITER, ""}

static const struct word words[] = {
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
    {"frac", TEX_FRACTION, ""}, {"dfrac", TEX_FRACTION, ""},
    {"tfrac", TEX_FRACTION, ""}, {"sqrt", TEX_ROOT, ""},
    ACC("hat", "\xCC\x82"), ACC("widehat", "\xCC\x82"),
    ACC("bar", "\xCC\x84"), ACC("overline", "\xCC\x84"),
    ACC("tilde", "\xCC\x83"), ACC("widetilde", "\xCC\x83"),
    ACC("dot", "\xCC\x87"), ACC("ddot", "\xCC\x88"),
    ACC("vec", "\xE2\x83\x97"),
    LIT("text"), LIT("mathrm"), LIT("operatorname"), LIT("textbf"),
    LIT("texttt"), LIT("mathtt"), LIT("mbox"), LIT("textit"),
    DEL("left"), DEL("right"), DEL("bigl"), DEL("bigr"), DEL("big"),
    DEL("Big"), DEL("Bigl"), DEL("Bigr"), ENV("begin"), ENV("end"),
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

/* NULL when the command is not known. */
static const struct word *find_word(const char *name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    }
    return NULL;
}

static const char *find_script(const char *utf8, size_t len, bool raise)
{
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        const struct script *s = &scripts[i];
        if (strlen(s->from) == len && memcmp(s->from, utf8, len) == 0)
            return raise ? s->up : s->down;
    }
    return NULL;
}

enum { DEPTH_MAX = 24, NAME_BYTES = 24 };

struct tex {
    const char *s;
    size_t n;
    size_t i;
    int depth;
};

static void read_atom(struct tex *t, struct lab_str *out);

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static void skip_blanks(struct tex *t)
{
    while (t->i < t->n && (t->s[t->i] == ' ' || t->s[t->i] == '\n' ||
                           t->s[t->i] == '\t' || t->s[t->i] == '\r'))
        t->i++;
}

static void add_blank(struct lab_str *out)
{
    if (out->len > 0 && out->data[out->len - 1] != ' ')
        lab_str_add_char(out, ' ');
}

/* One character of the source, made harmless. */
static void copy_character(struct tex *t, struct lab_str *out)
{
    unsigned code;
    size_t len = lab_utf8_next(t->s + t->i, t->n - t->i, &code);
    if (len == 0)
        len = 1;
    lab_str_add_visible(out, t->s + t->i, len, false);
    t->i += len;
}

/* The argument of a command: a group in braces, a command or a character. */
static void read_argument(struct tex *t, struct lab_str *out)
{
    skip_blanks(t);
    if (t->i < t->n && t->s[t->i] != '}')
        read_atom(t, out);
}

static struct lab_str take_argument(struct tex *t)
{
    struct lab_str arg;
    lab_str_init(&arg);
    read_argument(t, &arg);
    return arg;
}

/* `arg` is in `out` now. */
static void end_argument(struct lab_str *out, struct lab_str *arg)
{
    out->failed |= arg->failed;
    lab_str_release(arg);
}

static bool is_single(const struct lab_str *s)
{
    unsigned code;
    size_t len = lab_utf8_next(lab_str_text(s), s->len, &code);
    return len == s->len;
}

static void read_until_brace(struct tex *t, struct lab_str *out)
{
    while (t->i < t->n && t->s[t->i] != '}')
        read_atom(t, out);
    if (t->i < t->n)
        t->i++;
}

/* Text of a group taken literally: \text{...}, \mathrm{...}. */
static void copy_literal(struct tex *t, struct lab_str *out)
{
    skip_blanks(t);
    if (t->i >= t->n || t->s[t->i] != '{') {
        read_argument(t, out);
        return;
    }
    t->i++;
    int open = 1;
    while (t->i < t->n) {
        char c = t->s[t->i];
        if (c == '\\' && t->i + 1 < t->n && !is_letter(t->s[t->i + 1]))
            t->i++;
        else if (c == '{')
            open++;
        else if (c == '}' && --open == 0)
            break;
        if (c == '{' || c == '}')
            t->i++;
        else
            copy_character(t, out);
    }
    if (t->i < t->n)
        t->i++;
}

/* ---- scripts ---- */

/* Appends `text` raised or lowered when every character of it can be. */
static bool add_script(struct lab_str *out, const char *text, bool raise)
{
    struct lab_str script;
    bool whole = *text != '\0';
    lab_str_init(&script);
    for (size_t i = 0, n = strlen(text); whole && i < n;) {
        unsigned code;
        size_t len = lab_utf8_next(text + i, n - i, &code);
        const char *form = len ? find_script(text + i, len, raise) : NULL;
        if (form)
            lab_str_add(&script, form);
        whole = form != NULL;
        i += len;
    }
    whole = whole && !script.failed;
    if (whole)
        lab_str_add(out, lab_str_text(&script));
    lab_str_release(&script);
    return whole;
}

/* "i = 1" under a sum is "i=1": small writing has no room for blanks. */
static void drop_blanks(struct lab_str *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->len; i++) {
        if (s->data[i] != ' ')
            s->data[kept++] = s->data[i];
    }
    s->len = kept;
    if (s->data)
        s->data[kept] = '\0';
}

static void read_script(struct tex *t, struct lab_str *out)
{
    bool raise = t->s[t->i++] == '^';
    struct lab_str arg = take_argument(t);
    drop_blanks(&arg);
    const char *text = lab_str_text(&arg);
    if (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    if (!add_script(out, text, raise))
        lab_str_addf(out,
                     is_single(&arg) ? "%c%s"
                     : raise         ? "%c(%s)"
                                     : "%c{%s}",
                     raise ? '^' : '_', text);
    end_argument(out, &arg);
}

/* ---- commands with arguments ---- */

/* True when `text` must be put into brackets to be one factor. */
static bool is_compound(const char *text)
{
    int open = 0;
    for (const char *p = text; *p; p++) {
        open += (*p == '(' || *p == '[' || *p == '{') -
                (*p == ')' || *p == ']' || *p == '}');
        if (open == 0 && p != text && strchr(" +-/*=<>,", *p))
            return true;
    }
    return strstr(text, "·") || strstr(text, "−") || strstr(text, "×") ||
           strstr(text, "∑");
}

static void read_factor(struct tex *t, struct lab_str *out)
{
    struct lab_str arg = take_argument(t);
    const char *text = lab_str_text(&arg);
    lab_str_addf(out, is_compound(text) ? "(%s)" : "%s", text);
    end_argument(out, &arg);
}

static void read_fraction(struct tex *t, struct lab_str *out)
{
    read_factor(t, out);
    lab_str_add_char(out, '/');
    read_factor(t, out);
}

static void read_root(struct tex *t, struct lab_str *out)
{
    struct lab_str order;
    lab_str_init(&order);
    skip_blanks(t);
    if (t->i < t->n && t->s[t->i] == '[') {
        t->i++;
        while (t->i < t->n && t->s[t->i] != ']')
            read_atom(t, &order);
        t->i += t->i < t->n;
    }
    struct lab_str arg = take_argument(t);
    if (order.len && !add_script(out, lab_str_text(&order), true))
        lab_str_addf(out, "%s-", lab_str_text(&order));
    lab_str_addf(out, is_single(&arg) ? "√%s" : "√(%s)", lab_str_text(&arg));
    end_argument(out, &order);
    end_argument(out, &arg);
}

/* A mark over every character (\hat, \bar) or, over several, around them. */
static void read_accent(struct tex *t, struct lab_str *out, const char *mark,
                        const char *name)
{
    struct lab_str arg = take_argument(t);
    if (arg.len > 0 && is_single(&arg))
        lab_str_addf(out, "%s%s", lab_str_text(&arg), mark);
    else
        lab_str_addf(out, "%s(%s)", name, lab_str_text(&arg));
    end_argument(out, &arg);
}

/* \left( and \right): the bracket alone; "." is none. */
static void read_delimiter(struct tex *t, struct lab_str *out)
{
    skip_blanks(t);
    if (t->i < t->n && t->s[t->i] == '.')
        t->i++;
    else if (t->i < t->n)
        read_atom(t, out);
}

static void skip_group(struct tex *t)
{
    struct lab_str unused;
    lab_str_init(&unused);
    copy_literal(t, &unused);
    lab_str_release(&unused);
}

static void run_command(struct tex *t, struct lab_str *out, const char *name)
{
    const struct word *w = find_word(name);
    if (!w) {
        lab_str_add(out, name);
        return;
    }
    switch (w->kind) {
    case TEX_SYMBOL:
        lab_str_add(out, w->text);
        break;
    case TEX_OPERATOR: /* between blanks */
        add_blank(out);
        lab_str_add(out, w->text);
        lab_str_add_char(out, ' ');
        skip_blanks(t);
        break;
    case TEX_FUNCTION: /* a blank before its argument */
        if (out->len > 0 && is_alnum(out->data[out->len - 1]))
            lab_str_add_char(out, ' ');
        lab_str_add(out, w->text);
        skip_blanks(t);
        if (t->i < t->n && !strchr("(_^{[}", t->s[t->i]))
            lab_str_add_char(out, ' ');
        break;
    case TEX_FRACTION:
        read_fraction(t, out);
        break;
    case TEX_ROOT:
        read_root(t, out);
        break;
    case TEX_ACCENT:
        read_accent(t, out, w->text, name);
        break;
    case TEX_LITERAL:
        copy_literal(t, out);
        break;
    case TEX_DELIMITER:
        read_delimiter(t, out);
        break;
    case TEX_ENVIRONMENT:
        skip_group(t);
        break;
    case TEX_NOTHING:
        break;
    }
}

static void read_command(struct tex *t, struct lab_str *out)
{
    char name[NAME_BYTES];
    size_t len = 0;
    t->i++; /* the backslash */
    if (t->i >= t->n) {
        lab_str_add_char(out, '\\');
        return;
    }
    if (!is_letter(t->s[t->i])) {
        char c = t->s[t->i];
        bool space = c == ' ' || c == ',' || c == ';' || c == ':';
        if (space)
            add_blank(out);
        else if (c == '\\')
            lab_str_add(out, "; ");
        else if (c == '|')
            lab_str_add(out, "‖");
        else if (c != '!') {
            copy_character(t, out);
            return;
        }
        t->i++;
        return;
    }
    while (t->i < t->n && is_letter(t->s[t->i])) {
        if (len + 1 < sizeof(name))
            name[len++] = t->s[t->i];
        t->i++;
    }
    name[len] = '\0';
    run_command(t, out, name);
}

/* Relations get a blank on each side, as typesetting does. */
static void add_relation(struct tex *t, struct lab_str *out)
{
    add_blank(out);
    lab_str_add_char(out, t->s[t->i++]);
    skip_blanks(t);
    lab_str_add_char(out, ' ');
}

static void add_minus(struct tex *t, struct lab_str *out)
{
    t->i++;
    lab_str_add(out, "−");
    skip_blanks(t);
}

static void read_atom(struct tex *t, struct lab_str *out)
{
    if (t->depth >= DEPTH_MAX) { /* hostile nesting: show it as it is */
        copy_character(t, out);
        return;
    }
    t->depth++;
    switch (t->s[t->i]) {
    case '\\':
        read_command(t, out);
        break;
    case '{':
        t->i++;
        read_until_brace(t, out);
        break;
    case '}': /* one too many */
        t->i++;
        break;
    case '^':
    case '_':
        read_script(t, out);
        break;
    case '\'':
        lab_str_add(out, "′");
        t->i++;
        break;
    case '&':
    case '~':
    case ' ':
    case '\n':
    case '\t':
    case '\r':
        add_blank(out);
        t->i++;
        break;
    case '=':
    case '<':
    case '>':
        add_relation(t, out);
        break;
    case '-':
        add_minus(t, out);
        break;
    default:
        copy_character(t, out);
        break;
    }
    t->depth--;
}

void lab_texmath_add(struct lab_str *out, const char *tex, size_t n)
{
    struct tex t = {.s = tex, .n = n};
    struct lab_str text;
    lab_str_init(&text);
    skip_blanks(&t);
    while (t.i < t.n && !text.failed) {
        size_t before = t.i;
        read_atom(&t, &text);
        if (t.i == before)
            t.i++;
    }
    while (text.len > 0 && text.data[text.len - 1] == ' ')
        text.data[--text.len] = '\0';
    lab_str_add(out, lab_str_text(&text));
    out->failed |= text.failed;
    lab_str_release(&text);
}
