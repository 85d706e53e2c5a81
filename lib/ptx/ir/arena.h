/* A growing heap that is freed as a whole, with a limit: everything a module consists of lives in
 * one. Not shared between threads. Callers have bounded the sizes that they ask for. */
#ifndef GS_PTX_ARENA_H
#define GS_PTX_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct arena *arena_new(size_t limit); /* NULL: no memory */
void arena_free(struct arena *a);
size_t arena_bytes(const struct arena *a); /* that it takes; NULL: none */
/* Zeroed, aligned to 16. NULL: no memory, or over the limit (arena_is_full tells which). */
void *arena_alloc(struct arena *a, size_t bytes);
char *arena_string(struct arena *a, const char *text, size_t len);
bool arena_is_full(const struct arena *a);

#endif
