/* siphash.h - SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012), a
 * keyed hash whose results reveal nothing about the key. Pure; any thread. */
#ifndef GS_COMMON_SIPHASH_H
#define GS_COMMON_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t size);

#endif
