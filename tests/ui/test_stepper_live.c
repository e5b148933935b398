/* The stepper on a real lesson with a real session, on the CPU. */
#include <unistd.h>
#include "test.h"
#include "file.h"

#include "engine/session.h"
#include "lesson/lesson.h"
#include "ui/screens.h"
#include "ui/stepper.h"
#include "ui/ui.h"

static const struct lab_network_spec
    *printed; /* its values are beside the lesson's */

static enum lab_status play(const char *lesson, const char *keys)
{
    const char *path = "stepper-live.keys";
    struct lab_stepper_model model = {.title = "live"};
    struct lab_ui_options options = {.script = path, .badge = ""};
    struct lab_lesson *l;
    struct lab_session *session;
    struct lab_ui *ui;
    test_write(path, keys);
    assert_ok(lab_lesson_load(&l, lesson));
    assert_ok(lab_ui_new(&ui, &options));
    struct lab_session_config config = {
        .setup = {.spec = &l->spec, .backend = "cpu"},
        .wake = lab_ui_wake,
        .wake_user = ui};
    assert_ok(lab_session_new(&session, &config));
    model.session = session;
    model.post = lab_session_post;
    model.version = lab_session_version;
    model.snapshot = lab_session_snapshot;
    model.snapshot_release = lab_snapshot_release;
    model.pending = lab_session_pending;
    model.printed = printed ? printed->printed : NULL;
    model.n_printed = printed ? printed->n_printed : 0;
    assert_ok(lab_ui_push(ui, &lab_view_stepper, &model));
    enum lab_status st = lab_ui_run(ui);
    /* The session wakes the screen: it goes first. */
    lab_session_free(session);
    lab_ui_free(ui);
    lab_lesson_free(l);
    remove(path);
    return st;
}

#define MLP LAB_SOURCE_DIR "/lessons/20-mlp-digits.md"

TEST_CASE(a_lesson_is_walked_there_and_back)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\nenter :delete\n"
                        "enter :unwatch\nkey s\nawait 60000 step 1 of\n"
                        "await 60000 [fc1.xW]\nkey 2 d j e\n"
                        "await 60000 fc1.xW[1,0] = sum_k x[1,k] * fc1.W[k,0]\n"
                        "key r\nawait 60000 step 0 of\nkey f\n"
                        "await 60000 next: loss\nkey c\n"
                        "await 60000 done: s goes on\nabsent not known yet\n"
                        "key s\nawait 60000 iteration 1   step 1 of\nkey r r\n"
                        "await 60000 iteration 0   step\n"));
}

TEST_CASE(training_is_seen_and_stopped)
{
    assert_ok(play(
        MLP, "resize 80 24\nawait 60000 step 0 of\ntext :train 50000000\n"
             "key Enter\nawait 60000 samples/s\n"
             "await 60000 validation accuracy\nkey L\n"
             "await 60000 log scale\nkey q\nawait 60000 training ...\n"
             "key d x 4 t Esc\nawait 60000 train on\nawait 60000 stopped\n"
             "key q\nawait 60000 s goes on\nkey s\nawait 60000 step 1 of\n"));
}

#define CNN LAB_SOURCE_DIR "/lessons/82-cnn-digits.md"

