/* export_table.c - see export_table.h. */
#include "worker/memory/export_table.h"

#include <pthread.h>
#include <stdlib.h>

#define ROWS_FIRST 64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct mem_export *first_rows[ROWS_FIRST];

static struct {
    struct mem_export **row;
    uint64_t rows, count; /* rows: a power of two */
} table = {first_rows, ROWS_FIRST, 0};

void exports_lock(void)
{
    pthread_mutex_lock(&lock);
}

void exports_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static struct mem_export **row_of(uint64_t word)
{
    return &table.row[word & (table.rows - 1)];
}

static void row_add(struct mem_export *export)
{
    struct mem_export **row = row_of(export->handle[0]);

    export->in_row = *row;
    *row = export;
}

/* Doubles the number of rows. Without memory for them the rows become longer. */
static void grow(void)
{
    struct mem_export **former = table.row, **row = calloc(2 * table.rows, sizeof(*row));
    const uint64_t rows = table.rows;

    if (!row)
        return;
    table.row = row;
    table.rows = 2 * rows;
    for (uint64_t i = 0; i < rows; i++) {
        for (struct mem_export *e = former[i], *next; e; e = next) {
            next = e->in_row;
            row_add(e);
        }
    }
    if (former != first_rows)
        free(former);
}

void exports_add(struct mem_export *made)
{
    if (table.count == table.rows)
        grow();
    row_add(made);
    table.count++;
}

void exports_remove(struct mem_export *export)
{
    struct mem_export **at = row_of(export->handle[0]);

    while (*at != export)
        at = &(*at)->in_row;
    *at = export->in_row;
    table.count--;
}

/* Compares every word, also after a difference, so that the time taken tells nothing about the
 * words behind the first. */
const struct mem_export *exports_find(const uint64_t handle[EXPORT_WORDS])
{
    for (const struct mem_export *e = *row_of(handle[0]); e; e = e->in_row) {
        uint64_t difference = 0;
        for (unsigned i = 0; i < EXPORT_WORDS; i++)
            difference |= e->handle[i] ^ handle[i];
        if (!difference)
            return e;
    }
    return NULL;
}
