/* The training screen of a lesson that learns from text. */
#include "test.h"

#include "stepper_play.h"

static int setup(void **state)
{
    struct stepper_fixture *f = stepper_fixture_new(0);
    f->text = true;
    f->curve = 60;
    f->model.sampling.temperature = 0.8;
    *state = f;
    return 0;
}

TEST_CASE_WITH(bits_and_the_line_to_beat, setup, play_teardown)
{
    check_screen(*state, "key t", "train_text_80x24.txt", false);
}

TEST_CASE_WITH(a_point_of_the_loss_is_named, setup, play_teardown)
{
    play(*state, "resize 80 24\nkey t\nclick 6 9\n"
                 "expect iteration 0: loss 2.\n"
                 "click 8 79\nexpect iteration 590: loss 0.155807\n"
                 "click 14 79\nexpect bits a character, validation\n");
}

#define FIXTURE_CASE(name)                                                     \
    TEST_CASE_OF(name, setup, play_teardown, struct stepper_fixture *f)

/* The iteration that the walk went back to, with its own loss. */
FIXTURE_CASE(the_loss_is_of_the_iteration_beside_it)
{
    play(f, "resize 80 24\nkey t\nexpect iteration 590 \n"
            "expect loss 0.155807 \n");
    f->iteration = 300;
    play(f, "resize 80 24\nkey t\nexpect iteration 300 \n"
            "expect loss 0.377977 \nabsent loss 0.155807\n");
}

/* On 80x24 too the rate has a strip of its own. */
FIXTURE_CASE(a_rate_that_falls)
{
    f->rate_falls = true;
    check_screen(f, "key t", "train_text_rate_80x24.txt", false);
}

/* Its end is in sight; what would move the cursor is shown and not sent. */
FIXTURE_CASE(a_text_that_is_longer_than_its_pane)
{
    f->model.sampling.top_k = 10;
    f->written =
        "First of all.\n\n"
        "The loss is what remains when everything that could be known "
        "has been read, and not one bit less than that.\n\033[2JRed\r\n"
        "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e "
        "f g h i j k l m n o p q r s t u v w x y z\n"
        "the end";
    check_screen(f, "key t", "train_written_80x24.txt", true);
    check_screen(f, "key t", "train_written_200x60.txt", false);
    check_screen(f, "key t 4", "train_probable_80x24.txt", false);
}

/* The probability of each character is named; the text follows the cursor. */
FIXTURE_CASE(a_cursor_in_the_text)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add(&text, "Q\nto be");
    for (int i = 0; i < 40; i++)
        lab_str_addf(&text, "\nline %d \xc3\xa9", i);
    f->written = lab_str_text(&text);
    play(f, "resize 80 24\nkey t 4\nexpect bits a character\n"
            "absent \": probability\nkey Left\n"
            "expect \"\xc3\xa9\": probability\nkey Right\n"
            "expect \"\xc3\xa9\": probability\nkey Left\n"
            "expect \" \": probability\nkey Left\nexpect \"9\": probability\n"
            "key Right Right\nexpect \"\xc3\xa9\": probability\n"
            "absent line 20\n");
    play(f, "resize 80 24\nkey t\nkey 4\nkey Home\nexpect Q\xe2\x86\xb5\n"
            "key Down\nabsent Q\xe2\x86\xb5\nkey Up\n"
            "click 6 0\nexpect \"Q\": of the prompt\n"
            "key Left\nexpect \"Q\": of the prompt\nclick 8 4\n"
            "expect \"e\": probability\nclick 8 40\nabsent \": prob\n");
    lab_str_release(&text);
}

FIXTURE_CASE(keys_make_it_write)
{
    play(f, "key t\nexpect w lets the network write\nkey w\n"
            "expect The gradient of\n");
    const struct lab_command *c = fixture_last(f, LAB_DO_SAMPLE);
    assert_non_null(c);
    assert_string_equal(c->text, "");
    assert_true(c->value == 0.8 && c->top_k == 0 && c->n == 0);
    play(f, "key t\nkey d\ntext hot\nkey Enter\nexpect \"hot\" is no\n"
            "key d\ntext 0.25\nkey Enter\nkey p\ntext The loss\nkey Enter\n");
    c = fixture_last(f, LAB_DO_SAMPLE);
    assert_string_equal(c->text, "The loss");
    assert_true(c->value == 0.25);
    play(f, "key t\nenter :sample 33 t=1.5 k=4 One step\n");
    c = fixture_last(f, LAB_DO_SAMPLE);
    assert_string_equal(c->text, "One step");
    assert_true(c->value == 1.5 && c->top_k == 4 && c->n == 33);
}

/* The bar names what the lesson can do, and only that; help has all keys. */
FIXTURE_CASE(the_bar_is_of_the_lesson)
{
    play(f, "resize 80 24\nkey t\n"
            "expect w write  p prompt  d temp  Esc stop  i iterations\n"
            "resize 200 60\nexpect i iterations  L log scale\n"
            "key ?\nexpect likeliest character\nexpect logarithmic\n");
    f->text = false;
    play(f, "resize 200 60\nkey t\nabsent w write\nabsent d temp\n"
            "expect t train on  i iterations\n");
}

/* From the stepper the screen opens, and no training starts. */
FIXTURE_CASE(the_word_in_the_stepper)
{
    play(f, "key s\nenter :sample 12\nexpect The gradient of\n");
    assert_int_equal(fixture_last(f, LAB_DO_SAMPLE)->n, 12);
    assert_int_equal(fixture_count(f, LAB_DO_TRAIN), 0);
}

FIXTURE_CASE(other_lessons_say_so)
{
    f->text = false;
    play(f, "text :sample\nkey Enter\nexpect only a network that learns from\n"
            "key t\nkey w\nexpect only a network that learns from\n");
    assert_int_equal(fixture_count(f, LAB_DO_SAMPLE), 0);
}

RUN_TESTS_FROM(LAB_BINARY_DIR)