/* Channels last: rows down, columns across, one image and channel at a time. */
TEST_CASE(images_open_as_images)
{
    assert_ok(play(CNN, "resize 120 40\nawait 60000 step 0 of\n"
                        "enter :print x\nawait 60000 x[<0>,↓,→,0]\nkey ]\n"
                        "await 60000 x[<1>,↓,→,0]\nkey I\n"
                        "await 60000 this is the picture\nkey <\n"
                        "await 60000 x[<1>,→,↓,0]\nkey I\n"
                        "await 60000 x[<1>,↓,→,0]\nenter :print x[3,:,2,:]\n"
                        "await 60000 x[<3>,↓,2,→]\nenter :print x[0,:,:,0]\n"
                        "await 60000 x[<0>,↓,→,0]\nkey s\n"
                        "await 60000 step 1 of\n"
                        "enter :print conv1.out[2,3,4,5]\n"
                        "await 60000 conv1.out[<2>,↓,→,5]\n"
                        "await 60000 conv1.out[2,3,4,5] =\nkey } ]\n"
                        "await 60000 conv1.out[2,↓,→,<6>]\n"
                        "enter :print conv1.conv[2,3,4,6]\n"
                        "await 60000 conv1.conv[2,3,4,6] =\nkey }\n"
                        "await 60000 conv1.conv[2,↓,→,<6>]\nkey 2 A\n"
                        "await 60000 [6]\nexpect  7\nexpect  0\nkey Left\n"
                        "await 60000 conv1.conv[2,3,4,5] =\nexpect [5]\n"
                        "key Enter Left\nawait 60000 conv1.conv[2,3,3,5] =\n"
                        "enter :print conv2.W\n"
                        "await 60000 conv2.W[↓,→,<0>,0]\n"
                        "enter :print conv2.W.grad\n"
                        "await 60000 conv2.W.grad[↓,→,<0>,0]\n"));
}

/* A board has no room: the picture alone has the other channels at its right, until
 * all slices are asked for. */
TEST_CASE(a_small_picture_has_its_other_channels_beside)
{
    assert_ok(play(CNN, "resize 80 30\nawait 60000 step 0 of\nkey s\n"
                        "await 60000 step 1 of\n"
                        "await 60000 conv1.conv[0,↓,→,*]  * 0 to 1 of 16\n"
                        "expect [0]               1\n"
                        "key 2 } ]\nawait 60000  0               [1]\n"
                        "key A\nabsent * 0 to 1 of 16\n"));
}

TEST_CASE(channels_first_stay_as_they_were)
{
    const char *path = "stepper-live-nchw.md";
    test_write(path,
               "---\nformat: 1\ntitle: t\nsummary: s\norder: 1\nminutes: 1\n"
               "seed: 1\nlayout: nchw\n"
               "data: {source: digits, batch: 4, split: 0.8}\n"
               "network:\n"
               "  - {id: c1, op: conv2d, filters: 2, kernel: [3, 3]}\n"
               "  - {id: flat, op: flatten}\n"
               "  - {id: fc1, op: dense, units: 10}\n"
               "loss: {op: softmax_cross_entropy}\n"
               "optimizer: {op: sgd, lr: 0.1}\nrun: {epochs: 1}\n---\nText.\n");
    enum lab_status st =
        play(path, "resize 120 40\nawait 60000 step 0 of\ntext :print x\n"
                   "key Enter\nawait 60000 x[<0>,0,↓,→]\nkey <\n"
                   "await 60000 x[<0>,0,→,↓]\nkey I\n"
                   "await 60000 x[<0>,0,↓,→]\ntext :print c1.W\nkey Enter\n"
                   "await 60000 c1.W[<0>,0,↓,→]\n");
    remove(path);
    assert_ok(st);
}

TEST_CASE(a_gradient_is_checked)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        "text :check fc2.b\nkey Enter\n"
                        "await 60000 gradient of fc2.b agrees, worst error\n"
                        "expect   step 0 of 18\nabsent lo…\n"
                        "resize 120 36\nexpect next: fc1.matmul\n"));
}

/* A short list of steps leaves room for what they move and compute. */
TEST_CASE(below_few_steps_is_what_they_move)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/41-leaky-relu.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "expect largest tensors\n"
                   "expect steps that move most, bytes\n"
                   "expect most FLOP for a byte moved\nresize 120 36\n"
                   "absent most FLOP for a byte moved\n"));
}

/* A convolution has seven letters; where there is room for two the head states it. */
TEST_CASE(letters_that_have_no_room_are_counted)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/80-cnn-example.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "await 60000 letters of the formula, 2 of 7\n"));
}

/* Pixels that share a cell show their mean: the largest would make all of it bright.
 * Each picture states it, below of the cursor's. */
TEST_CASE(pixels_that_share_a_cell_show_their_mean)
{
    assert_ok(play(MLP, "resize 160 45\nawait 60000 step 0 of\n"
                        "await 60000 ; mean of 1x4\n"
                        "key x\nawait 60000 x 10x64  mean of 1x4\n"
                        "await 60000 ; max of 2.91x1\n"));
}

