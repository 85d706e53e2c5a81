// Linked programs; see linked.h.
#include "softcuda/module/linked.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct linked {
    char *text; // NULL: the slot is free
    size_t length;
    struct ptx_module *ptx;
    struct exec_program *program;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct linked kept[LINKED_MAX]; // the newest first; guarded by the lock

static void linked_free(struct linked *l)
{
    exec_program_free(l->program);
    ptx_module_free(l->ptx);
    free(l->text);
}

void linked_put(const char *text, size_t length, struct ptx_module *ptx)
{
    struct linked made = {.text = malloc(length + 1), .length = length, .ptx = ptx};
    char log[256];

    // If functions were left out, nothing is kept: loading the text reports why.
    if (!made.text || exec_program_new(ptx, &made.program, log, sizeof(log)) || log[0]) {
        linked_free(&made);
        return;
    }
    memcpy(made.text, text, length);
    made.text[length] = 0;
    pthread_mutex_lock(&lock);
    struct linked oldest = kept[LINKED_MAX - 1];
    memmove(&kept[1], &kept[0], sizeof(kept) - sizeof(kept[0]));
    kept[0] = made;
    pthread_mutex_unlock(&lock);
    linked_free(&oldest);
}

bool linked_take(const char *text, size_t length, struct ptx_module **ptx,
                 struct exec_program **program)
{
    struct linked found = {0};

    pthread_mutex_lock(&lock);
    for (int i = 0; i < LINKED_MAX && !found.text; i++) {
        if (!kept[i].text || kept[i].length != length || memcmp(kept[i].text, text, length))
            continue;
        found = kept[i];
        memmove(&kept[i], &kept[i + 1], (size_t)(LINKED_MAX - 1 - i) * sizeof(kept[0]));
        kept[LINKED_MAX - 1] = (struct linked){0};
    }
    pthread_mutex_unlock(&lock);
    free(found.text);
    *ptx = found.ptx;
    *program = found.program;
    return found.program;
}
