/* See edit.h. */
#include "ptx/rewrite/edit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

/* Limit of the arena: strings that become edits have at most PTX_MAX_TEXT bytes in all; the rest is
 * for their padding. */
static const size_t TEXT_LIMIT = (size_t)16 * PTX_MAX_TEXT;

void edits_deinit(struct edits *edits)
{
    free(edits->all);
    arena_free(edits->arena);
    memset(edits, 0, sizeof(*edits));
}

void edits_replace(struct edits *edits, size_t begin, size_t end, const char *with)
{
    size_t len = strlen(with);

    if (edits->too_long || edits->size > PTX_MAX_TEXT || len > PTX_MAX_TEXT - edits->size) {
        edits->too_long = true;
        return;
    }
    if (edits->count == edits->room) {
        size_t room = edits->room ? edits->room * 2 : 64;
        struct edit *all = realloc(edits->all, room * sizeof(*all));

        if (!all) {
            edits->failed = true;
            return;
        }
        edits->all = all;
        edits->room = room;
    }
    edits->size += len;
    edits->all[edits->count++] = (struct edit){begin, end, edits->next_order++, with, edits->owner};
}

void edits_insert(struct edits *edits, size_t at, const char *with)
{
    edits_replace(edits, at, at, with);
}

void edits_add_parameters(struct edits *edits, const struct ptx_func *f,
                          const struct ptx_header *header, const char *declared)
{
    edits_insert(edits, header->at,
                 edits_text(edits, "%s%s%s",
                            !header->list ? "("
                            : f->nparams  ? ", "
                                          : "",
                            declared, header->list ? "" : ")"));
}

const char *edits_vtext(struct edits *edits, const char *format, va_list arguments)
{
    va_list again;
    char *text = NULL;
    int length;

    if (edits->too_long)
        return "";
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (!edits->arena)
        edits->arena = arena_new(TEXT_LIMIT);
    if (edits->arena && length >= 0)
        text = arena_alloc(edits->arena, (size_t)length + 1);
    if (!text) {
        edits->failed = true;
        return "";
    }
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

const char *edits_text(struct edits *edits, const char *format, ...)
{
    const char *text;
    va_list arguments;

    va_start(arguments, format);
    text = edits_vtext(edits, format, arguments);
    va_end(arguments);
    return text;
}

void edits_remove(struct edits *edits, unsigned owner)
{
    size_t kept = 0;

    for (size_t i = 0; i < edits->count; i++)
        if (edits->all[i].owner != owner)
            edits->all[kept++] = edits->all[i];
        else
            edits->size -= strlen(edits->all[i].with);
    edits->count = kept;
    edits->too_long = false;
}

/* Insertions at an offset come before a replacement of the text there. */
static int compare(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if ((x->end > x->begin) != (y->end > y->begin))
        return x->end > x->begin ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

bool edits_settle(struct edits *edits)
{
    if (edits->count)
        qsort(edits->all, edits->count, sizeof(*edits->all), compare);
    for (size_t i = 1; i < edits->count; i++)
        if (edits->all[i].begin < edits->all[i - 1].end)
            return false;
    return true;
}

static size_t newlines(const char *text, size_t begin, size_t end)
{
    size_t n = 0;

    for (size_t i = begin; i < end; i++)
        n += text[i] == '\n';
    return n;
}

char *edits_apply(const struct edits *edits, const char *text, size_t len, size_t *out_len)
{
    size_t size = len, copied = 0;
    char *out, *to;

    for (size_t i = 0; i < edits->count; i++)
        size += strlen(edits->all[i].with);
    out = to = malloc(size + 1);
    if (!out)
        return NULL;
    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->all[i];
        size_t lines = newlines(text, edit->begin, edit->end);

        to = mempcpy(to, text + copied, edit->begin - copied);
        to = mempcpy(to, edit->with, strlen(edit->with));
        to = (char *)memset(to, '\n', lines) + lines;
        copied = edit->end;
    }
    to = mempcpy(to, text + copied, len - copied);
    *to = 0;
    *out_len = (size_t)(to - out);
    return out;
}
