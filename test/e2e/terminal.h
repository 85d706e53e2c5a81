/* terminal.h - a program of the build, or of the machine ("/..."), on a terminal of its own: what
 * is typed, and what it shows.
 */
#ifndef GS_TEST_TERMINAL_H
#define GS_TEST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct terminal {
    pid_t pid;
    int fd;
    size_t used, from; /* of text; where terminal_expect looks from */
    char text[262144]; /* all that the program wrote */
};

/* Starts the program ("bin/gsctl") with these arguments, NULL-terminated. It dies with the test. */
void terminal_start(struct terminal *terminal, unsigned columns, unsigned rows,
                    const char *const *arguments);
/* Takes what the program has written, or waits a moment for it; false: it has closed the terminal.
 */
bool terminal_read(struct terminal *terminal);
void terminal_type(struct terminal *terminal, const char *keys);
/* Waits, 30 s at most, until the program has written the words, after those expected before. */
void terminal_expect(struct terminal *terminal, const char *words);
/* Reads to the program's end and gives its wait status. */
int terminal_end(struct terminal *terminal);

#endif
