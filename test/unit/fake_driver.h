/*
 * fake_driver.h - a driver's table for tests that stand in for a driver: a test sets the entries
 * that its code calls.
 */
#ifndef GS_TEST_FAKE_DRIVER_H
#define GS_TEST_FAKE_DRIVER_H

#include "worker/driver/driver.h"

static struct driver fake_cu;
const struct driver *const cu = &fake_cu;

#endif
