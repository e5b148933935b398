/* What the stepper's keys and words ask of the session, and what it follows. */
#include <time.h>
#include "test.h"

#include "stepper_play.h"

static int tensor(const struct stepper_fixture *f, const char *name)
{
    for (int i = 0; i < f->plan->n_tensors; i++)
        if (strcmp(f->plan->tensors[i].name, name) == 0)
            return i;
    fail_msg("no tensor %s", name);
    return -1;
}

#define FIXTURE_CASE(name)                                                     \
    TEST_CASE_OF(name, play_setup, play_teardown, struct stepper_fixture *f)

FIXTURE_CASE(walking_keys_post_walks)
{
    play(f, "key s F7 n F8 f r Backspace B c F5\n");
    assert_int_equal(fixture_count(f, LAB_DO_STEP), 2);
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 2);
    assert_int_equal(fixture_count(f, LAB_DO_FINISH), 1);
    assert_int_equal(fixture_count(f, LAB_DO_BACK), 3);
    assert_int_equal(fixture_count(f, LAB_DO_CONTINUE), 2);
    assert_int_equal(fixture_last(f, LAB_DO_STEP)->n, 1);
    assert_true(f->progress_calls >= 9);
}

FIXTURE_CASE(nothing_walks_by_itself)
{
    play(f, "key j j k d z z Tab 3 x\n");
    for (int i = 0; i < f->n_commands; i++)
        assert_true(f->commands[i].kind == LAB_DO_SHOW ||
                    f->commands[i].kind == LAB_DO_EXPLAIN);
    assert_int_equal(f->position, 0);
    assert_int_equal(f->progress_calls, 0);
}

FIXTURE_CASE(a_step_that_ran_shows_what_it_made)
{
    play(f, "key s\nexpect [fc1.xW]\n");
    assert_int_equal(f->show.tensor, tensor(f, "fc1.xW"));
    assert_int_equal(f->element.tensor, tensor(f, "fc1.xW"));
    play(f, "key s\nexpect [fc1.out]\nkey r\nexpect [fc1.xW]\n");
}

FIXTURE_CASE(until_stops_in_front_of_the_step)
{
    play(f, "text /relu1\nkey Enter\nkey Esc\nkey u\n"
            "expect step 2 of 15\nexpect relu1.relu  forward\n"
            "expect not run yet\nkey s\nexpect [relu1.out]\n");
    assert_int_equal(fixture_last(f, LAB_DO_RUN_TO)->n, 2);
}

FIXTURE_CASE(a_breakpoint_comes_and_goes)
{
    play(f, "key j b\nexpect breakpoint at fc1.bias\nexpect  B \nkey c\n"
            "expect step 1 of 15\nexpect breakpoint 1 at fc1.bias\nkey b\n"
            "expect no breakpoint at fc1.bias\nabsent  B \n");
    const struct lab_command *b = fixture_last(f, LAB_DO_BREAK);
    assert_non_null(b);
    assert_string_equal(b->text, "fc1.bias");
    assert_int_equal(b->break_kind, LAB_BREAK_STEP);
    assert_int_equal(b->phase, LAB_FORWARD);
    assert_int_equal(fixture_last(f, LAB_DO_DELETE)->n, 1);
    assert_int_equal(f->n_breaks, 0);
}

FIXTURE_CASE(a_tensor_is_watched_and_let_go)
{
    play(f, "key s w\nexpect watched\nkey w\nabsent   watched\n");
    assert_string_equal(fixture_last(f, LAB_DO_WATCH)->text, "fc1.xW");
    assert_string_equal(fixture_last(f, LAB_DO_UNWATCH)->text, "fc1.xW");
}

FIXTURE_CASE(the_cursor_explains_its_element)
{
    play(f, "key s 2 Down l l\nexpect fc1.xW[1,2] = sum_k x[1,k]\n");
    assert_int_equal(f->element.index, 1 * 16 + 2);
    play(f, "key s s 2 G\n");
    assert_int_equal(f->element.index,
                     f->plan->tensors[f->element.tensor].count - 1);
    play(f, "key 2 G g k h\n");
    assert_int_equal(f->element.index, 0);
}

