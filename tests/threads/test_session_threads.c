/* A session that trains and is recorded, while other threads do nothing but
 * look, post and ask: for ThreadSanitizer, which sees a lock that is missing.
 *
 * To see that it does: take pthread_mutex_lock and _unlock out of
 * lab_session_snapshot() (src/engine/session/session_snapshot.c), then
 *     cmake --preset tsan && cmake --build build/tsan --target thread_tests
 *     ctest --test-dir build/tsan -R session_threads --output-on-failure
 * It fails every time. For that, each thread has one kind of call only, and the
 * one that takes snapshots asks for no version: an atomic would order it. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"

#include "engine/session.h"
#include "debug/lesson_run.h"
#include "base/version.h"

const char *lab_version(void)
{
    return "test";
}

const char *lab_commit(void)
{
    return "";
}

static struct lab_session *session;
static struct lab_recording *recording;
static atomic_bool ended;
static atomic_int failures;

static bool goes_on(void)
{
    return !atomic_load_explicit(&ended, memory_order_relaxed);
}

static void count_failure(bool failed)
{
    if (failed)
        atomic_fetch_add_explicit(&failures, 1, memory_order_relaxed);
}

static void *take_snapshots(void *unused)
{
    while (goes_on()) {
        struct lab_snapshot snap;
        if (lab_session_snapshot(session, &snap)) {
            count_failure(true);
            continue;
        }
        count_failure(snap.train_done > snap.train_target);
        lab_snapshot_release(&snap);
    }
    return unused;
}

static void *ask_versions(void *unused)
{
    int64_t last = 0;
    struct lab_candidate list[8];
    while (goes_on()) {
        int64_t now = lab_session_version(session);
        count_failure(now < last);
        last = now;
        lab_session_candidates(session, 0, NULL, list, 8);
        usleep(100);
    }
    return unused;
}

static void *post_words(void *unused)
{
    static const struct lab_command words[] = {
        {.kind = LAB_DO_SHOW,
         .show = {.tensor = 1, .row_axis = -1, .col_axis = 0}},
        {.kind = LAB_DO_EXPLAIN, .element = {.tensor = 1, .index = 0}},
        {.kind = LAB_DO_BREAK, .break_kind = LAB_BREAK_NAN, .phase = -1},
        {.kind = LAB_DO_DELETE}};
    for (int i = 0; goes_on(); i++) {
        count_failure(lab_session_post(session, &words[i % 4]) != LAB_OK);
        usleep(2000);
    }
    return unused;
}

static void *take_notes(void *unused)
{
    while (goes_on()) {
        struct lab_recording_state state;
        struct lab_str text;
        lab_str_init(&text);
        lab_recording_note(recording, &text);
        lab_str_release(&text);
        lab_recording_get_state(recording, &state);
        count_failure(state.run < 0);
        usleep(500);
    }
    return unused;
}

static void *take_live(void *unused)
{
    while (goes_on()) {
        struct lab_kernel_record found[4];
        lab_live_kernels(lab_recording_live(recording), 1, found, 4);
        usleep(500);
    }
    return unused;
}

static void open_all(struct lab_lesson_run *w)
{
    static struct lab_options options;
    lab_options_init(&options);
    options.db = "threads.db";
    options.backend = "cpu";
    assert_ok(lab_lesson_run_start(w, &options,
                                   LAB_SOURCE_DIR "/lessons/20-mlp-digits.md",
                                   false, NULL, NULL));
    recording = w->recording;
    session = w->session;
    assert_ok(lab_session_wait(session, -1));
}

TEST_CASE(many_look_while_one_trains)
{
    static void *(*const work[])(void *) = {take_snapshots, ask_versions,
                                            post_words, take_notes, take_live};
    enum { THREADS = sizeof(work) / sizeof(work[0]), ROUNDS = 3 };
    const struct lab_command train = {.kind = LAB_DO_TRAIN, .n = 1000000000};
    const struct lab_command stop = {.kind = LAB_DO_STOP};
    const struct lab_command restart = {.kind = LAB_DO_RESTART};
    struct lab_lesson_run run;
    pthread_t threads[THREADS];
    open_all(&run);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work[i], NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        assert_ok(lab_session_post(session, &train));
        usleep(400000);
        assert_ok(lab_session_post(session, &stop));
        assert_ok(lab_session_post(session, &restart));
    }
    atomic_store(&ended, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&failures), 0);
    lab_session_end(session);
    struct lab_snapshot snap;
    assert_ok(lab_session_snapshot(session, &snap));
    assert_string_equal(snap.error, "");
    lab_snapshot_release(&snap);
    lab_lesson_run_close(&run);
    unlink("threads.db");
}

int main(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    return test_run_all(NULL, NULL);
}
