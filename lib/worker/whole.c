/*
 * whole.c - requests that come again, each as one graph. Runs on the dispatcher.
 *
 * Who answers requests sends the same kernels again and again, with other parameters: a network's
 * layers, one after the other. Launch by launch they are graphs of one each, and a run of one
 * kernel is two or three chains; each boundary between graphs costs the device 1 us, more beside a
 * neighbour, and each launch of a graph the dispatcher some 2 us. So a stream remembers its last
 * few requests (what is on the device's side the same: kernels, shapes, places, priorities), and
 * one that comes for the third time gets a graph of all its kernels. What a request is, is for
 * burst.c to tell. A request that is never the same twice costs a comparison and a copy of its
 * keys, and no graph.
 */
#include "worker/whole.h"

#include <stdlib.h>
#include <string.h>

#define WHOLES      4u
#define WHOLE_AFTER 3u /* the time that a request comes and gets its graph */

struct whole {
    uint32_t length; /* 0: unused */
    enum ending ending;
    uint32_t times; /* up to WHOLE_AFTER */
    uint64_t used;  /* wholes->clock at its last use */
    struct launch_key key[LAUNCHES_MAX];
    struct chain chain;
};

struct wholes {
    uint64_t clock;
    uint32_t last; /* index of the one used last, likely the next too */
    struct whole whole[WHOLES];
};

static bool whole_is(const struct whole *whole, const struct launch *launches, uint32_t count,
                     enum ending ending)
{
    if (whole->length != count || whole->ending != ending)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!launch_key_is(&whole->key[i], &launches[i]))
            return false;
    }
    return true;
}

static void whole_clear(struct whole *whole)
{
    chain_clear(&whole->chain);
    for (uint32_t i = 0; i < whole->length; i++)
        launch_key_drop(&whole->key[i]);
    whole->length = 0;
    whole->times = 0;
    whole->used = 0;
}

static void whole_remember(struct whole *whole, const struct launch *launches, uint32_t count,
                           enum ending ending)
{
    whole_clear(whole);
    whole->length = count;
    whole->ending = ending;
    for (uint32_t i = 0; i < count; i++) {
        whole->key[i] = launch_key(&launches[i]);
        launch_key_keep(&whole->key[i]);
    }
}

/* The entry of these launches, which may be new and take the place of the least recently used one.
 */
static struct whole *whole_of(struct wholes *wholes, const struct launch *launches, uint32_t count,
                              enum ending ending)
{
    uint32_t oldest = 0;

    for (uint32_t n = 0; n < WHOLES; n++) {
        uint32_t i = (wholes->last + n) % WHOLES;
        if (whole_is(&wholes->whole[i], launches, count, ending)) {
            wholes->last = i;
            return &wholes->whole[i];
        }
        if (wholes->whole[i].used < wholes->whole[oldest].used)
            oldest = i;
    }
    whole_remember(&wholes->whole[oldest], launches, count, ending);
    wholes->last = oldest;
    return &wholes->whole[oldest];
}

CUresult whole_launch(struct wholes **wholes, const struct stream *stream,
                      const struct launch *launches, uint32_t count, enum ending ending,
                      struct done *done, bool *issued)
{
    *issued = false;
    if (!*wholes)
        *wholes = calloc(1, sizeof(**wholes));
    if (!*wholes)
        return CUDA_SUCCESS;
    struct whole *whole = whole_of(*wholes, launches, count, ending);
    whole->used = ++(*wholes)->clock;
    if (whole->times < WHOLE_AFTER)
        whole->times++;
    if (whole->times < WHOLE_AFTER)
        return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    if (!whole->chain.exec)
        result = chain_make(&whole->chain, launches, count, ending, done, stream->cu_priority);
    if (result) { /* tenants have filled the device's memory: asked again when it has come again */
        whole->times = 0;
        return driver_fatal(result) ? result : CUDA_SUCCESS;
    }
    result = chain_launch(&whole->chain, launches, done, stream->cu);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) { /* it takes some when it is launched, too */
        chain_clear(&whole->chain);
        whole->times = 0;
        return CUDA_SUCCESS;
    }
    *issued = !result;
    return result;
}

void wholes_leave(struct wholes *wholes, const struct partition *partition)
{
    for (uint32_t n = 0; wholes && n < WHOLES; n++) {
        struct whole *whole = &wholes->whole[n];
        bool there = false;
        for (uint32_t i = 0; i < whole->length; i++)
            there = there || whole->key[i].partition == partition;
        if (there)
            whole_clear(whole);
    }
}

void wholes_free(struct wholes *wholes)
{
    for (uint32_t n = 0; wholes && n < WHOLES; n++)
        whole_clear(&wholes->whole[n]);
    free(wholes);
}