FIXTURE_CASE(a_source_is_visited_and_left)
{
    play(f, "key s e l Enter\nexpect [fc1.W]\nexpect fc1.W[21,0] =\n"
            "expect fc1.xW[0,0] = sum_k\nkey y\nexpect [fc1.xW]\n");
    assert_int_equal(f->show.tensor, tensor(f, "fc1.xW"));
    assert_int_equal(f->element.tensor, tensor(f, "fc1.xW"));
    /* e on the source explains the source instead. */
    play(f, "key r s e Enter e\nabsent sum_k x[0,k] *\n");
    assert_int_equal(f->element.tensor, tensor(f, "x"));
}

FIXTURE_CASE(looking_at_an_input_keeps_the_explanation)
{
    play(f, "key s 3 x\nexpect [x]\nexpect fc1.xW[0,0] = sum_k\nkey 2 l\n"
            "expect fc1.xW[0,0] = sum_k\n");
    assert_int_equal(f->show.tensor, tensor(f, "x"));
    assert_int_equal(f->element.tensor, tensor(f, "fc1.xW"));
}

FIXTURE_CASE(a_variant_is_chosen)
{
    play(f, "key v\nexpect how fc1 (dense) runs\nkey Esc\nabsent how fc1\n"
            "key v j j Enter\nexpect fc1 runs as fused\nexpect of 14\n");
    const struct lab_command *c = fixture_last(f, LAB_DO_VARIANT);
    assert_string_equal(c->text, "fc1");
    assert_string_equal(c->text2, "fused");
    assert_int_equal(fixture_count(f, LAB_DO_VARIANT), 1);
}

FIXTURE_CASE(a_choice_is_taken_back)
{
    play(f, "key v G Enter\nexpect fc1: nothing is chosen any more\n");
    assert_string_equal(fixture_last(f, LAB_DO_VARIANT)->text2, "auto");
    play(f, "key v G k Enter\nexpect fc1 runs by the fixed table\n");
    assert_string_equal(fixture_last(f, LAB_DO_VARIANT)->text2, "default");
}

FIXTURE_CASE(times_of_variants_as_a_text)
{
    f->timed = true;
    play(f, "text :variant fc1\nkey Enter\nexpect 45.1 us\n"
            "expect left out: over the budget\nexpect for 2 steps\nkey q\n"
            "text :variant nosuch\nkey Enter\nexpect no node 'nosuch'\n");
    assert_int_equal(fixture_count(f, LAB_DO_VARIANT), 0);
}

FIXTURE_CASE(measuring_is_stopped)
{
    f->state = LAB_SESSION_STARTING;
    f->measure_of = 4;
    play(f, "expect Measuring variants: vector, 2 of 4\nkey Esc\n"
            "expect by the fixed table\nexpect step 0 of\n");
    assert_int_equal(fixture_count(f, LAB_DO_STOP), 1);
}

/* A click on a row of the list takes it, elsewhere the list closes. */
FIXTURE_CASE(a_variant_is_clicked)
{
    play(f, "resize 80 24\nkey v\nexpect how fc1 (dense) runs\nclick 2 2\n"
            "absent how fc1\nkey v\nexpect how fc1 (dense) runs\n"
            "click 11 30\nabsent how fc1\nexpect fc1 runs as fused\n");
    assert_string_equal(fixture_last(f, LAB_DO_VARIANT)->text2, "fused");
    assert_int_equal(fixture_count(f, LAB_DO_VARIANT), 1);
}

FIXTURE_CASE(folds_stay_when_the_schedule_changes)
{
    play(f, "text /fc2.matmul\nkey Enter Esc h h\nexpect + fc2\n"
            "text :variant fc1 fused\nkey Enter\nexpect of 14\nexpect + fc2\n");
}

FIXTURE_CASE(the_gradient_of_what_is_shown_is_checked)
{
    play(f, "key C\nexpect show a parameter\n");
    assert_int_equal(fixture_count(f, LAB_DO_CHECK), 0);
    play(f, "text :print fc2.W.grad[0,0]\nkey Enter\nkey C\nkey 3\n"
            "expect gradient of fc2.W agrees, worst error 3.2e-09\n"
            "expect gradient check of fc2.W: agrees\n");
    assert_string_equal(fixture_last(f, LAB_DO_CHECK)->text, "fc2.W");
}

