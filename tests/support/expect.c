/* SPDX-License-Identifier: Apache-2.0 */
/* How a test fails, and the comparisons that make it fail: see support.h. */
#include "support.h"
#include "watchdog.h"
#include "wide.h"

#include "runtime/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void test_fail(const struct test *t, const char *file, int line, const char *format, ...)
{
    char    what[1024];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (t->caught) {
        (void) snprintf(t->caught->what, sizeof t->caught->what, "%s:%d: %.400s", file, line, what);
        longjmp(t->caught->back, 1);
    }
    (void) fprintf(stderr, "%s:%d: %s\n    trying: %s\n    device: %s%s%s\n    seed:   ORDO_TEST_SEED=%" PRIu64 "\n",
                   file, line, what, t->context[0] ? t->context : "(nothing yet)", t->facts ? t->facts->name : "(none)",
                   t->mask[0] ? ", mask " : "", t->mask, t->seed);
    cr_assert_fail("%s:%d: %s (%s, mask '%s', %s)", file, line, what, t->context, t->mask,
                   t->facts ? t->facts->name : "no device");
    abort();
}

void test_skip(const char *format, ...)
{
    char    why[1024];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(why, sizeof why, format, args);
    va_end(args);
    (void) fprintf(stderr, "skipped: %s\n", why);
    cr_skip_test("%s", why);
    abort();
}

void test_context(struct test *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vsnprintf(t->context, sizeof t->context, format, args);
    va_end(args);
    watchdog_note(t->context, t->facts ? t->facts->name : "", t->mask, t->seed);
}

/* A message begins with the fact in words and ends with the status, the device and the source line in brackets. */
static bool is_a_message(const char *text)
{
    const char *place = strrchr(text, ' '), *dot = place ? strchr(place, '.') : NULL;
    const bool  ends = dot && strncmp(dot, ".c:", 3) == 0 && dot[3 + strspn(dot + 3, "0123456789")] == ']' &&
                      dot[4 + strspn(dot + 3, "0123456789")] == 0;
    const size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return ends && strchr(text, '[') && strncmp(text + word, ".c:", 3) != 0 && !strstr(text, "not so:") &&
           !strstr(text, " && ");
}

/* Checks the device's last error, unless memory for the message was missing. */
static void check_message(const struct test *t, const char *call, const char *file, int line)
{
    AUTO_FREE char *text = test_alloc(1 << 16);
    const size_t    need = ordo_device_last_error(t->dev, text, 1 << 16);
    if (need > 1 && need < 1 << 16 && strchr(text, '[') && !is_a_message(text))
        test_fail(t, file, line, "%s: not how a message is written: %s", call, text);
}

void test_check_status(const struct test *t, ordo_status got, ordo_status want, const char *call, const char *file,
                       int line)
{
    char text[640] = "";

    if (got == want && got != ORDO_OK && t->dev)
        check_message(t, call, file, line);
    if (got == want)
        return;
    if (got != ORDO_OK && t->dev)
        (void) ordo_device_last_error(t->dev, text, sizeof text);
    test_fail(t, file, line, "%s gave '%s', not '%s': %s", call, ordo_status_string(got), ordo_status_string(want),
              text);
}

void test_check_message(const struct test *t, const char *part, const char *file, int line)
{
    char text[640] = "";

    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (!strstr(text, part))
        test_fail(t, file, line, "the message is '%s', without '%s'", text, part);
}

void *test_alloc(size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);

    if (!made)
        cr_assert_fail("no host memory for %zu bytes", bytes);
    return made;
}

static void print_element(char *text, size_t size, ordo_type type, size_t bytes, const void *element)
{
    union {
        uint8_t  u8;
        uint8_t  bytes[16];
        uint32_t u32;
        uint64_t u64;
        int32_t  i32;
        int64_t  i64;
        float    f32;
        double   f64;
    } x = { 0 };

    memcpy(&x, element, bytes);
    if (bytes == 1)
        (void) snprintf(text, size, "%u", x.u8);
    else if (bytes == 16)
        (void) snprintf(text, size, "0x%016" PRIx64 "%016" PRIx64, test_form_of(type, x.bytes).high,
                        test_form_of(type, x.bytes).low);
    else if (type == ORDO_U32)
        (void) snprintf(text, size, "%" PRIu32 " (0x%08" PRIx32 ")", x.u32, x.u32);
    else if (type == ORDO_U64)
        (void) snprintf(text, size, "%" PRIu64 " (0x%016" PRIx64 ")", x.u64, x.u64);
    else if (type == ORDO_I32)
        (void) snprintf(text, size, "%" PRId32 " (0x%08" PRIx32 ")", x.i32, x.u32);
    else if (type == ORDO_I64)
        (void) snprintf(text, size, "%" PRId64 " (0x%016" PRIx64 ")", x.i64, x.u64);
    else if (type == ORDO_F32)
        (void) snprintf(text, size, "%g (0x%08" PRIx32 ")", (double) x.f32, x.u32);
    else
        (void) snprintf(text, size, "%g (0x%016" PRIx64 ")", x.f64, x.u64);
}

void test_check_same(const struct test *t, const char *what, ordo_type type, size_t bytes, const void *got,
                     const void *want, size_t count, const char *file, int line)
{
    const uint8_t *g = got;
    const uint8_t *w = want;
    size_t         first = count;
    size_t         differ = 0;
    char           got_text[64];
    char           want_text[64];

    if (count * bytes == 0 || memcmp(got, want, count * bytes) == 0)
        return;
    for (size_t i = count; i-- > 0;) {
        if (memcmp(g + i * bytes, w + i * bytes, bytes) != 0) {
            first = i;
            differ++;
        }
    }
    print_element(got_text, sizeof got_text, type, bytes, g + first * bytes);
    print_element(want_text, sizeof want_text, type, bytes, w + first * bytes);
    test_fail(t, file, line, "%s[%zu] is %s, not %s; %zu of %zu differ", what, first, got_text, want_text, differ,
              count);
}
