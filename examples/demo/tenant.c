/* tenant.c - see tenant.h. */
#include "tenant.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "picture.h"
#include "resize.h"

/* Different parts of the photograph, from left to right, so that no result can be a stale one. */
#define VIEWS 4u

struct views {
    uint8_t in[VIEWS][IN_BYTES];
    uint8_t want[VIEWS][OUT_BYTES];
};

struct stage *stage_new(const char *photo, const char *output, unsigned tenants)
{
    struct stage *stage =
        mmap(NULL, sizeof(*stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (stage == MAP_FAILED)
        return NULL;
    stage->photo = photo;
    stage->output = output;
    stage->tenants = tenants;
    sem_init(&stage->ready, 1, 0);
    sem_init(&stage->go, 1, 0);
    return stage;
}

void stage_free(struct stage *stage)
{
    if (stage != NULL)
        munmap(stage, sizeof(*stage));
}

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool views_load(const char *photo, const struct tables *tables, struct views *views)
{
    struct picture picture;

    if (!picture_read(photo, IN_WIDTH, IN_HEIGHT, &picture))
        return false;
    if (!picture_cover(&picture, IN_WIDTH, IN_HEIGHT)) {
        picture_free(&picture);
        return false;
    }
    for (unsigned i = 0; i < VIEWS; i++) {
        picture_crop(&picture, i / (VIEWS - 1.0), IN_WIDTH, IN_HEIGHT, views->in[i]);
        reference_resize(tables, views->in[i], views->want[i]);
    }
    picture_free(&picture);
    return true;
}

static uint64_t count_wrong(const uint8_t *got, const uint8_t *want)
{
    uint64_t wrong = 0;

    for (size_t i = 0; i < OUT_BYTES; i += 3)
        wrong += memcmp(got + i, want + i, 3) != 0;
    return wrong;
}

static bool images_run(struct stage *stage, struct tenant_result *result, struct resizer *resizer,
                       const struct views *views)
{
    double start = now_seconds(), now = start;

    for (uint64_t i = 0;; i++) {
        double before;

        if (stage->seconds > 0 ? now - start >= stage->seconds : i >= stage->count)
            break;
        memcpy(resizer->host_in, views->in[i % VIEWS], IN_BYTES);
        memset(resizer->host_out, 0, OUT_BYTES);
        before = now_seconds();
        if (!resizer_run(resizer))
            return false;
        now = now_seconds();
        result->latency_ms[i % LATENCIES_MAX] = (float)((now - before) * 1e3);
        atomic_fetch_add(&result->wrong, count_wrong(resizer->host_out, views->want[i % VIEWS]));
        atomic_fetch_add(&result->images, 1);
        now = now_seconds();
        result->seconds = now - start;
    }
    return true;
}

static void wait_for_go(struct stage *stage)
{
    sem_post(&stage->ready);
    while (sem_wait(&stage->go) < 0 && errno == EINTR)
        ;
}

bool tenant_run(struct stage *stage, unsigned number)
{
    struct tenant_result *result = &stage->tenant[number];
    struct views *views = malloc(sizeof(*views));
    struct resizer resizer;
    struct tables tables;
    char name[32], path[4096];
    bool good;

    snprintf(name, sizeof(name), "demo tenant %u", number + 1);
    tables_init(&tables);
    if (views == NULL || !views_load(stage->photo, &tables, views) ||
        !resizer_open(&resizer, name, &tables)) {
        free(views);
        return false;
    }
    wait_for_go(stage);
    snprintf(path, sizeof(path), "%s/%u-of-%u.jpg", stage->output, number + 1, stage->tenants);
    good = images_run(stage, result, &resizer, views) &&
           picture_write(path, resizer.host_out, OUT_WIDTH, OUT_HEIGHT) && resizer_close(&resizer);
    free(views);
    return good;
}