FIXTURE_CASE(every_gradient_is_checked)
{
    play(f, "enter :check al\nexpect no tensor 'al'\n");
    assert_int_equal(fixture_count(f, LAB_DO_CHECK), 0);
    play(f, "enter :check all\n");
    assert_string_equal(fixture_last(f, LAB_DO_CHECK)->text, "");
    play(f, "enter :check fc2.W\n");
    assert_string_equal(fixture_last(f, LAB_DO_CHECK)->text, "fc2.W");
}

FIXTURE_CASE(restart_asks_when_something_is_lost)
{
    play(f, "key s R\n");
    assert_int_equal(fixture_count(f, LAB_DO_RESTART), 1);
    f->iteration = 3;
    play(f, "key R\nexpect (y/n)\nkey n\n");
    assert_int_equal(fixture_count(f, LAB_DO_RESTART), 1);
    f->version++;
    play(f, "key R y\n");
    assert_int_equal(fixture_count(f, LAB_DO_RESTART), 2);
}

FIXTURE_CASE(esc_stops_what_runs)
{
    play(f, "key Esc\n");
    assert_int_equal(fixture_count(f, LAB_DO_STOP), 0);
    f->state = LAB_SESSION_WALKING;
    play(f, "expect running\nkey Esc\nabsent running\n");
    assert_int_equal(fixture_count(f, LAB_DO_STOP), 1);
}

FIXTURE_CASE(words_do_what_keys_do)
{
    play(f, "enter :step 3\nexpect step 3 of\n"
            "enter :break fc2.bias backward\nenter :break loss > 2.5\n"
            "enter :break nan\nenter :break phase update\n"
            "expect breakpoint set\nenter :list breaks\n"
            "expect loss above 2.5\nexpect Breakpoints and watches\nkey q\n"
            "enter :list variants\nexpect fc1\nexpect tiled\n"
            "absent loss above\nkey q\nenter :list tensors\n"
            "expect fc1.W.grad\nkey q\nenter :list\nexpect fc1.matmul\n"
            "key q\nenter :list all\nexpect list: no \"all\"\n"
            "enter :seed 99\nenter :lr 0\nexpect is no learning rate\n"
            "enter :lr\nexpect the learning rate is 0.1;\nenter :lr 0.05\n"
            "expect the learning rate is 0.05\nenter :restart lr=0.05\n"
            "expect iteration 0 again, with learning rate 0.05\n"
            "enter :restart now\n"
            "expect restart: it takes a learning rate, or nothing\n"
            "enter :run loss.mean\nexpect step 8 of\nenter :watch fc1.W\n"
            "enter :explain fc1.W[-1,-1]\nexpect fc1.W[63,15]\n");
    assert_int_equal(f->n_breaks, 5);
    assert_int_equal(f->breaks[0].phase, LAB_BACKWARD);
    assert_int_equal(f->breaks[1].kind, LAB_BREAK_LOSS_ABOVE);
    assert_true(f->breaks[1].value == 2.5);
    assert_int_equal(f->breaks[2].kind, LAB_BREAK_NAN);
    assert_int_equal(f->breaks[3].phase, LAB_UPDATE);
    assert_true(fixture_last(f, LAB_DO_LR)->lr == 0.05);
    assert_true(fixture_last(f, LAB_DO_RESTART)->lr == 0.05);
    assert_false(fixture_last(f, LAB_DO_RESTART)->seed_given);
}

FIXTURE_CASE(wrong_names_are_reported)
{
    int before = f->n_commands;
    play(f,
         "enter :run fc1.matmull\nexpect did you mean fc1.matmul?\n"
         "enter :print fc1.V\nexpect no tensor 'fc1.V'\nenter :print x[9,9]\n"
         "expect index 9 of axis 0 is outside\nenter :print x[0,0,0]\n"
         "expect 3 indices are too many\nenter :break nosuch\n"
         "expect no step 'nosuch'\nenter /zzz\n"
         "expect \"zzz\" is not in this network\nkey Q\n"
         "expect press ? for help\n");
    for (int i = before; i < f->n_commands; i++)
        assert_true(f->commands[i].kind == LAB_DO_SHOW ||
                    f->commands[i].kind == LAB_DO_EXPLAIN);
    assert_int_equal(f->n_breaks, 0);
}

