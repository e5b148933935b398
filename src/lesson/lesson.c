/* lesson.c -- a lesson file: its bytes, checked and split into front matter and
 * Markdown; the text cut into sections, a step's into the parts of its phases;
 * and which section belongs to a step. front.c reads the front matter. */
#include "lesson/lesson.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "front.h"

/* ---- the bytes ---- */

static void report_hidden(struct lab_place at, unsigned code,
                          struct lab_findings *found)
{
    const char *what = "character that hides or reorders text";
    if (code == 0x1B)
        what = "terminal escape sequence";
    else if (code < 0xA0)
        what = "control character";
    lab_findings_add(
        found, at, LAB_E_PARSE,
        "[lesson.text.character] %s (U+%04X) in the text: remove it", what,
        code);
}

/* Walks the whole file once. A file that is not UTF-8 gets one message: the
 * bytes behind the first bad one are no text. */
static void check_text(const struct lab_source *src, struct lab_findings *found)
{
    struct lab_place at = {1, 1};
    for (size_t i = 0; i < src->size;) {
        const char *s = src->bytes + i;
        unsigned code;
        if (s[0] >= ' ' && s[0] <= '~') { /* nearly every byte of a lesson */
            at.column++;
            i++;
            continue;
        }
        size_t len = lab_utf8_next(s, src->size - i, &code);
        if (len == 0) {
            lab_findings_add(found, at, LAB_E_PARSE,
                             "[lesson.text.utf8] not UTF-8: byte 0x%02X at "
                             "offset %zu; save the file as UTF-8",
                             (unsigned char)s[0], i);
            break;
        }
        bool crlf = code == '\r' && i + 1 < src->size && s[1] == '\n';
        bool bom = code == 0xFEFF && i == 0;
        if (!crlf && !bom && !lab_is_visible(s, len, true))
            report_hidden(at, code, found);
        at.column++;
        if (code == '\n') {
            at.line++;
            at.column = 1;
        }
        i += len;
    }
}

/* The length of the line at `s` without its end; *next is where the next one
 * starts. */
