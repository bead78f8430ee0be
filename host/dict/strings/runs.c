/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/strings/string_dict.h"
#include "primitive/scan.h"

ordo_status ordo_string_launch(struct ordo_call *call, const char *kernel, size_t count, const struct ordo_args *args)
{
    const struct ordo_launch launch = ordo_string_kernel(call->dev, "dict/strings/string_dict.cl", kernel, count);
    return ordo_call_launch(call, &launch, args);
}

/* ---- lists of runs ------------------------------------------------------------------------------------------- */

size_t ordo_string_marks_bytes(size_t count)
{
    return (2 * STRING_MARKS(count) + 1) * sizeof(cl_uint);
}

size_t ordo_string_runs_visible(const struct ordo_string_runs *runs, cl_uint from)
{
    size_t visible = 0;
    for (cl_uint i = from; i < runs->n; i++)
        visible += runs->at[i].visible;
    return visible;
}

size_t ordo_string_runs_stored(const struct ordo_string_runs *runs, cl_uint from)
{
    size_t stored = 0;
    for (cl_uint i = from; i < runs->n; i++)
        stored += runs->at[i].count;
    return stored;
}

bool ordo_string_runs_plain(const struct ordo_string_runs *runs)
{
    return runs->n == 1 && runs->at[0].visible == runs->at[0].count;
}

static bool keeps_index(const struct ordo_string_runs *keep, const ordo_string_index *index)
{
    for (cl_uint i = 0; keep && i < keep->n; i++)
        if (keep->at[i].index == index)
            return true;
    return false;
}

static bool keeps_marks(const struct ordo_string_runs *keep, cl_mem marks)
{
    for (cl_uint i = 0; keep && i < keep->n; i++)
        if (keep->at[i].marks == marks)
            return true;
    return false;
}

void ordo_string_run_release(ordo_device *dev, struct ordo_string_run *run, const struct ordo_string_runs *keep)
{
    if (run->marks && !keeps_marks(keep, run->marks))
        ordo_buffer_destroy(dev, &run->marks);
    if (keeps_index(keep, run->index))
        return;
    if (run->values)
        ordo_buffer_destroy(dev, &run->values);
    ordo_string_index_destroy(&run->index);
}

void ordo_string_runs_release(ordo_device *dev, struct ordo_string_runs *runs, const struct ordo_string_runs *keep)
{
    for (cl_uint i = 0; i < runs->n; i++)
        ordo_string_run_release(dev, &runs->at[i], keep);
    runs->n = 0;
}

/* ---- marks --------------------------------------------------------------------------------------------------- */

ordo_status ordo_string_run_show(struct ordo_call *call, struct ordo_string_run *run)
{
    const cl_uint    words = STRING_MARKS(run->count);
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_buffer_create(call->dev, ordo_string_marks_bytes(run->count), &run->marks));
    run->visible = run->count;
    ORDO_ADD(&args, ORDO_ARG(run->marks), ORDO_ARG(words), ORDO_ARG(run->count));
    return ordo_string_launch(call, "string_dict_show", words, &args);
}

/* Word marks[w] has one bit for each of the strings 32 * w to 32 * w + 31 of a run. Sets marks[words + w] to the number
 * of visible strings before string 32 * w. */
static ordo_status count_visible(struct ordo_call *call, cl_mem marks, cl_uint words, cl_uint *visible)
{
    const struct ordo_slice counts = ordo_at(marks, words);
    const struct ordo_scan  scan = {
         .type = ORDO_U32, .op = ORDO_SUM, .in = counts, .out = counts, .count = (size_t) words + 1
    };
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(marks), ORDO_ARG(words));
    ORDO_TRY(ordo_string_launch(call, "string_dict_count", words, &args));
    ORDO_TRY(ordo_call_scan(call, &scan));
    return ordo_call_read(call, marks, 2 * (size_t) words * sizeof *visible, visible, sizeof *visible);
}

static ordo_status hide(struct ordo_call *call, const struct ordo_string_run *run, const struct ordo_strings *batch,
                        cl_mem ids, cl_mem marks, cl_uint *visible)
{
    const cl_uint    words = STRING_MARKS(run->count), count = (cl_uint) batch->count;
    struct ordo_args args = { .n = 0 };
    ORDO_TRY(ordo_call_search_strings(call, run->index, ORDO_STRING_FIND, batch, ordo_at(ids, 0)));
    ORDO_TRY(ordo_call_copy(call, run->marks, 0, marks, 0, words * sizeof(cl_uint)));
    ORDO_ADD(&args, ORDO_ARG(ids), ORDO_ARG(count), ORDO_ARG(marks));
    ORDO_TRY(ordo_string_launch(call, "string_dict_hide", count, &args));
    ORDO_TRY(count_visible(call, marks, words, visible));
    ORDO_REQUIRE(call->dev, *visible <= run->visible, ORDO_DEVICE_FAILED, "%u of %u strings are visible", *visible,
                 run->visible);
    return ORDO_OK;
}

/* Hides the strings of the batch in the run. If one of them was visible, the run gets a new buffer of marks, and the
 * old buffer is not freed. */
static ordo_status hide_in_run(struct ordo_call *call, struct ordo_string_run *run, const struct ordo_strings *batch,
                               cl_mem ids)
{
    cl_mem  marks = NULL;
    cl_uint visible = 0;
    ORDO_TRY(ordo_buffer_create(call->dev, ordo_string_marks_bytes(run->count), &marks));
    const ordo_status status = hide(call, run, batch, ids, marks, &visible);
    if (status != ORDO_OK || visible == run->visible) {
        ordo_buffer_destroy(call->dev, &marks);
        return status;
    }
    run->marks = marks;
    run->visible = visible;
    return ORDO_OK;
}

static void remove_empty(ordo_device *dev, struct ordo_string_runs *runs, const struct ordo_string_runs *keep)
{
    cl_uint n = 0;
    for (cl_uint i = 0; i < runs->n; i++)
        if (runs->at[i].visible)
            runs->at[n++] = runs->at[i];
        else
            ordo_string_run_release(dev, &runs->at[i], keep);
    runs->n = n;
}

ordo_status ordo_string_runs_hide(struct ordo_call *call, struct ordo_string_runs *runs, cl_uint n,
                                  const struct ordo_strings *batch, const struct ordo_string_runs *keep)
{
    const int mark = call->n_scratch;
    cl_mem    ids = NULL;
    ORDO_TRY(ordo_call_scratch(call, batch->count * sizeof(cl_uint), &ids));
    for (cl_uint i = 0; i < n; i++)
        ORDO_TRY(hide_in_run(call, &runs->at[i], batch, ids));
    remove_empty(call->dev, runs, keep);
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_string_run_add(struct ordo_call *call, const struct ordo_string_run *run, cl_mem ids, cl_uint count,
                                const struct ordo_slice *ranks)
{
    const cl_uint    words = STRING_MARKS(run->count);
    struct ordo_args args = { .n = 0 };
    ORDO_ADD(&args, ORDO_ARG(ids), ORDO_ARG(count), ORDO_ARG(run->marks), ORDO_ARG(words));
    ordo_args_slice(&args, ranks);
    return ordo_string_launch(call, "string_dict_add", count, &args);
}
