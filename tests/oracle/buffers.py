# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record which parameters of a model its class freezes, and the bytes of its buffers.

    python tests/oracle/buffers.py tests/golden/*.json tests/golden/media/*.json > tests/memory/buffers.txt

The models are on the meta device. A line has the path of the configuration in `tests/golden`, the number of parameters that require gradients,
the number of those that do not, and the bytes of all buffers with weights in float32 and in bfloat16. Storages count once.
"""
import json
import sys

import torch

import models


def buffer_bytes(model):
    storages = {buffer.untyped_storage()._cdata: buffer.untyped_storage().nbytes() for buffer in model.buffers()}
    return sum(storages.values())


def record(path):
    with open(path, encoding="utf-8") as file:
        values = json.load(file)
    sizes = []
    for dtype in (torch.float32, torch.bfloat16):
        model = models.build(models.read_configuration(values, dtype))
        sizes.append(buffer_bytes(model))
        parameters = list(model.parameters())
    trained = sum(parameter.numel() for parameter in parameters if parameter.requires_grad)
    frozen = sum(parameter.numel() for parameter in parameters) - trained
    print(path.rpartition("golden/")[2].removesuffix(".json"), trained, frozen, *sizes, flush=True)


def main():
    models.prepare_transformers()
    for path in sys.argv[1:]:
        try:
            record(path)
        except (ImportError, AttributeError) as e:  # a vision encoder of another library; no map of image tokens
            print(f"{path}: {str(e).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    main()
