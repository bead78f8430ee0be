#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes manual pages: of a tool from TOOL/help.txt, of a public header from its comments.

    pages.py tools VERSION OUTDIR HELP.TXT...           a page each
    pages.py headers VERSION README OUTDIR HEADER...    a page each, and one for each name in it
    pages.py names HEADER...                            prints the files that the latter writes
    pages.py readme README OUT                          the README without links to files that are not installed
"""
import os
import re
import sys
import textwrap

sys.dont_write_bytecode = True  # keeps the source folders clean
from helptext import read_help, tool_of

WIDTH = 72  # of code, which is not filled


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def head(name, section, version, what):
    return [f'.TH {name.upper()} {section} "" "Ordo {version}" "{what}"', ".nh", ".ad l"]


def summary(sentence):
    """The first sentence, in the form that follows a name."""
    first = re.split(r"[.:](?:\s|$)", sentence.removeprefix("Ordo: "))[0]
    return first if re.match(r"[A-Z]{2}", first) else first[0].lower() + first[1:]


# ---- tools


def tool_page(version, path, name):
    help_ = read_help(path)
    out = head(name, 1, version, "Ordo's tools")
    out += [".SH NAME", f"{name} \\- {escaped(summary(help_.about[0]))}"]
    out += [".SH SYNOPSIS", f".B {name}", escaped(help_.usage.removeprefix(name).strip())]
    out += [".SH DESCRIPTION"]
    for paragraph in help_.about:
        out += [".PP", escaped(paragraph)]
    out += [".SH OPTIONS"]
    for title, options in help_.groups:
        out += [f'.SS "{escaped(title)}"'] if title else []
        for option in options:
            names = ", ".join(f"\\fB{escaped(n)}\\fR" for n in option.names)
            out += [".TP", names + (f" \\fI{option.argument}\\fR" if option.argument else ""), escaped(option.text)]
    out += [".SH EXIT STATUS", escaped(help_.exit_status)]
    if help_.examples:
        out += [".SH EXAMPLES", ".nf"] + [escaped(line) for line in help_.examples] + [".fi"]
    out += [".SH ENVIRONMENT", "See", ".BR ordo (7).", ".SH SEE ALSO"]
    others = [n for n in ("ordo-bench", "ordo-demo", "ordo-info", "ordo-tune") if n != name]
    out += [f".BR {escaped(n)} (1)," for n in others] + [".BR ordo (7)"]
    return out


# ---- headers: what stands in a file, in order


def strip_comment(text):
    """The lines of a comment without its marks."""
    lines = text.strip().removeprefix("/*").removesuffix("*/").split("\n")
    return [re.sub(r"^ ?", "", re.sub(r"^ \* ?", " ", line)).rstrip() for line in lines]


COMMENT, CODE = "comment", "code"


def pieces(path):
    """Comments and blocks of code, without text for the compiler only. Code ends at a blank line or at a comment that begins
    a line."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r'#ifdef __cplusplus\n(extern "C" \{|\})\n#endif\n', "", text)
    text = re.sub(r"#if defined\(_WIN32\).*?#endif\n", "", text, flags=re.S)
    text = re.sub(r"#ifndef CL_TARGET.*?#endif\n", "", text, flags=re.S)
    found, code, lines = [], [], text.split("\n")

    def end_code():
        if code:
            found.append((CODE, "\n".join(code)))
            code.clear()

    depth = 0  # inside of braces blank lines and comments belong to the code
    i = 0
    while i < len(lines):
        line = lines[i]
        if depth == 0 and line.startswith("/*"):
            end_code()
            comment = [line]
            while "*/" not in lines[i]:
                i += 1
                comment.append(lines[i])
            found.append((COMMENT, "\n".join(comment)))
        elif depth == 0 and not line.strip():
            end_code()
        elif not re.match(r"#(include|ifndef ORDO_\w+_H|define ORDO_\w+_H|endif|ifndef __cplusplus|ifdef __cplusplus)", line):
            if depth == 0 and (line.startswith("static inline") or
                               (line.startswith("ORDO_API") and code and not code[0].startswith("ORDO_API"))):
                end_code()
            code.append(line)
            depth += line.count("{") - line.count("}")
        i += 1
    end_code()
    return found


NAME = re.compile(
    r"^ORDO_API [^;(]*?\b(ordo_\w+)\(|^static inline .*?\b(ordo_\w+)\(|^#define (ordo_\w+)\(|^(?:typedef )?(?:struct|enum) (ordo_\w+) \{"
    r"|^typedef (?:struct|void|enum) .*?\b\(?\*?(ordo_\w+)\)?(?:;|\()|^\} (ordo_\w+);",
    re.M,
)


def page_of(path):
    stem = os.path.basename(path).removesuffix(".h")
    return ("ordo", 7) if stem == "ordo" else (f"ordo_{stem}", 3)


def names_of(text):
    """The names that a block of code declares."""
    return list(dict.fromkeys(next(group for group in match.groups() if group) for match in NAME.finditer(text)))


