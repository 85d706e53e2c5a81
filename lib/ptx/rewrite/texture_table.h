/* The texture table of a fenced session, which translates the numbers that a kernel takes as
 * textures and surfaces. The lowest bits of a number select a row. The table lies outside of every
 * window, so no fenced store reaches it. An instruction uses the object in the column of its own
 * geometry. Whoever loads the module fills each column with objects of the session that have that
 * geometry, or with a null object, so that every number is harmless. */
#ifndef GS_PTX_REWRITE_TEXTURE_TABLE_H
#define GS_PTX_REWRITE_TEXTURE_TABLE_H

#include <stdint.h>

/* The .const .b64 variable that the fence adds where kernels use textures or surfaces: the device
 * address of the session's table. Until it is written it is zero, and every texture or surface
 * instruction faults. */
#define FENCE_TEXTURES "gshare$textures"

/* It is undocumented what a GPU does when an instruction's geometry differs from its object's. */
enum texture_column {
    TEXTURE_ANY,  /* txq */
    TEXTURE_LINE, /* 1d with integer coordinates, the only geometry of linear memory */
    TEXTURE_1D,
    TEXTURE_2D,
    TEXTURE_3D,
    TEXTURE_A1D,
    TEXTURE_A2D,
    TEXTURE_CUBE,
    TEXTURE_ACUBE,
    SURFACE_ANY, /* suq */
    SURFACE_1D,
    SURFACE_2D,
    SURFACE_3D,
    SURFACE_A1D,
    SURFACE_A2D, /* cubes too, whose faces are layers */
    TEXTURE_NO_COLUMN,
    TEXTURE_COLUMNS = 16
};

enum { TEXTURE_ROWS = 1024 };

struct texture_row {
    uint64_t object[TEXTURE_COLUMNS]; /* the driver's handles */
};

#endif
