/* abi_facts.h - the two tables of abi_facts.c; both end with a NULL name. */
#ifndef GS_TEST_ABI_FACTS_H
#define GS_TEST_ABI_FACTS_H

struct abi_fact {
    const char *name;
    long long value;
};
extern const struct abi_fact abi_facts_own[], abi_facts_toolkit[];

#endif
