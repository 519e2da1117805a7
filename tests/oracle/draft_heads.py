#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record forward passes of draft heads for speculative decoding: EAGLE, EAGLE-3 and Medusa.

    draft_heads.py -o tests/golden/draft_heads.txt

Transformers has no draft heads. The modules below have the structure of these references; their attention, MLP, norm,
masks and rotary tables are those of Transformers:

    EAGLE    eagle/model/cnets1.py of SafeAILab/EAGLE, vllm/model_executor/models/llama_eagle.py
    EAGLE-3  eagle/model/cnets.py of SafeAILab/EAGLE, vllm/model_executor/models/llama_eagle3.py
    Medusa   medusa/model/medusa_model.py of FasterDecoding/Medusa, vllm/model_executor/models/medusa.py

The lines:

    model NAME PARAMETERS
    config JSON
    run BATCH SEQUENCE PAST ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP OUT WRITTEN CACHE

PARAMETERS are those of the draft head without weights of the target model.
"""
import argparse
import json
import sys
from math import prod
from pathlib import Path

import torch
import transformers
from torch import nn
from transformers import DynamicCache, LlamaConfig
from transformers.masking_utils import create_causal_mask
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP, LlamaRMSNorm, LlamaRotaryEmbedding

import compact
import models
from recorder import Recorder
from workloads import cache_layers

WORKLOADS = ((3, 67, 0), (1, 1, 0), (2, 1, 40), (2, 7, 40))


class Shared(nn.Module):
    """A module of the target model, whose weights are not parameters of the draft head."""

    def __init__(self, module):
        super().__init__()
        self.shared = module

    def forward(self, x):
        return self.shared(x)


def shared_parameters(model):
    return {id(p) for m in model.modules() if isinstance(m, Shared) for p in m.parameters()}


class DraftDecoder(nn.Module):
    """Masks and rotary tables of a Llama, for the layers of a draft head."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.rotary_emb = LlamaRotaryEmbedding(config)

    def inputs(self, x, past, cache):
        positions = torch.arange(past, past + x.shape[1], device=x.device).unsqueeze(0)
        mask = create_causal_mask(config=self.config, inputs_embeds=x, attention_mask=None, past_key_values=cache,
                                  position_ids=positions)
        return dict(attention_mask=mask, position_embeddings=self.rotary_emb(x, position_ids=positions),
                    past_key_values=cache)


class EagleLayer(nn.Module):
    def __init__(self, config, index, has_norm):
        super().__init__()
        self.self_attn = LlamaAttention(config, index)
        self.mlp = LlamaMLP(config)
        if has_norm:
            self.input_layernorm = LlamaRMSNorm(config.hidden_size)
        self.post_attention_layernorm = LlamaRMSNorm(config.hidden_size)

    def forward(self, x, **inputs):
        normed = self.input_layernorm(x) if hasattr(self, "input_layernorm") else x
        x = x + self.self_attn(normed, **inputs)[0]
        return x + self.mlp(self.post_attention_layernorm(x))


class Eagle(DraftDecoder):
    def __init__(self, config, values):
        super().__init__(config)
        width = config.hidden_size
        self.embed_tokens = Shared(nn.Embedding(config.vocab_size, width))
        self.fc = nn.Linear(2 * width, width, bias=values.get("eagle_fc_bias", values.get("bias", False)))
        if values.get("add_para_norm", False):
            self.embedding_layernorm = LlamaRMSNorm(width)
            self.hidden_states_layernorm = LlamaRMSNorm(width)
        self.layers = nn.ModuleList(EagleLayer(config, i, i > 0) for i in range(config.num_hidden_layers))
        self.lm_head = Shared(nn.Linear(width, config.vocab_size, bias=False))
        self.target_features = width

    def forward(self, ids, states, past, cache):
        embedded = self.embed_tokens(ids)
        if hasattr(self, "embedding_layernorm"):
            embedded, states = self.embedding_layernorm(embedded), self.hidden_states_layernorm(states)
        x = self.fc(torch.cat((embedded, states), dim=-1))
        inputs = self.inputs(x, past, cache)
        for layer in self.layers:
            x = layer(x, **inputs)
        return self.lm_head(x)


