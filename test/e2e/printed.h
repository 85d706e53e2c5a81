/*
 * printed.h - kernels that print (printing/printing.cu), and what of it arrives at this process's
 * stdout or stderr.
 */
#ifndef GS_TEST_PRINTED_H
#define GS_TEST_PRINTED_H

#include "harness/harness.h"

/* The kernels, compiled in as many ways; the first is for tests to which that does not matter. */
#define IMAGES 4u
extern const char *const images[IMAGES];
gs_module image_load(gs_session session, const char *image);

struct capture {
    int descriptor, saved, file;
};
/* Sends what is written to the descriptor to a file, which takes it all without being read. */
void capture_begin(struct capture *capture, int descriptor);
/* All that came, with a NUL behind it; free() it. */
char *capture_end(struct capture *capture);

void expect_text(const char *got, const char *wanted);

#endif
