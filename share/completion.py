#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the completion of tools' arguments, of TOOL/help.txt: ordo-TOOL for bash and _ordo-TOOL for zsh.

    completion.py OUTDIR HELP.TXT...
"""
import os
import sys

sys.dont_write_bytecode = True  # keeps the source folders clean
from helptext import choices, read_help, tool_of

BASH = """# Completion of {name} for bash. Made by the build.
{function}()
{{
    local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} head=
    COMPREPLY=()
    # --option=value comes as three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    case $before in
{cases}
    esac
    mapfile -t COMPREPLY < <(compgen -W "{options}" -- "$cur")
}}
complete -o bashdefault -F {function} {name}
"""


def bash_case(option):
    words = choices(option)
    if option.argument == "FILE":
        body = 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")\n            compopt -o filenames'
    elif option.argument == "DIR":
        body = 'mapfile -t COMPREPLY < <(compgen -d -- "$cur")\n            compopt -o filenames'
    elif option.argument == "LIST" and words:  # after the last comma
        body = (f'[[ $cur != *,* ]] || head=${{cur%,*}},\n'
                f'            mapfile -t COMPREPLY < <(compgen -P "$head" -W "{" ".join(words)}" -- "${{cur##*,}}")\n'
                f'            compopt -o nospace')
    elif words:
        body = f'mapfile -t COMPREPLY < <(compgen -W "{" ".join(words)}" -- "$cur")'
    else:
        body = ":"
    return f"        {' | '.join(option.names)})\n            {body}\n            return\n            ;;"


def bash(help_, name):
    options = help_.options()
    return BASH.format(name=name, function="_" + name.replace("-", "_"),
                       cases="\n".join(bash_case(option) for option in options if option.argument),
                       options=" ".join(name for option in options for name in option.names if name.startswith("--")))


def zsh_text(text):
    for char in "\\[]:":
        text = text.replace(char, "\\" + char)
    return text.replace("'", "'\\''")


def zsh_action(option):
    words = choices(option)
    if option.argument == "FILE":
        return "_files"
    if option.argument == "DIR":
        return "_files -/"
    if option.argument == "LIST" and words:
        return f"_values -s , {option.argument} {' '.join(words)}"
    return f"({' '.join(words)})" if words else " "


def zsh_options(option):
    text = zsh_text(option.text)
    value = f":{option.argument}:{zsh_action(option)}" if option.argument else ""
    for name in option.names:
        end = ("=" if name.startswith("--") else "+") if option.argument else ""
        yield f"'({' '.join(option.names)}){name}{end}[{text}]{value}'"


def zsh(help_, name):
    lines = " \\\n".join(f"    {line}" for option in help_.options() for line in zsh_options(option))
    return f"#compdef {name}\n# Completion of {name} for zsh. Made by the build.\n_arguments -s -S \\\n{lines}\n"


def main(directory, *paths):
    for path in paths:
        name = tool_of(path)
        for make, prefix in ((bash, ""), (zsh, "_")):
            with open(os.path.join(directory, prefix + name), "w", encoding="utf-8") as file:
                file.write(make(read_help(path), name))


if __name__ == "__main__":
    main(*sys.argv[1:])