class Eagle3Layer(nn.Module):
    """The first layer of EAGLE-3. Its attention reads the embedding and the hidden state."""

    def __init__(self, config, norm_before_residual):
        super().__init__()
        width, attention = config.hidden_size, LlamaAttention(config, 0)
        for name in ("q_proj", "k_proj", "v_proj"):
            of_llama = getattr(attention, name)
            setattr(attention, name, nn.Linear(2 * width, of_llama.out_features, bias=of_llama.bias is not None))
        self.self_attn = attention
        self.mlp = LlamaMLP(config)
        self.hidden_norm = LlamaRMSNorm(width)
        self.input_layernorm = LlamaRMSNorm(width)
        self.post_attention_layernorm = LlamaRMSNorm(width)
        self.norm_before_residual = norm_before_residual

    def forward(self, x, embedded, **inputs):
        states = self.hidden_norm(x)
        residual = states if self.norm_before_residual else x
        both = torch.cat((self.input_layernorm(embedded), states), dim=-1)
        x = residual + self.self_attn(both, **inputs)[0]
        return x + self.mlp(self.post_attention_layernorm(x))


class Eagle3(DraftDecoder):
    def __init__(self, config, values):
        super().__init__(config)
        width, eagle_config = config.hidden_size, values.get("eagle_config", {})
        target_width = values.get("target_hidden_size") or width
        layer_ids = eagle_config.get("eagle_aux_hidden_state_layer_ids")
        self.aux_states = values.get("num_aux_hidden_states") or (len(layer_ids) if layer_ids else 3)
        embedding = nn.Embedding(config.vocab_size, width)
        self.embed_tokens = Shared(embedding) if target_width == width else embedding
        self.combines = eagle_config.get("use_aux_hidden_state", True)
        self.target_features = self.aux_states * target_width if self.combines else width
        if self.combines:
            if eagle_config.get("norm_before_fc", values.get("norm_before_fc", False)):
                self.input_norm = LlamaRMSNorm(self.target_features)
            if values.get("fc_norm", False):
                self.fc_norm = nn.ModuleList(LlamaRMSNorm(target_width) for _ in range(self.aux_states))
            self.fc = nn.Linear(self.target_features, width, bias=False)
        first = Eagle3Layer(config, values.get("norm_before_residual", False))
        self.layers = nn.ModuleList([first])
        self.layers.extend(EagleLayer(config, i, True) for i in range(1, config.num_hidden_layers))
        self.norm = LlamaRMSNorm(width)
        self.lm_head = nn.Linear(width, values.get("draft_vocab_size") or config.vocab_size, bias=False)

    def combine_hidden_states(self, states):
        if not self.combines:
            return states
        if hasattr(self, "input_norm"):
            states = self.input_norm(states)
        if hasattr(self, "fc_norm"):
            chunks = states.chunk(self.aux_states, dim=-1)
            states = torch.cat([norm(chunk) for norm, chunk in zip(self.fc_norm, chunks)], dim=-1)
        return self.fc(states)

    def forward(self, ids, states, past, cache):
        embedded = self.embed_tokens(ids)
        x = self.combine_hidden_states(states)
        inputs = self.inputs(x, past, cache)
        for index, layer in enumerate(self.layers):
            x = layer(x, embedded, **inputs) if index == 0 else layer(x, **inputs)
        return self.lm_head(self.norm(x))


class ResidualBlock(nn.Module):
    def __init__(self, width, layers, bias):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=bias) for _ in range(layers))
        self.act = nn.SiLU()

    def forward(self, x):
        for layer in self.layers:
            x = x + self.act(layer(x))
        return x


class Medusa(nn.Module):
    def __init__(self, config, values):
        super().__init__()
        self.config = config
        is_original = "medusa_num_heads" in values
        heads = values["medusa_num_heads" if is_original else "num_heads"]
        layers = values.get("medusa_num_layers", values.get("num_hidden_layers", 1))
        width = self.target_features = values["hidden_size"]
        vocab_size = values.get("truncated_vocab_size") or values["vocab_size"]
        bias = values.get("medusa_fc_bias", is_original)
        self.blocks = nn.ModuleList(ResidualBlock(width, layers, bias) for _ in range(heads))
        one = nn.Linear(width, vocab_size, bias=False)
        several = values.get("original_lm_head", False)
        self.lm_heads = nn.ModuleList(one if several else nn.Linear(width, vocab_size, bias=False) for _ in range(heads))

    def forward(self, ids, states, past, cache):
        return torch.stack([head(block(states)) for block, head in zip(self.blocks, self.lm_heads)])


