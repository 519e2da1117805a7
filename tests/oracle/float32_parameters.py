# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record how many parameters of a model `from_pretrained(dtype=torch.bfloat16)` loads in float32.

    python tests/oracle/float32_parameters.py tests/golden/*.json tests/golden/media/*.json > tests/memory/float32_parameters.txt

These are parameters that the class creates in float32, and those whose names match `_keep_in_fp32_modules_strict` of a class in the model
(`PreTrainedModel._get_dtype_plan`, `core_model_loading.py`). The models are on the meta device. A line has the path of the configuration in
`tests/golden`, the number of elements, and the names of the parameters without their layers. Models without such parameters have no line.
"""
import json
import re
import sys

import torch
from transformers.core_model_loading import build_glob_alternation

import models


def record(path):
    with open(path, encoding="utf-8") as file:
        values = json.load(file)
    model = models.build(models.read_configuration(values, torch.bfloat16))
    plan = model._get_dtype_plan(torch.bfloat16)
    pattern = build_glob_alternation(list(plan))[0] if plan else None
    elements, names = 0, set()
    for name, parameter in model.named_parameters():
        if parameter.dtype == torch.float32 or (pattern is not None and pattern.search(name)):
            elements += parameter.numel()
            names.add(re.sub(r"\.\d+(?=\.)", "", name))
    if elements:
        print(path.rpartition("golden/")[2].removesuffix(".json"), elements, *sorted(names), flush=True)


def main():
    models.prepare_transformers()
    for path in sys.argv[1:]:
        try:
            record(path)
        except (ImportError, AttributeError) as e:  # a vision encoder of another library; no map of image tokens
            print(f"{path}: {str(e).splitlines()[0]}", file=sys.stderr)


if __name__ == "__main__":
    main()
