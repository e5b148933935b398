/* What the program calls itself in the commands that people copy. */
#include "test.h"

#include "base/command.h"

static void expect(const char *value, bool ascii, const char *wanted)
{
    struct lab_str s;
    lab_str_init(&s);
    if (value)
        setenv("LAPENNA_LAB_COMMAND", value, 1);
    else
        unsetenv("LAPENNA_LAB_COMMAND");
    lab_command_add(&s, ascii);
    assert_string_equal(lab_str_text(&s), wanted);
    lab_str_release(&s);
}

TEST_CASE(it_is_what_was_typed)
{
    expect(NULL, false, "lapenna-lab");
    expect("", false, "lapenna-lab");
    expect("./lab", false, "./lab");
    expect("../my tools/lab", false, "'../my tools/lab'");
    expect("/home/anna's/lab;ls", false, "'/home/anna'\\''s/lab;ls'");
    expect("/Übung/lab", false, "/Übung/lab");
    expect("/Übung/lab", true, "$'/\\303\\234bung/lab'");
}

TEST_CASE(a_control_character_is_refused)
{
    expect("./lab\n", false, "lapenna-lab");
    expect("./\033[31mlab", false, "lapenna-lab");
    expect("./lab\x7F", false, "lapenna-lab");
}

static void spells(const char *text, const char *lead, const char *wanted)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_command_spell(&s, text, lead, false);
    assert_string_equal(lab_str_text(&s), wanted);
    lab_str_release(&s);
}

TEST_CASE(commands_in_a_text_are_spelt)
{
    setenv("LAPENNA_LAB_COMMAND", "./my lab", 1);
    spells("", "`", "");
    spells("see `lapenna-lab doctor`, or `lapenna-lab`", "`",
           "see `'./my lab' doctor`, or `'./my lab'`");
    spells("``lapenna-lab x", "`", "``'./my lab' x");
    spells("lapenna-lab: `lapenna-labs`, `lapenna-lab", "`",
           "lapenna-lab: `lapenna-labs`, `lapenna-lab");
    spells("Example:\n  lapenna-lab run x\n", "\n  ",
           "Example:\n  './my lab' run x\n");
    unsetenv("LAPENNA_LAB_COMMAND");
    spells("see `lapenna-lab doctor`", "`", "see `lapenna-lab doctor`");
}

RUN_TESTS()
