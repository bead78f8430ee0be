#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: loops.py [DIR]

Holds that no counter of a kernel's loop wraps, however near a count is to ORDO_MAX_COUNT = 2^32 - 2^20 (array.h), and that each loop
comes to its end. Looks at every `for` and `while` below DIR (cl/) as it is written, in macros too. A `for` is sound if
  wide       its counter has 64 bits: no count and no number of work-items comes near;
  by one     its counter goes up or down by one to a bound that it meets: `<`, `>`, `!=`, not `<=` or `>= 0`;
  by little  its counter has 32 bits and goes by what is constant when the kernel is compiled (capitals, numbers), which is below
             2^20, to a bound that is an element's number: there is so much room above ORDO_MAX_COUNT;
  halved     its counter is halved, or loses a bit each time;
  doubled    its counter is doubled up to a constant, or it is a distance within a group;
  careful    it is the loop of RUN_EACH (dict/each.cl), which asks before it adds, and which tests/primitive/group.c runs;
  few        it counts levels, bits or neighbours (FEW);
  linked     it goes from node to node by links, which the invariants of structures bound;
  bounded    BOUNDED says why its sums stay below 2^32 for another reason.
A counter of 32 bits must not be compared with what has 64, which it may never reach. Halving an interval by
`(low + high) / 2` wraps too. A `while` is sound if
  narrowed   it halves an interval, and each half is less than the whole: where `low` becomes the middle, that is rounded up;
  doubled    its step is doubled as it is gone by: 2^31 of them are behind where it is 2^31, and more is not there. What lies a step
             further may be behind the greatest number;
  by one     a counter goes by one to a bound that ends the loop;
  bounded    ENDS says why it ends.
Prints what breaks this, a line each; exit status 1 if anything does.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# (file, counter, bound): why no sum comes to 2^32. Strides are of launches of at most 2^24 work-items.
BOUNDED = {
    ("dict/apply_seek.cl", "g", "n_groups"): "below 0 lies past n_groups, where it ends: groups are elements, and there is room above",
    ("dict/ltree/split.cl", "i", "(n)"): "leaves and nodes, each of which has a number below 2^30",
    ("dict/trie/hamt.cl", "(low + high) / 2", ""): "keys of a node",
    ("dict/hash/batch.cl", "p", "1u << (table).bits"): "at most 2^24 partitions",
    ("dict/runs/runs.cl", "run", ""): "runs, of which a set has at most 16",
    ("group/merge.cl", "(low + high) / 2", ""): "of a tile in local memory",
    ("primitive/compact.cl", "i", ""): "of a tile: ends with what it keeps",
    ("primitive/index.cl", "b", "blocks"): "a block has 32 keys or more: at most 2^27",
    ("primitive/index.cl", "e", "entries"): "an entry for 8 keys, and a seventh more: below 2^30",
    ("primitive/search_body.cl", "tile", "tiles"): "no more than 2^24 groups (GROUPS_MAX), and room above",
    ("primitive/search_index_step.cl", "tile", "tiles"): "the same",
    ("primitive/search_index_team.cl", "tile", "tiles"): "the same",
    ("primitive/self_test_atomics.cl", "look", ""): "ends at CHAIN_PATIENCE",
    ("primitive/strings.cl", "i", "end"): "goes to the end of a segment, at most `end`",
    ("primitive/strings.cl", "i", "r->end"): "goes to the end of a segment, at most `count`",
    ("primitive/top.cl", "tile", "tiles"): "tiles have 64 elements or more: below 2^26",
    ("group/hidden.cl", "(low + high) / 2", ""): "blocks of 128 elements: below 2^25",
    ("group/hidden.cl", "word", "(end - 1) >> 5"): "words of 32 elements: below 2^27",
    ("group/hidden.cl", "word", ""): "the same; ends at a bit that is known to be there",
}

