/* api_tensor.c - tensor maps. */
#include <string.h>

#include "client/base/error.h"
#include "client/base/params.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "common/siphash.h"

static_assert(sizeof(gs_tensor_map) == REQ_TENSOR_MAP_BYTES, "gs_tensor_map");

static void map_fill(struct req_tensor_map *map, const gs_tensor_map_desc *desc)
{
    *map = (struct req_tensor_map){
        .address = desc->address,
        .rank = desc->rank,
        .type = desc->type,
        .interleave = desc->interleave,
        .swizzle = desc->swizzle,
        .promotion = desc->l2_promotion,
        .fill = desc->fill,
    };
    memcpy(map->dim, desc->dim, sizeof(map->dim));
    memcpy(map->stride, desc->stride, sizeof(map->stride));
    memcpy(map->box, desc->box, sizeof(map->box));
    memcpy(map->step, desc->step, sizeof(map->step));
}

/* Returns the cache entry for the map of these values. */
static struct tensor_map *map_slot(struct session *session, const struct req_tensor_map *asked)
{
    static const uint64_t key[2];

    return &session->tensor_maps[siphash(key, asked, sizeof(*asked)) % TENSOR_MAPS_KEPT];
}

static bool map_find(struct session *session, const struct req_tensor_map *asked,
                     gs_tensor_map *map)
{
    const struct tensor_map *kept = map_slot(session, asked);

    pthread_mutex_lock(&session->object_lock);
    const bool found = memcmp(&kept->asked, asked, sizeof(*asked)) == 0;
    if (found)
        *map = kept->map;
    pthread_mutex_unlock(&session->object_lock);
    return found;
}

static void map_keep(struct session *session, const struct req_tensor_map *asked,
                     const gs_tensor_map *map)
{
    pthread_mutex_lock(&session->object_lock);
    *map_slot(session, asked) = (struct tensor_map){*asked, *map};
    pthread_mutex_unlock(&session->object_lock);
}

/* Returns the map from the cache, or asks the server. Programs encode the same maps before each
 * launch and expect that to take a microsecond. */
static gs_status map_encode(struct session *session, const struct req_tensor_map *asked,
                            gs_tensor_map *map)
{
    struct sync_request request = {.op = REQ_TENSOR_MAP, .tensor_map = asked, .map = map};

    if (map_find(session, asked, map))
        return GS_OK;
    const gs_status status = sync_request(session, &request);
    if (status == GS_OK)
        map_keep(session, asked, map);
    return status;
}

gs_status gs_tensor_map_encode(gs_session handle, const gs_tensor_map_desc *given,
                               gs_tensor_map *map)
{
    gs_tensor_map_desc desc = GS_TENSOR_MAP_DESC_INIT;
    struct req_tensor_map asked;
    struct session *session;
    gs_status status;

    if (!map || !given)
        return error_set(GS_ERR_INVALID_VALUE, "the %s pointer is NULL",
                         map ? "gs_tensor_map_desc" : "gs_tensor_map");
    status = params_read(&desc, sizeof(desc), PARAMS_UP_TO(gs_tensor_map_desc, fill), given,
                         "gs_tensor_map_desc");
    if (status == GS_OK && (desc.rank == 0 || desc.rank > REQ_TENSOR_RANK))
        return error_set(GS_ERR_INVALID_VALUE, "a tensor of rank %u, not 1 to %u", desc.rank,
                         REQ_TENSOR_RANK);
    if (status == GS_OK)
        status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    map_fill(&asked, &desc);
    status = map_encode(session, &asked, map);
    session_leave(session);
    return status;
}
