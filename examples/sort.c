#include <ordo/ordo.h>
#include <stdio.h>

/* Prints the numbers of standard input in ascending order, each with its line. */
enum { LINES_MAX = 1 << 24 };
static float    number[LINES_MAX];
static uint32_t line[LINES_MAX];

int main(void)
{
    char         why[1000] = ""; /* the reason of a failure */
    size_t       n = 0;
    ordo_device *device = NULL;

    for (; n < LINES_MAX && scanf("%f", &number[n]) == 1; n++)
        line[n] = (uint32_t) n + 1;
    const struct ordo_device_config config = { .message = why, .message_bytes = sizeof why };
    ordo_status                     got = ordo_device_open(&config, &device); /* the first GPU, else a CPU */
    if (got == ORDO_OK) {
        got = ordo_sort_host(device, ordo_sort_params(.key = ORDO_F32, .value_bytes = 4), number, line, n);
        ordo_device_last_error(device, why, sizeof why);
    }
    for (size_t i = 0; got == ORDO_OK && i < n; i++)
        printf("%g on line %u\n", number[i], line[i]);
    ordo_device_close(&device);
    return got == ORDO_OK ? 0 : (fprintf(stderr, "%s\n", why), 1);
}
