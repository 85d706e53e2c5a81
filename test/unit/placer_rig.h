/*
 * placer_rig.h - a device of groups of SMs and the sessions that are placed on it, for tests of
 * server/placer/placer.c, each of which includes this once. After cmocka.h.
 */
#ifndef GS_TEST_PLACER_RIG_H
#define GS_TEST_PLACER_RIG_H

#include <stdlib.h>
#include <string.h>

#include "server/placer/placer.h"

#define MANY 1000u

static struct placer_device device;
static struct sm_mask space[3];
static struct placer_session session[MANY];
static uint32_t count;
static char text[REFUSAL_TEXT_MAX];

// Makes sm_count SMs in groups of `size`, the last one smaller where they do not divide. A group's
// SMs lie as far apart as there are groups, because nothing may assume that they are neighbours.
static inline void device_make(uint32_t sm_count, uint32_t size)
{
    static struct link_device info;
    uint32_t groups = (sm_count + size - 1) / size;

    memset(&info, 0, sizeof(info));
    info.sm_count = sm_count;
    info.sm_groups = groups;
    for (uint32_t sm = 0; sm < sm_count; sm++)
        info.sm_group[sm] = (uint8_t)(sm_count % size ? sm / size : sm % groups);
    assert_true(placer_device_init(&device, &info));
    space[0] = device.all;
    space[1] = space[2] = (struct sm_mask){{0}};
    memset(session, 0, sizeof(session));
    count = 0;
}

static inline struct sm_mask groups(uint32_t first, uint32_t number)
{
    struct sm_mask mask = {{0}};

    for (uint32_t g = first; g < first + number; g++)
        mask = sm_mask_or(mask, device.group[g]);
    return mask;
}

static inline struct placer_session *add(uint32_t sms, bool exclusive)
{
    struct placer_session *t = &session[count];

    *t = (struct placer_session){
        .id = 100 + count, .sms = sms, .within = device.all, .exclusive = exclusive};
    count++;
    return t;
}

static inline struct placer_session *add_masked(struct sm_mask mask, bool exclusive)
{
    struct placer_session *t = add(0, exclusive);

    t->within = mask;
    t->bounded = t->whole = true;
    return t;
}

static inline gs_status place(const struct placer_session *asker)
{
    return placer_place(&device, space, session, count, asker ? (uint32_t)(asker - session) : count,
                        text);
}

// Acts as if the worker had applied everything at once.
static inline void settle(void)
{
    for (uint32_t i = 0; i < count; i++) {
        struct placer_session *t = &session[i];

        t->mask = t->held = t->sure = t->next;
        t->was_exclusive = t->exclusive;
        t->held_exclusive = t->exclusive ? t->next : (struct sm_mask){{0}};
        t->whole = false;
    }
}

static inline void expect_placed(const struct placer_session *asker)
{
    if (place(asker) != GS_OK)
        fail_msg("refused: %s", text);
    settle();
}

static inline void expect_refused(const struct placer_session *asker, const char *part)
{
    assert_int_equal(place(asker), GS_ERR_LIMIT);
    if (!strstr(text, part) || strchr(text, '\n'))
        fail_msg("the text is '%s', without '%s'", text, part);
}

static inline uint32_t sms_of(const struct placer_session *t)
{
    return sm_mask_count(&t->mask);
}

// The seed of the random numbers, which are the same in each run.
static uint32_t seed = 1;

static inline uint32_t dice(uint32_t sides)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % sides;
}

#endif
