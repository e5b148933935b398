/* painter.c -- encodes images in a thread of its own. Each image of the screen has a
 * slot for what waits and one for what is ready: a newer image replaces an older one
 * in either, so that a slow terminal never makes a queue. */
#include "term/painter.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"

enum { SLOTS = LAB_CANVAS_IMAGES, PIECE_ROWS = 4 /* at least */ };

struct job {
    struct lab_painting what;
    unsigned char *px; /* owned; NULL: the slot is empty */
    int h;
    int w;
};

struct lab_painter {
    enum lab_graphics how;
    int color[256];
    int wake_fd;
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t given;
    bool ending;
    int begun;    /* the slot that is being encoded; -1: none */
    bool dropped; /* it is not wanted any more */
    struct job waiting[SLOTS];
    struct lab_painting ready[SLOTS];
    bool is_ready[SLOTS];
};

/* Rows `y` to `y` + `rows` of the cells of an image, from the cursor's place and back
 * to where the cursor was. */
static void encode_piece(const struct lab_painter *p, int nth, struct job *job,
                         int y, int rows)
{
    const struct lab_rect at = job->what.at;
    const int row_h = job->h / at.h;
    unsigned char *px = job->px + (size_t)(y * row_h) * (size_t)job->w;
    const struct lab_bitmap b = {y + rows < at.h ? rows * row_h
                                                 : job->h - y * row_h,
                                 job->w, px, p->color};
    struct lab_str *out = &job->what.text;
    lab_str_addf(out, "\0337\033[%d;%dH", at.y + y + 1, at.x + 1);
    if (p->how == LAB_GRAPHICS_KITTY)
        lab_kitty_add(out, &b, (unsigned)nth + 1, at.h, at.w);
    else
        lab_sixel_add(out, &b);
    lab_str_add(out, LAB_PIECE_END);
}

/* Rows of a piece. Sixels are in pieces of a few rows: between two of them a key is
 * read. kitty's are a tenth, and one piece. */
static int rows_of_piece(const struct lab_painter *p,
                         const struct lab_painting *what)
{
    const int h = what->at.h;
    if (p->how == LAB_GRAPHICS_KITTY || what->pieces < 2)
        return h;
    const int rows = (h + what->pieces - 1) / what->pieces;
    return rows > PIECE_ROWS ? rows : PIECE_ROWS;
}

/* `job->what.text` becomes the image; the pixels are freed. */
static void encode(const struct lab_painter *p, int nth, struct job *job)
{
    const int h = job->what.at.h;
    const int rows = rows_of_piece(p, &job->what);
    lab_str_init(&job->what.text);
    for (int y = 0; y < h; y += rows)
        encode_piece(p, nth, job, y, h - y < rows ? h - y : rows);
    lab_free(job->px);
    job->px = NULL;
}

/* With the lock held. Without memory for its text there is no image. */
static void finish(struct lab_painter *p, int nth, struct job *job)
{
    const uint64_t one = 1;
    if (job->what.text.failed) {
        lab_str_release(&job->what.text);
        return;
    }
    if (p->is_ready[nth])
        lab_str_release(&p->ready[nth].text);
    p->ready[nth] = job->what;
    p->is_ready[nth] = true;
    ssize_t n = write(p->wake_fd, &one, sizeof(one));
    (void)n; /* full: the loop wakes all the same */
}

static int next_slot(const struct lab_painter *p)
{
    int nth = 0;
    while (nth < SLOTS && !p->waiting[nth].px)
        nth++;
    return nth;
}

static void *work(void *user)
{
    struct lab_painter *p = user;
    lab_thread_yield();
    pthread_mutex_lock(&p->lock);
    while (!p->ending) {
        int nth = next_slot(p);
        if (nth == SLOTS) {
            pthread_cond_wait(&p->given, &p->lock);
            continue;
        }
        struct job job = p->waiting[nth];
        p->waiting[nth].px = NULL;
        p->begun = nth;
        p->dropped = false;
        pthread_mutex_unlock(&p->lock);
        encode(p, nth, &job);
        pthread_mutex_lock(&p->lock);
        if (p->dropped)
            lab_str_release(&job.what.text);
        else
            finish(p, nth, &job);
        p->begun = -1;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals are the loop's: they wake its poll. */
static void start(struct lab_painter *p)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->threaded = lab_thread_start(&p->thread, work, p) == LAB_OK;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum lab_status lab_painter_new(struct lab_painter **out, enum lab_graphics how,
                                const int *color, int wake_fd)
{
    struct lab_painter *p = lab_alloc(sizeof(*p));
    if (!p)
        return lab_no_memory("images");
    p->how = how;
    memcpy(p->color, color, sizeof(p->color));
    p->wake_fd = wake_fd;
    p->begun = -1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->given, NULL);
    start(p);
    *out = p;
    return LAB_OK;
}

static void empty(struct lab_painter *p, int nth)
{
    lab_free(p->waiting[nth].px);
    p->waiting[nth].px = NULL;
    if (p->is_ready[nth])
        lab_str_release(&p->ready[nth].text);
    p->is_ready[nth] = false;
}

void lab_painter_free(struct lab_painter *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = true;
    pthread_cond_signal(&p->given);
    pthread_mutex_unlock(&p->lock);
    if (p->threaded)
        pthread_join(p->thread, NULL);
    for (int i = 0; i < SLOTS; i++)
        empty(p, i);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->given);
    lab_free(p);
}

void lab_painter_give(struct lab_painter *p, int nth,
                      const struct lab_painting *what, unsigned char *px, int h,
                      int w)
{
    struct job job = {*what, px, h, w};
    if (!p->threaded)
        encode(p, nth, &job);
    pthread_mutex_lock(&p->lock);
    if (p->threaded) {
        lab_free(p->waiting[nth].px);
        p->waiting[nth] = job;
        pthread_cond_signal(&p->given);
    } else {
        finish(p, nth, &job);
    }
    pthread_mutex_unlock(&p->lock);
}

void lab_painter_drop(struct lab_painter *p, int nth)
{
    pthread_mutex_lock(&p->lock);
    empty(p, nth);
    p->dropped = p->dropped || p->begun == nth;
    pthread_mutex_unlock(&p->lock);
}

int lab_painter_take(struct lab_painter *p, struct lab_painting *out)
{
    int nth = 0;
    pthread_mutex_lock(&p->lock);
    while (nth < SLOTS && !p->is_ready[nth])
        nth++;
    if (nth < SLOTS) {
        *out = p->ready[nth];
        p->is_ready[nth] = false;
    }
    pthread_mutex_unlock(&p->lock);
    return nth < SLOTS ? nth : -1;
}
