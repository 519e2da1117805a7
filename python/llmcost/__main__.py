# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The command ``llmcost``."""

import sys

from ._library import run_program


def main() -> int:
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
