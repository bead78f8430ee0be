/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the content of a dictionary with the model (soak.h). */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>

/* Arrays for the elements of a life's dictionary, and one more. */
struct elements {
    size_t room, count;
    void  *keys, *values;
};

static struct elements make_elements(const struct life *l, size_t n)
{
    return (struct elements) { .room = n + 1,
                               .keys = test_alloc((n + 1) * ordo_type_bytes(l->config.key)),
                               .values = l->config.value_bytes ? test_alloc((n + 1) * l->config.value_bytes) : NULL };
}

static void free_elements(struct elements *e)
{
    free(e->keys);
    free(e->values);
}

static struct elements export_all(struct life *l)
{
    size_t count = 0;

    test_ok(&l->t, ordo_dict_size(l->dict, NULL, &count));
    struct elements e = make_elements(l, count);
    test_ok(&l->t, ordo_dict_export_host(l->dict, e.keys, e.values, e.room, &e.count));
    if (e.count != count)
        soak_fail(l, "the size is %zu, and %zu elements are exported", count, e.count);
    model_put_in_order(l->dict, l->config.key, l->config.value_bytes, e.keys, e.values, e.count);
    return e;
}

struct model soak_read_content(struct life *l)
{
    const size_t    bytes = ordo_type_bytes(l->config.key);
    struct elements e = export_all(l);
    struct model    model = model_empty(l->config.key, l->config.value_bytes);

    model.room = e.count + 1;
    model.count = e.count;
    model.element = test_alloc(model.room * sizeof *model.element);
    for (size_t i = 0; i < e.count; i++) {
        model.element[i] = (struct model_element) { form_of_key(l->config.key, e.keys, i), read_key(e.keys, bytes, i),
                                                    read_key(e.values, l->config.value_bytes, i) };
        if (i > 0 && model.element[i].form <= model.element[i - 1].form)
            soak_fail(l, "the key of element %zu of %zu exported does not ascend", i, e.count);
    }
    free_elements(&e);
    return model;
}

const char *soak_compare_content(struct life *l, const struct model *model)
{
    static char             text[200];
    AUTO_MODEL struct model now = soak_read_content(l);
    size_t                  i = 0;

    while (i < now.count && i < model->count && now.element[i].form == model->element[i].form &&
           now.element[i].key == model->element[i].key && now.element[i].value == model->element[i].value)
        i++;
    text[0] = 0;
    if (i < model->count || i < now.count)
        (void) snprintf(text, sizeof text,
                        "it holds %zu elements, not %zu; element %zu is %#llx = %#llx, not %#llx = %#llx", now.count,
                        model->count, i, i < now.count ? (unsigned long long) now.element[i].key : 0,
                        i < now.count ? (unsigned long long) now.element[i].value : 0,
                        i < model->count ? (unsigned long long) model->element[i].key : 0,
                        i < model->count ? (unsigned long long) model->element[i].value : 0);
    return text;
}

void soak_check_content(struct life *l)
{
    struct ordo_statistics is;

    test_ok(&l->t, ordo_dict_check(l->dict, NULL));
    const char *wrong = soak_compare_content(l, &l->model);
    if (*wrong)
        soak_fail(l, "%s", wrong);
    test_ok(&l->t, ordo_dict_statistics(l->dict, NULL, &is));
    if (is.elements != l->model.count)
        soak_fail(l, "statistics have %zu elements of %zu", is.elements, l->model.count);
    if (structure_is(l->structure, ORDO_IS_TREE) && l->most_nodes && is.leaves > l->most_nodes)
        soak_fail(l, "%zu nodes hold elements, where %zu may", is.leaves, l->most_nodes);
}

/* The element of this form, or NULL. */
static const struct model_element *element_of(const struct model *model, key_form form)
{
    const size_t at = model_rank(model, form);

    return at < model->count && model->element[at].form == form ? &model->element[at] : NULL;
}

static bool same_element(const struct model_element *a, const struct model_element *b)
{
    return a == b || (a && b && a->value == b->value);
}

bool soak_same_content(const struct model *a, const struct model *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->element[i].form != b->element[i].form || a->element[i].value != b->element[i].value)
            return false;
    return true;
}

bool soak_lies_between(const struct model *now, const struct model *before, const struct model *after)
{
    const struct model *const both[] = { before, after };

    for (size_t i = 0; i < now->count; i++) {
        const struct model_element *is = &now->element[i];
        if (!same_element(is, element_of(before, is->form)) && !same_element(is, element_of(after, is->form)))
            return false;
    }
    for (size_t m = 0; m < 2; m++)
        for (size_t i = 0; i < both[m]->count; i++) {
            const key_form form = both[m]->element[i].form;
            if (element_of(before, form) && element_of(after, form) && !element_of(now, form))
                return false;
        }
    return true;
}

/* A batch of new keys adds at most this many nodes. Nodes that in-order batches have emptied count for a B-link tree
 * until it is less than a quarter full. */
bool soak_may_lack_nodes(struct life *l, size_t stores)
{
    struct ordo_statistics is;

    if (!l->most_nodes)
        return false;
    test_ok(&l->t, ordo_dict_statistics(l->dict, NULL, &is));
    const size_t emptied = l->structure == BLINK ? 4 * is.elements / l->node_entries + 16 : 0;
    return is.leaves + emptied + stores + 1 > l->most_nodes;
}
