/* SPDX-License-Identifier: Apache-2.0 */
/* ORDO_MASK. An input's first byte picks the device, the rest is the mask. */
#include "fuzz.h"

#include "runtime/internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0)
        return 0;
    ordo_device       *dev = fuzz_device();
    struct ordo_facts *f = &dev->facts;
    FUZZ_EXPECT((dev->extensions = ordo_format(" cl_khr_fp64 ")) != NULL);
    f->cpu = data[0] & 1;
    f->lanes = data[0] & 2 ? ORDO_LANES_NVIDIA : ORDO_LANES_ONE;
    f->sub_group = data[0] & 2 ? 32 : 1;
    f->atomics = data[0] & 4 ? ORDO_ATOMICS_C11 : ORDO_ATOMICS_LEGACY;
    f->int64_atomics = data[0] & 8;
    f->max_group = 1024;
    f->local_bytes = 49152;
    f->max_alloc_bytes = 1u << 31;
    const struct ordo_facts was = *f;

    char             *mask = fuzz_text(data + 1, bytes - 1);
    const ordo_status got = ordo_apply_mask(dev, mask);
    FUZZ_EXPECT(got == ORDO_OK || (got == ORDO_INVALID && ordo_device_last_error(dev, NULL, 0) > 1));
    FUZZ_EXPECT(f->max_group >= 1 && f->max_group <= was.max_group);
    FUZZ_EXPECT(f->local_bytes >= 1024 && f->local_bytes <= was.local_bytes);
    FUZZ_EXPECT(f->max_alloc_bytes >= 4096 && f->max_alloc_bytes <= was.max_alloc_bytes);
    FUZZ_EXPECT(f->lanes == was.lanes || (f->lanes == ORDO_LANES_ONE && f->sub_group == 1));
    FUZZ_EXPECT(f->atomics == was.atomics || f->atomics == ORDO_ATOMICS_LEGACY);
    FUZZ_EXPECT(f->cpu <= was.cpu && f->int64_atomics <= was.int64_atomics);
    FUZZ_EXPECT(got != ORDO_OK || mask[strspn(mask, ", ")] == 0 || strchr(mask, '='));
    free(mask);
    ordo_device_close(&dev);
    return 0;
}