FIXTURE_CASE(what_was_left_out_is_named)
{
    play(f, "enter :list notes\nexpect nothing was left out\n");
    f->notice = "only one";
    play(f, "expect only one\nabsent list notes\n");
    f->notice = "the lesson's watch is left out: 7\nmatmul: withdrawn\n";
    play(f, "expect (:list notes shows all) the lesson's watch is left out\n"
            "absent withdrawn\ntext :list notes\nkey Enter\n"
            "expect left out: 7\nexpect matmul: withdrawn\n");
}

FIXTURE_CASE(a_check_tells_how_far_it_is)
{
    f->state = LAB_SESSION_CHECKING;
    play(f, "expect checking gradients ... (Esc stops)\n");
    f->check_of = 610;
    f->check_done = 25;
    play(f, "expect checking gradients: 25 of 610 (Esc stops)\n");
}

FIXTURE_CASE(search_goes_on_with_n)
{
    play(f, "text /bias\nkey Enter\nexpect fc1.bias  forward\nkey n\n"
            "expect fc2.bias  forward\nkey n\nexpect fc2.bias  backward\n"
            "key n\nexpect fc1.bias  forward\nkey N\n"
            "expect fc2.bias  backward\nkey F8\n");
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 0);
    play(f, "text /bias\nkey Enter Esc n\n");
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 1);
    /* A tensor's name finds the step that has it, and shows it. */
    play(f, "text /probs\nkey Enter Esc\n");
    assert_int_equal(f->show.tensor, tensor(f, "block1.attn.probs"));
}

/* The bar shows which of its two meanings n has; any other key, or a click, ends
 * the search. */
FIXTURE_CASE(another_key_ends_a_search)
{
    play(f, "text /bias\nkey Enter\nexpect n next match  N match before\n"
            "absent n next  c cont\nkey n\nexpect n next match\n"
            "key 2\nexpect n next  c cont\nabsent match\nkey n\n");
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 1);
    play(f, "text /bias\nkey Enter\nexpect n next match\n"
            "click 8 30\nabsent next match\nkey n\n");
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 2);
    /* What is not found is no search. */
    play(f, "enter /zzz\nabsent next match\nkey n\n");
    assert_int_equal(fixture_count(f, LAB_DO_NEXT), 3);
}

FIXTURE_CASE(axes_and_slices)
{
    play(f, "text :print block1.attn.probs\nkey Enter\n"
            "expect block1.attn.probs[<0>,0,↓,→]\nkey ]\nexpect [<1>,0,↓,→]\n"
            "key ]\nexpect [<1>,0,↓,→]\nkey }\nexpect [1,<0>,↓,→]\n"
            "key ] ] ]\nexpect [1,<2>,↓,→]\nkey [\nexpect [1,<1>,↓,→]\n"
            "key <\nexpect [1,<1>,→,↓]\n");
    assert_int_equal(f->show.row_axis, 3);
    assert_int_equal(f->show.col_axis, 2);
    play(f, "enter :print block1.attn.probs[1,2,3,1]\nkey >\nexpect [→,\n");
    assert_int_equal(f->show.col_axis, 0);
    assert_int_equal(f->show.fixed[1], 2);
    assert_int_equal(f->show.fixed[3], 1);
}

/* As the plain stepper prints them: whole axes are rows and columns. */
FIXTURE_CASE(a_printed_slice_turns_the_axes)
{
    f->iteration = 1; /* all has been written */
    play(f, "text :print block1.attn.probs[1,:,:,3]\nkey Enter\n"
            "expect block1.attn.probs[<1>,↓,→,3]\n"
            "expect block1.attn.probs[1,0,0,3] =\n"
            "text :print block1.attn.probs[0]\nkey Enter\n"
            "expect block1.attn.probs[<0>,↓,→,0]\n"
            "text :print block1.attn.probs[:,1,2,3]\nkey Enter\n"
            "expect block1.attn.probs[→,<1>,2,3]\n"
            "expect block1.attn.probs[0,1,2,3] =\n"
            "text :print block1.attn.probs[1,:,:]\nkey Enter\n"
            "expect block1.attn.probs[1,<0>,↓,→]\ntext :print fc2.W[3,:]\n"
            "key Enter\nexpect fc2.W[<3>,→]\nexpect fc2.W[3,0] =\nkey ]\n"
            "expect fc2.W[4,0] =\ntext :print fc2.W[:,2]\nkey Enter\n"
            "expect fc2.W[→,<2>]\nexpect fc2.W[0,2] =\nkey <\n"
            "expect fc2.W[→,↓]\nexpect fc2.W[0,2] =\ntext :print x[2,5]\n"
            "key Enter I\nexpect x[<2>,→]\ntext :print x[3]\nkey Enter\n"
            "expect x[<3>,→]\nkey >\nexpect one axis only\nkey }\n"
            "expect one axis alone is hidden\ntext :print x[:,:]\nkey Enter\n"
            "expect x[↓,→]\nkey {\nexpect no axis is hidden\n");
}

