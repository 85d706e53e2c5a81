/*
 * session_texture.h - a session's arrays, textures, surfaces and tensor maps. The tables change in
 * prepare and install, which the main lane runs; the rest belongs to the session's job in progress.
 */
#ifndef GS_WORKER_TEXTURE_SESSION_TEXTURE_H
#define GS_WORKER_TEXTURE_SESSION_TEXTURE_H

#include <stdatomic.h>
#include <stdint.h>

struct array;
struct tensor_maps;
struct texture;
struct texture_table;

struct session_texture {
    struct array **arrays;       /* SEG_ARRAYS entries, or NULL */
    struct texture **textures;   /* textures and surfaces: SEG_TEXTURES entries, or NULL */
    uint32_t made;               /* how many textures and surfaces a fenced session has ever made */
    struct texture_table *table; /* for a fenced session that uses textures, else NULL */
    /* for a fenced session that has made tensor maps, else NULL (tensor_map.c) */
    _Atomic(struct tensor_maps *) maps;
};

#endif
