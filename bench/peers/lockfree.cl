/* SPDX-License-Identifier: Apache-2.0 */
/* A lock-free skiplist of single keys. Each work-item runs one operation.
 *
 * The pool is an array of words. A node begins at an even word: key, value, one link per level. A hash of the key gives
 * its height. Each level has half the keys of the level below. Node 0 is the head, with all levels and no key. A link
 * is a node number times two, plus 1 after its own node was erased at that level. A marked link never changes again,
 * and updates nearby unlink the node. Nodes are not reused.
 *
 * lockfree_nodes writes keys and values in an earlier launch, so they exist before any link to them. Links change only
 * by atomic operations and are read past the caches. A link that has not arrived reads as NOT_THERE, and the reader
 * retries. So correctness does not depend on the order of accesses to different words. Nobody waits. After TRIES
 * restarts an operation is left to another launch. */
#define MARK      1u
#define NOT_THERE 0xffffffffu /* includes the mark's bit */
#define NIL       0u
#define HEAD      0u
#define NOTHING   0xffffffffu /* the operation is done */
#define LOOKS     256
#define TRIES     1024

/* Words before the links of a node; words of the state. */
#define LINKS_AT 2
enum { TOP, LEVELS_IN_USE, UNFINISHED, RESTARTS, NO_ROOM };

typedef struct {
    __global uint          *words;
    volatile __global uint *links, *state; /* the same words; counters */
    uint                    restarts;
} lists;

size_t word_of(uint node)
{
    return (size_t) node * 2;
}

uint key_of(const lists *in, uint node)
{
    return in->words[word_of(node)];
}

volatile __global uint *link_at(const lists *in, uint node, uint level)
{
    return in->links + word_of(node) + LINKS_AT + level;
}

uint follow(const lists *in, uint node, uint level)
{
    uint link = NOT_THERE;
    for (uint look = 0; look < LOOKS && link == NOT_THERE; look++)
        link = *link_at(in, node, level);
    return link;
}

uint height_of(uint key)
{
    uint mixed = (key ^ 0x9e3779b9u) * 0x9e3779b1u;
    mixed = (mixed ^ mixed >> 15) * 0x85ebca77u;
    mixed = (mixed ^ mixed >> 13) * 0xc2b2ae3du;
    mixed ^= mixed >> 16;
    return mixed == 0 ? LEVELS : min((uint) LEVELS, 32 - (uint) clz(mixed & -mixed));
}

/* ---- search path --------------------------------------------------------------------------------------------- */

/* Per lower level: the last node before the key, and the link after it. */
typedef struct {
    uint before[LEVELS], after[LEVELS];
} path;

/* Unlinks erased nodes on the way. False: a concurrent change, start again. */
bool locate(lists *in, uint key, uint height, path *way)
{
    uint before = HEAD;
    for (uint level = max(in->state[LEVELS_IN_USE], height); level-- > 0;) {
        uint here = follow(in, before, level);
        if (here & MARK)
            return false;
        while (here != NIL) {
            const uint next = follow(in, here >> 1, level);
            if (next == NOT_THERE)
                return false;
            if (next & MARK) {
                if (atomic_cmpxchg(link_at(in, before, level), here, next & ~MARK) != here)
                    return false;
                here = next & ~MARK;
                continue;
            }
            if (key_of(in, here >> 1) >= key)
                break;
            before = here >> 1;
            here = next;
        }
        if (level < height) {
            way->before[level] = before;
            way->after[level] = here;
        }
    }
    return true;
}

bool leads_to_key(const lists *in, const path *way, uint key)
{
    return way->after[0] != NIL && key_of(in, way->after[0] >> 1) == key;
}

/* ---- operations: false if not done --------------------------------------------------------------------------- */

/* Changes nothing. *node: the key's node if found. */
bool contains(lists *in, uint key, bool *found, uint *node)
{
    uint before = HEAD;
    *found = false;
    for (uint level = in->state[LEVELS_IN_USE]; level-- > 0;) {
        uint here = follow(in, before, level) & ~MARK;
        while (here != NIL) {
            if (here == (NOT_THERE & ~MARK))
                return false;
            const uint there = key_of(in, here >> 1);
            if (there >= key) {
                *node = here >> 1;
                *found = there == key && (follow(in, *node, 0) & MARK) == 0;
                if (*found)
                    return true;
                /* An erased node may precede another node of its key. */
                if (there > key)
                    break;
            }
            if (there < key)
                before = here >> 1;
            here = follow(in, here >> 1, level) & ~MARK;
        }
    }
    return true;
}

/* Links the upper levels if possible. Searches do not need them. */
void link_above(lists *in, uint key, uint node, uint height, path *way)
{
    uint tries = 0;
    for (uint level = 1; level < height; level++)
        for (;;) {
            const uint link = follow(in, node, level);
            if ((link & MARK) || tries++ > TRIES)
                return;
            if (link != way->after[level] && atomic_cmpxchg(link_at(in, node, level), link, way->after[level]) != link)
                continue;
            if (atomic_cmpxchg(link_at(in, way->before[level], level), way->after[level], node << 1) ==
                way->after[level])
                break;
            while (!locate(in, key, height, way))
                if (tries++ > TRIES)
                    return;
            if (way->after[0] != node << 1) /* already erased */
                return;
        }
}

