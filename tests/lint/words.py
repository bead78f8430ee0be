#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: words.py [DIR]

Checks the language of comments and pages below DIR (the repository). Prints each offence with its file, line and rule:
  width     a line of code has at most 120 columns, of a public header or a page 100 (tables, pictures and code blocks: any)
  opener    a comment does not begin with Of, The same, What, And, Those ...: it would depend on the comment above it
  word      a comment or page uses the word of the field, not one of the list below
  relative  a noun, not "what is", "of which", "that of", "those that"
  header    the comment of a public call has at most 12 lines, of a call that creates a structure 20, with each of the sections
            Cost, Memory, Blocking, Errors, Concurrency at most once and in this order
Exit status 1 if there is an offence. KEPT lists sentences that may stay, and each of its entries must match.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCES = (".c", ".h", ".cl", ".cpp", ".hpp", ".cu")
NOT_OURS = ("bench/results/", "tests/lint/words.py", "LICENSE")

OPENER = re.compile(r"^(Of|The same|Likewise|And|As in|As by|What|Who|Whose|So many|So is|Or|Those|These|Such|That of|With those)\b")

# The word to avoid, and the word of the field.
WORDS = {
    r"side by side": "concurrent",
    r"tells? of|is told|are told": "report, pass, return",
    r"complain(s|ed)?": "report",
    r"stretch(es)?": "segment, slice",
    r"beside (it|them)": "next to, compared with, in addition to",
    r"lets? go of|given? back": "free, release",
    r"go on without": "fall back",
    r"torture|sabotage": "fault injection",
    r"yardsticks?": "baseline",
    r"doubts?": "poisoned, failed",
    r"rehears\w+|stand-in": "dry run, dry-run device",
    r"so many(?! \w+(?: \w+)? that)": "n, the count; 'so many keys that ...' is plain",
    r"(it )?comes to nothing|it comes to": "say what happens",
    r"made anew|built anew": "rebuilt",
    r"come together": "say what happens",
    r"by themselves|of its own": "say whose",
    r"whoever|wherefrom|whereof": "name the subject",
    r"dawdle|mischance|quarrel|glance|peek|poke": "the term of the field",
}
WORD = {re.compile(rf"\b({word})\b", re.I): instead for word, instead in WORDS.items()}
RELATIVE = re.compile(r"\b(what (is|was|are|were|it|they|has|have|had|comes|lies|stands|takes|others?|belongs)"
                      r"|of what|of which|by which|to which|that of|those that|those of|it is that)\b", re.I)

# (file, part of the line): why it may stay.
KEPT = {}

used = set()
offences = []


def offence(path, line, rule, text):
    for place, part in KEPT:
        if place == path and part in text:
            used.add((place, part))
            return
    offences.append(f"{path}:{line}: {rule}: {text.strip()}")


def comments_of(text):
    """The comments of a source: the line where each begins, and its lines."""
    for found in re.finditer(r"'(?:\\.|[^'\\\n])'" + r'|"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//([^\n]*)', text, re.DOTALL):
        body = found[1] if found[1] is not None else found[2]
        if body is not None:
            yield text.count("\n", 0, found.start()) + 1, [line.strip(" *-\t") for line in body.split("\n")]


def prose_of(text):
    """The lines of a page outside of code blocks, without code and addresses."""
    blocks = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blocks.split("\n"), 1):
        if not line.startswith("#"):
            yield number, re.sub(r"`[^`]*`|\[([^]]*)\]\([^)]*\)", r"\1", line)


def check_words(path, first, lines):
    """Checks lines of text, the first of which is line `first` of the file, as one text."""
    words = " ".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def report(rule, found, instead):
        line = first + sum(1 for start in starts[1:] if start <= found.start())
        offence(path, line, rule, f"{instead}... {words[max(0, found.start() - 40):found.end() + 40].strip()}")

    for pattern, instead in WORD.items():
        for found in pattern.finditer(words):
            report("word", found, f"\"{found[0]}\" ({instead}): ")
    for found in RELATIVE.finditer(words):
        report("relative", found, "")


def check_source(path, text):
    most = 100 if path.startswith("include/") else 120
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > most:
            offence(path, number, f"width {len(line)} over {most}", line)
    for number, lines in comments_of(text):
        words = " ".join(lines).strip()
        if OPENER.match(words):
            offence(path, number, "opener", words[:80])
        check_words(path, number, lines)


SECTIONS = ["Cost", "Memory", "Blocking", "Errors", "Concurrency"]


def check_header(path, text):
    """Checks the comment before each public call."""
    for found in re.finditer(r"^/\*(?! -)((?:[^*]|\*(?!/))*)\*/\n(?:ORDO_API|static inline)[^;{]*?\b(ordo_\w+)\(", text, re.MULTILINE):
        number, lines = text.count("\n", 0, found.start()) + 1, found[1].split("\n")
        most = 20 if found[2].endswith("_create") else 12
        if len(lines) > most:
            offence(path, number, "header", f"{len(lines)} lines over {most}: {found[2]}")
        sections = [name for line in lines for name in re.findall(r"^ \* (\w+): ", line) if name in SECTIONS]
        if sections != [name for name in SECTIONS if name in sections]:
            offence(path, number, "header", f"sections {', '.join(sections)}: {found[2]}")


def check_page(path, text):
    in_block = False
    for number, line in enumerate(text.split("\n"), 1):
        in_block ^= line.lstrip().startswith("```")
        if len(line) > 100 and not in_block and not line.lstrip().startswith(("|", "!", "<", "[![", "```")):
            offence(path, number, f"width {len(line)} over 100", line)
    for number, words in prose_of(text):
        check_words(path, number, [words])


def main(root):
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    for path in listed.split("\n"):
        whole = os.path.join(root, path)
        if not path or path.startswith(NOT_OURS) or not os.path.isfile(whole):
            continue
        check = check_source if path.endswith(SOURCES) else check_page if path.endswith((".md", "help.txt")) else None
        if check:
            with open(whole, encoding="utf-8") as file:
                text = file.read()
            check(path, text)
            if path.startswith("include/ordo/"):
                check_header(path, text)
    for entry in KEPT:
        if entry not in used:
            offences.append(f"tests/lint/words.py: KEPT has {entry}, which matches nothing")
    print("\n".join(offences + [f"{len(offences)} offences"]) if offences else "the language is plain")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ROOT))
