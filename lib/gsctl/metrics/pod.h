/*
 * pod.h - finds the Kubernetes pod and container of a process, by the cgroup into which the kubelet
 * has put it. The cgroup's path has the pod's UID and the container's id; the kubelet's links to
 * the containers' logs have the names. The process itself can forge neither.
 */
#ifndef GS_GSCTL_METRICS_POD_H
#define GS_GSCTL_METRICS_POD_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct pod {
    char uid[37]; /* "8e4f0a1c-..."; "": in no pod */
    char id[65];  /* the container's id, 64 hexadecimal digits; "": in no container */
    /* Sizes are Kubernetes' limits; "": not known. */
    char namespace[64], name[254], container[64];
};

/* The names of the kubelet's links. */
struct pod_logs {
    struct dirent **link;
    int count;
};
#define POD_LOGS "/var/log/containers"

/* Parses the text of /proc/PID/cgroup. Returns false if the process is in no pod. */
bool pod_parse(const char *cgroups, struct pod *pod);
/* Finds the pod of a process in this PID namespace, likewise. */
bool pod_of(int32_t pid, struct pod *pod);
/* Reads the links of a folder. A missing folder has none. */
struct pod_logs pod_logs_read(const char *folder);
void pod_logs_free(struct pod_logs *logs);
/* Fills in the names of a pod if a link has its container's id. */
void pod_name(const struct pod_logs *logs, struct pod *pod);

#endif