# (file, condition): why a `while` ends, and nothing in it wraps.
ENDS = {
    ("dict/hash/placement.cl", "hash_proposals_of(word) < HASH_PROPOSALS_MAX"): "each round is one more proposal",
    ("dict/hash/filter.cl", "changed->n"): "a bucket is read again only after a change of its filter: at most once for each change of the bucket",
    ("dict/hash/update_sparse.cl", "hash_proposals_of(word) < HASH_PROPOSALS_MAX"): "the same",
    ("dict/hash/update_small.cl", "word"): "repeats only if another work-item has raised a word of the bucket meanwhile",
    ("dict/ltree/levels.cl", "*ltree_right(ltree_line(tree, ltree_root_level(root), ltree_root_node(root))) != LTREE_NONE"):
        "each level has fewer nodes than that below",
    ("primitive/merge_updates.cl", "low < high"): "an interval of keys, quartered: each of the three places is below its end",
    ("dict/runs/runs.cl", "key_before(least, greatest)"): "an interval of keys, halved: the middle is below its end",
    ("dict/trie/hamt.cl", "n > 1"): "a leaf's keys, halved",
    ("dict/trie/hamt_merge.cl", "rest.at < rest.all"): "each part has an element at least, its first",
    ("dict/trie/hamt_small.cl", "rest.at < rest.all"): "the same",
    ("dict/trie/hamt_mix.cl", "rank - to->record.before >= to->count"): "the element is in one of the leaves that the batch's record counts",
    ("dict/trie/roaring_read.cl", "rank < end"): "each container has a key at least: they were counted before",
    ("dict/trie/roaring_write.cl", "p->trie->leaves[leaf].before < p->stop"): "the end record counts all keys",
    ("dict/trie/roaring_write.cl", "at < all"): "each run of bits ends behind its first bit, and the next one begins there or later",
    ("dict/trie/roaring_write.cl", "e < p->end"): "each run has a key at least",
    ("dict/trie/roaring_read.cl", "cursor->bits == 0"): "a bitmap has a bit for each key that is asked for: they were counted before",
    ("group/lookback.cl", "next > 0"): "goes down by the tiles that were taken; waits for those before only, which have begun",
    ("primitive/merge.cl", "a < tile.a_count && b < tile.b_count"): "numbers of a tile; each round uses up what is left of one part at least",
    ("primitive/merge.cl", "subgroup_any(search.low < search.high)"): "each vote leaves one part in TEAM_WIDTH + 1",
    ("primitive/sort_histogram.cl", "searches"): "its number of digits goes up by one, and it ends at three",
    ("primitive/string_search.cl", "string_any(more)"): "each round cuts a query by a byte at least, or ends its search",
    ("primitive/string_search.cl", "string_any(same < most)"): "each round compares another part of the strings",
    ("primitive/sort_local.cl", "!before"): "bit 0 of word 0 is 1, because a segment begins at element 0",
    ("primitive/sort_local.cl", "!after && ++last < LOCAL_TILE / 32"): "`last` goes up by one each round",
    ("primitive/sort_local.cl", "end < count && key_same(key_above(key_bits(keys[end]), local_bit), segment)"):
        "end grows in each round: by a step that is less than the rest, or to count. The sum of the steps before 2^31 is about 2^31",
    ("primitive/strings.cl", "f->n_parts > 0"): "parts of a part have fewer rows, or begin later in their strings",
    ("shared/index.h", "index_units(blocks, line_depth, level) > 1"): "at most 29 levels",
    ("group/hidden.cl", "bits == 0 && ++word < block_end && word * 32 < count"): "words of 32 elements: below 2^27",
}

# What is far from the greatest number: levels, nodes of a chain, rounds of a sort in a group, numbers in a group.
SMALL = ("chain", "min(lid, m - 1)", "n_rounds", "tile->chain[r]", "top")
# Counters of levels, of bits of a key, of a node's neighbours, whatever their bounds.
FEW = ("above", "bit", "depth", "length", "level")

