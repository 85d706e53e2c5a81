/*
 * accounting.c - what it costs that GPU time is counted and shared by weight.
 *
 * Both servers keep their tenants from running far ahead of the device, for which the ends of
 * kernels are told by the device to either: that is not part of the difference.
 */
#include "lib/cell.h"
#include "lib/turns.h"
#include "rows/rows.h"

void row_accounting(void)
{
    static const char *const off[] = {"--no-accounting", "--no-weights", NULL};
    const struct turns turns = {
        .server =
            {[TURN_ON] = {"gshared-counting.log", NULL}, [TURN_OFF] = {"gshared-plain.log", off}},
        .image = plan.facts->image,
        .image_size = plan.facts->image_size};

    turns_measure(&turns);
}
