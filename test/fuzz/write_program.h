/* From bytes to a PTX module that reads well and does odd things: one statement a line, so that
 * those the reader or the lowering refuses can be taken out one by one. */
#ifndef GS_TEST_FUZZ_WRITE_PROGRAM_H
#define GS_TEST_FUZZ_WRITE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_LINES = 240, PROGRAM_WIDTH = 480 };

struct program {
    char line[PROGRAM_LINES][PROGRAM_WIDTH];
    bool may_go[PROGRAM_LINES]; /* a statement, not the frame around them */
    uint32_t lines;
};

/* The same bytes make the same program. Where they end, numbers that follow from them go on. */
void program_write(struct program *p, const uint8_t *data, size_t size);
/* Empties line NUMBER, from 1. False: it belongs to the frame. */
bool program_drop(struct program *p, uint32_t number);
/* All lines, in memory of the caller's to free. */
char *program_text(const struct program *p, size_t *length);

#endif
