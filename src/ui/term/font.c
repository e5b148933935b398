/* font.c -- characters as pixels for PNG files: Fontconfig finds the fonts, FreeType
 * draws. Without them the functions report that, and pictures are SVG alone. */
#include "term/font.h"

#ifdef LAB_HAVE_FONTS

#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* The first of each weight is of fixed width; the others have what it lacks. */
enum { FACES = 6 };

struct lab_font {
    FT_Library library;
    FT_Face faces[2][FACES]; /* normal and bold */
    int count[2];
    int h;
    int w;
    int baseline;
    char path[512];
};

/* The largest size at which a character of the first font fits. */
static bool size_faces(struct lab_font *f, FT_Face *faces, int n)
{
    int size = f->h;
    for (; size > 3; size--) {
        FT_Set_Pixel_Sizes(faces[0], 0, (FT_UInt)size);
        const FT_Size_Metrics *m = &faces[0]->size->metrics;
        if (FT_Load_Char(faces[0], 'M', FT_LOAD_DEFAULT) == 0 &&
            (faces[0]->glyph->advance.x + 32) >> 6 <= f->w &&
            (m->ascender - m->descender) >> 6 <= f->h + 2)
            break;
    }
    const FT_Size_Metrics *m = &faces[0]->size->metrics;
    long high = (m->ascender - m->descender) >> 6;
    f->baseline = (int)((f->h - high) / 2 + (m->ascender >> 6));
    for (int i = 1; i < n; i++)
        FT_Set_Pixel_Sizes(faces[i], 0, (FT_UInt)size);
    return size > 3;
}

static void open_faces(struct lab_font *f, int weight)
{
    FcResult result;
    FcPattern *p =
        FcNameParse((const FcChar8 *)(weight ? "monospace:bold" : "monospace"));
    if (!p)
        return;
    FcConfigSubstitute(NULL, p, FcMatchPattern);
    FcDefaultSubstitute(p);
    FcFontSet *set = FcFontSort(NULL, p, FcTrue, NULL, &result);
    for (int i = 0; set && i < set->nfont && f->count[weight] < FACES; i++) {
        FcChar8 *path;
        int index = 0;
        FT_Face *face = &f->faces[weight][f->count[weight]];
        FcPatternGetInteger(set->fonts[i], FC_INDEX, 0, &index);
        if (FcPatternGetString(set->fonts[i], FC_FILE, 0, &path) !=
                FcResultMatch ||
            FT_New_Face(f->library, (const char *)path, index, face) != 0)
            continue;
        if (f->count[weight] == 0 && !FT_IS_FIXED_WIDTH(*face)) {
            FT_Done_Face(*face);
            continue;
        }
        if (f->count[weight]++ == 0 && weight == 0)
            snprintf(f->path, sizeof(f->path), "%s", (const char *)path);
    }
    if (set)
        FcFontSetDestroy(set);
    FcPatternDestroy(p);
}

enum lab_status lab_font_open(struct lab_font **out, int h, int w)
{
    struct lab_font *f = lab_alloc(sizeof(*f));
    if (!f)
        return lab_no_memory("the font");
    f->h = h;
    f->w = w;
    bool usable = FT_Init_FreeType(&f->library) == 0;
    for (int weight = 0; usable && weight < 2; weight++)
        open_faces(f, weight);
    usable =
        usable && f->count[0] > 0 && size_faces(f, f->faces[0], f->count[0]);
    if (!usable) {
        lab_font_close(f);
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[recording.no-font] there is no font of fixed width "
                        "for text in a PNG: "
                        "install fonts-dejavu-core, or write a .svg");
    }
    if (f->count[1] > 0) {
        int baseline = f->baseline;
        size_faces(f, f->faces[1], f->count[1]);
        f->baseline = baseline;
    }
    *out = f;
    return LAB_OK;
}

void lab_font_close(struct lab_font *f)
{
    if (!f)
        return;
    for (int weight = 0; weight < 2; weight++)
        for (int i = 0; i < f->count[weight]; i++)
            FT_Done_Face(f->faces[weight][i]);
    if (f->library)
        FT_Done_FreeType(f->library);
    lab_free(f);
    FcFini(); /* pictures are rare, and its caches are large */
}

const char *lab_font_path(const struct lab_font *f)
{
    return f->path;
}

bool lab_font_glyph(struct lab_font *f, unsigned code, bool bold,
                    struct lab_glyph *out)
{
    int weight = bold && f->count[1] > 0;
    for (int i = 0; i < f->count[weight]; i++) {
        FT_Face face = f->faces[weight][i];
        if (FT_Get_Char_Index(face, code) == 0 ||
            FT_Load_Char(face, code, FT_LOAD_RENDER) != 0 ||
            face->glyph->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY)
            continue;
        const FT_Bitmap *b = &face->glyph->bitmap;
        *out = (struct lab_glyph){
            .x = face->glyph->bitmap_left,
            .y = f->baseline - face->glyph->bitmap_top,
            .h = (int)b->rows,
            .w = (int)b->width,
            .stride = b->pitch,
            .ink = b->buffer,
        };
        return true;
    }
    return false;
}

#else

enum lab_status lab_font_open(struct lab_font **out, int h, int w)
{
    (void)out;
    (void)h;
    (void)w;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[recording.not-built] this program was built without "
                    "fonts for text in a PNG: "
                    "install libfreetype-dev and libfontconfig-dev and build "
                    "again, or write a .svg");
}

void lab_font_close(struct lab_font *f)
{
    (void)f;
}

const char *lab_font_path(const struct lab_font *f)
{
    (void)f;
    return "";
}

bool lab_font_glyph(struct lab_font *f, unsigned code, bool bold,
                    struct lab_glyph *out)
{
    (void)f;
    (void)code;
    (void)bold;
    (void)out;
    return false;
}

#endif
