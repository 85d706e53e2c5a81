/*
 * pod.c - see pod.h. The kubelet names its cgroups in these forms, with its two drivers:
 *
 *   /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
 *   /kubepods/burstable/podUID/ID
 *
 * The first form has _ for - in UID. The owner of a cgroup may make others below it with any names,
 * so only the first pod of a path counts, and only in paths that begin like the kubelet's.
 */
#include "gsctl/metrics/pod.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

#define UID_LENGTH       36u
#define CONTAINER_LENGTH 64u
#define HEX              "0123456789abcdef"

/* Returns whether the component, of that length, ends with podUID, and reads the UID. */
static bool pod_read(const char *component, size_t length, char uid[UID_LENGTH + 1])
{
    static const char slice[] = ".slice";
    const size_t tail = sizeof(slice) - 1;
    const char *at;

    if (length > tail && !strncmp(component + length - tail, slice, tail))
        length -= tail;
    if (length < UID_LENGTH + 3)
        return false;
    at = component + length - UID_LENGTH;
    if (strncmp(at - 3, "pod", 3) != 0)
        return false;
    for (size_t i = 0; i < UID_LENGTH; i++) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? at[i] != '-' && at[i] != '_' : !at[i] || !strchr(HEX, at[i]))
            return false;
        uid[i] = dash ? '-' : at[i];
    }
    uid[UID_LENGTH] = 0;
    return true;
}

static void container_read(const char *component, size_t length, char id[CONTAINER_LENGTH + 1])
{
    static const char scope[] = ".scope";
    const size_t tail = sizeof(scope) - 1;
    const char *at;

    *id = 0;
    if (length > tail && !strncmp(component + length - tail, scope, tail))
        length -= tail;
    at = component + length - CONTAINER_LENGTH;
    if (length < CONTAINER_LENGTH || (at > component && at[-1] != '-') ||
        strspn(at, HEX) < CONTAINER_LENGTH)
        return;
    memcpy(id, at, CONTAINER_LENGTH);
    id[CONTAINER_LENGTH] = 0;
}

static bool path_parse(const char *path, size_t length, struct pod *pod)
{
    const char *end = path + length;

    if (strncmp(path, "/kubepods/", 10) != 0 && strncmp(path, "/kubepods.slice/", 16) != 0)
        return false;
    for (const char *at = path + 1; at < end;) {
        const size_t size = strcspn(at, "/\n"), rest = (size_t)(end - at);
        const bool found = pod_read(at, size < rest ? size : rest, pod->uid);

        at += size + 1;
        if (!found)
            continue;
        container_read(at, at < end ? strcspn(at, "/\n") : 0, pod->id);
        return true;
    }
    return false;
}

bool pod_parse(const char *cgroups, struct pod *pod)
{
    struct pod read = {.uid = ""};

    for (const char *line = cgroups; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        const char *path = memchr(line, ':', length);

        path = path ? memchr(path + 1, ':', length - (size_t)(path + 1 - line)) : NULL;
        if (path && path_parse(path + 1, length - (size_t)(path + 1 - line), &read)) {
            *pod = read;
            return true;
        }
    }
    return false;
}

bool pod_of(int32_t pid, struct pod *pod)
{
    char path[64], text[8192];
    CLEANUP_FD int fd = -1;
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%" PRId32 "/cgroup", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (size < 0)
        return false;
    text[size] = 0;
    return pod_parse(text, pod);
}

/* ---- Names ----------------------------------------------------------------------------------- */

struct pod_logs pod_logs_read(const char *folder)
{
    struct pod_logs logs = {.link = NULL};

    logs.count = scandir(folder, &logs.link, NULL, NULL);
    if (logs.count < 0)
        logs = (struct pod_logs){.link = NULL};
    return logs;
}

void pod_logs_free(struct pod_logs *logs)
{
    for (int i = 0; i < logs->count; i++)
        free(logs->link[i]);
    free(logs->link);
    *logs = (struct pod_logs){.link = NULL};
}

/* Cuts off the next part of POD_NAMESPACE_CONTAINER. None of the three parts contains a '_'. */
static bool part_cut(const char **at, char end, char *out, size_t size)
{
    const size_t length = strcspn(*at, "_");

    if (length == 0 || length >= size || (*at)[length] != end)
        return false;
    memcpy(out, *at, length);
    out[length] = 0;
    *at += length + (end != 0);
    return true;
}

/* Reads a link's name, POD_NAMESPACE_CONTAINER-ID.log. */
static bool link_read(const char *link, struct pod *pod)
{
    static const char tail[] = ".log";
    const size_t length = strlen(link), behind = 1 + CONTAINER_LENGTH + sizeof(tail) - 1;
    char names[256];
    const char *at = names;
    struct pod read = *pod;

    if (length <= behind || length >= sizeof(names) || link[length - behind] != '-' ||
        strncmp(link + length - behind + 1, pod->id, CONTAINER_LENGTH) != 0 ||
        strcmp(link + length - sizeof(tail) + 1, tail) != 0)
        return false;
    memcpy(names, link, length - behind);
    names[length - behind] = 0;
    if (!part_cut(&at, '_', read.name, sizeof(read.name)) ||
        !part_cut(&at, '_', read.namespace, sizeof(read.namespace)) ||
        !part_cut(&at, 0, read.container, sizeof(read.container)))
        return false;
    *pod = read;
    return true;
}

void pod_name(const struct pod_logs *logs, struct pod *pod)
{
    for (int i = 0; *pod->id && i < logs->count; i++) {
        if (link_read(logs->link[i]->d_name, pod))
            return;
    }
}
