/* out_of_memory.c - see out_of_memory.h. */
#include "server/base/out_of_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SPARED     -1000 /* OOM_SCORE_ADJ_MIN: never chosen */
#define MOST       1000  /* OOM_SCORE_ADJ_MAX */
#define CHILD_ADD  100   /* a tenth of the memory that is short; this process takes far less */
/* The score of children, in the environment for the program that this one becomes by an upgrade. */
#define SCORE_NAME "GSHARE_OOM_SCORE"

uint64_t out_of_memory_kills(void)
{
    FILE *file = fopen("/proc/vmstat", "re");
    char line[128];
    uint64_t kills = 0;

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "oom_kill %" SCNu64, &kills) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kills;
}

static bool score_read(int *score)
{
    FILE *file = fopen("/proc/self/oom_score_adj", "re");
    const bool read = file && fscanf(file, "%d", score) == 1;

    if (file)
        fclose(file);
    return read;
}

static bool score_write(pid_t pid, int score)
{
    char path[48];
    FILE *file;

    if (pid)
        snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
    else
        snprintf(path, sizeof(path), "/proc/self/oom_score_adj");
    file = fopen(path, "we");
    if (!file)
        return false;
    fprintf(file, "%d", score);
    return fclose(file) == 0; /* which writes it */
}

void out_of_memory_spare(void)
{
    char text[16];
    int score;

    if (getenv(SCORE_NAME) || !score_read(&score))
        return;
    if (!score_write(0, SPARED))
        score = score < MOST - CHILD_ADD ? score + CHILD_ADD : MOST;
    snprintf(text, sizeof(text), "%d", score);
    setenv(SCORE_NAME, text, 1);
}

void out_of_memory_spare_not(pid_t pid)
{
    const char *score = getenv(SCORE_NAME);

    if (score)
        score_write(pid, atoi(score));
}
