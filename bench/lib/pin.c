/* pin.c - see pin.h. The last processors come first: interrupts mostly go to the first ones. */
#include "lib/pin.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"

#define SPARE  3             /* for all else that runs */
#define PIN_NS 5000000000ull /* a server is ready before its worker's threads are there */

/* The name that the worker gives the main lane's thread. */
static const char dispatcher_name[] = "gs-dispatch\n";

static cpu_set_t all;

bool pin_possible(unsigned count)
{
    CPU_ZERO(&all);
    if (sched_getaffinity(0, sizeof(all), &all) == 0 && (unsigned)CPU_COUNT(&all) >= count + SPARE)
        return true;
    CPU_ZERO(&all);
    return false;
}

static bool thread_pin(pid_t thread, unsigned index)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (CPU_ISSET(cpu, &all) && index-- == 0) {
            CPU_SET(cpu, &one);
            return sched_setaffinity(thread, sizeof(one), &one) == 0;
        }
    }
    return false;
}

void pin_self(unsigned cpu)
{
    thread_pin(0, cpu);
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

/* Pins the main lane's thread of the process; returns how many such threads there are.
 */
static unsigned process_pin(const char *pid, unsigned cpu)
{
    char path[64], text[64];
    struct dirent *entry;
    unsigned pinned = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
    tasks = opendir(path);
    while (tasks != NULL && (entry = readdir(tasks)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm", pid, entry->d_name);
        if (file_read(path, text, sizeof(text)) && strcmp(text, dispatcher_name) == 0 &&
            thread_pin(atoi(entry->d_name), cpu))
            pinned++;
    }
    if (tasks != NULL)
        closedir(tasks);
    return pinned;
}

static unsigned server_pin(unsigned cpu, const struct server *server)
{
    struct dirent *entry;
    unsigned pinned = 0;
    DIR *processes = opendir("/proc");

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        if (is_of(server, entry->d_name))
            pinned += process_pin(entry->d_name, cpu);
    }
    if (processes != NULL)
        closedir(processes);
    return pinned;
}

bool pin_server(unsigned cpu, const struct server *server)
{
    const uint64_t end = clock_ns() + PIN_NS;

    while (server_pin(cpu, server) == 0) {
        if (clock_ns() > end)
            return false;
        usleep(1000);
    }
    return true;
}
