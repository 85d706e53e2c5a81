/* printed.c - see printed.h. */
#include "printed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const images[IMAGES] = {"O3.ptx", "O0.ptx", "G.ptx", "clang.ptx"};

gs_module image_load(gs_session session, const char *image)
{
    char path[512];
    gs_module module;

    snprintf(path, sizeof(path), "%s/%s", PRINTING, image);
    CHECK_OK(gs_module_load_file(session, path, &module));
    return module;
}

void capture_begin(struct capture *capture, int descriptor)
{
    char path[] = "/tmp/gshare-test-XXXXXX";

    fflush(NULL);
    capture->descriptor = descriptor;
    capture->saved = dup(descriptor);
    capture->file = mkostemp(path, O_CLOEXEC);
    CHECK(capture->saved >= 0 && capture->file >= 0);
    unlink(path);
    CHECK(dup2(capture->file, descriptor) == descriptor);
}

char *capture_end(struct capture *capture)
{
    off_t size;
    char *text;

    fflush(NULL);
    CHECK(dup2(capture->saved, capture->descriptor) == capture->descriptor);
    close(capture->saved);
    size = lseek(capture->file, 0, SEEK_END);
    text = malloc((size_t)size + 1);
    CHECK(text && pread(capture->file, text, (size_t)size, 0) == size);
    text[size] = '\0';
    close(capture->file);
    return text;
}

void expect_text(const char *got, const char *wanted)
{
    size_t same = 0;

    while (got[same] && got[same] == wanted[same])
        same++;
    if (got[same] != wanted[same])
        test_fail(__FILE__, __LINE__, "from byte %zu on \"%.60s\" was printed, not \"%.60s\"", same,
                  got + same, wanted + same);
}
