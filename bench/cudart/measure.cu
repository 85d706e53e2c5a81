/*
 * measure.cu - times calls of the CUDA runtime, whichever it is linked with. bench/cudart/run links
 * the same objects with NVIDIA's and with gshare's and compares.
 *
 *     measure [--quick] [ROW...]        all rows, or these
 */
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

extern char **environ;
bool quick;

static const struct row {
    const char *name;
    void (*run)();
} rows[] = {
    {"launch", row_launch},         {"trip", row_trip},   {"malloc", row_malloc}, {"malloc-async", row_malloc_async},
    {"copy-async", row_copy_async}, {"event", row_event}, {"graph", row_graph},   {"sort", row_sort},
    {"scan", row_scan},             {"gemm", row_gemm},   {"dependent", row_dependent},
};

double clock_cost()
{
    static double cost = -1;
    std::vector<double> samples;

    if (cost >= 0)
        return cost;
    for (int i = 0; i < 2001; i++) {
        double start = now_ns();

        samples.push_back(now_ns() - start);
    }
    cost = percentile(samples, 50);
    return cost;
}

/* From the exec of a program to its first word, which it says when its first kernel is done. */
void row_start(const char *program)
{
    std::vector<double> samples;
    int rounds = quick ? 5 : 20;

    for (int i = 0; i <= rounds; i++) {
        posix_spawn_file_actions_t actions;
        char *const argv[] = {(char *)program, NULL};
        int ends[2], status = 0;
        double start;
        pid_t pid;
        char word;

        if (pipe(ends) < 0) {
            perror("pipe");
            exit(1);
        }
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addclose(&actions, ends[0]);
        posix_spawn_file_actions_addclose(&actions, ends[1]);
        start = now_ns();
        if (posix_spawn(&pid, program, &actions, NULL, argv, environ) != 0) {
            fprintf(stderr, "cannot run %s\n", program);
            exit(1);
        }
        close(ends[1]);
        if (read(ends[0], &word, 1) != 1) {
            fprintf(stderr, "%s said nothing\n", program);
            exit(1);
        }
        /* The first one loads files, and MPS starts its server for it. */
        if (i > 0)
            samples.push_back(now_ns() - start);
        close(ends[0]);
        waitpid(pid, &status, 0);
        posix_spawn_file_actions_destroy(&actions);
        if (status != 0) {
            fprintf(stderr, "%s ended with wait status %#x\n", program, (unsigned)status);
            exit(1);
        }
    }
    figures("start", samples);
}

int main(int argc, char **argv)
{
    std::string folder(argv[0]);
    bool all = true;

    folder.erase(folder.find_last_of('/') + 1);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else
            all = false;
    }
    for (int i = 1; i < argc; i++) {
        bool known = argv[i][0] == '-' || strcmp(argv[i], "start") == 0;

        for (const struct row &row : rows)
            known = known || strcmp(argv[i], row.name) == 0;
        if (!known) {
            fprintf(stderr, "no row %s\n", argv[i]);
            return 2;
        }
    }
    /* Before this process has a context of its own, which would make others' start slower. */
    for (int i = 0; i < argc; i++) {
        if (all ? i == 0 : strcmp(argv[i], "start") == 0)
            row_start((folder + "start").c_str());
    }
    for (const struct row &row : rows) {
        bool wanted = all;

        for (int i = 1; i < argc; i++)
            wanted = wanted || strcmp(argv[i], row.name) == 0;
        if (wanted)
            row.run();
        fflush(stdout);
    }
    return 0;
}
