/*
 * bystander.h - tenants that compute and check every result, while a test does bad things beside
 * them: they must not notice. Runs in the test's process; each bystander is a process of its own.
 */
#ifndef GS_TEST_BYSTANDER_H
#define GS_TEST_BYSTANDER_H

#include <stdint.h>
#include <sys/types.h>

#include "harness/harness.h"

#define BYSTANDERS_MAX 16u

struct bystanders {
    _Atomic uint32_t stop;
    unsigned count;
    pid_t pid[BYSTANDERS_MAX];
    struct {
        _Alignas(64) _Atomic uint64_t rounds; /* results checked */
    } row[BYSTANDERS_MAX];
};

/* Returns when each has checked its first result. */
struct bystanders *bystanders_start(unsigned count);
/* Results that all of them have checked so far. */
uint64_t bystanders_rounds(const struct bystanders *bystanders);
/* Fails the test unless each of them still gets on and all results were right. */
void bystanders_stop(struct bystanders *bystanders);

/* What the kernel `chain` does to one word. */
uint32_t chain_expected(uint32_t word, uint32_t rounds, uint32_t seed);

#endif
