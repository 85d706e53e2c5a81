/*
 * tenant.h - one tenant of the demo: a process that decodes the photograph, resizes it over and
 * over on the device, checks every pixel of every image, and writes the last one as a JPEG.
 *
 * A stage of the demo is some tenants at once. Its struct lies in memory that they share with the
 * demo's main process, which reads the results, also of a tenant that was killed.
 */
#ifndef DEMO_TENANT_H
#define DEMO_TENANT_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TENANTS_MAX   4u
#define LATENCIES_MAX 65536u

struct tenant_result {
    pid_t pid;
    _Atomic uint64_t images;         /* done and checked */
    _Atomic uint64_t wrong;          /* pixels that differ from the reference */
    double seconds;                  /* from the first image to the last */
    float latency_ms[LATENCIES_MAX]; /* copy in, kernel, copy out; of image i % LATENCIES_MAX */
};

struct stage {
    /* What is to be done. */
    const char *photo;
    const char *output; /* folder */
    double seconds;     /* 0: until `count` images are done */
    uint64_t count;
    unsigned tenants;
    /* Each tenant posts ready, then waits for its go. */
    sem_t ready, go;
    struct tenant_result tenant[TENANTS_MAX];
};

/* Memory for a stage, shared with processes that are forked later; NULL: there is none. */
struct stage *stage_new(const char *photo, const char *output, unsigned tenants);
void stage_free(struct stage *stage);
/* The body of tenant `number`, 0 to tenants - 1. Says to stderr what went wrong. */
bool tenant_run(struct stage *stage, unsigned number);

#endif
