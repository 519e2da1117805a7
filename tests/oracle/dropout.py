# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what dropout makes autograd keep, rate by rate.

    python tests/oracle/dropout.py tests/golden/NAME.json[:CLASS]... >> tests/memory/dropout.txt

For every configuration: its own rates, then each rate that its class has at 0.1 with all others 0, and all of them 0; not
those that draw which layers run. Four layers where there are many. One training step of 2 x 24 tokens on meta tensors, eager attention. A line has the changed
keys, then the bytes that autograd keeps, FLOPs of both passes, and MULT and DIV of the forward pass.
"""
import json
import os
import sys

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

import models
from recorder import Recorder
from workloads import Subject

RATE = 0.1
LARGEST_EXECUTED = 400_000_000  # parameters
GOLDENS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden")


def rates_of(config):
    """Keys of a configuration that are rates of dropout or noise in training."""
    marks = ("drop", "jitter")
    return [key for key, value in config.to_dict().items()
            if any(mark in key for mark in marks) and not isinstance(value, (bool, dict, list, str))
            and key != "drop_vision_last_layer"]


def videos_of(subject):
    """Pixels of a model that reads videos, whose configuration says how many frames they have."""
    config, pixels = subject.config, "pixel_values"
    frames = getattr(config, "num_frames", None)
    if not frames or getattr(subject.model, "main_input_name", "") != pixels:
        return {}
    sides = config.image_size if isinstance(config.image_size, (list, tuple)) else [config.image_size] * 2
    return {pixels: torch.empty((2, frames, config.num_channels, *sides), device=subject.device, dtype=subject.model.dtype)}


def step(values):
    try:
        return step_on(values, "meta")
    except (RuntimeError, NotImplementedError):  # a forward that reads values
        return step_on(values, "cpu")


def step_on(values, device):
    config = models.read_configuration(values)
    model = models.build(config)
    if device == "cpu":
        if sum(p.numel() for p in model.parameters()) > LARGEST_EXECUTED:
            raise ValueError("reads values, and is too large to be executed")
        model = models.with_random_weights(model)
    subject = Subject(model, config, device)
    subject.model.train()
    sequence = min(24, subject.longest)
    encoder = subject.encoder_length(sequence)
    arguments = subject.arguments(2, sequence, encoder, use_cache=False)
    arguments |= videos_of(subject)
    own = {t.untyped_storage()._cdata for t in [*subject.model.parameters(), *subject.model.buffers()]}
    saved, alive = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and storage._cdata not in own:
            alive.append(tensor)  # or the address would be used again
            saved[storage._cdata] = storage.nbytes()
        return tensor

    recorder = Recorder(subject.model)
    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), forward, recorder:
        output = subject.model(**arguments)
    logits = output.logits if hasattr(output, "logits") else output[0]
    with backward:
        logits.float().sum().backward()
    executed = recorder.inclusive().get("", {})
    figures = [sum(saved.values()), forward.get_total_flops(), backward.get_total_flops(), executed.get("MULT", 0),
               executed.get("DIV", 0)]
    return f"{sequence} {encoder} | " + " ".join(map(str, figures))


def fewer_layers(values):
    """Four layers where a configuration has many and lists nothing for each."""
    layers = values.get("num_hidden_layers") or 0
    listed = any(isinstance(value, list) and len(value) >= layers for value in values.values())
    listed = listed or any(key in values for key in ("out_features", "num_layers_per_stack", "num_blocks"))
    return {"num_hidden_layers": 4} if layers > 8 and not listed else {}


def record(path, architecture):
    with open(path, encoding="utf-8") as file:
        values = json.load(file)
    chosen = {"architectures": [architecture]} if architecture else {}
    values |= chosen
    config = models.read_configuration(values)
    keys = rates_of(config)
    drawn = [key for key in keys if "layerdrop" in key or "jitter" in key]
    alone = [key for key in keys if key not in drawn]
    own = [] if any(getattr(config, key, None) for key in drawn) else [{}]
    none = {key: 0 if isinstance(getattr(config, key, None), int) else 0.0 for key in keys}  # some rates must be integers
    settings = own + [{**none, one: RATE} for one in alone]
    if any(getattr(config, key, None) for key in keys):
        settings.append(none)
    fewer = fewer_layers(values) | chosen
    for rates in settings:
        changes = {**fewer, **rates}
        words = " ".join(f"{key}={json.dumps(value)}" for key, value in changes.items()) or "-"
        name = os.path.relpath(path, GOLDENS).removesuffix(".json")
        try:
            print(f"{name} | {words} | {step({**values, **changes})}", flush=True)
        except Exception as e:  # the model's own code: whatever it raises belongs to whoever asks
            message = str(e).replace("\n", " ")[:150]
            print(f"{name}: {words}: {type(e).__name__}: {message}", file=sys.stderr, flush=True)


def main():
    models.prepare_transformers()
    # it looks for padding in the values of tokens
    transformers.PreTrainedModel.warn_if_padding_and_no_attention_mask = lambda *arguments: None
    for word in sys.argv[1:]:
        record(*word.partition(":")[::2])


if __name__ == "__main__":
    main()
