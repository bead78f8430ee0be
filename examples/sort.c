#include <ordo/ordo.h>
#include <stdio.h>

int main(void)
{
    float        height[] = { 8848.f, 4810.f, -430.f, 6190.f };
    uint32_t     place[] = { 0, 1, 2, 3 };
    char         why[1000] = ""; /* the reason of a failure */
    ordo_device *device = NULL;

    const struct ordo_device_config config = { .message = why, .message_bytes = sizeof why };
    ordo_status                     got = ordo_device_open(&config, &device); /* the first GPU, else a CPU */
    if (got == ORDO_OK) {
        got = ordo_sort_host(device, ordo_sort_params(.key = ORDO_F32, .value_bytes = 4), height, place, 4);
        ordo_device_last_error(device, why, sizeof why);
    }
    for (int i = 0; got == ORDO_OK && i < 4; i++)
        printf("%6.0f m is place %u\n", height[i], place[i]);
    ordo_device_close(&device);
    return got == ORDO_OK ? 0 : (fprintf(stderr, "%s\n", why), 1);
}
