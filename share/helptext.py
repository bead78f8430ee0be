# SPDX-License-Identifier: Apache-2.0
"""Reads FOLDER/TOOL/help.txt, which a tool prints for --help."""
import os
import re
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass
class Option:
    names: list  # with their dashes
    argument: str  # "LIST"; "" if it takes none
    text: str


@dataclass
class Help:
    usage: str = ""
    about: list = field(default_factory=list)  # paragraphs
    groups: list = field(default_factory=list)  # (title or "", [Option])
    examples: list = field(default_factory=list)
    exit_status: str = ""

    def options(self):
        return [option for _, options in self.groups for option in options]


OPTION = re.compile(r"^  (?:(-\w), |    )(--[\w-]+(?:, --[\w-]+)*)(?: ([A-Z]+))?(?: +(\S.*))?$")


def tool_of(path):
    """The name of the tool of this file."""
    return "ordo-" + os.path.basename(os.path.dirname(os.path.abspath(path)))


def read_options(lines):
    options = []
    for line in lines:
        match = OPTION.match(line)
        if match:
            letter, names, argument, text = match.groups()
            options.append(Option(([letter] if letter else []) + names.split(", "), argument or "", text or ""))
        elif options and line.startswith("        "):
            options[-1].text += " " + line.strip()
        else:
            raise SystemExit(f"no option: {line}")
    return options


def read_help(path):
    help_ = Help()
    with open(path, encoding="utf-8") as file:
        blocks = [block.split("\n") for block in file.read().strip("\n").split("\n\n")]
    for lines in blocks:
        if lines[0].startswith("Usage: "):
            help_.usage = lines.pop(0).removeprefix("Usage: ")
            help_.about.append(" ".join(lines))
        elif lines[0] == "Examples:":
            help_.examples = [line.strip() for line in lines[1:]]
        elif lines[0].startswith("Exit status: "):
            help_.exit_status = " ".join(lines).removeprefix("Exit status: ")
        elif any(OPTION.match(line) for line in lines):
            title = lines.pop(0).removesuffix(":") if lines[0].endswith(":") else ""
            help_.groups.append((title, read_options(lines)))
        else:
            help_.about.append(" ".join(line.strip() for line in lines))
    for option in help_.options():
        if "--version" in option.names or "--help" in option.names:
            option.text = option.text or "print that and end"
    return help_


def choices(option):
    """The words of an option's text after "of": "of sort, merge (arrays); fillrandom (all)". [] without words."""
    if option.names[-1] == "--device":
        return ["gpu", "cpu"] + (["all"] if option.argument == "LIST" else [])
    names = []
    if option.text.startswith("of "):
        text = re.sub(r"\([^)]*\)", "", option.text.removeprefix("of ")).split(":")[0]
        for part in text.split(";"):
            words = [word.strip() for word in part.split(",")]
            plain = list(takewhile(lambda word: re.fullmatch(r"[\w+-]+", word), words))
            if len(plain) < len(words) and not words[len(plain)].startswith("separated"):
                break  # a sentence, not a list
            names += plain
    return names
