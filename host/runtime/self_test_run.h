/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_SELF_TEST_RUN_H
#define ORDO_SELF_TEST_RUN_H

#include "self_test.h"

#include "shared/self_test.h"

#include <inttypes.h>
#include <stdlib.h>

/* Fails with ORDO_SELF_TEST, except on a dry-run device, whose results are invented. */
#define WRONG(dev, ...) (ordo_is_dry_run(dev) ? ORDO_OK : ORDO_FAIL((dev), ORDO_SELF_TEST, __VA_ARGS__))

#define EXPECT(dev, got, want, format, ...)                                                                            \
    do {                                                                                                               \
        const uint64_t got_ = (got), want_ = (want);                                                                   \
        if (got_ != want_)                                                                                             \
            return WRONG((dev), format ": 0x%" PRIx64 " instead of 0x%" PRIx64, __VA_ARGS__, got_, want_);             \
    } while (0)

struct ordo_test_buffer {
    size_t      bytes;
    void       *to;   /* receives the content after the launches, or NULL */
    const void *from; /* content before the first launch, or NULL for zeros */
};
#define LIST(type, ...) ((const type[]) { __VA_ARGS__ }), sizeof((const type[]) { __VA_ARGS__ }) / sizeof(type)
#define BUFFERS(...)    LIST(struct ordo_test_buffer, __VA_ARGS__)
#define NUMBERS(...)    LIST(cl_uint, __VA_ARGS__)
#define NO_NUMBERS      NULL, 0

/* The kernel's arguments are the buffers, then the numbers. */
ordo_status ordo_self_test_run(ordo_device *dev, struct ordo_launch launch, int launches,
                               const struct ordo_test_buffer *buffers, size_t n, const cl_uint *numbers,
                               size_t n_numbers);
uint32_t    ordo_self_test_group(const ordo_device *dev);

#endif
