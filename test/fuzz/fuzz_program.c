/* Bytes choose the instructions of a valid module, with divergent branches, wild addresses,
 * barriers, exchanges among lanes, atomics, calls and recursion: the interpreter in depth. What the
 * reader or the lowering refuses is taken out and the rest tried again.
 *
 *   GS_FUZZ_PRINT=1 fuzz_program FILE      shows the program that FILE's bytes make */
#include <stdio.h>
#include <stdlib.h>

#include "run_module.h"
#include "write_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct program program;
    uint64_t choice = 0;
    uint32_t line;
    enum run_result result;

    for (size_t i = 0; i < size && i < 4; i++)
        choice = choice << 8 | data[i];
    program_write(&program, data, size);
    do {
        size_t length = 0;
        char *text = program_text(&program, &length);

        if (getenv("GS_FUZZ_PRINT"))
            printf("%s\n", text);
        result = run_module(text, length, choice, &line);
        free(text);
    } while ((result == RUN_UNREADABLE || result == RUN_REFUSED) && program_drop(&program, line));
    return 0;
}
