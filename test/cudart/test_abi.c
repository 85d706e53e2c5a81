/*
 * test_abi.c - lib/cudart/abi.h says what the toolkits' headers say, of version 13 and of 12.9. A
 * second program of this source, with other facts, says so of lib/cublas/abi.h.
 * That each function of the library has the toolkit's prototype is checked where this program is
 * built: test/rules.mk compiles the library against the toolkits' headers too.
 */
#include <stdio.h>
#include <string.h>

#include "abi_facts.h"

#if defined(HAVE_TOOLKIT) || defined(HAVE_TOOLKIT12)
static unsigned compare(unsigned number, const char *version, const struct abi_fact *own,
                        const struct abi_fact *other)
{
    unsigned wrong = 0, count = 0;

    for (; own[count].name != NULL; count++) {
        if (strcmp(own[count].name, other[count].name) == 0 &&
            own[count].value == other[count].value)
            continue;
        printf("# %s is %lld, the toolkit has %s %lld\n", own[count].name, own[count].value,
               other[count].name, other[count].value);
        wrong++;
    }
    printf("%s %u - %u sizes, offsets and values are those of toolkit %s\n",
           wrong == 0 ? "ok" : "not ok", number, count, version);
    return wrong;
}
#endif

int main(void)
{
    unsigned wrong = 0;

#ifdef HAVE_TOOLKIT
    wrong += compare(1, "13", abi_facts_own, abi_facts_toolkit);
#else
    printf("ok 1 - abi # SKIP there are no headers of CUDA toolkit 13\n");
#endif
#ifdef HAVE_TOOLKIT12
    wrong += compare(2, "12.9", abi_facts_own12, abi_facts_toolkit12);
#else
    printf("ok 2 - abi # SKIP there are no headers of CUDA toolkit 12.9\n");
#endif
    printf("1..2\n");
    return wrong != 0;
}
