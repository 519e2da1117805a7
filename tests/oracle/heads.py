#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record every class that Transformers has of a model type, for all types among the goldens.

    heads.py tests/golden -o tests/golden/heads.txt

For each type the shortest configuration (or the next one, where it does not fit a class) is built as every class that an auto
class of Transformers gives for it, and run with 2 x 5 tokens, after a pass that fills what it keeps. The lines:

    type MODEL_TYPE
    class CLASS NAME PARAMETERS TORCH_FLOPS CACHE ENCODER ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP OUT WRITTEN
    - PARAMETER SHAPE

ENCODER is the length of an encoder's text, NAME.json the configuration; parameters are the first one and those outside of the
base model, tied ones left out. A class that cannot be run on meta tensors is executed on random weights; one that cannot be
run at all stands in a line `error CLASS MESSAGE`.
"""
import argparse
import json
import sys
import warnings
from collections import defaultdict
from itertools import product
from pathlib import Path

import torch
import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

import compact
import models
import workloads

BATCH, SEQUENCE = 2, 5


def classes_of(model_type):
    """Names of all classes that auto classes give for a type or one with the same configuration, the base model first."""
    found = {}
    relatives = {t for t, made in CONFIG_MAPPING_NAMES.items() if made == CONFIG_MAPPING_NAMES[model_type]}
    for name, mapping in sorted(vars(modeling_auto).items()):
        if name.endswith("MAPPING_NAMES") and not name.startswith("CONFIG"):
            for classes in (mapping[t] for t in sorted(relatives & mapping.keys())):
                found.update(dict.fromkeys([classes] if isinstance(classes, str) else classes))
    return sorted((c for c in found if hasattr(transformers, c)), key=lambda c: (not c.endswith("Model"), c))


def observed(values, architecture, device):
    config = models.read_configuration(values)
    if architecture.endswith("ForSequenceClassification") and config.get_text_config().pad_token_id is None:
        config.get_text_config().pad_token_id = 0  # this head looks for where a sequence ends
    model = models.build(config, architecture)
    if device == "cpu":
        model = models.with_random_weights(model)
    subject = workloads.Subject(model, config, device)
    with torch.no_grad():  # what a model makes once and keeps belongs to no pass
        model(**subject.arguments(BATCH, SEQUENCE, subject.encoder_length(SEQUENCE)))
    run = workloads.forward_run(subject, "prefill", BATCH, SEQUENCE)[0]
    if run.get("unknown"):
        raise ValueError(f"calls without a price: {run['unknown']}")
    figures = [run["total"].get(figure, 0) for figure in compact.FIGURES]
    parameters, base = dict(model.named_parameters()), f"{model.base_model_prefix}."
    is_wrapped = any(name.startswith(base) for name in parameters)
    numbers = [sum(p.numel() for p in parameters.values()), run["flops"], run.get("cache", {}).get("total", 0),
               run.get("encoder_sequence", 0), *figures]
    outside = [name for name in parameters if is_wrapped and not name.startswith(base)]
    return numbers, [["-", name, compact.shape_word(tuple(parameters[name].shape))]
                     for name in dict.fromkeys([next(iter(parameters)), *outside])]


def described(paths, architecture):
    """The lines of one class, from the first configuration that it runs with."""
    problems = []
    for path, device in product(paths, ("meta", "cpu")):
        try:
            numbers, parameters = observed(read_values(path), architecture, device)
            return [["class", architecture, path.stem, *numbers], *parameters]
        except Exception as e:  # the model's own code
            problems.append(" ".join(f"{type(e).__name__}: {e}".split())[:160])
    return [["error", architecture, problems[0]]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the configurations lie, NAME.json")
    parser.add_argument("-o", "--output", type=Path, required=True)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    models.prepare_transformers()
    paths, decoders = defaultdict(list), defaultdict(list)
    for path in sorted(a.folder.glob("*.json"), key=lambda p: (p.stat().st_size, p.name)):
        values = read_values(path)
        # as decoders, encoders have goldens of their own, unless a class is for decoders alone
        (decoders if values.get("is_decoder") else paths)[values["model_type"]].append(path)
    lines = [["#", "SPDX-FileCopyrightText: 2026 The llmcost authors"], ["#", "SPDX-License-Identifier: Apache-2.0"],
             ["#", f"recorded with transformers {transformers.__version__}: tests/oracle/heads.py"]]
    for model_type, known in sorted(paths.items()):
        lines.append(["type", model_type])
        for architecture in classes_of(model_type):
            print(model_type, architecture, file=sys.stderr)
            lines += described(known[:2] + decoders[model_type][:1], architecture)
    a.output.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def read_values(path):
    return json.loads(path.read_bytes())


if __name__ == "__main__":
    main()