LOOP = re.compile(r"\bfor\s*\(")
WHILE = re.compile(r"\bwhile\s*\(")
DECLARED = re.compile(r"^(?:const )?(u?int|u?long|size_t|uchar|ushort|type|team_mask|__\w+ .*\*)\s*(\w+)\s*=")
WIDE = ("ulong", "long", "size_t")
CONSTANT = re.compile(r"^[A-Z0-9_ux\s+*/%()<>&~-]+$")
STRIDES = re.compile(r"get_(global|local)_size|get_num_groups|BLINK_TEAMS")


def behind(text, at, opening="(", closing=")"):
    """The place behind what closes what was opened before `at`."""
    depth = 1
    while depth and at < len(text):
        depth += {opening: 1, closing: -1}.get(text[at], 0)
        at += 1
    return at


def headers(text):
    """(line, the three parts, what stands before) of each `for`, comments and continuations left out."""
    for m in LOOP.finditer(text):
        at = behind(text, m.end())
        parts = [" ".join(p.split()) for p in text[m.end():at - 1].split(";")]
        if len(parts) == 3:
            yield text.count("\n", 0, m.start()) + 1, parts, text[:m.start()]


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"\\\n", " \n", text)


def known(file, name, cond):
    bounds = [bound for _, bound in compared(name, cond)] or [""]
    return any((file, name, bound) in BOUNDED for bound in bounds)


def function_of(before):
    """What is written of the function, or the macro, that a loop is in."""
    return before[max(before.rfind("\n}"), before.rfind("\n#define"), 0):]


def type_of(name, before):
    """The type that `name` was last declared with, or None."""
    found = re.findall(r"\b(uint|ulong|int|long|size_t|uchar|ushort|team_mask)\s*(?:\w+(?:\[\w+\])?\s*(?:=[^;,]*)?,\s*)*" + name + r"\b", before)
    return found[-1] if found else None


def constant(text):
    return bool(CONSTANT.match(text)) and not STRIDES.search(text)


def steps_of(text):
    """The parts of a step that change a counter: (name, operator, by)."""
    for part in re.split(r",(?![^()]*\))", text):
        part = part.strip()
        if m := re.match(r"^(?:(\w+)(\+\+|--)|(\+\+|--)(\w+))$", part):
            yield m[1] or m[4], (m[2] or m[3])[0], "1"
        elif m := re.match(r"^(\w+)\s*(\+|-|\*|/|&|>>|<<)?=\s*(.*)$", part):
            yield m[1], m[2] or "=", m[3]


def compared(name, cond):
    """The comparisons of `name` with something: (operator, with what)."""
    for part in re.split(r"&&|\|\|", cond):
        if m := re.search(r"(?:^|[(\s])" + name + r"\s*(<=|<|>=|>|!=)\s*(.+)$", part.strip()):
            yield m[1], m[2].strip()


def wrong_step(name, op, by, parts):
    """What is wrong with a counter of 32 bits, or None."""
    cond, bounds = parts[1], list(compared(name, parts[1]))
    if op in ("/", "&", ">>") or (op == "=" and re.search(r"/ \w+ \+ 1$|\? \(n\) :|^\S+ / 2$", by)):
        return None
    if not bounds:
        downwards = op == "-" or "--" in cond
        meets = re.search(r"\b" + name + r"\b", cond) and downwards
        return None if meets or op == "=" or re.search(name + r"\s*%", cond) or not cond else \
            f"nothing says where {name} ends"
    for compare, bound in bounds:
        if compare == "<=" and not (constant(bound) or by == "1" and bound in SMALL):
            return f"{name} <= {bound} holds for ever where that is the greatest number"
        if compare == ">=" and bound == "0":
            return f"{name} >= 0 always holds"
    if by == "1" or op == "-":
        return None
    if op == "+" and (constant(by.replace("##type", "")) or by == "per_piece"):
        return None
    if op == "*":
        return None if all(constant(b) for _, b in bounds) else f"{name} is doubled up to {bounds[0][1]}"
    return f"{name} goes by {by} to {bounds[0][1]}, and may wrap"


