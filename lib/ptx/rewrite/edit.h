/* Edits against a text: insertions and replacements, applied all at once. Belongs to one call of
 * ptx_rewrite. */
#ifndef GS_PTX_REWRITE_EDIT_H
#define GS_PTX_REWRITE_EDIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "ptx/ir/arena.h"
#include "ptx/ptx.h"

struct edit {
    size_t begin, end; /* bytes of the text; equal: an insertion */
    size_t order;      /* the order of recording, which keeps insertions at one place in order */
    const char *with;
    unsigned owner; /* the pass */
};

struct edits {
    struct edit *all;
    size_t count, room, next_order;
    unsigned owner; /* the pass that records now */
    size_t size; /* an upper bound of the size of the text with the edits; starts as the size of the
                    text */
    bool failed; /* no memory */
    bool too_long; /* an edit was not recorded: the text would exceed PTX_MAX_TEXT */
    struct arena *arena;
};

void edits_deinit(struct edits *edits);
/* WITH replaces the text from BEGIN to END, and must outlive the edits. It has no newline, except
 * at the text's end; the newlines of the replaced text are kept behind it. */
void edits_replace(struct edits *edits, size_t begin, size_t end, const char *with);
void edits_insert(struct edits *edits, size_t at, const char *with);
/* Inserts the declaration DECLARED behind the parameters of one of the function's headers. */
void edits_add_parameters(struct edits *edits, const struct ptx_func *f,
                          const struct ptx_header *header, const char *declared);
/* A string for WITH, which lives as long as the edits. It is "" if there is no memory (see failed)
 * or the edits are too long. */
const char *edits_text(struct edits *edits, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *edits_vtext(struct edits *edits, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
/* Removes all edits of one pass, and clears too_long. */
void edits_remove(struct edits *edits, unsigned owner);
/* Sorts the edits. False: two of them overlap. */
bool edits_settle(struct edits *edits);
/* The text with all edits, which must be settled; NUL-terminated. NULL: no memory. */
char *edits_apply(const struct edits *edits, const char *text, size_t len, size_t *out_len);

#endif
