/* The stepper's screens as golden text, at 80x24 and 200x60. */
#include "test.h"

#include "stepper_play.h"

/* From a fresh lesson: keys, and the screen after them. */
TEST_CASE(screens_after_keys)
{
    static const struct {
        const char *keys;
        const char *name;
        bool ascii;
    } screens[] = {
        {"", "stepper_start_80x24.txt", false},
        {"key s", "stepper_step_80x24.txt", false},
        {"key s", "stepper_step_200x60.txt", false},
        /* Where the pane is small, all tensors of the step have the screen. */
        {"key s a Down Right Right", "stepper_board_80x24.txt", false},
        /* An element of an input lights the row of the product that it reaches. */
        {"key s a x Down Right Right", "stepper_board_input_80x24.txt", true},
        {"key s d 2 Down Right Right e Down Right", "stepper_numbers_80x24.txt",
         false},
        {"key s e Enter", "stepper_source_80x24.txt", false},
        {"key s x I 2", "stepper_picture_200x60.txt", false},
        {"key c\nenter :print fc2.W.grad[2,1]", "stepper_nan_80x24.txt", false},
        {"key c\nenter :print fc2.W.grad[2,1]\nkey d",
         "stepper_nan_numbers_80x24.txt", false},
        {"key f\nenter :print block1.attn.probs[1,2,3,0]\nkey d } [",
         "stepper_axes_200x60.txt", false},
        {"key s 5", "stepper_lesson_80x24.txt", false},
        {"key s v Down", "stepper_variants_80x24.txt", false},
        {"enter :break fc2.matmul backward\nkey c -", "stepper_break_80x24.txt",
         false},
        {"key s\nenter :explain fc1.xW[0,1]\nkey z",
         "stepper_printed_80x24.txt", false},
        {"key s", "ascii_stepper_80x24.txt", true},
        /* A small terminal has room for what a check found out. */
        {"key s\ntext :check fc2.W\nkey Enter\n"
         "expect gradient of fc2.W agrees, worst error 3.2e-09\n"
         "text :check all\nkey Enter",
         "stepper_check_80x24.txt", false},
    };
    for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
        struct stepper_fixture *f = stepper_fixture_new(0);
        check_screen(f, screens[i].keys, screens[i].name, screens[i].ascii);
        stepper_fixture_free(f);
    }
}

#define FIXTURE_CASE(name)                                                     \
    TEST_CASE_OF(name, play_setup, play_teardown, struct stepper_fixture *f)

FIXTURE_CASE(kernels_on_a_gpu)
{
    f->cuda = true;
    check_screen(f, "key s 4", "stepper_kernels_80x24.txt", false);
}

/* 8.19 kFLOP in a microsecond, where products do 10 in one, as `profile ceilings` has measured it. */
static void measured_roofs(void *user, const struct lab_snapshot *snap,
                           struct lab_stepper_roofs *out)
{
    (void)user;
    assert_non_null(snap);
    *out = (struct lab_stepper_roofs){1e10, 2e9, "tf32"};
}

FIXTURE_CASE(shares_of_what_was_measured)
{
    f->model.roofs = measured_roofs;
    check_screen(f, "key s 4 z", "stepper_kernels_roofs_80x24.txt", false);
}

FIXTURE_CASE(kernels_zoomed)
{
    f->cuda = true;
    check_screen(f, "key s 4 z", "stepper_kernels_zoom_80x24.txt", false);
}

/* A measured step that runs what is no longer the choice. */
FIXTURE_CASE(variants_with_their_times)
{
    f->timed = true;
    check_screen(f, "enter :variant fc1 tiled\nkey v",
                 "stepper_variants_timed_80x24.txt", false);
}

FIXTURE_CASE(variants_with_their_times_wide)
{
    f->timed = true;
    check_screen(f, "enter :variant fc1 tiled\nkey v",
                 "stepper_variants_timed_200x60.txt", false);
}

FIXTURE_CASE(variants_are_measured)
{
    f->state = LAB_SESSION_STARTING;
    f->measure_of = 4;
    check_screen(f, "", "stepper_measuring_80x24.txt", false);
}

FIXTURE_CASE(variants_are_measured_wide)
{
    f->state = LAB_SESSION_STARTING;
    f->measure_of = 4;
    check_screen(f, "", "stepper_measuring_200x60.txt", false);
}

