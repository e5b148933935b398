#include "lesson/lesson.h"

#include <string.h>

#include "md_read.h"
#include "front.h"

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
    return LAB_OK;
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
                                             const char *name)
{
    char part[2 * LAB_FRONT_NAME_BYTES + 2];
    size_t len = name ? strlen(name) : 0;
    if (len == 0 || len >= sizeof(part))
        return NULL;
    memcpy(part, name, len + 1);
    for (;;) {
        const struct lab_section *s = lab_lesson_section(lesson, kind, part);
        char *dot = strrchr(part, '.');
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
    const struct lab_section *s = find_within(lesson, LAB_SECTION_STEP, step);
    if (!s)
        s = find_within(lesson, LAB_SECTION_NODE, node);
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