def names_in(path):
    """The names that a header declares, without the name of its page."""
    names = [name for kind, text in pieces(path) if kind == CODE for name in names_of(text)]
    return [name for name in dict.fromkeys(names) if name != page_of(path)[0]]


def sections(path):
    """The pieces after the first two, licence and introduction, as (comment, code): each block of code with the comment before it;
    "" for a missing part."""
    comment = ""
    for kind, text in pieces(path)[2:]:
        if kind == CODE:
            yield comment, text
            comment = ""
            continue
        if comment:
            yield comment, ""
        comment = text
    if comment:
        yield comment, ""


# ---- headers: as pages


def broken(line):
    """A line of code in WIDTH columns, broken after commas, or else where there is a space."""
    indent = " " * (len(line) - len(line.lstrip()))
    tied = re.sub(r"(?<!,) ", "\0", line.strip())  # what stands between two commas stays together, if it fits
    lines = textwrap.wrap(tied, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False,
                          break_on_hyphens=False)
    for tied in lines:
        plain = tied.replace("\0", " ")
        yield from textwrap.wrap(plain, WIDTH, subsequent_indent=indent + "    ") if len(plain) > WIDTH else [plain]


def code_lines(text):
    """Code in WIDTH columns: prototypes on lines of their own, and comments moved below their subjects."""
    if re.match(r"ORDO_API|static inline", text):
        text = re.sub(r"\n\{.*?\n\}", ";", text, flags=re.S)
        out = []
        for call in re.split(r"(?<=;)\n", text):
            call = re.sub(r"^(ORDO_API|static inline) ", "", " ".join(call.split()))
            out += broken(call)
        return out
    if text.startswith("#define") or text.startswith("#ifndef"):
        return [part for line in text.split("\n") for part in broken(re.sub(r"\s*\\$", "", line))]
    text = re.sub(r"/\*.*?\*/", lambda comment: " ".join(re.sub(r"\n\s*\* ", " ", comment[0]).split()), text, flags=re.S)
    out = []
    for line in text.split("\n"):
        code, _, comment = line.partition("/*")
        comment = comment.removesuffix("*/").strip()
        indent = code if not code.strip() else "        "
        out += broken(code.rstrip()) if code.strip() else []
        out += textwrap.wrap(comment, WIDTH, initial_indent=indent + "// ", subsequent_indent=indent + "// ")
    return out


def prose(lines):
    """A comment as paragraphs: filled, but for code; "Cost: text" and "name  text" become tagged ones."""
    out, hanging, base, above = [".PP"], None, 0, ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        section = re.match(r"^( *)(Cost|Memory|Blocking|Errors|Concurrency): +(\S.*)$", line)
        tagged = section or re.match(r"^( *)(\S+(?: \S+){0,2}?)(?:  +)(\S.*)$", line)
        if not line.strip():
            out += [".PP"]
            hanging = None
        elif tagged and len(tagged[2]) <= 30 and (hanging is None or indent < hanging):
            out += [".TP", f"\\fB{escaped(tagged[2])}\\fR", escaped(tagged[3])]
            hanging = indent + 2 if section else min(tagged.start(3), indent + 4)
        elif hanging is not None and indent < hanging:
            out += [".PP", escaped(line.strip())]
            hanging = None
        elif hanging is None and indent >= 4 and (not above or above.endswith(":") or out[-1] == ".fi"):
            if out[-1] == ".fi":
                out.pop()
            else:
                out += [".PP", ".nf"]
                base = indent
            code, slashes, comment = line[base:].partition("  // ")
            if slashes and len(line) - base > WIDTH:
                code = [" " * (len(code) - len(code.lstrip())) + "// " + comment, code.rstrip()]
            else:
                code = [line[base:]]
            out += [escaped(part) for whole in code for part in broken(whole)] + [".fi"]
        else:
            out.append(escaped(line.strip()))
        above = line.strip()
    return out


def introduction(lines):
    """The first comment of a header: its description, and its example as a section."""
    at = next((i for i, line in enumerate(lines) if line.startswith("Example:")), None)
    if at is None:
        return prose(lines)
    title = lines[at].removeprefix("Example:").strip()
    return prose(lines[:at]) + [".SH EXAMPLE"] + prose([title[:1].upper() + title[1:]] + lines[at + 1:])


def plain_text(line):
    """A line of Markdown without links and code marks, bold where it is bold."""
    line = escaped(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line.replace("`", "")))
    return re.sub(r"\*\*(.*?)\*\*", r"\\fB\1\\fR", line)


def figure(line):
    """A line of a figure: its legend goes to a line of its own if both are too wide."""
    drawn, _, legend = line.rpartition("    ")
    if len(line) <= WIDTH or not drawn.strip():
        return [line]
    return [drawn.rstrip()] + textwrap.wrap(legend, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)


