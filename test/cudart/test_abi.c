/*
 * test_abi.c - lib/cudart/abi.h says what the toolkit's headers say. That each function of the
 * library has the toolkit's prototype is checked where this program is built: the Makefile compiles
 * the library against the toolkit's headers too.
 */
#include <stdio.h>
#include <string.h>

#include "abi_facts.h"

int main(void)
{
    unsigned wrong = 0, count = 0;

#ifndef HAVE_TOOLKIT
    printf("ok 1 - abi # SKIP there are no headers of the CUDA toolkit\n1..1\n");
    return 0;
#else
    for (; abi_facts_own[count].name != NULL; count++) {
        const struct abi_fact *own = &abi_facts_own[count], *other = &abi_facts_toolkit[count];

        if (strcmp(own->name, other->name) == 0 && own->value == other->value)
            continue;
        printf("# %s is %lld, the toolkit has %s %lld\n", own->name, own->value, other->name,
               other->value);
        wrong++;
    }
    printf("%s 1 - %u sizes, offsets and values are the toolkit's\n1..1\n",
           wrong == 0 ? "ok" : "not ok", count);
    return wrong != 0;
#endif
}
