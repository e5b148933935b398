/* ceiling_cache.c -- the ceilings measured on the device of a walk, read from
 * the database once and kept for the stepper. */
#include "report/ceiling_cache.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "engine/ceiling.h"

/* A data sheet's are not taken here: the device's own attributes have the same. */
static void read_roofs(struct lab_ceiling_cache *k, struct lab_database *db)
{
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        struct lab_roof roof;
        if (lab_roof_find(db, &k->device, lab_ceiling_name((enum lab_ceiling)i),
                          &roof))
            return;
        if (roof.origin != LAB_ROOF_NONE && roof.origin != LAB_ROOF_DATASHEET)
            k->per_s[i] = roof.per_s;
    }
}

static void look(struct lab_ceiling_cache *k, const char *path)
{
    const struct lab_database_options options = {.read_only = true,
                                                 .busy_timeout_ms = 200};
    struct lab_database *db = NULL;
    if (lab_database_open(&db, path, &options) == LAB_OK)
        read_roofs(k, db);
    lab_database_close(db);
}

const double *lab_ceiling_cache_find(struct lab_ceiling_cache *k,
                                     const char *db, const char *backend,
                                     const struct lab_device_info *device)
{
    struct lab_ceiling_device now;
    struct lab_str usual;
    lab_ceiling_device_here(backend, device->name, device->uuid, &now);
    if (k->asked && strcmp(now.backend, k->device.backend) == 0 &&
        strcmp(now.device, k->device.device) == 0 &&
        strcmp(now.uuid, k->device.uuid) == 0)
        return k->per_s;
    k->asked = true;
    k->device = now;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        k->per_s[i] = NAN;
    lab_str_init(&usual);
    if (db)
        look(k, db);
    else if (lab_database_default_path(&usual) == LAB_OK)
        look(k, lab_str_text(&usual));
    lab_str_release(&usual);
    return k->per_s;
}
