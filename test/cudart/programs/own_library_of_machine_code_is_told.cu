// A cubin is taken from memory and from a file. Where the session does not run it, because it is fenced or the device is
// another, the call says so, and stderr names the reason. A file that is cut off is no image.
#include <elf.h>
#include "said.h"
#include "show.h"

struct Cubin {
    Elf64_Ehdr head = {};
    char code[256] = {};
    Elf64_Shdr sections[2] = {};
};

static Cubin cubin_of_another_device()
{
    Cubin c;

    memcpy(c.head.e_ident, ELFMAG, SELFMAG);
    c.head.e_ident[EI_CLASS] = ELFCLASS64;
    c.head.e_ident[EI_DATA] = ELFDATA2LSB;
    c.head.e_ident[EI_VERSION] = EV_CURRENT;
    c.head.e_type = ET_EXEC;
    c.head.e_machine = EM_CUDA;
    c.head.e_flags = 20;
    c.head.e_ehsize = sizeof(c.head);
    c.head.e_shoff = offsetof(Cubin, sections);
    c.head.e_shentsize = sizeof(Elf64_Shdr);
    c.head.e_shnum = 2;
    c.sections[1].sh_type = SHT_PROGBITS;
    c.sections[1].sh_offset = offsetof(Cubin, code);
    c.sections[1].sh_size = sizeof(c.code);
    return c;
}

static cudaError_t load_from_file(cudaLibrary_t *library, const void *image, size_t bytes)
{
    char name[] = "/tmp/gshare-cubin-XXXXXX";
    int file = mkstemp(name);
    cudaError_t error = cudaErrorUnknown;

    if (file >= 0 && write(file, image, bytes) == (ssize_t)bytes)
        error = cudaLibraryLoadFromFile(library, name, nullptr, nullptr, 0, nullptr, nullptr, 0);
    close(file);
    unlink(name);
    return error;
}

static bool told(cudaError_t error)
{
    return error == cudaErrorNoKernelImageForDevice || error == cudaErrorNotPermitted;
}

int main()
{
    Cubin cubin = cubin_of_another_device();
    cudaLibrary_t library = nullptr;

    MUST(cudaFree(nullptr));
    HOLDS(told(cudaLibraryLoadData(&library, &cubin, nullptr, nullptr, 0, nullptr, nullptr, 0))); //> told(cudaLibraryLoadData(&library, &cubin, nullptr, nullptr, 0, nullptr, nullptr, 0)): yes
    HOLDS(said_times("cannot be loaded") == 1);                  //> said_times("cannot be loaded") == 1: yes
    HOLDS(told(load_from_file(&library, &cubin, sizeof(cubin)))); //> told(load_from_file(&library, &cubin, sizeof(cubin))): yes
    SHOW(load_from_file(&library, &cubin, sizeof(cubin) - 1)); //> load_from_file(&library, &cubin, sizeof(cubin) - 1): cudaErrorInvalidKernelImage
    SHOW(load_from_file(&library, &cubin, 10)); //> load_from_file(&library, &cubin, 10): cudaErrorInvalidKernelImage
    HOLDS(library == nullptr); //> library == nullptr: yes
}