def doc_page(path):
    """The sections of the page in share/doc of a header, if there is one."""
    doc = os.path.join(os.path.dirname(os.path.abspath(__file__)), "doc", os.path.basename(path).removesuffix(".h") + ".md")
    if not os.path.exists(doc):
        return []
    out, in_block = [], False
    with open(doc, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line in lines:
        if line.startswith("```"):
            in_block = not in_block
            out += [".PP", ".nf"] if in_block else [".fi"]
        elif in_block or line.startswith("    "):
            drawn = [escaped(part) for part in figure(line)]
            out += drawn if in_block else [".PP", ".nf"] + drawn + [".fi"]
        elif line.startswith("#"):
            out.append(f'.SH "{escaped(line[2:].upper())}"' if line.startswith("# ") else f'.SS "{escaped(line[3:])}"')
        elif line.lstrip().startswith("|"):
            cells = [plain_text(cell.strip()) for cell in line.strip().strip("|").split("|")]
            out += [] if set(line.strip()) <= set("|-") else [".TP", cells[0] or "\\ ", ", ".join(cells[1:])]
        elif line.startswith("- "):
            out += [".IP \\(bu 2", plain_text(line[2:])]
        else:
            out.append(plain_text(line.strip()) if line.strip() else ".PP")
    return out


def environment(readme):
    """The table of variables in the README."""
    with open(readme, encoding="utf-8") as file:
        rows = re.findall(r"^\| (`ORDO_[^|]*) \| (.*) \|$", file.read(), re.M)
    out = [".SH ENVIRONMENT"]
    for names, text in rows:
        if not text.startswith("for `./run`"):
            text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text).replace("`", "")
            out += [".TP", f"\\fB{escaped(names.replace('`', ''))}\\fR", escaped(text)]
    return out


def title_of(path):
    """The first sentence of the introduction."""
    return summary(" ".join(line.strip() for line in strip_comment(pieces(path)[1][1])))


def bold_code(text):
    return [".PP", ".nf", ".ft B"] + [escaped(line) for line in code_lines(text)] + [".ft", ".fi"]


def header_page(version, readme, path, all_paths):
    name, section = page_of(path)
    out = head(name, section, version, "Ordo's library")
    out += [".SH NAME", ", ".join([name] + names_in(path)) + f" \\- {escaped(title_of(path))}"]
    out += [".SH SYNOPSIS", f".B #include <ordo/{os.path.basename(path)}>"]
    out += [".SH DESCRIPTION"] + introduction(strip_comment(pieces(path)[1][1]))
    out += [".SH CALLS"]
    for comment, code in sections(path):
        lines = strip_comment(comment)
        section_title = re.match(r"/\* -+ (.*?) -+", comment)
        if section_title:
            out += [f'.SH "{escaped(section_title[1].upper())}"']
            lines = lines[1:]
        if names_of(code):
            out += [f'.SS "{escaped(", ".join(names_of(code)))}"']
        out += bold_code(code) if code else []
        out += prose(lines) if any(lines) else []
    out += doc_page(path)
    out += environment(readme) if name == "ordo" else []
    others = [page_of(other) for other in all_paths if page_of(other)[0] != name]
    return out + [".SH SEE ALSO"] + [f".BR {other} ({number})," for other, number in others] + [".BR ordo\\-info (1)"]


def call_page(version, path, comment, code):
    """The page of the names in a block of code."""
    names, lines = names_of(code), strip_comment(comment)
    lines = lines[1:] if re.match(r"/\* -+ ", comment) else lines
    about = " ".join(line.strip() for line in lines).strip()
    whole, number = page_of(path)
    out = head(names[0], 3, version, "Ordo's library")
    out += [".SH NAME", ", ".join(names) + f" \\- {escaped(summary(about) if about else title_of(path))}"]
    out += [".SH SYNOPSIS", f".B #include <ordo/{os.path.basename(path)}>"] + bold_code(code)
    out += [".SH DESCRIPTION"] + prose(lines) if about else []
    return out + [".SH SEE ALSO", f".BR {whole} ({number})"]


# ---- the README


def installed_readme(readme):
    """Links lead to files that are installed with the README, or are plain text. Pictures are not installed."""
    with open(readme, encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if not line.startswith("| ![")]
    text = re.sub(r"\[([^]]*)\]\((?!CHANGELOG|LICENSE|examples)[^)]*\)", r"\1", "\n".join(lines))
    return [line or " " for line in text.rstrip("\n").split("\n")]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(line for line in lines if line) + "\n")


def main(what, *arguments):
    if what == "tools":
        version, directory, *paths = arguments
        for path in paths:
            write(os.path.join(directory, f"{tool_of(path)}.1"), tool_page(version, path, tool_of(path)))
    elif what == "headers":
        version, readme, directory, *paths = arguments
        for path in paths:
            name, section = page_of(path)
            write(os.path.join(directory, f"{name}.{section}"), header_page(version, readme, path, paths))
            written = [name]
            for comment, code in sections(path):
                for other in [n for n in names_of(code) if n not in written]:
                    written.append(other)  # a struct comes before the macro of its name
                    write(os.path.join(directory, f"{other}.3"), call_page(version, path, comment, code))
    elif what == "readme":
        write(arguments[1], installed_readme(arguments[0]))
    elif what == "names":
        for path in arguments:
            name, section = page_of(path)
            print("\n".join([f"{name}.{section}"] + [f"{other}.3" for other in names_in(path)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