TEST_CASE(errors_of_the_session_are_shown)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        "text :variant fc1 nosuch\nkey Enter\n"
                        "await 60000 has no variant 'nosuch'\n"));
}

#define CBOW LAB_SOURCE_DIR "/lessons/124-word2vec-cbow.md"

/* On both screens; the message line ends where the terminal does. */
TEST_CASE(the_neighbours_of_a_word_are_listed)
{
    assert_ok(play(CBOW,
                   "resize 80 24\nawait 60000 step 0 of\n"
                   "enter :near king - man\nawait 60000 near king - man: \n"
                   "enter :near kingg\nawait 60000 did you mean 'king'\n"
                   "enter :train 300\nawait 60000 done\nenter :near bread\n"
                   "await 60000 near bread: \nkey q\nawait 60000 s goes on\n"
                   "enter :list words\nawait 60000 2  the\n"
                   "await 60000 <OOV>\n"));
}

TEST_CASE(a_lesson_without_words_is_refused)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        "enter :near king\nawait 60000 data has no words\n"
                        "enter :list words\nawait 60000 data has no words\n"));
}

static void play_printed(const char *path, const char *keys)
{
    struct lab_lesson *l;
    assert_ok(lab_lesson_load(&l, path));
    printed = &l->spec;
    enum lab_status st = play(path, keys);
    printed = NULL;
    lab_lesson_free(l);
    assert_ok(st);
}

/* A printed value that claims nothing is no failure. */
TEST_CASE(a_slip_of_the_slide_is_beside_the_number)
{
    play_printed(LAB_SOURCE_DIR "/lessons/120-one-hot.md",
                 "resize 100 40\nawait 60000 step 0 of\n"
                 "enter :explain x[2,3]\nawait 60000 the word service\n"
                 "await 60000 printed 0, difference +1\nabsent OUTSIDE\n"
                 "enter :explain x[0,3]\n"
                 "await 60000 printed 1, difference +0, within\n");
}

/* What is printed of a parameter after its update is not held against the one
 * before it. */
TEST_CASE(a_printed_parameter_has_its_phase)
{
    play_printed(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                 "resize 100 40\nawait 60000 step 0 of\n"
                 "text :explain lstm1.W[0,0]\nkey Enter\n"
                 "await 60000 = 0.45\nabsent 0.45267\n");
    play_printed(LAB_SOURCE_DIR "/lessons/122-embedding-product.md",
                 "resize 100 40\nawait 60000 step 0 of\n"
                 "text :explain fc1.W[3,0]\nkey Enter\n"
                 "await 60000 printed 14, difference +0\n");
}

TEST_CASE(a_lessons_own_stops_are_explained_and_passed)
{
    assert_ok(play(MLP,
                   "resize 80 24\nawait 60000 step 0 of\nexpect W    relu1\n"
                   "key f\nawait 60000 this lesson pauses here (watch 1:\n"
                   "expect unwatch relu1.out removes it\nabsent :unwatch\n"
                   "text :explain fc1.W.grad[3,5]\nkey Enter\n"
                   "await 60000 fc1.W.grad is not computed yet\n"
                   "expect `:run fc1.matmul backward`, then s\n"
                   "text :run fc2.matmul backward\nkey Enter\n"
                   "await 60000 step 10 of\ntext :watch fc2.W\nkey Enter\n"
                   "await 60000 stops when fc2.W has been written\n"
                   "text :unwatch relu1.out\nkey Enter\n"
                   "await 60000 relu1.out is not watched any more\n"
                   "text :delete\nkey Enter\n"
                   "await 60000 all breakpoints and watches are removed\n"
                   "text :variant fc1 blas\nkey Enter\n"
                   "await 60000 fc1 runs as blas from now on\ntext :seed 7\n"
                   "key Enter\nawait 60000 iteration 0 again, from seed 7\n"
                   "await 60000 step 0 of\nkey c\n"
                   "await 60000 done: s goes on\n"));
}

