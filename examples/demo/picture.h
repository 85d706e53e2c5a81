/* picture.h - photographs in memory: RGB, a byte a colour, rows without gaps; read and written as
 * JPEG by libjpeg-turbo. Functions that can fail print why to stderr and return false. */
#ifndef DEMO_PICTURE_H
#define DEMO_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct picture {
    unsigned width, height;
    uint8_t *rgb; /* the picture's own */
};

/* Decodes a JPEG file. A picture of more than least_width x least_height is decoded at the smallest
 * size, in eighths, that is not below these. */
bool picture_read(const char *path, unsigned least_width, unsigned least_height,
                  struct picture *picture);
/* Draws hills under a sky, with grain so that no two parts are alike: where there is no photograph.
 * The same picture each time. */
bool picture_draw(struct picture *picture, unsigned width, unsigned height);
bool picture_write(const char *path, const uint8_t *rgb, unsigned width, unsigned height);
/* Enlarges a picture, bilinearly, so that it covers width x height; a larger one stays. */
bool picture_cover(struct picture *picture, unsigned width, unsigned height);
/* Copies the part of width x height whose middle is `across` (0 left to 1 right) of the way. */
void picture_crop(const struct picture *picture, double across, unsigned width, unsigned height,
                  uint8_t *rgb);
void picture_free(struct picture *picture);

#endif
