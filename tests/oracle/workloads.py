# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a record: prefills, decoding after a short and a long past, one training step."""
import copy
import inspect
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode
from transformers.modeling_outputs import BaseModelOutput

import models
from recorder import Recorder

POSITION_LIMITS = ("max_position_embeddings", "n_positions", "max_seq_len")
CACHES = ("past_key_values", "cache_params", "state", "past_buckets_states")
# The reference steps through time one token after the other in Python, so a long past takes minutes.
SLOW_PAST = ("mamba", "falcon_mamba", "rwkv", "jamba", "xlstm", "recurrent_gemma")
SHORT_PAST = 300
ENCODER_EXCESS = 13  # encoder and decoder lengths differ, or a mix-up of the two would not show
LARGEST_EXECUTED = 1_200_000_000  # parameters of a model that is executed on values where meta tensors fail


@dataclass(frozen=True)
class Options:
    """What to record."""
    past: int = 5000
    longest: int | None = None
    light: bool = False
    warm: bool = False  # a pass before the runs fills what a model makes once and keeps
    training: bool = True
    parameters_only: bool = False
    architecture: str | None = None
    device: str = "meta"
    frozen: bool = False  # parameters want no gradient in forward passes


def tensor_shapes(value, seen, depth=0):
    """Shapes of all floating-point tensors that an object reaches, each tensor once."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and id(value) not in seen:
            seen.add(id(value))
            yield list(value.shape)
        return
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, (list, tuple)):
        parts = value
    else:
        parts = vars(value).values() if hasattr(value, "__dict__") and depth < 6 else ()
    for part in parts:
        yield from tensor_shapes(part, seen, depth + 1)


def cache_layers(cache):
    """Per layer the shapes of what the cache holds; states kept beside the layers come last."""
    if hasattr(cache, "self_attention_cache") and not hasattr(cache, "layers"):
        both = cache_layers(cache.self_attention_cache), cache_layers(cache.cross_attention_cache)
        return [own + cross for own, cross in zip(*both)]
    seen = set()
    if getattr(cache, "layers", None) is None:
        return [list(tensor_shapes(cache, seen))]
    layers = [list(tensor_shapes(layer, seen)) for layer in cache.layers]
    beside = list(tensor_shapes([v for k, v in vars(cache).items() if k != "layers"], seen))
    return layers + ([beside] if beside else [])


def cache_of(output):
    """The attribute of an output that holds a cache, or None."""
    return next((name for name in CACHES if getattr(output, name, None) is not None), None)


class Subject:
    """A model under observation and the arguments that it wants."""

    def __init__(self, model, config, device):
        self.model, self.config, self.device, self.frozen = model, config, device, False
        self.num_buckets = getattr(config, "num_buckets", None)
        # an encoder by itself may keep a configuration that knows of a decoder
        self.is_encoder_decoder = (bool(getattr(getattr(model, "config", config), "is_encoder_decoder", False))
                                   and any("decoder" in name for name, _ in model.named_modules()))
        self.reads_last_state = self.is_encoder_decoder and hasattr(model, "classification_head")
        text = getattr(config, "text_config", None)
        limits = [getattr(c, name, None) for c in (config, text) if c is not None for name in POSITION_LIMITS]
        self.longest = min((n for n in limits if isinstance(n, int) and n > 8), default=1 << 40)
        for module in model.modules():
            if hasattr(module, "create_position_ids_from_input_ids"):
                self.longest -= module.padding_idx + 1  # the first token's position stands behind the padding's
                break

    def in_half_precision(self, values, architecture):
        """The same model with parameters and activations in bfloat16."""
        config = models.read_configuration(values, torch.bfloat16)
        return Subject(models.build(config, architecture), config, self.device)

    def forget_lengths(self):
        """Dynamic rope remembers the longest text that it has seen, hashing its number of buckets for the first one;
        before a run that starts anew there was none."""
        for module in self.model.modules():
            if hasattr(module, "_set_num_buckets"):
                module.num_buckets = module.config.num_buckets = self.num_buckets
            for name, original in [*module.named_buffers(recurse=False), *vars(module).items()]:
                prefix, found, end = name.partition("original_inv_freq")
                if found and not end:  # the prefix is a kind of layer, where these have frequencies of their own
                    setattr(module, f"{prefix}inv_freq", original)
                    if hasattr(module, f"{prefix}max_seq_len_cached"):
                        setattr(module, f"{prefix}max_seq_len_cached", module.original_max_seq_len)

    def choose_blocks(self, sequence):
        """A text too short for sparse blocks has every later one attended to in full, by modules made anew that hooks do
        not hear: before each run a model is made what this run alone makes of it."""
        config = self.config
        if getattr(config, "attention_type", None) != "block_sparse" or getattr(config, "add_cross_attention", False):
            return
        is_short = sequence <= (5 + 2 * config.num_random_blocks) * config.block_size
        for module in list(self.model.modules()):
            if hasattr(module, "set_attention_type"):
                module.set_attention_type("original_full" if is_short else "block_sparse")

    def rows_of_codes(self):
        """How many rows of tokens a decoder reads for each sequence: one for each of its tables of words."""
        decoder = self.model.decoder if self.is_encoder_decoder and hasattr(self.model, "decoder") else self.model
        try:
            words = decoder.get_input_embeddings()
        except (AttributeError, NotImplementedError):
            return 1
        return len(words) if isinstance(words, torch.nn.ModuleList) else 1

    def encoder_length(self, sequence):
        if self.reads_last_state:
            return sequence  # the mask of the encoder's tokens picks a state of the decoder
        return sequence + ENCODER_EXCESS if self.is_encoder_decoder else 0

    def tokens(self, batch, sequence):
        return (torch.arange(batch * sequence).reshape(batch, sequence) % 50 + 10).to(self.device)

    def inputs(self, batch, sequence, encoder_sequence=0):
        config, kind = self.config, getattr(self.model, "main_input_name", "input_ids")
        if kind == "pixel_values":
            size = getattr(config, "image_size", None) or 224
            size = (size, size) if isinstance(size, int) else size
            shape = (batch, getattr(config, "num_channels", 3) or 3, *size)
        elif kind == "input_features":
            shape = (batch, getattr(config, "num_mel_bins", 80), 3000)
        elif kind == "input_values":
            shape = (batch, 16000)
        else:
            kind, shape = "input_ids", None
        if shape is None:
            rows = 1 if self.is_encoder_decoder else self.rows_of_codes()
            tokens = self.tokens(batch * rows, encoder_sequence or sequence)
            if self.reads_last_state:
                tokens[:, -1] = self.config.eos_token_id  # one in every sequence, as the head demands
            if type(self.model).__name__.endswith("ForMultipleChoice"):
                tokens = tokens[None]  # as many choices of one question
            arguments = {kind: tokens}
        else:
            arguments = {kind: torch.empty(shape, device=self.device, dtype=self.model.dtype)}
        if self.is_encoder_decoder:
            arguments["decoder_input_ids"] = self.tokens(batch * self.rows_of_codes(), sequence)
        return arguments

    def arguments(self, batch, sequence, encoder_sequence=0, after=None, use_cache=True):
        """Keyword arguments of forward; `after` is the output of the pass whose cache this one extends."""
        arguments = self.inputs(batch, sequence, encoder_sequence)
        if "use_cache" in inspect.signature(self.model.forward).parameters:
            arguments["use_cache"] = use_cache
        if after is not None:
            # The pass changes its cache, and another may start from the same past.
            arguments[cache_of(after)] = copy.deepcopy(getattr(after, cache_of(after)))
            if self.is_encoder_decoder:
                arguments.pop("input_ids", None)
                if hasattr(after, "encoder_last_hidden_state"):  # else the cache has what was made of it
                    arguments["encoder_outputs"] = BaseModelOutput(last_hidden_state=after.encoder_last_hidden_state)
        return arguments


def forward_run(subject, kind, batch, sequence, past=0, after=None, modules=False):
    """One observed pass: its entry in the record, and its output."""
    encoder_sequence = subject.encoder_length(past or sequence)
    arguments = subject.arguments(batch, sequence, encoder_sequence if after is None else 0, after)
    subject.choose_blocks(encoder_sequence or sequence)
    recorder, torch_counter = Recorder(subject.model), FlopCounterMode(display=False)
    if subject.frozen:  # FlopCounterMode fails on modules that are called with views of their own parameters
        subject.model.requires_grad_(False)
    with torch.no_grad(), torch_counter, recorder:
        output = subject.model(**arguments)
    if subject.frozen:
        subject.model.requires_grad_(True)
    figures = recorder.inclusive()
    run = dict(kind=kind, batch=batch, sequence=sequence, past=past, total=figures.pop("", {}),
               flops=torch_counter.get_total_flops())
    if encoder_sequence:
        run["encoder_sequence"] = encoder_sequence
    if modules:
        run["modules"] = figures
    if recorder.unknown:
        run["unknown"] = dict(recorder.unknown)
    if cache_of(output):
        layers = cache_layers(getattr(output, cache_of(output)))
        run["cache"] = dict(total=sum(prod(shape) for layer in layers for shape in layer), layers=layers)
    return run, output


@contextmanager
def kept_by_autograd(model):
    """Bytes of each storage that autograd keeps of what is executed inside, parameters and buffers apart."""
    # held, because a forward pass may replace a buffer, and the address of a storage that is gone is used again
    held = [t.untyped_storage() for t in [*model.parameters(), *model.buffers()]]
    own = {storage._cdata for storage in held}
    saved, alive = Counter(), []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and storage._cdata not in own:
            alive.append(tensor)  # or the address would be used again
            saved[storage._cdata] = max(saved[storage._cdata], storage.nbytes())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        yield saved


def training_run(subject, batch, sequence, encoder_sequence):
    """Forward and backward of loss = sum of logits: FLOPs, what backward executes, the bytes that autograd keeps."""
    arguments = subject.arguments(batch, sequence, encoder_sequence, use_cache=False)
    subject.choose_blocks(encoder_sequence or sequence)
    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with kept_by_autograd(subject.model) as saved, forward:
        output = subject.model(**arguments)
        logits = output.logits if hasattr(output, "logits") else output[0]
        loss = logits.float().sum()
    recorder = Recorder(torch.nn.Identity())
    with backward, recorder:
        loss.backward()
    run = dict(batch=batch, sequence=sequence, saved_bytes=saved.total(),
               flops=dict(forward=forward.get_total_flops(), backward=backward.get_total_flops()))
    primitives = recorder.inclusive().get("", {})
    primitives.pop("WRITTEN", None)
    if recorder.unknown:
        raise ValueError(f"backward calls without a price: {dict(recorder.unknown)}")
    run["primitives"] = primitives
    if encoder_sequence:
        run["encoder_sequence"] = encoder_sequence
    return run


def parameter_record(model, values):
    named = dict(model.named_parameters())
    every = dict(model.named_parameters(remove_duplicate=False))
    return dict(model_type=values.get("model_type"), architecture=type(model).__name__,
                transformers=transformers.__version__, torch=torch.__version__.partition("+")[0],
                total=sum(p.numel() for p in named.values()),
                parameters=[[name, list(p.shape)] for name, p in named.items()],
                tied=sorted(every.keys() - named.keys()),
                classes={path: type(m).__name__ for path, m in model.named_modules() if path}, runs=[])


def record_runs(result, subject, values, options, past):
    """Fills `runs` and `training`; returns what the reference could not do."""
    errors = {}

    def attempt(kind, action):
        try:
            return action()
        except Exception as e:  # the model's own code: whatever it raises belongs in the record
            errors[kind] = f"{type(e).__name__}: {str(e)[:300]}"
            return None

    def run(kind, *workload, **further):
        def observe():
            entry, output = forward_run(subject, kind, *workload, **further)
            result["runs"].append(entry)
            return output
        return attempt(kind, observe)

    def after(batch, past, workloads):
        subject.forget_lengths()
        subject.choose_blocks(1)  # sparse blocks cache nothing
        with torch.no_grad():
            output = subject.model(**subject.arguments(batch, past, subject.encoder_length(past)))
        for sequence, modules in workloads:
            run("decode" if sequence == 1 else "extend", batch, sequence, past, output, modules)

    def warm(subject):
        if options.warm:
            with torch.no_grad():
                subject.model(**subject.arguments(1, 1, subject.encoder_length(1)))

    warm(subject)
    sequence = min(67, subject.longest)
    first = run("prefill", 3, sequence, modules=True)
    if first is None:
        return errors
    for path, module in subject.model.named_modules():  # and those that modules made anew for a short text have beside
        if path:
            result["classes"].setdefault(path, type(module).__name__)
    if not options.light:
        # A model whose first prefill works may still refuse a shape; the record then says which.
        run("prefill", 1, 1)
        subject.forget_lengths()
        run("prefill", 2, min(256, subject.longest))
    has_cache = cache_of(first) is not None
    del first
    if has_cache:
        attempt("decode", lambda: after(2, past, [(1, True)] if options.light else [(1, True), (7, False)]))
        if not options.light:
            attempt("extend", lambda: after(3, min(100, subject.longest - 8), [(7, False)]))
    if options.training:
        def train():
            result["training"] = training_run(subject, 3, sequence, subject.encoder_length(67))
        attempt("training", train)
        # CPU kernels keep a layer norm's statistics in bfloat16, GPU kernels and meta tensors in float32.
        if "training" in result and subject.device == "meta":
            def train_half():
                half = subject.in_half_precision(values, options.architecture)
                warm(half)
                result["training_bfloat16"] = training_run(half, 3, sequence, half.encoder_length(67))
            attempt("training_bfloat16", train_half)
    return errors


def record(values, options=Options()):
    """Everything about the model of a config.json, as the dictionary that compact.py writes."""
    models.prepare_transformers()
    config = models.read_configuration(values)
    model = models.build(config, options.architecture)
    result = parameter_record(model, values)
    if options.parameters_only:
        return result
    if options.device == "cpu":
        model = models.with_random_weights(model)
        result["device"] = "cpu"
    subject = Subject(model, config, options.device)
    subject.frozen = options.frozen
    subject.longest = options.longest or subject.longest
    past = min(options.past, subject.longest - 8)
    if values.get("model_type") in SLOW_PAST:
        past = min(past, SHORT_PAST)
    errors = record_runs(result, subject, values, options, past)
    if errors:
        result["errors"] = errors
    reads_values = any("meta" in message.lower() for message in errors.values())
    if reads_values and options.device == "meta" and result["total"] < LARGEST_EXECUTED:
        del model, subject
        executed = record(values, replace(options, device="cpu", past=min(options.past, SHORT_PAST)))
        if len(executed["runs"]) > len(result["runs"]) or len(executed.get("errors", {})) < len(errors):
            return executed
    return result
