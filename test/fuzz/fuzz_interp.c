/* Any bytes as a module that is read, lowered and run: whatever its kernels do ends within the
 * steps they were given and touches no byte that is not theirs. The seeds are small real modules;
 * fuzz_program makes valid ones that no compiler would write. */
#include "run_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t choice = 0xcbf29ce484222325u;
    uint32_t line;

    for (size_t i = 0; i < size; i++)
        choice = (choice ^ data[i]) * 0x100000001b3u;
    run_module((const char *)data, size, choice, &line);
    return 0;
}
