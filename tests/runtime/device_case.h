/* SPDX-License-Identifier: Apache-2.0 */
/* Common to the tests of devices. */
#ifndef ORDO_TESTS_DEVICE_CASE_H
#define ORDO_TESTS_DEVICE_CASE_H

#include "ordo/ordo.h"

/* Sorts five pairs. If the call succeeds, they must be in order. */
ordo_status sort_few(ordo_device *dev);

#endif
