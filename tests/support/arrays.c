/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded arrays on the device, queues and events: see support.h. */
#include "support.h"

#include "runtime/internal.h"

enum { GUARD_BYTES = 64, GUARD = 0xa5 };

static size_t bytes_before(const struct test_array *array)
{
    return array->at * array->bytes;
}

static size_t bytes_of(const struct test_array *array)
{
    return array->count * array->bytes;
}

static size_t bytes_in_all(const struct test_array *array)
{
    return bytes_before(array) + bytes_of(array) + GUARD_BYTES;
}

struct test_array test_upload(const struct test *t, const void *data, size_t count, size_t bytes, size_t at)
{
    struct test_array array = { .at = at, .count = count, .bytes = bytes };
    uint8_t          *image = test_alloc(bytes_in_all(&array));
    cl_int            code = CL_SUCCESS;

    memset(image, GUARD, bytes_in_all(&array));
    if (data && bytes_of(&array))
        memcpy(image + bytes_before(&array), data, bytes_of(&array));
    else
        memset(image + bytes_before(&array), TEST_EMPTY, bytes_of(&array));
    array.mem = clCreateBuffer(ordo_device_context(t->dev), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                               bytes_in_all(&array), image, &code);
    free(image);
    if (code != CL_SUCCESS)
        test_fail(t, __FILE__, __LINE__, "clCreateBuffer: %s", ordo_cl_error_string(code));
    return array;
}

void test_free(struct test_array *array)
{
    (void) clReleaseMemObject(array->mem);
    array->mem = NULL;
}

struct test_unaligned test_unaligned_buffer(const struct test *t, size_t bytes)
{
    cl_int                code = CL_SUCCESS;
    const size_t          all = (bytes + 31) / 16 * 16;
    struct test_unaligned buffer = { NULL, aligned_alloc(16, all) };

    test_true(t, buffer.memory);
    memset(buffer.memory, 0, all);
    buffer.mem = clCreateBuffer(ordo_device_context(t->dev), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                (char *) buffer.memory + 8, &code);
    return buffer;
}

void test_unaligned_free(struct test_unaligned *buffer)
{
    if (buffer->mem)
        (void) clReleaseMemObject(buffer->mem);
    free(buffer->memory);
    buffer->mem = NULL;
}

void test_unaligned_refused(const struct test *t, ordo_status got, const char *name)
{
    char message[512] = "";

    (void) ordo_device_last_error(t->dev, message, sizeof message);
    test_status(t, got, ORDO_INVALID);
    test_true(t, strstr(message, name) && strstr(message, "no multiple of 16"));
}

/* The first changed guard byte; SIZE_MAX if there is none. */
static size_t changed_guard(const uint8_t *image, const struct test_array *array)
{
    const size_t end = bytes_before(array) + bytes_of(array);

    for (size_t i = 0; i < end + GUARD_BYTES; i++)
        if ((i < bytes_before(array) || i >= end) && image[i] != GUARD)
            return i;
    return SIZE_MAX;
}

size_t test_read(const struct test *t, const struct test_array *array, void *to, const char *what)
{
    const size_t       all = bytes_in_all(array);
    AUTO_FREE uint8_t *image = test_alloc(all);
    const cl_int       code =
        clEnqueueReadBuffer(ordo_device_queue(t->dev), array->mem, CL_TRUE, 0, all, image, 0, NULL, NULL);

    if (code != CL_SUCCESS)
        test_fail(t, __FILE__, __LINE__, "reading %s: %s", what, ordo_cl_error_string(code));
    const size_t changed = changed_guard(image, array);
    if (bytes_of(array))
        memcpy(to, image + bytes_before(array), bytes_of(array));
    return changed;
}

void test_check_download(const struct test *t, const struct test_array *array, void *to, const char *what,
                         const char *file, int line)
{
    const size_t changed = test_read(t, array, to, what);

    if (changed != SIZE_MAX)
        test_fail(t, file, line, "%s: byte %zu was written; the array is bytes %zu to %zu", what, changed,
                  bytes_before(array), bytes_before(array) + bytes_of(array));
}

void test_check_expect(const struct test *t, ordo_type type, const struct test_array *array, const void *want, size_t n,
                       const char *what, const char *file, int line)
{
    AUTO_FREE void *got = test_alloc(bytes_of(array));

    test_check_download(t, array, got, what, file, line);
    test_check_same(t, what, type, array->bytes, got, want, n, file, line);
}

cl_command_queue test_queue_of(cl_context context, cl_device_id id, cl_command_queue_properties properties)
{
    const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
    cl_int                    code = CL_SUCCESS;
    cl_command_queue          queue = clCreateCommandQueueWithProperties(context, id, list, &code);

    return code == CL_SUCCESS ? queue : NULL;
}

cl_command_queue test_queue(const struct test *t, cl_command_queue_properties properties)
{
    return test_queue_of(ordo_device_context(t->dev), ordo_device_id(t->dev), properties);
}

cl_int test_event_state(cl_event event)
{
    cl_int state = CL_QUEUED;

    (void) clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}
