/*
 * session_texture.h - a session's arrays, textures and surfaces. The tables change in prepare and
 * install, which the main lane runs; the rest belongs to the session's job in progress.
 */
#ifndef GS_WORKER_TEXTURE_SESSION_TEXTURE_H
#define GS_WORKER_TEXTURE_SESSION_TEXTURE_H

#include <stdint.h>

struct array;
struct texture;

struct session_texture {
    struct array **arrays;     /* SEG_ARRAYS entries, or NULL */
    struct texture **textures; /* textures and surfaces: SEG_TEXTURES entries, or NULL */
};

#endif
