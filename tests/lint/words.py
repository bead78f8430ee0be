#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: words.py [DIR]

Checks the language of comments and pages below DIR (the repository). Prints each offence with its rule:
  width     a line of code has at most 120 columns, of a public header 100, of a page 140 (tables and code blocks: any)
  opener    a comment does not begin with Of, The same, What, And, Those ...: it would depend on the comment above it
  word      a comment or page uses the word of the field, not one of the list below
  relative  a noun, not "what is", "of which", "that of", "those that"
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
    r"so many": "n, the count",
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
    """The comments of a source: the line where each begins, and its words."""
    for found in re.finditer(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//([^\n]*)', text, re.DOTALL):
        body = found[1] if found[1] is not None else found[2]
        if body is not None:
            yield text.count("\n", 0, found.start()) + 1, " ".join(line.strip(" *-\t") for line in body.split("\n")).strip()


def prose_of(text):
    """The lines of a page outside of code blocks, without code and addresses."""
    blocks = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blocks.split("\n"), 1):
        if not line.startswith("#"):
            yield number, re.sub(r"`[^`]*`|\[([^]]*)\]\([^)]*\)", r"\1", line)


def check_words(path, line, words):
    for pattern, instead in WORD.items():
        for found in pattern.finditer(words):
            offence(path, line, "word", f"\"{found[0]}\" ({instead}): ... {words[max(0, found.start() - 40):found.end() + 40]}")
    for found in RELATIVE.finditer(words):
        offence(path, line, "relative", f"... {words[max(0, found.start() - 40):found.end() + 40]}")


def check_source(path, text):
    most = 100 if path.startswith("include/") else 120
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > most:
            offence(path, number, f"width {len(line)} over {most}", line)
    for number, words in comments_of(text):
        if OPENER.match(words):
            offence(path, number, "opener", words[:80])
        check_words(path, number, words)


def check_page(path, text):
    in_block = False
    for number, line in enumerate(text.split("\n"), 1):
        in_block ^= line.lstrip().startswith("```")
        if len(line) > 140 and not in_block and not line.startswith(("|", "!", "```")):
            offence(path, number, f"width {len(line)} over 140", line)
    for number, words in prose_of(text):
        check_words(path, number, words)


def main(root):
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout
    for path in listed.split("\n"):
        whole = os.path.join(root, path)
        if not path or path.startswith(NOT_OURS) or not os.path.isfile(whole):
            continue
        check = check_source if path.endswith(SOURCES) else check_page if path.endswith((".md", "help.txt")) else None
        if check:
            with open(whole, encoding="utf-8") as file:
                check(path, file.read())
    for entry in KEPT:
        if entry not in used:
            offences.append(f"tests/lint/words.py: KEPT has {entry}, which matches nothing")
    print("\n".join(offences) or "the language is plain")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ROOT))
