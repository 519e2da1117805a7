#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what models of timm are and execute.

    timm_models.py -o tests/golden/timm.txt [NAME...]

Those whose `architecture` a description names (configs/models: `configuration.architectures`), on the meta device, in
evaluation mode, over two images of the size that their own configuration says, then a training step, as vision.py records
them; attention is one fused call, as diffusion.py has it.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

from diffusion import fused_attention
from vision import BATCH, record_of, text_of

HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/timm_models.py: timm {timm}, torch {torch}.
"""
CONFIGS = Path(__file__).parents[2] / "configs/models"


def described():
    names = {}
    for path in sorted([*CONFIGS.glob("torchvision/*.json"), *CONFIGS.glob("timm/*.json")]):
        names.update(json.loads(path.read_text()).get("configuration", {}).get("architectures", {}))
    return list(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", "--output", type=Path)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import timm
    import torch

    text = HEAD.format(timm=timm.__version__, torch=torch.__version__.partition("+")[0])
    for name in a.names or described():
        try:
            with torch.device("meta"):
                model = timm.create_model(name, pretrained=False, num_classes=1000).eval()
        except NotImplementedError:  # its constructor reads values
            model = timm.create_model(name, pretrained=False, num_classes=1000).to("meta").eval()
        channels, height, width = model.pretrained_cfg["input_size"]
        with fused_attention():
            text += text_of(record_of(name, model, torch.empty(BATCH, channels, height, width, device="meta")))
        config = dict(architecture=name, num_classes=1000, num_features=model.num_features,
                      pretrained_cfg=dict(input_size=[channels, height, width], num_classes=1000))
        text += f"workload {height} {width} 1\nconfig {json.dumps(config, separators=(',', ':'))}\n"
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
