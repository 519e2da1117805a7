#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what Transformers' image classifiers execute over images of other sizes than their configuration says.

    images.py -o tests/golden/images.txt [TYPE...]

The defaults of each type with ten labels, on the meta device, in evaluation mode, for two images of 160 x 96 (height x width)
and of 95 x 129, then a training step, as vision.py records them. A type whose forward refuses such images is named and left out.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

from vision import BATCH, record_of, text_of

HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/images.py: transformers {transformers}, torch {torch}.
"""
TYPES = ("bit", "convnext", "convnextv2", "focalnet", "mobilenet_v1", "mobilenet_v2", "poolformer", "regnet", "resnet")
SIDES = (160, 96), (95, 129)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", metavar="TYPE")
    parser.add_argument("-o", "--output", type=Path)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForImageClassification

    text = HEAD.format(transformers=transformers.__version__, torch=torch.__version__.partition("+")[0])
    for kind in a.types or TYPES:
        try:
            config = AutoConfig.for_model(kind, num_labels=10)
            config._attn_implementation = "eager"
            with torch.device("meta"):
                model = AutoModelForImageClassification.from_config(config, attn_implementation="eager").eval()
        except ValueError as e:
            print(f"{kind}: {str(e)[:100]}", file=sys.stderr)
            continue
        for height, width in SIDES:
            model.zero_grad()  # or gradients would be added to those of the size before
            images = torch.empty(BATCH, config.num_channels, height, width, device="meta")
            try:
                r = record_of(f"{kind}_{height}x{width}", model, images, return_dict=False)
            except (ValueError, RuntimeError, SystemExit) as e:
                print(f"{kind} refuses {height} x {width}: {str(e)[:100]}", file=sys.stderr)
                continue
            written = {"model_type": kind, "architectures": [type(model).__name__], "num_labels": 10}
            text += text_of(r) + f"workload {height} {width} 1\nconfig {json.dumps(written, separators=(',', ':'))}\n"
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
