#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""single_header.py [--output FILE] [HEADER...]: writes headers of llmcost and all that they include as one header.

The default headers are the core (llmcost/llmcost.hpp) and the presets (llmcost/presets.hpp): the release file llmcost_core.hpp.
They need a C++20 compiler and nothing else. Standard headers are included once, at the top.
"""
import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r"\s*#\s*include\s*<([^>]+)>")
DEFAULT_HEADERS = ["llmcost/llmcost.hpp", "llmcost/presets.hpp"]
ROOT = pathlib.Path(__file__).resolve().parents[1] / "include"


class Amalgamation:
    def __init__(self, root):
        self.root = root
        self.seen = set()
        self.standard = set()
        self.lines = []

    def add(self, header):
        """Appends a header after the headers that it includes, each once."""
        if header in self.seen:
            return
        self.seen.add(header)
        depth = 0  # of #if: what is conditional stays in place
        body = []
        for line in (self.root / header).read_text(encoding="utf-8").splitlines():
            found = INCLUDE.match(line)
            if found and found[1].startswith("llmcost/"):
                if depth > 0:
                    sys.exit(f"single_header.py: {header}: conditional include of {found[1]}")
                self.add(found[1])
            elif found and depth == 0:
                self.standard.add(found[1])
            elif line != "#pragma once" and not line.startswith(("// SPDX-", "// IWYU pragma:")):
                depth += bool(re.match(r"\s*#\s*if", line)) - bool(re.match(r"\s*#\s*endif", line))
                body.append(line)
        text = "\n".join(body).strip("\n")
        if text:
            self.lines.append(f"// ---- {header}\n\n{text}\n")

    def text(self):
        version = re.search(r'version = "([^"]+)"', (self.root / "llmcost/base/version.hpp").read_text(encoding="utf-8"))[1]
        head = ["// SPDX-FileCopyrightText: 2026 The llmcost authors", "// SPDX-License-Identifier: Apache-2.0",
                f"// llmcost {version}, core and presets, made by .ci/single_header.py. Do not edit.", "#pragma once", ""]
        head += [f"#include <{name}>" for name in sorted(self.standard)]
        return "\n".join(head) + "\n\n" + "\n".join(self.lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", help="file to write (default: standard output)")
    parser.add_argument("headers", nargs="*", default=DEFAULT_HEADERS)
    args = parser.parse_args()
    made = Amalgamation(ROOT)
    for header in args.headers:
        made.add(header)
    if args.output:
        pathlib.Path(args.output).write_text(made.text(), encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(made.text())


if __name__ == "__main__":
    main()
