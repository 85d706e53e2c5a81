/*
 * show.h - what the programs print. A program states documented behaviour of the CUDA runtime: the
 * lines that it prints are those that its comments give after "//>". Nothing here is gshare's, so
 * that NVIDIA's runtime can be asked too (`make test-cudart-native`).
 */
#ifndef SHOW_H
#define SHOW_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

/* The call and the name of what it returned. */
#define SHOW(call) printf("%s: %s\n", #call, cudaGetErrorName(call))
/* A call that has to succeed for the rest to make sense. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("%s: %s\n", #call, cudaGetErrorString(error_));                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define HOLDS(condition) printf("%s: %s\n", #condition, (condition) ? "yes" : "no")

#endif