FIXTURE_CASE(ascii_only_wide)
{
    f->cuda = true;
    check_screen(f, "key f d", "ascii_stepper_200x60.txt", true);
}

FIXTURE_CASE(a_lesson_that_cannot_start)
{
    f->state = LAB_SESSION_FAILED;
    snprintf(f->error, sizeof(f->error),
             "lessons/20-mlp.md:14:5: fc2 takes [10,16], but fc1 gives "
             "[10,12]");
    check_screen(f, "", "stepper_failed_80x24.txt", false);
    /* keys that cannot act are not offered; the text can be read */
    check_screen(f,
                 "key s\nexpect s does nothing here\nkey L\n"
                 "expect the lesson has no text\nkey ?\n"
                 "expect Keys of this screen\nabsent run one step\nkey q",
                 "stepper_failed_80x24.txt", false);
}

/* Rows that the list of the steps leaves: the longest of them, and the losses. */
FIXTURE_CASE(below_the_steps)
{
    play(f,
         "resize 200 60\nabsent longest steps\nexpect memory of the tensors\n"
         "expect steps with the most work, FLOP\nexpect 8.19 k B\n"
         "expect fc1.W          64x16\nkey s\nabsent longest steps\n"
         "expect 4x16 █ 1.00 us\nkey c\n"
         "expect longest steps, share of the time\n"
         "expect fc1.matmul (forward)\nabsent loss of each iteration\n"
         "resize 80 24\nabsent longest steps\n");
    f->curve = 60;
    check_screen(f, "key c", "stepper_losses_200x60.txt", false);
}

FIXTURE_CASE(train_curves)
{
    f->curve = 60;
    check_screen(f, "key t", "train_80x24.txt", false);
}

FIXTURE_CASE(train_curves_wide_with_nan)
{
    f->curve = 200;
    f->curve_breaks = true;
    check_screen(f, "key t L", "train_200x60.txt", false);
}

FIXTURE_CASE(train_curves_ascii)
{
    f->curve = 60;
    f->curve_breaks = true;
    check_screen(f, "key t", "ascii_train_80x24.txt", true);
}

/* What is of least use is left out, and the accuracy is there whole. */
FIXTURE_CASE(facts_of_a_training_fit)
{
    f->curve = 60;
    play(f, "resize 80 24\nkey t\nexpect epoch 4 \n"
            "expect validation accuracy 94.7 %\nresize 76 24\n"
            "absent epoch 4\nexpect validation accuracy 94.7 %\n"
            "resize 60 24\nabsent accuracy 94.7\nexpect iteration 590\n"
            "expect validation 94.7 %\n");
    f->iteration = 516229;
    play(f, "resize 80 24\nkey t\nexpect iteration 516229 \nabsent epoch 4\n"
            "expect validation accuracy 94.7 %\n");
}

/* 3 of its 16 units do nothing, and an update is not known. */
FIXTURE_CASE(train_layers)
{
    f->curve = 60;
    f->inspected = true;
    check_screen(f, "key t 2", "train_layers_80x24.txt", false);
    /* the loss alone below them, where there is no room for all curves */
    play(f, "resize 80 24\nkey t 2\nexpect loss (log\n"
            "absent accuracy 0.5\nresize 80 40\nexpect loss (log\n"
            "expect accuracy 0.5\nresize 80 16\nabsent loss (log\n");
    play(f, "resize 80 24\nkey t\nkey Tab\nexpect [2 layers]\nkey Tab\n"
            "expect [3 classes]\nkey Tab\nexpect [1 curves]\n"
            /* their names take clicks */
            "click 4 13\nexpect [2 layers]\nkey 4\n"
            "expect only a network that learns from text\n");
}

FIXTURE_CASE(train_classes)
{
    f->curve = 60;
    f->inspected = true;
    check_screen(f, "key t 3", "train_classes_80x24.txt", false);
    check_screen(f, "key t 3", "ascii_train_classes_80x24.txt", true);
    check_screen(f, "key t", "train_all_200x60.txt", false);
}

