#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Ask PyTorch how it lays out, writes and keeps the results of single operations.

    layouts.py -o tests/unit/layouts.txt [--seed N] [--programs N]

Writes small random programs of tensor operations, the same file for the same seed. A program is a list of lines

    NAME OPERATION ARGUMENTS... > SIZES STRIDES FLAGS WRITTEN

with what torch says of the result (`c`: contiguous, `b`: bfloat16, `g`: requires a gradient, `n`: has a storage of its own)
and how many elements were written to new storage, and ends in a line

    end ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP ADD ... CMP FORWARD BACKWARD SAVED

with what all of it executed (primitives.py) and what the backward pass did, what FlopCounterMode says of both passes, and the bytes that autograd kept
until the backward pass of the sum of all results; a program in mode `infer` runs under no_grad and has no backward pass. Every
program is run on meta tensors and on the CPU, which must agree. tests/unit reads the file.
"""
import argparse
from pathlib import Path

import torch

from operations import agreed
from programs import KINDS, Author


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=80, help="of each kind, of products three times as many (default: %(default)s)")
    a = parser.parse_args()
    author, text = Author(a.seed), []
    for name, kind in KINDS.items():
        made = 0
        while made < a.programs * (3 if name == "product" else 1):
            draft = kind(author)
            answers = agreed(draft.lines, draft.trains)
            if not answers:
                continue
            mode = "train" if draft.trains else "infer"
            text += [f"program {name} {mode}", *answers]
            made += 1
    head = ["# SPDX-FileCopyrightText: 2026 The llmcost authors", "# SPDX-License-Identifier: Apache-2.0",
            f"# what torch {torch.__version__.partition('+')[0]} answers: tests/oracle/layouts.py, seed {a.seed}"]
    a.output.write_text("\n".join([*head, *text, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