TEST_CASE(a_slice_is_shown_by_itself)
{
    assert_ok(play(MLP,
                   "resize 80 24\nawait 60000 step 0 of\n"
                   "text :print x[2,:]\nkey Enter\nawait 60000 x[<2>,→]\n"
                   "key ]\nawait 60000 x[<3>,→]\n"
                   "text :print x[:,5]\nkey Enter\nawait 60000 x[→,<5>]\n"
                   "text :print fc1.W\nkey Enter\nawait 60000 fc1.W[↓,→]\n"));
}

TEST_CASE(a_click_does_what_keys_do)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        /* names of tensors, and a cell of the picture */
                        "click 5 32\nawait 60000 [fc1.W]\n"
                        "await 60000 fc1.W[0,0] =\n"
                        "click 9 34\nawait 60000 fc1.W[\n"
                        "absent fc1.W[0,0] =\n"
                        /* numbers */
                        "key d\nkey Home\nawait 60000 fc1.W[0,0] =\n"
                        "click 10 42\nawait 60000 fc1.W[2,1] =\n"
                        /* beyond the last cell there is none */
                        "click 12 79\nexpect fc1.W[2,1] =\n"
                        /* tabs, and back */
                        "absent [4 kernels]\nclick 15 39\nexpect [4 kernels]\n"
                        "click 15 50\nexpect [5 lesson\n"
                        "click 15 30\nexpect [3 explain]\n"
                        "click 5 29\nawait 60000 [x]\n"));
}

/* By a click or by arrows to another node; a block opens and closes. */
TEST_CASE(the_picture_of_the_network_leads_anywhere)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        "expect x ▸[fc1]▸ relu1 ▸ fc2 ▸ loss\nclick 1 20\n"
                        "await 60000 fc2.matmul  forward\n"
                        "expect relu1 ▸[fc2]▸ loss\nkey D\nexpect ▐ 10x10\n"
                        "key Left\nexpect relu1.relu  forward\nkey Esc\n"
                        "absent ▌\ntext :run fc2.matmul backward\n"
                        "key Enter\nawait 60000 relu1 ◂[fc2]◂ loss\n"));
    assert_ok(play(LAB_SOURCE_DIR "/lessons/85-residual.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "expect ┘\nkey D\ntext llll\nexpect [norm2]\n"));
    assert_ok(play(LAB_SOURCE_DIR "/lessons/160-transformer-block.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "key D\nexpect [+block1]\nkey Space\n"
                   "expect [block1.ln1]\nexpect block1.attn\nexpect ▴\n"
                   "key Space\nexpect [+block1]\n"));
    assert_ok(play(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                   "resize 80 24\nawait 60000 step 0 of\n"
                   "expect [+lstm1 x2]\nkey D\nkey Space\n"
                   "expect [lstm1[0]]\nexpect lstm1[1]\n"));
}

/* `a` brings the blackboard from a picture of a row and from a contact sheet. */
TEST_CASE(the_blackboard_comes_from_any_picture)
{
    assert_ok(play(MLP, "resize 80 24\nawait 60000 step 0 of\n"
                        "key s\nawait 60000 step 1 of\ntext 2xIz\n"
                        "absent fc1.W 64x16\nkey a\nawait 60000 fc1.W 64x16\n"
                        "absent 1 steps\nkey a\nawait 60000 1 steps\n"
                        "key I\nkey A\nkey a\nawait 60000 fc1.W 64x16\n"));
    /* Of a gate it has all of the cell. */
    assert_ok(play(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                   "resize 200 60\nawait 60000 step 0 of\nkey n\n"
                   "await 60000 [lstm1.a.1]\nawait 60000 lstm1.c.0 1x1\n"
                   "expect lstm1.h.1 1x1\nexpect lstm1.f.1 1x1\n"));
}

/* Gates go into the cell by lines, with the operations and, beside these, their values;
 * at 80x24 with short titles; below that as pictures in rows. */
TEST_CASE(a_cell_of_an_lstm_is_drawn)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                   "resize 200 60\nawait 60000 step 0 of\nkey n\n"
                   "await 60000 [lstm1.a.1]\nawait 60000  ─────▸(×)─────\n"
                   "await 60000 ──▸(+)──────\nexpect ┬───────▸\n"
                   "expect 0.6838 \nexpect tanh 0.908\nexpect 0.8338\n"
                   "expect ┌─────▸(×)◂──────┐\nexpect (×)──────▸\n"
                   "expect ▴ tanh           ▴ σ\n"
                   "expect └────────────────┴──\nresize 80 24\nkey a\n"
                   "await 60000 ▸(×)──\nexpect c.0 1x1\nexpect f.1 1x1\n"
                   "expect ◂────┐\nresize 60 20\nabsent (×)\nexpect lstm1.\n"));
    /* Not before it has run. */
    assert_ok(play(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "text :run lstm1.cell.1\nkey Enter\n"
                   "await 60000 next: lstm1.cell.1\nawait 60000 lstm1.z.1 1x4\n"
                   "await 60000 not computed yet\nabsent (×)\n"));
}