static size_t line_length(const char *s, size_t n, size_t *next)
{
    const char *end = memchr(s, '\n', n);
    size_t len = end ? (size_t)(end - s) : n;
    *next = end ? len + 1 : n;
    while (len > 0 &&
           (s[len - 1] == '\r' || s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    return len;
}

static bool is_fence(const char *s, size_t len)
{
    return len == 3 && memcmp(s, "---", 3) == 0;
}

static void split(struct lab_source *src, struct lab_findings *found)
{
    static const char bom[] = "\xEF\xBB\xBF";
    const char *s = src->bytes;
    size_t n = src->size;
    size_t next = 0;
    if (n >= 3 && memcmp(s, bom, 3) == 0) {
        s += 3;
        n -= 3;
    }
    size_t len = line_length(s, n, &next);
    if (!is_fence(s, len)) {
        lab_findings_add(found, (struct lab_place){1, 1}, LAB_E_PARSE,
                         "[lesson.front.missing] a lesson starts with a line "
                         "--- and its front matter; this file does not");
        return;
    }
    src->yaml = s + next;
    src->yaml_line = 2;
    int line = 2;
    for (size_t i = next; i < n; line++) {
        len = line_length(s + i, n - i, &next);
        if (is_fence(s + i, len)) {
            src->yaml_size = (size_t)(s + i - src->yaml);
            src->body = s + i + next;
            src->body_size = n - i - next;
            src->body_line = line + 1;
            return;
        }
        i += next;
    }
    src->yaml = NULL;
    lab_findings_add(found, (struct lab_place){1, 1}, LAB_E_PARSE,
                     "[lesson.front.end] the front matter has no end: add a "
                     "line --- behind it");
}

static const struct lab_place whole_file = {0, 0};

static void too_large(struct lab_findings *found)
{
    lab_findings_add(
        found, whole_file, LAB_E_RANGE,
        "[lesson.file.large] larger than %d MiB, the most that a lesson may "
        "have: put its data into a file of its own (data: source: csv)",
        LAB_SOURCE_MAX_BYTES >> 20);
}

/* A regular file: a pipe would be waited for. NULL: the finding is there. */
static FILE *open_file(const char *name, struct lab_findings *found)
{
    int fd;
    int64_t bytes;
    FILE *f = NULL;
    errno = 0;
    if (lab_file_open(name, &fd, &bytes) == LAB_OK) {
        f = fdopen(fd, "r");
        if (!f)
            close(fd);
    }
    if (!f)
        lab_findings_add(found, whole_file, LAB_E_IO,
                         "[lesson.file.read] cannot read it: %s",
                         errno ? strerror(errno) : "it is not a regular file");
    return f;
}

/* Reads to the end or somewhat beyond the limit, whichever is first: the file may
 * grow. */
static void read_file(struct lab_source *src, struct lab_findings *found)
{
    char chunk[32768];
    struct lab_str text;
    size_t n = sizeof(chunk);
    FILE *f = open_file(src->name, found);
    lab_str_init(&text);
    while (f && n == sizeof(chunk) && text.len <= LAB_SOURCE_MAX_BYTES) {
        n = fread(chunk, 1, sizeof(chunk), f);
        lab_str_add_bytes(&text, chunk, n);
    }
    if (f && ferror(f))
        lab_findings_add(found, whole_file, LAB_E_IO,
                         "[lesson.file.read] cannot read it: %s",
                         strerror(errno));
    else if (text.len > LAB_SOURCE_MAX_BYTES)
        too_large(found);
    if (f)
        fclose(f);
    src->size = text.len;
    src->bytes = lab_str_detach(&text);
    found->failed = found->failed || !src->bytes;
}

/* ---- sections ---- */

static const struct {
    const char *word;
    enum lab_section_kind kind;
} kinds[] = {{"step:", LAB_SECTION_STEP},
             {"node:", LAB_SECTION_NODE},
             {"phase:", LAB_SECTION_PHASE}};

/* "step: fc1.matmul" -> STEP, "fc1.matmul". */
static void read_title(struct lab_section *s)
{
    s->kind = LAB_SECTION_OTHER;
    s->name = "";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t len = strlen(kinds[i].word);
        if (strncmp(s->title, kinds[i].word, len) == 0) {
            s->kind = kinds[i].kind;
            s->name = s->title + len + strspn(s->title + len, " ");
        }
    }
}

static bool begins_section(const struct lab_md_block *b)
{
    return b->kind == LAB_MD_HEADING && b->level == 2 && b->quote == 0 &&
           b->indent == 0;
}

/* ---- parts by phase ---- */

enum { NO_PHASE = -1 };

/* "backward", "Backward." or "Backward:"; NO_PHASE: none of them. */
static int phase_of(const char *word)
{
    for (int p = 0; p < LAB_PHASE_COUNT; p++) {
        const char *name = lab_phase_name((enum lab_phase)p);
        size_t len = strlen(name);
        const char *rest = word + len;
        if (strncasecmp(word, name, len) == 0 &&
            (!*rest || strcmp(rest, ".") == 0 || strcmp(rest, ":") == 0))
            return p;
    }
    return NO_PHASE;
}

static int heading_phase(const struct lab_md_block *b)
{
    bool part = b->kind == LAB_MD_HEADING && b->level == 3 && b->quote == 0 &&
                b->indent == 0 && b->n_spans == 1;
    return part ? phase_of(b->spans[0].text) : NO_PHASE;
}

/* The phase that a bold word begins, where a sentence may begin. */
static int bold_phase(const struct lab_md_block *b, size_t at)
{
    if (b->kind != LAB_MD_PARAGRAPH || b->quote || b->indent ||
        !(b->spans[at].style & LAB_SPAN_STRONG))
        return NO_PHASE;
    if (at > 0) {
        const char *before = b->spans[at - 1].text;
        size_t len = strlen(before);
        while (len > 0 && (before[len - 1] == ' ' || before[len - 1] == '\n'))
            len--;
        if (len > 0 && !strchr(".:)", before[len - 1]))
            return NO_PHASE;
    }
    return phase_of(b->spans[at].text);
}

/* Cuts a section into pieces, blocks or parts of paragraphs, each with its
 * phase. Returns how many, 0 where no phase has a part of its own; `out` has
 * room for one a span and one more a block. */
static size_t cut_parts(const struct lab_md *doc, struct lab_md_block *out,
                        int *phase)
{
    size_t n = 0;
    bool parts = false;
    int now = NO_PHASE;
    for (size_t i = 0; i < doc->n_blocks; i++) {
        const struct lab_md_block *b = &doc->blocks[i];
        int heading = heading_phase(b);
        size_t from = 0;
        if (heading != NO_PHASE) {
            parts = true;
            now = heading;
            continue;
        }
        for (size_t k = 0; k <= b->n_spans; k++) {
            int begins = k < b->n_spans ? bold_phase(b, k) : NO_PHASE;
            if (k == b->n_spans || (begins != NO_PHASE && k > 0)) {
                out[n] = *b;
                if (from > 0) /* a rule has no spans at all */
                    out[n].spans += from;
                out[n].n_spans = k - from;
                phase[n++] = now;
                from = k;
            }
            parts = parts || begins != NO_PHASE;
            now = begins != NO_PHASE ? begins : now;
        }
    }
    return parts ? n : 0;
}

/* false: without memory. */
static bool read_parts(struct lab_section *s, struct lab_arena *arena)
{
    size_t most = s->doc.n_blocks;
    for (int p = 0; p < LAB_PHASE_COUNT; p++)
        s->in_phase[p] = s->doc;
    if (s->kind != LAB_SECTION_STEP && s->kind != LAB_SECTION_NODE)
        return true;
    for (size_t i = 0; i < s->doc.n_blocks; i++)
        most += s->doc.blocks[i].n_spans;
    struct lab_md_block *piece = lab_arena_array(arena, most, sizeof(*piece));
    int *phase = lab_arena_array(arena, most, sizeof(*phase));
    if (!piece || !phase)
        return false;
    size_t n = cut_parts(&s->doc, piece, phase);
    for (int p = 0; n > 0 && p < LAB_PHASE_COUNT; p++) {
        struct lab_md_block *own = lab_arena_array(arena, n, sizeof(*own));
        if (!own)
            return false;
        s->in_phase[p] = (struct lab_md){own, 0};
        for (size_t i = 0; i < n; i++) {
            if (phase[i] == NO_PHASE || phase[i] == p)
                own[s->in_phase[p].n_blocks++] = piece[i];
        }
    }
    return true;
}

const struct lab_md *lab_section_part(const struct lab_section *s,
                                      const char *phase)
{
    int p = phase ? phase_of(phase) : NO_PHASE;
    return p == NO_PHASE ? &s->doc : &s->in_phase[p];
}

/* The text of a heading without styles; NULL when memory is short. */
static char *plain_text(struct lab_arena *arena, const struct lab_md_block *b)
{
    struct lab_str text;
    lab_str_init(&text);
    for (size_t i = 0; i < b->n_spans; i++)
        lab_str_add(&text, b->spans[i].text);
    char *copy = text.failed
                     ? NULL
                     : lab_arena_text(arena, lab_str_text(&text), text.len);
    lab_str_release(&text);
    return copy;
}

static void list_explained(struct lab_lesson *lesson,
                           struct lab_findings *found)
{
    struct lab_network_spec *spec = &lesson->spec;
    const char **name = lab_arena_array(
        &spec->memory, (size_t)lesson->n_sections, sizeof(*name));
    found->failed = found->failed || !name;
    spec->explained = name;
    for (int i = 0; name && i < lesson->n_sections; i++)
        if (lesson->sections[i].kind == LAB_SECTION_STEP)
            name[spec->n_explained++] = lesson->sections[i].name;
}

/* The Markdown, split at its headings of level 2. */
static void read_sections(struct lab_lesson *lesson,
                          const struct lab_source *src,
                          struct lab_findings *found)
{
    struct lab_arena *arena = &lesson->spec.memory;
    struct lab_md all = {0};
    int bad_line = 0;
    enum lab_status st = lab_md_read(arena, src->body, src->body_size,
                                     src->body_line, &all, &bad_line);
    if (st == LAB_E_RANGE)
        lab_findings_add(found, (struct lab_place){bad_line, 1}, st, "%s",
                         lab_error());
    size_t count = 1;
    for (size_t i = 0; i < all.n_blocks; i++)
        count += begins_section(&all.blocks[i]);
    struct lab_section *s = lab_arena_array(arena, count, sizeof(*s));
    found->failed = found->failed || st == LAB_E_NOMEM || !s;
    if (st || !s)
        return;
    lesson->sections = s;
    lesson->n_sections = (int)count;
    *s = (struct lab_section){.name = "", .title = "", .line = src->body_line};
    s->doc.blocks = all.blocks;
    for (size_t i = 0; i < all.n_blocks && !found->failed; i++) {
        const struct lab_md_block *b = &all.blocks[i];
        if (!begins_section(b)) {
            s->doc.n_blocks++;
            continue;
        }
        s++;
        s->title = plain_text(arena, b);
        s->line = b->line;
        s->doc.blocks = b + 1;
        found->failed = !s->title;
        if (s->title)
            read_title(s);
    }
    for (size_t i = 0; i < count && !found->failed; i++)
        found->failed = !read_parts(&lesson->sections[i], arena);
    list_explained(lesson, found);
}

const struct lab_section *lab_lesson_section(const struct lab_lesson *lesson,
                                             enum lab_section_kind kind,
                                             const char *name)
{
    for (int i = 0; i < lesson->n_sections; i++) {
        const struct lab_section *s = &lesson->sections[i];
        if (s->kind == kind && strcmp(s->name, name) == 0)
            return s;
    }
    return NULL;
}

/* The section of the name `name` or, part by part from the end, what is
 * before its last dots: for steps only numbers are left out. */
static const struct lab_section *find_within(const struct lab_lesson *lesson,
                                             enum lab_section_kind kind,
                                             const char *name,
                                             const char *phase)
{
    char part[128];
    size_t len = name ? strlen(name) : 0;
    if (len == 0 || len >= sizeof(part))
        return NULL;
    memcpy(part, name, len + 1);
    for (;;) {
        const struct lab_section *s = lab_lesson_section(lesson, kind, part);
        char *dot = strrchr(part, '.');
        if (s && lab_section_part(s, phase)->n_blocks == 0)
            s = NULL;
        if (s || !dot)
            return s;
        bool number = dot[1] && !dot[1 + strspn(dot + 1, "0123456789")];
        if (kind == LAB_SECTION_STEP && !number)
            return NULL;
        *dot = '\0';
    }
}

const struct lab_section *lab_lesson_text_for(const struct lab_lesson *lesson,
                                              const char *step,
                                              const char *node,
                                              const char *phase)
{
    const struct lab_section *s =
        find_within(lesson, LAB_SECTION_STEP, step, phase);
    if (!s)
        s = find_within(lesson, LAB_SECTION_NODE, node, phase);
    if (!s && phase)
        s = lab_lesson_section(lesson, LAB_SECTION_PHASE, phase);
    return s;
}

void lab_lesson_id_of(const char *path, struct lab_str *out)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t number = strspn(name, "0123456789");
    size_t len;
    if (number > 0 && name[number] == '-' &&
        strcmp(name + number + 1, ".md") != 0 && name[number + 1])
        name += number + 1;
    len = strlen(name);
    if (len > 3 && strcmp(name + len - 3, ".md") == 0)
        len -= 3;
    lab_str_add_bytes(out, name, len);
}