/* No classes: the batch beside its targets, norms, the way of two parameters. */
FIXTURE_CASE(train_batch)
{
    f->curve = 60;
    f->inspected = f->batch = true;
    check_screen(f, "key t 3", "train_batch_80x24.txt", false);
    check_screen(f, "key t", "train_batch_200x60.txt", false);
    play(f, "resize 200 60\nkey t\nabsent classes\n"
            "expect fc1.W[1] over fc1.W[0]\nexpect |update| of |param|\n"
            "expect difference\nkey 2\nexpect [2 layers]\n"
            "expect fc1.W[1] over fc1.W[0]\nkey 3\nexpect [3 batch]\n"
            "resize 80 24\nexpect result and target\n");
}

/* A row of the screen is one row of the batch; the rest is counted. */
FIXTURE_CASE(train_batch_of_many_rows)
{
    f->curve = 60;
    f->inspected = f->batch = f->batch_labels = true;
    play(f, "resize 80 24\nkey t 3\nexpect 14 of 40 right\n"
            "expect 1, as 0\nexpect the first 15 of 40 rows\nabsent max of\n"
            "resize 80 60\nabsent the first\n");
}

/* One evaluation is no curve: the losses have its place. */
FIXTURE_CASE(train_with_one_evaluation)
{
    f->curve = 6;
    play(f, "resize 80 24\nkey t\nexpect loss\nabsent accuracy 0.\n");
    f->curve = 12;
    play(f, "resize 80 24\nkey t\nexpect accuracy 0.\n");
}

/* A missing evaluation states its iteration. */
FIXTURE_CASE(train_waits_for_its_classes)
{
    f->curve = 60;
    play(f, "resize 200 60\nkey t 3\n"
            "expect evaluation: in 129 iterations, at the end of the epoch.\n");
    f->target = 601;
    play(f, "resize 200 60\nkey t 3\n"
            "expect evaluation: in 1 iteration, at the end of the training.\n");
}

/* A text without an evaluation has had iterations: these are not what it waits for. */
FIXTURE_CASE(train_text_waits_for_its_evaluation)
{
    f->curve = 60;
    f->text = true;
    play(f, "resize 80 24\nkey t\nabsent classes\nkey 3\n"
            "expect a text has no classes to show before it is evaluated\n");
}

static const char map[] = "key f\nenter :print block1.attn.probs[1,2,3,0]";

FIXTURE_CASE(a_map_has_its_symbols)
{
    f->labels = true;
    check_screen(f, map, "stepper_map_80x24.txt", false);
}

FIXTURE_CASE(a_map_in_ascii)
{
    char keys[256];
    f->labels = true;
    snprintf(keys, sizeof(keys), "%s\nkey z", map);
    check_screen(f, keys, "ascii_map_80x24.txt", true);
}

/* All heads of the map; Enter opens the one that the arrows went to. */
FIXTURE_CASE(a_sheet_has_all_heads)
{
    char keys[320];
    snprintf(keys, sizeof(keys), "%s\nkey < > A\nexpect [2]\nexpect  0", map);
    f->labels = true;
    check_screen(f, keys, "stepper_sheet_80x24.txt", false);
}

FIXTURE_CASE(a_map_as_numbers)
{
    char keys[256];
    f->labels = true;
    snprintf(keys, sizeof(keys), "%s\nkey d", map);
    check_screen(f, keys, "stepper_map_numbers_80x24.txt", false);
}

FIXTURE_CASE(a_large_map_has_labels_for_its_cells)
{
    f->labels = true;
    check_screen(f, "key s", "stepper_map_cells_80x24.txt", false);
}

FIXTURE_CASE(train_decodes)
{
    f->curve = 60;
    f->decodes = true;
    check_screen(f, "key t", "train_decodes_80x24.txt", false);
}

FIXTURE_CASE(a_gradient_that_is_wrong)
{
    f->check_wrong = 0.25;
    check_screen(f,
                 "key s\ntext :check fc2.W\nkey Enter\n"
                 "expect gradient of fc2.W is wrong, worst error 2.5e-01\n"
                 "text :check all\nkey Enter",
                 "stepper_check_wrong_80x24.txt", false);
    f->check_wrong = NAN;
    play(f, "resize 80 24\n"
            "expect 1 of 3 gradients wrong, worst error nan, fc1.W\n");
}

RUN_TESTS_FROM(LAB_BINARY_DIR)