static void play_text(const char *lesson, const char *keys)
{
    const char *path = "stepper-live-cell.md";
    test_write(path, lesson);
    const enum lab_status st = play(path, keys);
    remove(path);
    assert_ok(st);
}

/* The values at the operations are whole, also those with a sign. */
TEST_CASE(a_small_state_of_an_lstm_is_whole)
{
    play_text("---\nformat: 1\ntitle: t\nsummary: s\norder: 1\nminutes: 1\n"
              "data: {source: inline, x: [[[1]]], y: [[[0]]]}\n"
              "network:\n  - {id: r, op: lstm, hidden: 1}\n"
              "loss: {op: mse}\noptimizer: {op: sgd, lr: 0.1}\n"
              "parameters:\n  r.W: [[-0.130739], [0], [0], [0]]\n"
              "  r.U: [[0], [0], [0], [0]]\n  r.b: [0, 20, 0, 0]\n"
              "run: {iterations: 1}\n---\nText.\n",
              "resize 200 60\nawait 60000 step 0 of\nenter :run r.cell.0\n"
              "await 60000 next: r.cell.0\nkey s\nawait 60000 tanh -0.129\n");
}

#define TWO_LSTMS(FROM, TO)                                                    \
    "---\nformat: 1\ntitle: t\nsummary: s\norder: 1\nminutes: 1\nseed: 3\n"    \
    "data: {source: reverse, length: 2, alphabet: 6, rows: 36, batch: 4, "     \
    "split: 0.8}\nnetwork:\n"                                                  \
    "  - {id: e1, op: embedding, vocab: 6, dim: 2}\n"                          \
    "  - {id: " FROM ", op: lstm, hidden: 2}\n"                                \
    "  - {id: e2, op: embedding, vocab: 7, dim: 2, from: decoder}\n"           \
    "  - {id: " TO ", op: lstm, hidden: 2, from: [e2, " FROM "]}\n"            \
    "  - {id: fc, op: dense, units: 6}\n"                                      \
    "loss: {op: softmax_cross_entropy}\noptimizer: {op: sgd, lr: 0.1}\n"       \
    "run: {epochs: 1}\n---\nText.\n"

/* The name of the cell's node is left out of titles, another node's is not. The cells
 * before it, which the run passes, have the same lines. */
TEST_CASE(a_state_of_another_node_has_its_title)
{
    play_text(TWO_LSTMS("averylongname", "dec"),
              "resize 200 60\nawait 60000 step 0 of\nenter :run dec.cell.0\n"
              "await 60000 next: dec.cell.0\nkey s\nawait 60000 ▸(+)──\n"
              "await 60000 │averylongname.c…\nawait 60000   f.0 4x2  \n");
    play_text(TWO_LSTMS("enc", "averylongname"),
              "resize 200 60\nawait 60000 step 0 of\n"
              "text :run averylongname.cell.0\nkey Enter\n"
              "await 60000 next: averylongname.cell.0\nkey s\n"
              "await 60000 ▸(+)──\nawait 60000 │enc.c.1 4x2  \n"
              "await 60000   f.0 4x2  \n");
}

