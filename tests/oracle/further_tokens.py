#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what modules execute that predict further tokens, the reference's own `MtpModel`, beside models among the goldens.

    further_tokens.py tests/golden -o tests/golden/further_tokens.txt

The lines, of two modules behind each model:

    model NAME PARAMETERS
    run BATCH SEQUENCE PAST ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP OUT WRITTEN CACHE

PARAMETERS are those of the modules alone; what they share with the model is not among them.
"""
import argparse
import json
import sys
from math import prod
from pathlib import Path

import torch
import transformers
from transformers.cache_utils import MtpCache
from transformers.modeling_layers import MtpModel

import compact
import models
from recorder import Recorder
from workloads import cache_layers

MODULES = 2
NAMES = ("variant__deepseek_v3_halves", "variant__glm4_moe_small", "variant__glm4_moe_odd_part", "variant__hy_v3_small",
         "default__bailing_hybrid")
WORKLOADS = ((3, 67, 0), (1, 1, 0), (2, 1, 40), (2, 7, 40))


def build(values):
    config = models.read_configuration(dict(values, num_nextn_predict_layers=MODULES))
    if getattr(config, "num_mtp_layers", None) is None:  # the class reads no such key
        config.num_mtp_layers = MODULES
    # checkpoints have layers of these kinds, of which configurations say nothing
    for name, kind in (("layer_types", "full_attention"), ("mlp_layer_types", "sparse")):
        if getattr(config, name, None) is not None and getattr(config, "mtp_" + name, None) is None:
            setattr(config, "mtp_" + name, [kind] * MODULES)
    main = models.build(config)
    with torch.device("meta"):
        further = MtpModel(main, MODULES).eval()
    models.choose_implementations(further.config)
    return main, further


def arguments(further, cache, batch, sequence, past):
    states = torch.empty(batch, sequence, further.config.hidden_size, device="meta")
    ids = torch.zeros(batch, sequence, dtype=torch.long, device="meta")
    positions = torch.arange(past + 1, past + 1 + sequence, device="meta").unsqueeze(0)
    return dict(input_ids=ids, last_hidden_states=states, attention_mask=None, position_ids=positions, mtp_cache=cache)


def run(further, batch, sequence, past):
    """Figures of one pass, and elements that the cache of the modules holds after it."""
    cache = MtpCache(config=further.config)
    with torch.no_grad():
        if past:
            further(**arguments(further, cache, batch, past, 0))
        given = arguments(further, cache, batch, sequence, past)
        with Recorder(further) as seen:
            further(**given)
    if seen.unknown:
        raise SystemExit(f"calls without a price: {dict(seen.unknown)}")
    held = sum(prod(shape) for layer in cache_layers(cache) for shape in layer)
    total = seen.inclusive()[""]
    return [total.get(figure, 0) for figure in compact.FIGURES] + [held]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("goldens", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    models.prepare_transformers()
    lines = ["# SPDX-FileCopyrightText: 2026 The llmcost authors", "# SPDX-License-Identifier: Apache-2.0",
             f"# recorded with transformers {transformers.__version__}: tests/oracle/further_tokens.py"]
    for name in NAMES:
        main_model, further = build(json.loads((args.goldens / f"{name}.json").read_text()))
        shared = {id(p) for p in main_model.parameters()}
        lines.append(f"model {name} {sum(p.numel() for p in further.parameters() if id(p) not in shared)}")
        lines += [" ".join(map(str, ("run", *workload, *run(further, *workload)))) for workload in WORKLOADS]
    args.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
