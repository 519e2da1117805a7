# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a directory; exits with 77, which CTest reports as skipped, without pytest."""

import sys


def main() -> int:
    try:
        import pytest
    except ImportError:
        return 77
    return pytest.main(["-q", "-p", "no:cacheprovider", sys.argv[1]])


if __name__ == "__main__":  # processes of a cluster import this file
    sys.exit(main())