/* Of feature maps the channels come first, and what has no room is counted. */
TEST_CASE(a_sheet_of_maps_has_the_channels)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/82-cnn-digits.md",
                   "resize 80 24\nawait 60000 step 0 of\ntext nn\n"
                   "await 60000 out [relu1.out]\nkey A\n"
                   "await 60000 relu1.out[0,\xe2\x86\x93,\xe2\x86\x92,<*>]\n"
                   "key }\nawait 60000 of 32: the arrows go on\n"));
}

/* Of attention the heads come first, each with the symbols of the sequence; then the
 * samples, with their own. */
TEST_CASE(a_sheet_of_attention_has_the_heads)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/151-multi-head.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "enter :run attn1.softmax\n"
                   "await 60000 next: attn1.softmax\nkey s\n"
                   "await 60000 next: attn1.context\nkey 2 A\n"
                   "await 60000 attn1.probs[0,<*>,↓,→]\n"
                   "await 60000 } slices along the next axis\n"
                   "await 60000       3       3       3       1       1       "
                   "3          3       3\n"
                   "await 60000 0.51\nkey }\n"
                   "await 60000 attn1.probs[<*>,0,↓,→]\n"
                   "await 60000       3          1       0       3       2\n"));
}

/* A line that takes half of the pane leaves room for the steps of the tensor. */
TEST_CASE(a_short_explanation_has_the_steps_beside_it)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/111-vanishing-gradient.md",
                   "resize 200 60\nawait 60000 step 0 of\n"
                   "text :run rnn1.tanh.1\nkey Enter\n"
                   "await 60000 next: rnn1.tanh.1\nkey s\n"
                   "await 60000 (in double precision -0.08270029312)\n"
                   "await 60000 steps of rnn1.h.1\n"));
}

TEST_CASE(a_click_takes_a_term)
{
    assert_ok(play(MLP,
                   "resize 80 24\nawait 60000 step 0 of\n"
                   "key s\nawait 60000 step 1 of\nkey 2\nkey Right\n"
                   "await 60000 fc1.xW[0,1] = sum_k\nkey e\n"
                   "await 60000 >[0,5]\n"
                   /* a term is chosen, the chosen one goes to its source */
                   "click 20 40\nawait 60000 >[0,61]\nabsent >[0,5]\n"
                   "absent an input of\n"
                   "click 20 40\nawait 60000 an input of fc1.xW[0,1]\n"
                   "await 60000 in [x]\nkey y\nawait 60000 out [fc1.xW]\n"));
}

/* All gates of a sample beside each other, the time step looked at outlined. */
TEST_CASE(gates_of_an_lstm_over_time)
{
    assert_ok(play(LAB_SOURCE_DIR "/lessons/112-lstm-example.md",
                   "resize 80 24\nawait 60000 step 0 of\nenter :unwatch\n"
                   "key f\nawait 60000 next: loss\nenter :print lstm1.f.1\n"
                   "key 2 A\nawait 60000 [f forget gate]\n"
                   "expect  i input gate\nexpect sample 0 of 1\n"
                   "await 60000 0.8703\nexpect 1.5176\nkey ]\n"
                   "expect sample 0 of 1\nkey A\nabsent forget gate\n"));
}

/* Samples of a batch, with what they are. */
TEST_CASE(digits_of_a_batch_with_their_class)
{
    assert_ok(play(MLP, "resize 120 40\nawait 60000 step 0 of\n"
                        "enter :unwatch\nkey c\n"
                        "await 60000 done: s goes on\nenter :print x\n"
                        "key 2 z A\nawait 60000 [0]\nawait 60000 , as \n"));
}

/* Many batches' losses are drawn as their mean, the validation beside them. */
TEST_CASE(curves_are_smoothed)
{
    assert_ok(play(MLP, "resize 100 30\nawait 60000 step 0 of\n"
                        "text :train 2000\nkey Enter\nawait 60000 done\n"
                        "await 60000 loss, mean of neighbours\n"
                        "expect validation loss\nexpect validation accuracy\n"
                        "expect (log scale)\nkey L\nabsent (log scale)\n"));
}

