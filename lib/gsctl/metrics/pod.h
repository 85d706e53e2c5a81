/*
 * pod.h - the Kubernetes pod and container of a process, by the cgroup that the kubelet has put it
 * into. The cgroup has the pod's UID and the container's number; the kubelet's links to the logs of
 * containers have their names. Nothing of it is the process's own word.
 */
#ifndef GS_GSCTL_METRICS_POD_H
#define GS_GSCTL_METRICS_POD_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct pod {
    char uid[37]; /* "8e4f0a1c-..."; "": in no pod */
    char id[65];  /* the container's, 64 hexadecimal digits; "": it is in none */
    /* As Kubernetes bounds them; "": not known. */
    char namespace[64], name[254], container[64];
};

/* The kubelet's links, as they were when they were read. */
struct pod_logs {
    struct dirent **link;
    int count;
};
#define POD_LOGS "/var/log/containers"

/* Reads what /proc/PID/cgroup says. false: the process is in no pod. */
bool pod_parse(const char *cgroups, struct pod *pod);
/* The same of a process of this PID namespace. */
bool pod_of(int32_t pid, struct pod *pod);
/* A folder that there is not has no links. */
struct pod_logs pod_logs_read(const char *folder);
void pod_logs_free(struct pod_logs *logs);
/* Fills the names of a pod with its container's number, where a link has that. */
void pod_name(const struct pod_logs *logs, struct pod *pod);

#endif
