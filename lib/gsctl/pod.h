/*
 * pod.h - the Kubernetes pod and container of a process, by the cgroup that the kubelet has put it
 * into. The cgroup has the pod's UID and the container's number; their names are the API server's
 * to tell.
 */
#ifndef GS_GSCTL_POD_H
#define GS_GSCTL_POD_H

#include <stdbool.h>
#include <stdint.h>

struct pod {
    char uid[37];       /* "8e4f0a1c-..." */
    char container[65]; /* 64 hexadecimal digits; "": it is in none */
};

/* Reads what /proc/PID/cgroup says. false: the process is in no pod. */
bool pod_parse(const char *cgroups, struct pod *pod);
/* The same of a process of this PID namespace. */
bool pod_of(int32_t pid, struct pod *pod);

#endif