def wrong_width(name, cond, function):
    for _, bound in compared(name, cond):
        bound = re.sub(r"min\(\(ulong\) [A-Z_]+, [^()]*\)", "0", bound) # at most the constant
        plain = re.sub(r"\(\s*(uint|int)\s*\)\s*(\w+|\([^()]*\))", "0", bound)
        if "ulong" in plain:
            return f"{name} has 32 bits, and is compared with 64: {bound}"
        for other in re.findall(r"(?<![\w.>])([a-z]\w*)\b(?!\s*(?:\(|->|\.|\[))", plain):
            if type_of(other, function) in WIDE:
                return f"{name} has 32 bits, and {other} 64"
    return None


# ---- while -----------------------------------------------------------------------------------------------------------

def whiles(text):
    """(line, condition, body, the rest of the function) of each `while`."""
    for m in WHILE.finditer(text):
        at = behind(text, m.end())
        rest = text[at:].lstrip()
        end = behind(rest, 1, "{", "}") if rest.startswith("{") else rest.find(";") + 1
        body, after = rest[:end], rest[end:]
        yield (text.count("\n", 0, m.start()) + 1, " ".join(text[m.end():at - 1].split()), " ".join(body.split()),
               after[:after.find("\n}")])


def set_to(name, body):
    """What a body sets `name` to, but for itself."""
    values = set()
    for value in re.findall(r"(?<![\w.>\]])" + re.escape(name) + r" = ([^;]+);", body):
        values |= set(re.sub(r"^.* \? ", "", value).split(" : ")) if " ? " in value else {value}
    return values - {name}


def wrong_interval(low, apart, high, body):
    """What is wrong with the halving of an interval; None if it is sound; "" if it is none."""
    l, h = re.escape(low), re.escape(high)
    m = re.search(r"(\w+) = (?:" + l + r" \+ \(" + h + " - " + l + r"( \+ 1)?\)|\(" + l + r" \+ " + h + r"\)) / 2;", body)
    if not m:
        return ""
    middle, up = m[1], bool(m[2])
    want = (f"{middle}", f"{middle}") if apart else (f"{middle}", f"{middle} - 1") if up else (f"{middle} + 1", f"{middle}")
    if (set_to(low, body), set_to(high, body)) == ({want[0]}, {want[1]}):
        return None
    return f"{low} to {high} may never become less: {low} becomes {' '.join(set_to(low, body))}, {high} {' '.join(set_to(high, body))}"


def goes_by_one(cond, body):
    for part in cond.split(" && "):
        m = re.match(r"^(\w+) (<|>) ", part)
        if m and (m[1] + ("++" if m[2] == "<" else "--") in body or ("++" if m[2] == "<" else "--") + m[1] in body):
            return True
    m = re.match(r"^subgroup_any\((\w+) > 0\)$", cond)
    return bool(m) and f"{m[1]} = {m[1]} > 0 ? {m[1]} - 1 : 0;" in body


def wrong_while(file, cond, body, after):
    if cond == "0" or (file, cond) in ENDS or goes_by_one(cond, body):
        return None
    if m := re.match(r"^([\w.]+)( \+ 1)? < ([\w.]+)$", cond):
        wrong = wrong_interval(m[1], m[2], m[3], body)
        if wrong != "":
            return wrong
    if m := re.match(r"^(\w+) <=? [\w.]+ - (\w+) && ", cond):
        step, at = m[1], m[2]
        if f"{at} += {step};" in body and f"{step} *= 2;" in body:
            return f"{at} + {step} may wrap behind the loop" if re.search(rf"\b{at} \+ {step}\b", after) else None
    return f"nothing says that this ends: while ({cond})"