LLAMA = dict(model_type="llama", hidden_size=24, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2,
             head_dim=8, num_hidden_layers=1, max_position_embeddings=512, vocab_size=96)
CLASSES = {"EagleLlamaForCausalLM": Eagle, "LlamaForCausalLMEagle3": Eagle3, "Eagle3LlamaForCausalLM": Eagle3,
           "MedusaModel": Medusa}


def configurations():
    """(name, keys) of small draft heads, which take every branch, and of published sizes."""
    def llama(architecture, **changes):
        return dict(LLAMA, architectures=[architecture], **changes)

    yield "eagle", llama("EagleLlamaForCausalLM")
    yield "eagle_bias_two_layers", llama("EagleLlamaForCausalLM", num_hidden_layers=2, bias=True)
    yield "eagle_hass", llama("EagleLlamaForCausalLM", add_para_norm=True, eagle_fc_bias=True)
    yield "eagle3", llama("LlamaForCausalLMEagle3", draft_vocab_size=56)
    yield "eagle3_two_layers", llama("Eagle3LlamaForCausalLM", num_hidden_layers=2, norm_before_residual=True,
                                     attention_bias=True)
    yield "eagle3_wide_target", llama("LlamaForCausalLMEagle3", target_hidden_size=32, num_aux_hidden_states=4,
                                      norm_before_fc=True)
    yield "eagle3_norms", llama("LlamaForCausalLMEagle3", draft_vocab_size=56, fc_norm=True, norm_output=True,
                                eagle_config=dict(eagle_aux_hidden_state_layer_ids=[1, 5]))
    yield "eagle3_one_state", llama("LlamaForCausalLMEagle3", eagle_config=dict(use_aux_hidden_state=False))
    yield "medusa", dict(model_type="medusa", architectures=["MedusaModel"], hidden_size=24, vocab_size=96, num_heads=3,
                         num_hidden_layers=2, truncated_vocab_size=56)
    yield "medusa_original_keys", dict(architectures=["MedusaModel"], hidden_size=24, vocab_size=96, medusa_num_heads=4,
                                       medusa_num_layers=1)
    yield "medusa_one_lm_head", dict(model_type="medusa", architectures=["MedusaModel"], hidden_size=24, vocab_size=96,
                                     num_heads=3, medusa_fc_bias=True, original_lm_head=True)


def build(values):
    keys = LLAMA | {k: v for k, v in values.items() if k in LLAMA or k == "attention_bias"}
    config = LlamaConfig(**{k: v for k, v in keys.items() if k != "model_type"})
    models.choose_implementations(config)
    config.dtype = torch.float32
    with torch.device("meta"):
        return CLASSES[values["architectures"][0]](config, values).eval()


def run(model, batch, sequence, past):
    """Figures of one pass, and elements of the cache after it."""
    cache = DynamicCache(config=model.config)

    def arguments(length, before):
        states = torch.empty(batch, length, model.target_features, device="meta")
        return torch.zeros(batch, length, dtype=torch.long, device="meta"), states, before, cache

    with torch.no_grad():
        if past:
            model(*arguments(past, 0))
        given = arguments(sequence, past)
        with Recorder(model) as seen:
            model(*given)
    if seen.unknown:
        raise SystemExit(f"calls without a price: {dict(seen.unknown)}")
    total = seen.inclusive()[""]
    cached = sum(prod(shape) for layer in cache_layers(cache) for shape in layer)
    return [total.get(figure, 0) for figure in compact.FIGURES] + [cached]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    models.prepare_transformers()
    lines = ["# SPDX-FileCopyrightText: 2026 The llmcost authors", "# SPDX-License-Identifier: Apache-2.0",
             f"# recorded with transformers {transformers.__version__}: tests/oracle/draft_heads.py"]
    for name, values in configurations():
        model = build(values)
        shared = shared_parameters(model)
        lines.append(f"model {name} {sum(p.numel() for p in model.parameters() if id(p) not in shared)}")
        lines.append(f"config {json.dumps(values)}")
        lines += [" ".join(map(str, ("run", *workload, *run(model, *workload)))) for workload in WORKLOADS]
    args.output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