FIXTURE_CASE(panes_are_resized_by_keys)
{
    play(f,
         "resize 80 24\nkey 1\nexpect  1 steps ═══════════════│\nkey +\n"
         "expect  1 steps ═══════════════════│\nkey _\nkey _\n"
         "expect  1 steps ═══════════│\nkey =\nexpect the pane in focus grows\n"
         "key =\nexpect panes keep\nkey z\nkey +\n"
         "expect this pane has all the room\n");
}

FIXTURE_CASE(tab_lists_what_a_word_may_be)
{
    play(f, "resize 80 24\ntext :\nexpect step [N]\nexpect more\ntext re\n"
            "expect reverse-step [N]\nexpect restart [lr=X]\n"
            "expect from the start, with the same seed\nkey Tab\nexpect :re\n"
            "expect Tab complete\ntext s\nabsent reverse-step\nkey Tab\n"
            "expect :restart\nkey Esc\nabsent restart [lr\n"
            /* A page on, back, and on by a click and the wheel. */
            "text :\nexpect step [N]\nkey PgDn\nabsent step [N]\n"
            "expect \u25b2\u25bcmore\nkey PgUp\nexpect step [N]\n"
            "click 21 77\nabsent step [N]\nwheel-up 21 3\nabsent step [N]\n"
            "key b\nkey Backspace\nexpect step [N]\nkey Esc\n"
            /* What the command takes, and names for it; a click takes one. */
            "text :unwatch fc1.W.\nexpect unwatch [TENSOR]\n"
            "expect fc1.W.grad\nkey Esc\ntext :unw\nclick 21 3\n"
            "expect :unwatch\nexpect fc1.xW\nkey Esc\n"
            /* A step that two phases have is one name. */
            "text :run relu1\nkey Tab\nexpect :run relu1.relu\nkey Esc\n"
            "key /\nabsent Tab complete\nkey Tab\nexpect Esc cancel\n");
}

/* Channels last is about images: what an op's own axes count stays. */
FIXTURE_CASE(attention_is_no_image)
{
    f->plan->layout = LAB_NHWC;
    play(f, "text :print block1.attn.probs\nkey Enter\n"
            "expect block1.attn.probs[<0>,0,↓,→]\n");
    play(f, "enter :print x\nexpect x[↓,→]\n");
}

/* The picture is of the axis that ran across; its end is no place of another. */
FIXTURE_CASE(a_picture_of_a_turned_tensor_is_left)
{
    play(f, "text :print fc2.W[15,2]\nkey Enter\nkey <\n"
            "expect fc2.W[→,↓]\nexpect fc2.W[15,2] =\nkey I\n"
            "expect fc2.W[→,<2>]\nexpect fc2.W[15,2] =\nkey I\n"
            "expect fc2.W[↓,→]\nexpect fc2.W[15,2] =\n");
}

/* Down in the last row of a folded vector stays, as in that of a matrix; into one that
 * is shorter it goes to the last element. */
FIXTURE_CASE(a_folded_vector_has_a_last_row)
{
    play(f, "resize 80 24\ntext :print fc1.b[1]\nkey Enter\nkey 2\nkey d\n"
            "key Down\nabsent fc1.b[1] =\nkey Down\nkey Down\nkey Down\n"
            "key Down\nexpect fc1.b[15] =\nkey Up\nkey Up\nkey Up\nkey Up\n"
            "key Up\nexpect fc1.b[0] =\nkey G\nexpect fc1.b[15] =\n");
}

