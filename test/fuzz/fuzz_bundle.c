/* Any bytes as an image that a tenant has sent to be loaded: a cubin, a fatbin, PTX, or a bundle of
 * these that is to be linked. What is found to be no fault lies within the bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/image_bundle.h"
#include "worker/module/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *image;
    uint32_t count;

    /* Aligned and with nothing behind it, as the sanitizer sees it. */
    if (size == 0 || posix_memalign((void **)&image, BUNDLE_ALIGN, size))
        return 0;
    memcpy(image, data, size);
    if (image_fault(image, size)) {
        free(image);
        return 0;
    }
    if (!image_binary(image, size))
        (void)(image_has_pointers(image, size) || image_has_state(image, size));
    if (image_is_bundle(image, size)) {
        memcpy(&count, image + 4, sizeof(count));
        for (uint32_t i = 0; i < count; i++) {
            uint64_t bytes;
            const unsigned char *one = image_bundled(image, i, &bytes);

            if (one < image || bytes == 0 || bytes > size ||
                (uint64_t)(one - image) > size - bytes || image_is_bundle(one, bytes))
                abort();
        }
    }
    free(image);
    return 0;
}
