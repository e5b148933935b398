/* devices.c -- published peaks of graphics cards, from profiles/devices.csv. */
#include "store/devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store_sql.h"

enum { FIELDS = 15, FIELD_BYTES = 96 };

/* Takes one line apart; returns where the next one begins. */
static const char *read_line(const char *line, char field[FIELDS][FIELD_BYTES])
{
    int f = 0;
    size_t n = 0;
    memset(field, 0, sizeof(char[FIELDS][FIELD_BYTES]));
    for (; *line && *line != '\n'; line++) {
        if (*line == ',' && f < FIELDS - 1) {
            f++;
            n = 0;
        } else if (n < FIELD_BYTES - 1) {
            field[f][n++] = *line;
        }
    }
    return *line ? line + 1 : line;
}

static double giga(const char *text)
{
    return *text ? strtod(text, NULL) * 1e9 : (double)NAN;
}

static void copy_source(char out[LAB_PEAK_SOURCE], const char *text)
{
    size_t n = strnlen(text, LAB_PEAK_SOURCE - 1);
    memcpy(out, text, n);
    out[n] = '\0';
}

bool lab_device_peaks_find(const char *name, struct lab_device_peaks *out)
{
    static const char maker[] = "NVIDIA ";
    char field[FIELDS][FIELD_BYTES];
    *out = (struct lab_device_peaks){.fp32_flop_per_s = NAN,
                                     .dram_bytes_per_s = NAN,
                                     .tf32_flop_per_s = NAN,
                                     .bf16_flop_per_s = NAN,
                                     .fp16_flop_per_s = NAN};
    if (!name)
        return false;
    if (strncmp(name, maker, sizeof(maker) - 1) == 0)
        name += sizeof(maker) - 1;
    for (const char *line = lab_devices_csv; *line;) {
        line = read_line(line, field);
        if (field[0][0] == '#' || strcmp(field[0], name) != 0 ||
            strcmp(field[0], "name") == 0)
            continue;
        out->fp32_flop_per_s = giga(field[1]);
        out->dram_bytes_per_s = giga(field[3]);
        copy_source(out->fp32_source, field[2]);
        copy_source(out->dram_source, field[4]);
        out->tf32_flop_per_s = giga(field[9]);
        out->bf16_flop_per_s = giga(field[10]);
        out->fp16_flop_per_s = giga(field[11]);
        copy_source(out->tensor_source, field[12]);
        return true;
    }
    return false;
}