FIXTURE_CASE(the_source_opens)
{
    play(
        f,
        "key o\nexpect source kernels/dense/dense_ref.c at dense_matmul_fwd\n");
    assert_int_equal(f->source_opened, 1);
    f->model.open_source = NULL;
    play(f, "key o\nexpect not at hand\n");
}

FIXTURE_CASE(training_starts_goes_on_and_stops)
{
    f->model.train_iterations = 7;
    play(f, "resize 80 24\nkey t\nexpect training\nkey q\nexpect training ...\n"
            "expect   loss not known yet\nabsent step 0 of\n");
    assert_int_equal(fixture_last(f, LAB_DO_TRAIN)->n, 7);
    play(f, "key t t\nexpect it is training\nkey Esc\n");
    assert_int_equal(fixture_count(f, LAB_DO_TRAIN), 1);
    assert_int_equal(fixture_count(f, LAB_DO_STOP), 1);
    play(f, "key t\nkey Esc\nkey i\ntext 12x\nkey Enter\n"
            "expect \"12x\" is not a number\nkey i\ntext 120\nkey Enter\n");
    assert_int_equal(fixture_last(f, LAB_DO_TRAIN)->n, 120);
    play(f, "key Esc\nenter :train 44\n");
    assert_int_equal(fixture_last(f, LAB_DO_TRAIN)->n, 44);
}

TEST_CASE_WITH(a_training_is_ended_only_when_asked, play_setup, play_teardown)
{
    static const char *const ways[] = {"enter :restart lr=0.5\n",
                                       "enter :seed 9\n", "enter :restart\n",
                                       "key R\n"};
    static const char *const messages[] = {
        "expect iteration 0 again, with learning rate 0.5\n",
        "expect iteration 0 again, from seed 9\n", "expect iteration 0 again\n",
        "expect iteration 0 again\n"};
    struct stepper_fixture *f = *state;
    for (int i = 0; i < 4; i++) {
        char keys[256];
        f->version++;
        f->state = LAB_SESSION_TRAINING;
        snprintf(keys, sizeof(keys),
                 "%sexpect stop it and start again? (y/n)\nkey n\n", ways[i]);
        play(f, keys);
        assert_int_equal(fixture_count(f, LAB_DO_STOP), i);
        assert_int_equal(fixture_count(f, LAB_DO_RESTART), i);
        snprintf(keys, sizeof(keys), "%skey y\n%s", ways[i], messages[i]);
        play(f, keys);
        assert_int_equal(fixture_count(f, LAB_DO_STOP), i + 1);
        assert_int_equal(fixture_count(f, LAB_DO_RESTART), i + 1);
        assert_true(fixture_last(f, LAB_DO_RESTART) >
                    fixture_last(f, LAB_DO_STOP));
    }
}

TEST_CASE_WITH(what_waits_for_a_training_is_refused, play_setup, play_teardown)
{
    static const char *const keys[] = {"s", "n", "c", "f", "r", "u"};
    struct stepper_fixture *f = *state;
    play(f, "expect n next\nkey s t q\nabsent n next\nexpect Esc stop\n");
    int before = f->n_commands;
    for (int i = 0; i < 6; i++) {
        char line[128];
        snprintf(line, sizeof(line), "key j %s\nexpect Esc stops it\n",
                 keys[i]);
        play(f, line);
    }
    play(f, "enter :step 3\nexpect a training runs: Esc stops it\n");
    play(f, "enter :variant fc1 fused\nexpect a training runs\n");
    for (int i = before; i < f->n_commands; i++)
        assert_true(f->commands[i].kind == LAB_DO_SHOW ||
                    f->commands[i].kind == LAB_DO_EXPLAIN);
    play(f, "key b\nexpect breakpoint at\nkey Esc\nexpect n next\nkey s\n");
    assert_int_equal(fixture_count(f, LAB_DO_STEP), 2);
}

FIXTURE_CASE(stepping_on_while_training_is_no_crash)
{
    f->curve = 30;
    play(f, "key t q x 2 j d Tab s v Esc / Esc\n");
}

static bool found_one(struct lab_str *out, struct lab_kernel_goal *goal)
{
    snprintf(goal->name, sizeof(goal->name), "dense_tiled");
    lab_str_add(out, "race in dense_tiled. Look at: the barrier");
    return true;
}

