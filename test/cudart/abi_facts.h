/* abi_facts.h - the tables of abi_facts.c, of versions 13 and 12; each ends with a NULL name. */
#ifndef GS_TEST_ABI_FACTS_H
#define GS_TEST_ABI_FACTS_H

struct abi_fact {
    const char *name;
    long long value;
};
extern const struct abi_fact abi_facts_own[], abi_facts_toolkit[];
extern const struct abi_fact abi_facts_own12[], abi_facts_toolkit12[];

#endif
