/* gsctl.h - what the commands of gsctl share. One thread, one run. */
#ifndef GS_GSCTL_GSCTL_H
#define GS_GSCTL_GSCTL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/request.h"

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 3 };

struct command_options {
    const char *instance;
    bool json;
    uint32_t timeout_s; /* of quit */
};

/* Each returns the exit status. */
int command_status(struct control *control, const struct command_options *options);
int command_ps(struct control *control, const struct command_options *options);
int command_quit(struct control *control, const struct command_options *options);

/* clock_ns() until which a server must have answered. */
uint64_t ask_deadline(void);
/* Prints the message of a failed request; returns the exit status for it. */
int ask_failed(gs_status status, const char *message);

/* realloc for count elements; ends the program when there is no memory. */
void *memory_more(void *memory, size_t count, size_t size);

/* ---- format.c: figures for people; each returns out -------------------------------------------
 */

#define FORMAT_MAX 32
/* "512 B", "1.5 MiB" */
const char *format_bytes(char out[FORMAT_MAX], uint64_t bytes);
/* "950", "1.2M" */
const char *format_count(char out[FORMAT_MAX], uint64_t count);
/* "12 s", "2 h 3 min" */
const char *format_duration(char out[FORMAT_MAX], uint64_t ns);
/* The user's name, or the number. */
const char *format_user(char out[FORMAT_MAX], uint32_t uid);

/* A table: every column as wide as its widest cell; the header is bold on a terminal. */
#define TABLE_COLUMNS_MAX 16
#define TABLE_CELL_MAX    64
struct table {
    const char *const *header;
    const bool *right; /* aligned to the right */
    unsigned columns;
    unsigned cells, room;
    char (*cell)[TABLE_CELL_MAX];
};
/* The next cell, row by row. */
void table_add(struct table *table, const char *text);
void table_print(const struct table *table);
void table_deinit(struct table *table);

/* ---- json.c: prints JSON to stdout; commas and escapes are dealt with -------------------------
 */

/* name: NULL inside an array. */
void json_open(const char *name, char bracket); /* '{' or '[' */
void json_close(char bracket);                  /* '}' or ']' */
void json_text(const char *name, const char *text);
void json_number(const char *name, uint64_t number);
void json_integer(const char *name, int64_t number);

#endif