/* What the simulator's checks found is shown until a key, and is a way in. */
FIXTURE_CASE(a_finding_is_a_stop)
{
    f->model.found = found_one;
    f->error_code = LAB_E_CHECK;
    snprintf(f->error, sizeof(f->error), "a race");
    play(f, "expect found in this step\nexpect Look at: the barrier\n"
            "expect Enter kernel\nkey s\nexpect Look at: the barrier\n"
            "key Esc\nabsent Look at: the barrier\nkey j\n");
    assert_int_equal(fixture_count(f, LAB_DO_STEP), 0);
    play(f, "key Enter\nexpect start with --backend sim\n"
            "absent Look at: the barrier\n");
}

FIXTURE_CASE(a_model_with_nothing_optional)
{
    f->model.kernels = NULL;
    f->model.candidates = NULL;
    f->model.text_for = NULL;
    f->model.open_source = NULL;
    f->model.progress = NULL;
    f->model.time_note = NULL;
    f->model.title = NULL;
    f->model.n_printed = 0;
    play(f, "key s\nkey v\nexpect nothing can be switched\nkey 4\nkey 5\n"
            "expect has no text about this step\nkey o\nkey t\nkey q\n");
}

FIXTURE_CASE(before_the_session_is_there)
{
    f->state = LAB_SESSION_STARTING;
    play(f, "expect Reading the data\nkey s\nexpect nothing to walk yet\n"
            "key j 2 d t q\ntext :step\nkey Enter Esc ? q\n");
    assert_int_equal(fixture_count(f, LAB_DO_STEP), 0);
}

/* A picture that a small terminal has no room for takes no keys. */
TEST_CASE_WITH(pictures_need_room, play_setup, play_teardown)
{
    play(*state, "resize 60 16\nkey D\nexpect no room for the picture\n"
                 "key a\nexpect no room for all tensors\n"
                 "resize 80 24\nkey D\nexpect arrows: to another node\n"
                 "resize 60 16\nkey s\nexpect step 1 of\n");
}

TEST_CASE(huge_tensors_come_in_pieces)
{
    struct stepper_fixture *f = stepper_fixture_new(-1);
    play(f, "text :print big[2999,699]\nkey Enter\nexpect big[2999,699] =\n"
            "expect a part from\nkey d\nexpect 2999\nkey g\n"
            "expect big[0,0] =\nkey G\nexpect big[2999,699] =\n"
            "text :print long[2097152]\nkey Enter\n"
            "expect long[2097152] =\nkey g\nexpect long[0] =\n");
    assert_true(f->show.col_first == 0);
    play(f, "enter :print big[1600,5]\nexpect big[1600,5] =\n");
    assert_true(f->show.row_first <= 1600 && f->show.row_first > 0);
    stepper_fixture_free(f);
}

/* Of the processor: what else the machine does is not the program's. */
static double spent_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* No key walks all steps for every step; how fast it is in milliseconds is
 * measured by bench/stepper.py. */
TEST_CASE(ten_thousand_steps_stay_quick)
{
    static const char *const scripts[] = {"",
                                          "key G\n",
                                          "key -\n",
                                          "enter /n4321.bias\n",
                                          "key - G Space\n",
                                          "enter /nowhere\n",
                                          "key G b\n"};
    struct stepper_fixture *f = stepper_fixture_new(10000);
    play(f, ""); /* warm */
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        double start = spent_ms();
        play(f, scripts[i]);
        double ms = spent_ms() - start;
        /* Opening, the keys and closing together; sanitizers are slow. */
        if (ms > 2000)
            fail_msg("script %zu took %.1f ms", i, ms);
    }
    play(f, "enter /n4321.bias\nexpect n4321.bias\n");
    stepper_fixture_free(f);
}

/* A NaN is the largest, wherever it is in the row. */
FIXTURE_CASE(a_nan_is_among_the_largest)
{
    f->values[tensor(f, "x")][50] = NAN;
    f->values[tensor(f, "fc1.W")][50 * 16] = NAN;
    play(f, "resize 240 110\nkey s\nexpect fc1.W, column 0\n"
            "expect [50]      nan  \nexpect [44]     -1.5\n");
}

RUN_TESTS_FROM(LAB_BINARY_DIR)
