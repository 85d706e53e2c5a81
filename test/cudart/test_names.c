/*
 * test_names.c - each function that NVIDIA's libcudart exports is exported by ours, under the same
 * symbol version. test/rules.mk says where NVIDIA's libraries are: beside the headers of
 * CUDART_TOOLKIT and CUDART_TOOLKIT12. They are read as files, so that nothing of them runs.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct library {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
};

static const void *library_map(const char *path, size_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0) {
        *size = (size_t)st.st_size;
        bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* Finds the dynamic symbols by their section. false: the file has none. */
static bool library_read(struct library *library, const char *path)
{
    const Elf64_Ehdr *head;
    const Elf64_Shdr *sections;

    library->bytes = library_map(path, &library->size);
    if (library->bytes == NULL || library->size < sizeof(*head))
        return false;
    head = (const void *)library->bytes;
    sections = (const void *)(library->bytes + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        library->symbols = (const void *)(library->bytes + sections[i].sh_offset);
        library->count = sections[i].sh_size / sizeof(*library->symbols);
        library->names = (const void *)(library->bytes + sections[sections[i].sh_link].sh_offset);
        return true;
    }
    return false;
}

static bool is_exported(const Elf64_Sym *symbol)
{
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
}

static unsigned compare(unsigned number, const char *theirs, const char *ours, const char *version)
{
    struct library library = {0};
    unsigned count = 0, wrong = 0;
    char path[4096];
    const char *build = getenv("GSHARE_TEST_BUILD");
    void *handle;

    if (theirs[0] == '\0') {
        printf("ok %u - names # SKIP there is no %s of NVIDIA's\n", number, version);
        return 0;
    }
    snprintf(path, sizeof(path), "%s/lib/%s", build != NULL ? build : "build", ours);
    handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL || !library_read(&library, theirs)) {
        printf("# %s\nnot ok %u - %s cannot be read\n", handle != NULL ? theirs : dlerror(), number,
               version);
        return 1;
    }
    for (size_t i = 0; i < library.count; i++) {
        const char *name = library.names + library.symbols[i].st_name;

        if (!is_exported(&library.symbols[i]))
            continue;
        count++;
        if (dlvsym(handle, name, version) != NULL)
            continue;
        printf("# %s has no %s of version %s\n", ours, name, version);
        wrong++;
    }
    wrong += count < 400; /* the file was not understood */
    printf("%s %u - %u functions of %s\n", wrong == 0 ? "ok" : "not ok", number, count, version);
    return wrong;
}

int main(void)
{
    const unsigned wrong = compare(1, NVIDIA_13, "libgshare_cudart.so", "libcudart.so.13") +
                           compare(2, NVIDIA_12, "libgshare_cudart12.so", "libcudart.so.12");

    printf("1..2\n");
    return wrong != 0;
}