void lab_section_heading(const struct lab_section *s, struct lab_str *out)
{
    if (s->kind == LAB_SECTION_STEP)
        lab_str_addf(out, "Step %s", s->name);
    else if (s->kind == LAB_SECTION_NODE)
        lab_str_addf(out, "Node %s", s->name);
    else if (s->kind == LAB_SECTION_PHASE && s->name[0])
        lab_str_addf(out, "%c%s phase", toupper((unsigned char)s->name[0]),
                     s->name + 1);
    else
        lab_str_add(out, s->title);
}

/* ---- the whole ---- */

static struct lab_lesson *new_lesson(const char *path)
{
    struct lab_str id;
    struct lab_lesson *lesson = lab_alloc(sizeof(*lesson));
    if (!lesson)
        return NULL;
    lab_str_init(&id);
    lab_network_spec_init(&lesson->spec);
    lab_lesson_id_of(path, &id);
    struct lab_arena *arena = &lesson->spec.memory;
    lesson->id =
        id.failed ? NULL : lab_arena_text(arena, lab_str_text(&id), id.len);
    lesson->path = lab_arena_text(arena, path, strlen(path));
    lesson->spec.file = lesson->path;
    lab_str_release(&id);
    lesson->title = "";
    lesson->summary = "";
    lesson->order = LAB_LESSON_NO_ORDER;
    if (!lesson->id || !lesson->path) {
        lab_lesson_free(lesson);
        return NULL;
    }
    return lesson;
}