/* In the stepper and beside a training, which goes on with it. */
TEST_CASE(another_learning_rate_holds_at_once)
{
    assert_ok(play(MLP,
                   "resize 80 24\nawait 60000 step 0 of\nenter :lr\n"
                   "await 60000 the learning rate is 0.2; lr X changes it\n"
                   "enter :restart lr=0.25\n"
                   "await 60000 iteration 0 again, with learning rate 0.25\n"
                   "enter :lr 0.375\nawait 60000 the learning rate is 0.375\n"
                   "enter :lr\nawait 60000 the learning rate is 0.375;\n"
                   "enter :run fc1.W update\nkey s\nenter :explain fc1.W[0,0]\n"
                   "await 60000 lr = 0.375\nenter :train 100000000\n"
                   "await 60000 training\nwait 200\nenter :lr 0.125\n"
                   "await 60000 learning rate is 0.125 from the next step on\n"
                   "await 60000 (lr 0.125 from iteration\n"
                   "await 60000 ▲lr 0.125\n"
                   /* powers of ten lower: no 0 on the axis */
                   "enter :lr 0.0000005\nawait 60000 1e-05┤\nenter :lr 0.125\n"
                   "await 60000 learning rate is 0.125 from the next step on\n"
                   "await 60000 (lr 0.125 from iteration\nenter :lr\n"
                   "await 60000 the learning rate is 0.125;\n"
                   /* from the stepper too, while it goes on */
                   "key q\ntext :lr 0.5\nkey Enter\n"
                   "await 60000 learning rate is 0.5 from the next step on\n"
                   "expect training ...\nwait 200\ntext :lr\nkey Enter\n"
                   "await 60000 the learning rate is 0.5;\n"
                   /* come back to, it tells what has changed */
                   "key t\nawait 60000 since you left:\n"
                   "key 2\nawait 60000 |gradient|\nexpect relu1\n"
                   "key 3\nawait 60000 most often:\nexpect misread\n"
                   "key o\nawait 60000 no earlier run of this lesson\n"));
}

/* Trains `iterations`, with a break on any loss or without one. */
static enum lab_background trained(int64_t iterations, bool breaks, char *text,
                                   size_t cap)
{
    const struct lab_command brk = {
        .kind = LAB_DO_BREAK, .break_kind = LAB_BREAK_LOSS_ABOVE, .phase = -1};
    const struct lab_command train = {
        .kind = LAB_DO_TRAIN, .n = iterations, .phase = -1};
    struct lab_snapshot snap;
    struct lab_session *session;
    struct lab_lesson *l;
    assert_ok(lab_lesson_load(&l, MLP));
    struct lab_session_config config = {
        .setup = {.spec = &l->spec, .backend = "cpu"}};
    assert_ok(lab_session_new(&session, &config));
    if (breaks)
        assert_ok(lab_session_post(session, &brk));
    assert_ok(lab_session_post(session, &train));
    assert_ok(lab_session_wait(session, -1));
    assert_ok(lab_session_snapshot(session, &snap));
    enum lab_background is = lab_background_of("mlp", &snap, text, cap);
    snap.state = LAB_SESSION_TRAINING; /* as before its last news */
    assert_int_equal(lab_background_of("mlp", &snap, (char[200]){0}, 200),
                     LAB_BACKGROUND_RUNS);
    lab_snapshot_release(&snap);
    lab_session_free(session);
    lab_lesson_free(l);
    return is;
}

/* A training in the background that stops at a break is kept, in its last
 * iteration too; one that ends by itself is done. */
TEST_CASE(a_break_in_the_background_is_not_done)
{
    char text[200] = "";
    assert_int_equal(trained(3, false, text, sizeof(text)),
                     LAB_BACKGROUND_DONE);
    assert_string_equal(text, "");
    for (int64_t n = 1; n <= 100; n += 99) {
        assert_int_equal(trained(n, true, text, sizeof(text)),
                         LAB_BACKGROUND_STOPPED);
        assert_non_null(strstr(text, "mlp stopped (Enter goes back): "));
        assert_non_null(strstr(text, "the loss is 2."));
    }
}

RUN_TESTS_FROM(LAB_BINARY_DIR)