def look_at(file, text):
    """Complaints about a file's loops, and how many it has."""
    text, found, loops = without_comments(text), [], 0
    for line, cond, body, after in whiles(text):
        loops += 1
        if complaint := wrong_while(file, cond, body, after):
            found.append((line, complaint))
    for m in re.finditer(r"\((low \+ high|high \+ low|first \+ end|begin \+ end)\) / 2", text):
        if (file, m[0], "") not in BOUNDED:
            found.append((text.count("\n", 0, m.start()) + 1, f"{m[0]} may wrap"))
    for line, parts, before in headers(text):
        loops += 1
        function = function_of(before)
        declared = DECLARED.match(parts[0])
        if file == "dict/each.cl" and "##_stride" in parts[0]:
            continue
        for name, op, by in steps_of(parts[2]):
            kind = declared[1] if declared else type_of(name, function + parts[0])
            if kind in WIDE or name in FEW or (op == "=" and "_right(" in by) or known(file, name, parts[1]):
                continue
            if kind is None and op != "=":
                found.append((line, f"{name} has no type that can be seen"))
            for complaint in (wrong_step(name, op, by, parts), wrong_width(name, parts[1], function)):
                if complaint:
                    found.append((line, complaint))
    return found, loops


# Each of these must be found, else the check is none.
PLANTED = (
    "for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {}",
    "for (uint i = 0; i <= n; i++) {}",
    "for (uint i = n; i >= 0; i--) {}",
    "for (uint i = 0; i < n; i += step) {}",
    "for (uint i = 1; i < n; i *= 2) {}",
    "const ulong most = 5; for (uint i = 0; i < most; i++) {}",
    "for (int i = 0; i < (ulong) n * 4; i++) {}",
    "x = (low + high) / 2;",
    "while (low < high) { const uint m = low + (high - low) / 2; if (x[m] < y) low = m; else high = m - 1; }",
    "while (low + 1 < high) { const uint m = low + (high - low) / 2; low = a ? m : low; high = a ? high : m - 1; }",
    "while (i < n) { i += step; }",
    "while (step < n - at && x[at + step] < y) { step *= 2; }",
    "while (step < n - at && x[at + step] < y) { at += step; step *= 2; } return min(at + step, n);\n}",
    "while (i < n) i--;",
)
SOUND = (
    "for (uint i = 0; i < n; i++) {}",
    "for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {}",
    "for (uint i = lid; i < n; i += GROUP) {}",
    "for (uint level = n; level-- > 0;) {}",
    "while (low < high) { const uint m = low + (high - low) / 2; if (x[m] < y) low = m + 1; else high = m; }",
    "while (a.low < a.high) { const uint m = a.low + (a.high - a.low + 1) / 2; a.low = b ? m : a.low; a.high = b ? a.high : m - 1; }",
    "while (step < n - at && x[at + step] < y) { at += step; step *= 2; } return at + min(step, n - at);\n}",
    "while (bits == 0 && i > first) bits = x[--i];",
)


def main():
    for text in PLANTED:
        if not look_at("planted", text)[0]:
            sys.exit(f"loops.py: does not find what is wrong with: {text}")
    for text in SOUND:
        if look_at("planted", text)[0]:
            sys.exit(f"loops.py: finds something wrong with: {text}")
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "cl")
    wrong = loops = 0
    for folder, _, names in sorted(os.walk(top)):
        for name in sorted(n for n in names if n.endswith((".cl", ".h"))):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                found, here = look_at(os.path.relpath(path, top), f.read())
            loops += here
            for line, complaint in found:
                wrong += 1
                print(f"{os.path.relpath(path, ROOT)}:{line}: {complaint}")
    if loops < 100:
        sys.exit(f"loops.py: {loops} loops below {top}: not the kernels")
    print(f"{loops} loops, {wrong} that may wrap")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
