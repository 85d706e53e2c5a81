// Arrays, mipmapped arrays, textures and surfaces by number. Programs and kernels never hold an
// address of one: handles are looked up, so a wrong or stale one is an error status or a kernel's
// fault.
//
// Owns the table. Any thread; engine threads look in it inside a turn, without a lock.
#ifndef GS_SOFTCUDA_TEXTURE_OBJECT_H
#define GS_SOFTCUDA_TEXTURE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"

enum object_kind { OBJECT_ARRAY = 1, OBJECT_MIPMAP, OBJECT_TEXTURE, OBJECT_SURFACE };

// The first member of every object, which is one allocation.
struct object {
    uint64_t handle; // never 0
    CUcontext owner; // a root
    enum object_kind kind;
    struct object *next; // used while object_release_owner removes several
};

// Gives OBJECT, whose kind and owner are set, a handle. False: the table is full.
bool object_add(struct object *object);

// NULL: no such object of that kind. The object is valid while the caller holds the lock below, or
// until its turn ends.
struct object *object_find(uint64_t handle, enum object_kind kind);
void object_lock(void);
void object_unlock(void);

// Takes an object out and waits until no engine thread can still see it. The caller frees it. NULL:
// no such object.
struct object *object_take(uint64_t handle, enum object_kind kind);

// Frees all objects of OWNER. The memory of its arrays is freed with its other allocations.
void object_release_owner(CUcontext owner);

#endif
