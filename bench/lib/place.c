/* place.c - see place.h. The last processors come first: interrupts mostly go to the first ones. */
#include "lib/place.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

#define SPARE 3 /* for all else that runs */
#define PLACE_NS                                                                                   \
    5000000000ull /* a server is ready a little before its worker's threads are there */

/* As the worker calls its thread. */
static const char dispatcher_name[] = "gs-dispatch\n";

static cpu_set_t all;

bool places_enough(unsigned count)
{
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof(all), &all) == 0 && (unsigned)CPU_COUNT(&all) >= count + SPARE)
        return true;
    CPU_ZERO(&all);
    return false;
}

static bool place_set(pid_t thread, unsigned place)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (CPU_ISSET(cpu, &all) && place-- == 0) {
            CPU_SET(cpu, &one);
            return sched_setaffinity(thread, sizeof(one), &one) == 0;
        }
    }
    return false;
}

void place_take(unsigned place)
{
    place_set(0, place);
}

static bool file_read(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
    return length > 0;
}

/* A server's processes are a group of their own. In stat that follows the name, which is in
 * brackets and may contain anything, the state and the parent. */
static bool is_of(const struct server *server, const char *pid)
{
    char path[64], text[512];
    const char *rest;
    int group;

    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    return file_read(path, text, sizeof(text)) && (rest = strrchr(text, ')')) != NULL &&
           sscanf(rest, ") %*c %*d %d", &group) == 1 && group == server->pid;
}

/* Ties the main lane's thread of the process to the place; returns how many such threads there are.
 */
static unsigned process_place(const char *pid, unsigned place)
{
    char path[64], text[64];
    struct dirent *entry;
    unsigned placed = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
    tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm", pid, entry->d_name);
        if (file_read(path, text, sizeof(text)) && strcmp(text, dispatcher_name) == 0 &&
            place_set(atoi(entry->d_name), place))
            placed++;
    }
    if (tasks != NULL)
        closedir(tasks);
    return placed;
}

static unsigned threads_place(unsigned place, const struct server *server)
{
    struct dirent *entry;
    unsigned placed = 0;
    DIR *processes = opendir("/proc");

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        if (is_of(server, entry->d_name))
            placed += process_place(entry->d_name, place);
    }
    if (processes != NULL)
        closedir(processes);
    return placed;
}

bool place_give(unsigned place, const struct server *server)
{
    const uint64_t end = clock_ns() + PLACE_NS;

    while (threads_place(place, server) == 0) {
        if (clock_ns() > end)
            return false;
        usleep(1000);
    }
    return true;
}
