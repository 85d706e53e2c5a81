/* The texture table of a fenced session: what fenced code makes of the numbers that a kernel takes
 * as textures and surfaces. A number's lowest bits are a row of the table, which lies outside of
 * every window, where no fenced store leads; an instruction takes the object in the column of its
 * own geometry there. Whoever loads the module keeps each column filled with objects of the
 * session that have that geometry, or with a null object, so that every number is harmless. */
#ifndef GS_PTX_REWRITE_TEXTURE_TABLE_H
#define GS_PTX_REWRITE_TEXTURE_TABLE_H

#include <stdint.h>

/* The .const .b64 variable that the fence adds where kernels use textures or surfaces: device
 * address of the session's table. As loaded it is zero, and every such instruction faults. */
#define FENCE_TEXTURES "gshare$textures"

/* What an instruction with another geometry than its object's does on a GPU is nowhere written. */
enum texture_column {
    TEXTURE_ANY,  /* txq */
    TEXTURE_LINE, /* 1d with integer coordinates, which linear memory has alone */
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
    SURFACE_A2D, /* cubes too: their faces are layers */
    TEXTURE_NO_COLUMN,
    TEXTURE_COLUMNS = 16
};

enum { TEXTURE_ROWS = 1024 };

struct texture_row {
    uint64_t object[TEXTURE_COLUMNS]; /* the driver's handles */
};

#endif
