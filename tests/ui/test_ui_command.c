/* The command line of the stepper: each word and its abbreviations, with
 * numbers, breakpoints, elements and questions. */
#include "test.h"

#include "common/kernel.h"
#include "debug/command.h"

static struct lab_ui_command parse(const char *line)
{
    struct lab_ui_command c = {.kind = LAB_COMMAND_KIND_COUNT};
    if (lab_ui_command_parse(line, &c))
        fail_msg("\"%s\": %s", line, lab_error());
    return c;
}

static void refuse(const char *line, const char *message)
{
    struct lab_ui_command c = {.kind = LAB_COMMAND_KIND_COUNT, .n = 77};
    if (lab_ui_command_parse(line, &c) != LAB_E_PARSE)
        fail_msg("\"%s\" was taken", line);
    if (!error_is(message))
        fail_msg("\"%s\": %s", line, lab_error());
    assert_int_equal(c.kind, LAB_COMMAND_KIND_COUNT);
    assert_int_equal(c.n, 77);
}

TEST_CASE(words_and_abbreviations)
{
    static const struct {
        const char *line;
        enum lab_ui_command_kind kind;
    } cases[] = {
        {"", LAB_COMMAND_NONE},
        {"  \t ", LAB_COMMAND_NONE},
        {"s", LAB_COMMAND_STEP},
        {"step", LAB_COMMAND_STEP},
        {"n", LAB_COMMAND_NEXT},
        {"f", LAB_COMMAND_FINISH},
        {"fin", LAB_COMMAND_FINISH},
        {"i", LAB_COMMAND_INTO},
        {"into fc1.W update", LAB_COMMAND_INTO},
        {"c", LAB_COMMAND_CONTINUE},
        {"cont", LAB_COMMAND_CONTINUE},
        {"b", LAB_COMMAND_BREAK},
        {"ba", LAB_COMMAND_BACK},
        {"rs", LAB_COMMAND_BACK},
        {"reverse-step", LAB_COMMAND_BACK},
        {"res", LAB_COMMAND_RESTART},
        {"seed 3", LAB_COMMAND_SEED},
        {"lr", LAB_COMMAND_LR},
        {"lr 0.05", LAB_COMMAND_LR},
        {"restart lr=0.05", LAB_COMMAND_RESTART},
        {"d", LAB_COMMAND_DELETE},
        {"w x", LAB_COMMAND_WATCH},
        {"unw", LAB_COMMAND_UNWATCH},
        {"p x", LAB_COMMAND_PRINT},
        {"e x[0]", LAB_COMMAND_EXPLAIN},
        {"v fc1 blas", LAB_COMMAND_VARIANT},
        {"ch fc1.W", LAB_COMMAND_CHECK},
        {"t", LAB_COMMAND_TRAIN},
        {"nex", LAB_COMMAND_NEXT},
        {"nea king", LAB_COMMAND_NEAR},
        {"sto", LAB_COMMAND_STOP},
        {"l", LAB_COMMAND_LIST},
        {"h", LAB_COMMAND_HELP},
        {"q", LAB_COMMAND_QUIT},
        {"until loss", LAB_COMMAND_RUN},
        {"adv loss", LAB_COMMAND_RUN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(parse(cases[i].line).kind, cases[i].kind);
    refuse("r", "[command.ambiguous] \"r\" may be");
    refuse("ne", "[command.ambiguous] \"ne\" may be");
    refuse("se ", "[command.arguments] seed: it takes one number");
    refuse("stpe", "[command.word] did you mean \"step\"?");
    refuse("explian x", "[command.word] did you mean \"explain\"?");
    refuse("xyzzy", "[command.word] \"help\" lists them");
}

TEST_CASE(numbers)
{
    assert_int_equal(parse("s").n, 1);
    assert_int_equal(parse("next 12").n, 12);
    assert_true(parse("delete").n == LAB_COMMAND_ALL);
    assert_int_equal(parse("train 500").n, 500);
    assert_true(parse("train").n == LAB_COMMAND_ALL);
    assert_int_equal(parse("seed 0").n, 0);
    refuse("step 0",
           "[command.range] step: 0 is out of range: 1 to 9223372036854775807");
    refuse(
        "seed -1",
        "[command.range] seed: -1 is out of range: 0 to 9223372036854775807");
    refuse("step -1", "[command.range] ");
    refuse("step two", "[command.number] \"two\" is not a whole number");
    refuse("step 1 2", "[command.arguments] too many words");
    refuse("back 99999999999999999999", "[command.range] ");
    refuse("seed", "[command.arguments] it takes one number");
    refuse("finish now", "[command.arguments] too many words; usage: finish");
}

TEST_CASE(learning_rates)
{
    static const char *const wrong[] = {"lr 0",     "lr -0.1", "lr nan",
                                        "lr inf",   "lr fast", "lr 0.1x",
                                        "lr 1e-50", "lr 2e6"};
    assert_true(isnan(parse("lr").value));
    assert_true(parse("lr 0.05").value == 0.05);
    assert_true(parse("lr 1e6").value == 1e6);
    assert_true(parse("lr 1e-30").value == 1e-30);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refuse(wrong[i], "[network.rate] ");
    refuse("lr 0.1 0.2", "[command.arguments] it takes one number");
}

TEST_CASE(samples)
{
    struct lab_ui_command c = parse("sample");
    assert_true(c.kind == LAB_COMMAND_SAMPLE && c.n == LAB_COMMAND_ALL);
    assert_true(isnan(c.value) && c.top_k == 0);
    assert_string_equal(c.arg, "");
    c = parse("sam 40 t=0.5 k=3 The  loss is 3");
    assert_true(c.n == 40 && c.value == 0.5 && c.top_k == 3);
    assert_string_equal(c.arg, "The  loss is 3");
    assert_string_equal(parse("sample a b c d e f g h i j k l m n o p q r").arg,
                        "a b c d e f g h i j k l m n o p q r");
    assert_string_equal(parse("sample 7 8 nine\n").arg, "8 nine");
    refuse("sample 0", "[command.range] ");
    refuse("sample t=hot", "[command.temperature] the temperature \"hot\"");
    refuse("sample t=-1", "[command.temperature] the temperature \"-1\"");
    refuse("sample k=0", "[command.range] ");
    char longest[200] = "sample ";
    memset(longest + 7, 'x', 150);
    refuse(longest, "[command.arguments] the text is too long");
}

TEST_CASE(breakpoints)
{
    struct lab_ui_command c = parse("break fc2.matmul backward");
    assert_int_equal(c.when, LAB_WHEN_STEP);
    assert_string_equal(c.arg, "fc2.matmul");
    assert_int_equal(c.phase, LAB_BACKWARD);
    assert_int_equal(parse("b fc2.matmul").phase, -1);
    assert_int_equal(parse("b fc2 b").phase, LAB_BACKWARD);
    assert_int_equal(parse("b").when, LAB_WHEN_HERE);
    assert_int_equal(parse("b nan").when, LAB_WHEN_NAN);
    assert_int_equal(parse("b inf").when, LAB_WHEN_INF);
    c = parse("b phase update");
    assert_int_equal(c.when, LAB_WHEN_PHASE);
    assert_int_equal(c.phase, LAB_UPDATE);
    assert_int_equal(parse("b loss").when, LAB_WHEN_STEP); /* its step */
    const char *const losses[] = {"b loss > 2.5", "b loss >2.5", "b loss>2.5",
                                  "break loss> 2.5"};
    for (int i = 0; i < 4; i++) {
        c = parse(losses[i]);
        assert_int_equal(c.when, LAB_WHEN_LOSS);
        assert_true(c.value == 2.5);
    }
    refuse("b phase bakward", "[command.word] did you mean \"backward\"?");
    refuse("b phase", "[command.arguments] which phase?");
    refuse("b loss > x", "[command.break-number] \"x\" is not a number");
    refuse("b loss >",
           "[command.arguments] break: a condition on the loss reads "
           "\"loss > 2.5\"");
    refuse("b loss > inf", "[command.break-number] ");
    refuse("b nan now", "[command.arguments] too many words");
    refuse("b a backward c", "[command.arguments] too many words");
    refuse("run", "[command.arguments] which step?");
}

TEST_CASE(elements)
{
    struct lab_ui_command c = parse("print fc1.W.grad[3,5]");
    assert_string_equal(c.arg, "fc1.W.grad");
    assert_int_equal(c.index_count, 2);
    assert_int_equal(c.index[0], 3);
    assert_int_equal(c.index[1], 5);
    c = parse("p x [ -1 , : ]");
    assert_string_equal(c.arg, "x");
    assert_int_equal(c.index[0], -1);
    assert_true(c.index[1] == LAB_INDEX_ALL);
    assert_int_equal(parse("explain loss").index_count, 0);
    refuse("print", "[command.arguments] which tensor?");
    refuse("print [1]", "[command.arguments] which tensor?");
    refuse("print x[1", "[command.arguments] no end");
    refuse("print x[]", "[command.arguments] empty");
    refuse("print x[1,b]", "[command.number] \"b\" is not a whole number");
    refuse("print x y", "[command.arguments] too many words");
    refuse("print x[1,1,1,1,1,1,1,1,1]", "[command.arguments] too many axes");
    c = parse("variant fc1 tiled");
    assert_string_equal(c.arg, "fc1");
    assert_string_equal(c.arg2, "tiled");
    assert_string_equal(parse("variant fc1").arg2, "");
    refuse("variant",
           "[command.arguments] usage: variant NODE [NAME | default | auto]");
    refuse("variant fc1 tiled x", "[command.arguments] too many words");
    refuse("watch", "[command.arguments] a name is missing");
}

TEST_CASE(questions)
{
    assert_string_equal(parse("near king").arg, "king");
    assert_string_equal(parse("near  king -  man+woman ").arg,
                        "king - man+woman");
    refuse("near", "[command.arguments] near which word?; usage: near WORDS");
}

TEST_CASE(the_longest_and_the_worst)
{
    char line[600];
    memset(line, 'a', sizeof(line));
    line[sizeof(line) - 1] = '\0';
    refuse(line, "[command.too-long] ");
    memcpy(line, "watch ", 6);
    line[300] = '\0';
    refuse(line, "[command.arguments] too long");
    refuse("a b c d e f g h i j k l m n o p q",
           "[command.too-many-words] too many words after \"a\"");
    /* Any bytes at all: an answer, and no crash. */
    srand(1);
    for (int i = 0; i < 20000; i++) {
        struct lab_ui_command c;
        int n = rand() % 40;
        for (int k = 0; k < n; k++)
            line[k] = "sbpnx[],:>. -1eloss\xFF\x1B"[rand() % 21];
        line[n] = '\0';
        lab_ui_command_parse(line, &c);
    }
}

/* What is offered behind a word is of the command that the line would be. */
TEST_CASE(a_line_belongs_to_the_command_that_runs)
{
    assert_int_equal(lab_ui_command_typed("t dark")->kind, LAB_COMMAND_TRAIN);
    assert_int_equal(lab_ui_command_typed("e x.svg")->kind,
                     LAB_COMMAND_EXPLAIN);
    assert_int_equal(lab_ui_command_typed(" :th")->kind, LAB_COMMAND_THEME);
    assert_int_equal(lab_ui_command_typed("theme dark")->kind,
                     LAB_COMMAND_THEME);
    assert_null(lab_ui_command_typed("re fc1")); /* restart, and others */
    assert_null(lab_ui_command_typed("colour red"));
    assert_null(lab_ui_command_typed("  "));
}

TEST_CASE(every_word_has_its_row)
{
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    for (int k = 1; k < LAB_COMMAND_KIND_COUNT; k++) {
        bool helped = false;
        for (size_t i = 0; i < count; i++)
            helped |= (int)words[i].kind == k && words[i].help;
        assert_true(helped);
        assert_true(lab_ui_command_name((enum lab_ui_command_kind)k)[0]);
    }
    assert_true(lab_ui_command_repeats(LAB_COMMAND_NEXT));
    assert_false(lab_ui_command_repeats(LAB_COMMAND_RESTART));
}

RUN_TESTS()
