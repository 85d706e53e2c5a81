/* cuda_program.c - see cuda_program.h. */
#include "harness/cuda_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

static char wanted[16384], output[16384];

static void wanted_read(const char *source)
{
    const char *root = getenv("GSHARE_SOURCE_DIR");
    char path[512], line[1024];
    size_t used = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", root ? root : ".", source);
    f = fopen(path, "r");
    if (f == NULL)
        test_fail(__FILE__, __LINE__, "cannot read %s", path);
    while (fgets(line, sizeof(line), f) != NULL) {
        const char *mark = strstr(line, "//> ");

        if (mark != NULL)
            used += (size_t)snprintf(wanted + used, sizeof(wanted) - used, "%s", mark + 4);
    }
    fclose(f);
    CHECK(used > 0 && used < sizeof(wanted));
}

/* The libraries' own lines are none of CUDA's behaviour. */
static void library_lines_drop(void)
{
    static const char prefix[] = "libgshare_cu";
    char *to = output;

    for (char *line = output, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        next = next != NULL ? next + 1 : line + strlen(line);
        if (strncmp(line, prefix, sizeof(prefix) - 1) != 0) {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
    }
    *to = '\0';
}

void cuda_program_run(const char *const *arguments, const char *source)
{
    int status;

    wanted_read(source);
    status = program_run(arguments, output, sizeof(output));
    if (status == 77)
        test_skip("%s", output);
    if (strstr(source, "programs/own_") == NULL)
        library_lines_drop();
    if (status != 0 || strcmp(output, wanted) != 0)
        test_fail(__FILE__, __LINE__, "status %d\n--- wanted\n%s--- printed\n%s---", status, wanted,
                  output);
}

void cuda_program_test(const char *folder, const char *name)
{
    char path[256], source[256];

    snprintf(path, sizeof(path), "%s/programs/%s", folder, name);
    snprintf(source, sizeof(source), "%s/programs/%s.cu", folder, name);
    if (access(test_build_path(path), X_OK) < 0)
        test_skip("there is no nvcc");
    cuda_program_run((const char *const[]){path, NULL}, source);
}
