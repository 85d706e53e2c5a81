/* names.c - see names.h. */
#include "common/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/siphash.h"

#define NAME_REPLY_KEY 0x796c7065722e7367u /* "gs.reply" */

bool instance_valid(const char *instance)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t n = strlen(instance);

    return n > 0 && n <= WIRE_INSTANCE_MAX && strspn(instance, allowed) == n;
}

void name_control(char out[WIRE_NAME_MAX], const char *instance)
{
    snprintf(out, WIRE_NAME_MAX, "/gshare.%.31s", instance);
}

void name_bell(char out[WIRE_NAME_MAX], const char *instance, int device)
{
    snprintf(out, WIRE_NAME_MAX, "/gshare.%.31s.bell.%d", instance, device);
}

void name_reply(char out[WIRE_NAME_MAX], const char *instance, uint64_t token)
{
    const uint64_t key[2] = {token, NAME_REPLY_KEY};

    snprintf(out, WIRE_NAME_MAX, "/gshare.%.31s.r.%016" PRIx64, instance,
             siphash(key, instance, strlen(instance)));
}
