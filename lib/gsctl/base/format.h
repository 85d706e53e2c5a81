/* format.h - figures and tables for people. Each format_ function returns out. */
#ifndef GS_GSCTL_BASE_FORMAT_H
#define GS_GSCTL_BASE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/size_text.h"
#include "common/wire_control.h"

#define FORMAT_MAX SIZE_TEXT_MAX
/* "950", "1.2M" */
const char *format_count(char out[FORMAT_MAX], uint64_t count);
/* "15us", "1.2ms", "350ms", "1.0s"; "-": 0 */
const char *format_time(char out[FORMAT_MAX], uint64_t ns);
/* "12 s", "2 h 3 min" */
const char *format_duration(char out[FORMAT_MAX], uint64_t ns);
/* The user's name, or the uid if the user has no name. */
const char *format_user(char out[FORMAT_MAX], uint32_t uid);
/* "worker pid 42", "no worker" */
const char *format_worker(char out[FORMAT_MAX], const struct ctl_device *device);
/* Prints the first line about a device. */
void device_title_print(uint32_t index, const struct ctl_device *device);

/* Returns whether to print colours and bold: output goes to a terminal and NO_COLOR is not set. */
bool colour_wanted(void);
/* Returns the width of the terminal, else $COLUMNS, else 80. */
unsigned columns_wanted(void);

/* A table. Each column is as wide as its widest cell; the header is bold on a terminal. A column in
 * which every cell is its `dull` text or "-" is left out. On a terminal that is too narrow the
 * `spare` columns are left out, one after the other, and then the last one is cut. */
#define TABLE_COLUMNS_MAX 19
#define TABLE_CELL_MAX    64
struct table {
    const char *const *header;
    const bool *right;          /* aligned to the right */
    const char *const *dull;    /* each column's dull text or NULL; NULL: no column has one */
    const unsigned char *spare; /* indices of columns, the first to be left out first; NULL: none */
    unsigned spare_count;
    unsigned columns;
    unsigned cells, room;
    char (*cell)[TABLE_CELL_MAX];
};
/* Adds the next cell; cells come row by row. */
void table_add(struct table *table, const char *text);
void table_print(const struct table *table);
void table_deinit(struct table *table);

#endif