bool insert(lists *in, uint key, uint value, bool replaces, uint node, bool *found)
{
    const uint height = height_of(key);
    path       way;
    if (!locate(in, key, height, &way))
        return false;
    *found = leads_to_key(in, &way, key);
    if (*found) {
        if (replaces)
            (void) atomic_xchg(in->links + word_of(way.after[0] >> 1) + 1, value);
        return true;
    }
    for (uint level = 0; level < height; level++)
        (void) atomic_xchg(link_at(in, node, level), way.after[level]);
    if (in->state[LEVELS_IN_USE] < height)
        (void) atomic_max(in->state + LEVELS_IN_USE, height);
    if (atomic_cmpxchg(link_at(in, way.before[0], 0), way.after[0], node << 1) != way.after[0])
        return false;
    link_above(in, key, node, height, &way);
    return true;
}

/* 1: this work-item erased the node at that level; 0: another did; NOT_THERE: unknown yet. */
uint mark(lists *in, uint node, uint level)
{
    for (uint tries = 0; tries < TRIES; tries++) {
        const uint link = follow(in, node, level);
        if (link == NOT_THERE)
            return NOT_THERE;
        if (link & MARK)
            return 0;
        if (atomic_cmpxchg(link_at(in, node, level), link, link | MARK) == link)
            return 1;
    }
    return NOT_THERE;
}

/* The work-item that marks the lowest level has erased it. */
bool erase(lists *in, uint key, bool *found)
{
    const uint height = height_of(key);
    path       way;
    if (!locate(in, key, height, &way))
        return false;
    *found = leads_to_key(in, &way, key);
    if (!*found)
        return true;
    uint marked = 0;
    for (uint level = height; level-- > 0;) {
        marked = mark(in, way.after[0] >> 1, level);
        if (marked == NOT_THERE)
            return false;
    }
    *found = marked == 1;
    if (*found)
        (void) locate(in, key, height, &way); /* unlinks it if possible */
    return true;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* ARGUMENTS: see rivals.c. size: pairs of words in the pool. */

uint code_of(__global const uchar *codes, uint code, ulong at)
{
    return codes ? codes[at] : code;
}

__kernel void lockfree_clear(ARGUMENTS(uint))
{
    const uint i = (uint) get_global_id(0);
    if (i < LEVELS)
        words[LINKS_AT + i] = NIL;
    if (i == 0) {
        state[TOP] = (LINKS_AT + LEVELS + 1) / 2;
        state[LEVELS_IN_USE] = 1;
        state[RESTARTS] = 0;
    }
}

/* Gives each store an unlinked node with key and value, its number in mine[]. */
__kernel void lockfree_nodes(ARGUMENTS(uint))
{
    __local uint sum, first;
    const uint   i = (uint) get_global_id(0);
    uint         pairs = 0, place = 0, key = 0;
    if (get_local_id(0) == 0)
        sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) {
        const uint what = code_of(codes, code, at + i);
        key = keys[at + i];
        if (what == CODE_UPSERT || what == CODE_INSERT)
            pairs = (LINKS_AT + height_of(key) + 1) / 2;
        place = pairs ? atomic_add(&sum, pairs) : 0;
        mine[i] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        first = atomic_add(state + TOP, sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (pairs == 0)
        return;
    /* The counter cannot wrap: a batch has fewer pairs than remain above the capacity. */
    const uint node = first + place;
    if (node >= size || size - node < pairs) {
        state[NO_ROOM] = 1;
        mine[i] = NOTHING;
        return;
    }
    mine[i] = node;
    words[word_of(node)] = key;
    words[word_of(node) + 1] = values[at + i];
    for (uint word = LINKS_AT; word < pairs * 2; word++)
        words[word_of(node) + word] = NOT_THERE;
}

bool operate(lists *in, uint what, uint key, uint value, uint node, bool *found, uint *value_out)
{
    uint at = HEAD;
    if (what == CODE_ERASE)
        return erase(in, key, found);
    if (what == CODE_UPSERT || what == CODE_INSERT)
        return insert(in, key, value, what == CODE_UPSERT, node, found);
    if (!contains(in, key, found, &at))
        return false;
    if (*found)
        *value_out = in->links[word_of(at) + 1];
    return true;
}

/* Runs the operations that mine[] does not mark as done. */
__kernel void lockfree_apply(ARGUMENTS(uint))
{
    const uint i = (uint) get_global_id(0);
    lists      in = { words, words, state, 0 };
    bool       found = false, done = false;
    uint       value_out = 0;
    if (i >= n || mine[i] == NOTHING)
        return;
    const uint what = code_of(codes, code, at + i), key = keys[at + i];
    const bool stores = what == CODE_UPSERT || what == CODE_INSERT;
    const uint value = stores ? values[at + i] : 0;
    for (uint tries = 0; tries < TRIES && !done; tries++) {
        done = operate(&in, what, key, value, mine[i], &found, &value_out);
        in.restarts += !done;
    }
    if (in.restarts)
        (void) atomic_add(state + RESTARTS, in.restarts);
    if (!done) {
        (void) atomic_add(state + UNFINISHED, 1u);
        return;
    }
    mine[i] = NOTHING;
    if (found_out)
        found_out[at + i] = found;
    if (values_out && found && !stores && what != CODE_ERASE)
        values_out[at + i] = value_out;
    if (outcomes)
        outcomes[at + i] = OUTCOME_DONE;
}
