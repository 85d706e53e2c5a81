/* Files of test/ptx, for the tests of the PTX reader. */
#ifndef GS_TEST_PTX_FILES_H
#define GS_TEST_PTX_FILES_H

#include <stddef.h>

#include "ptx/ptx.h"

extern const char *const ptx_samples[]; /* .ptx files, ended by NULL */

/* The whole of test/ptx/NAME, ended by a NUL that *LEN does not count; free() it. Fails the test if
 * it cannot be read. */
char *ptx_file_read(const char *name, size_t *len);
char *ptx_path_read(const char *path, size_t *len); /* the same of any file */
/* Parses TEXT, which must be good. */
struct ptx_module *ptx_parse_good(const char *text);
/* The module as text; free() it. */
char *ptx_print_text(const struct ptx_module *m);
/* A module of one entry "k" with BODY; registers of each type are declared: %p %h %r %q %f %d, 16
 * of each. */
char *ptx_wrap_body(const char *body);

#endif
