#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/options.md from the tables of options of the program.

    python3 .ci/options_page.py build/llmcost
"""

import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/options.md"


def table(command: dict) -> str:
    lines = [f"## llmcost {command['name']}".rstrip(), command["summary"], "", "| option | value | meaning |", "| --- | --- | --- |"]
    for option in command["options"]:
        names = ", ".join(f"`{name}`" for name in [option["name"], *option["aliases"]])
        value = option["value"].replace("|", "\\|")
        lines.append(f"| {names} | {value}{' ' if value else ''}| {option['help']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    printed = subprocess.run([sys.argv[1], "help", "--format", "json"], capture_output=True, text=True, check=True).stdout
    introduction = PAGE.read_text(encoding="utf-8").partition("\n## llmcost")[0]
    PAGE.write_text(introduction + "".join("\n" + table(c) for c in json.loads(printed)["commands"]), encoding="utf-8")


if __name__ == "__main__":
    main()