static bool is_wrong(const struct lab_findings *found)
{
    return found->errors > 0 || found->failed;
}

/* The first error as this thread's last error and its status; LAB_OK when
 * there is none. LAB_E_NOMEM when memory was short. */
static enum lab_status first_error(const struct lab_findings *f)
{
    struct lab_str text;
    size_t i = 0;
    if (f->failed)
        return lab_fail(LAB_E_NOMEM, "no memory left to read the lesson");
    while (i < f->count && f->items[i].severity != LAB_SEVERITY_ERROR)
        i++;
    if (i == f->count)
        return LAB_OK;
    lab_str_init(&text);
    lab_finding_text(f, i, &text);
    enum lab_status st = text.failed
                             ? lab_no_memory("a message")
                             : lab_fail_id(f->items[i].status, f->items[i].id,
                                           "%s", lab_str_text(&text));
    lab_str_release(&text);
    return st;
}

static enum lab_status read_lesson(struct lab_lesson **out,
                                   struct lab_source *src,
                                   struct lab_findings *found)
{
    struct lab_lesson *lesson = NULL;
    if (!is_wrong(found))
        check_text(src, found);
    if (!is_wrong(found))
        split(src, found);
    if (!is_wrong(found)) {
        lesson = new_lesson(src->name);
        found->failed = !lesson;
    }
    if (lesson)
        lab_front_read(lesson, src, found);
    if (lesson && !found->failed)
        read_sections(lesson, src, found);
    lab_free(src->bytes);
    lab_findings_sort(found);
    enum lab_status st = first_error(found);
    if (st)
        lab_lesson_free(lesson);
    *out = st ? NULL : lesson;
    return st;
}

enum lab_status lab_lesson_check(struct lab_lesson **out, const char *path,
                                 struct lab_findings *found)
{
    struct lab_source src = {.name = path};
    lab_findings_of(found, path);
    read_file(&src, found);
    return read_lesson(out, &src, found);
}

enum lab_status lab_lesson_parse(struct lab_lesson **out, const char *path,
                                 const char *bytes, size_t size,
                                 struct lab_findings *found)
{
    struct lab_source src = {.name = path};
    lab_findings_of(found, path);
    if (size > LAB_SOURCE_MAX_BYTES) {
        too_large(found);
    } else {
        src.bytes = lab_strndup(bytes, size);
        src.size = size;
        found->failed = found->failed || !src.bytes;
    }
    return read_lesson(out, &src, found);
}

enum lab_status lab_lesson_load(struct lab_lesson **out, const char *path)
{
    struct lab_findings found;
    lab_findings_init(&found);
    enum lab_status st = lab_lesson_check(out, path, &found);
    lab_findings_release(&found);
    return st;
}

void lab_lesson_free(struct lab_lesson *lesson)
{
    if (!lesson)
        return;
    lab_network_spec_release(&lesson->spec);
    lab_free(lesson);
}
