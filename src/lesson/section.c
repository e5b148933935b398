/* A lesson's text cut into sections, a step's text into the parts of its
 * phases, and which section belongs to a step. */
#include "lesson/lesson.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "markdown/md_read.h"
#include "front/front.h"

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
 * phase. Returns how many, 0 where no phase has a part of its own; with `out`
 * NULL it only counts. */
static size_t cut_parts(const struct lab_md *doc, struct lab_md_block *out,
                        int *phase)
{
    size_t n = 0;
    bool parts = false;
    int now = NO_PHASE;
    for (size_t i = 0; i < doc->n_blocks; i++) {
        const struct lab_md_block *b = &doc->blocks[i];
        int heading = heading_phase(b);
        parts = parts || heading != NO_PHASE;
        if (heading != NO_PHASE) {
            now = heading;
            continue;
        }
        size_t from = 0;
        for (size_t k = 0; k <= b->n_spans; k++) {
            int begins = k < b->n_spans ? bold_phase(b, k) : NO_PHASE;
            bool ends = k == b->n_spans;
            if ((begins != NO_PHASE && k > 0) || ends) {
                if (out) {
                    out[n] = *b;
                    if (from > 0) /* a rule has no spans at all */
                        out[n].spans += from;
                    out[n].n_spans = k - from;
                    phase[n] = now;
                }
                n++;
                from = k;
            }
            if (begins != NO_PHASE) {
                now = begins;
                parts = true;
            }
        }
    }
    return parts ? n : 0;
}

static enum lab_status read_parts(struct lab_section *s,
                                  struct lab_arena *arena)
{
    size_t n = 0;
    for (int p = 0; p < LAB_PHASE_COUNT; p++)
        s->in_phase[p] = s->doc;
    if (s->kind == LAB_SECTION_STEP || s->kind == LAB_SECTION_NODE)
        n = cut_parts(&s->doc, NULL, NULL);
    if (n == 0)
        return LAB_OK;
    struct lab_md_block *piece = lab_arena_array(arena, n, sizeof(*piece));
    int *phase = lab_arena_array(arena, n, sizeof(*phase));
    if (!piece || !phase)
        return lab_fail(LAB_E_NOMEM, "no memory left for the lesson's text");
    cut_parts(&s->doc, piece, phase);
    for (int p = 0; p < LAB_PHASE_COUNT; p++) {
        struct lab_md_block *own = lab_arena_array(arena, n, sizeof(*own));
        if (!own)
            return lab_fail(LAB_E_NOMEM,
                            "no memory left for the lesson's text");
        s->in_phase[p] = (struct lab_md){own, 0};
        for (size_t i = 0; i < n; i++) {
            if (phase[i] == NO_PHASE || phase[i] == p)
                own[s->in_phase[p].n_blocks++] = piece[i];
        }
    }
    return LAB_OK;
}

const struct lab_md *lab_section_part(const struct lab_section *s,
                                      const char *phase)
{
    int p = phase ? phase_of(phase) : NO_PHASE;
    return p == NO_PHASE ? &s->doc : &s->in_phase[p];
}

enum lab_status lab_sections_read(struct lab_lesson *lesson,
                                  struct lab_arena *arena, const char *md,
                                  size_t n, int first_line,
                                  struct lab_findings *found)
{
    struct lab_md all = {0};
    int bad_line = 0;
    enum lab_status st = lab_md_read(arena, md, n, first_line, &all, &bad_line);
    if (st == LAB_E_RANGE)
        lab_findings_add(found, lesson->path, bad_line, 1, LAB_SEVERITY_ERROR,
                         st, "%s", lab_error());
    if (st)
        return lab_front_pass(st);
    size_t count = 1;
    for (size_t i = 0; i < all.n_blocks; i++)
        count += begins_section(&all.blocks[i]);
    lesson->sections = lab_arena_array(arena, count, sizeof(*lesson->sections));
    if (!lesson->sections)
        return lab_fail(LAB_E_NOMEM, "no memory left for the lesson's text");
    struct lab_section *s = &lesson->sections[0];
    *s = (struct lab_section){.name = "", .title = "", .line = first_line};
    s->doc.blocks = all.blocks;
    for (size_t i = 0; i < all.n_blocks; i++) {
        const struct lab_md_block *b = &all.blocks[i];
        if (!begins_section(b)) {
            s->doc.n_blocks++;
            continue;
        }
        s++;
        s->title = lab_md_plain(arena, b->spans, b->n_spans);
        if (!s->title)
            return lab_fail(LAB_E_NOMEM, "no memory left for a heading");
        s->line = b->line;
        s->doc.blocks = b + 1;
        read_title(s);
    }
    lesson->n_sections = (int)count;
    for (size_t i = 0; i < count && !st; i++)
        st = read_parts(&lesson->sections[i], arena);
    return st;
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

/* The section whose name is `name` or, part by part from the end, what stands
 * before its last dots: for steps only numbers are left out. */
static const struct lab_section *find_within(const struct lab_lesson *lesson,
                                             enum lab_section_kind kind,
                                             const char *name,
                                             const char *phase)
{
    char part[2 * LAB_FRONT_NAME_BYTES + 2];
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
