#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record forward passes of draft heads for speculative decoding: EAGLE, EAGLE-3, Medusa, DFlash and DFlash 2.

    draft_heads.py -o tests/golden/draft_heads.txt

Transformers has no draft heads. The modules below have the structure of these references; their attention, MLP, norm,
masks and rotary tables are those of Transformers:

    EAGLE    eagle/model/cnets1.py of SafeAILab/EAGLE, vllm/model_executor/models/llama_eagle.py
    EAGLE-3  eagle/model/cnets.py of SafeAILab/EAGLE, vllm/model_executor/models/llama_eagle3.py
    Medusa   medusa/model/medusa_model.py of FasterDecoding/Medusa, vllm/model_executor/models/medusa.py
    DFlash   dflash/model.py of z-lab/dflash, specforge/modeling/draft/dflash2.py of sgl-project/SpecForge

The lines:

    model NAME PARAMETERS
    config JSON
    run BATCH SEQUENCE PAST ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP OUT WRITTEN CACHE

PARAMETERS are those of the draft head without weights of the target model. SEQUENCE and PAST are tokens of the context;
a pass of DFlash has a block of queries after them.
"""
import argparse
import json
import sys
from math import prod
from pathlib import Path

import torch
import transformers
from torch import nn
from torch.nn import functional as F
from transformers import DynamicCache, LlamaConfig, Qwen3Config
from transformers.masking_utils import create_causal_mask
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP, LlamaRMSNorm, LlamaRotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import (Qwen3MLP, Qwen3RMSNorm, Qwen3RotaryEmbedding,
                                                      eager_attention_forward, rotate_half)

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


class ContextCache:
    """Keys and values of the context. Those of a block, which follow the context, are not kept."""

    def __init__(self, config=None):
        self.layers = {}

    def update(self, keys, values, index, block, window):
        empty = torch.tensor([], device="meta")
        both = [torch.cat([past, new], dim=-2) for past, new in
                zip(self.layers.get(index, (empty, empty)), (keys, values))]
        context = both[0].shape[-2] - block
        first = max(0, context - (window - 1)) if window else 0
        self.layers[index] = [x[:, :, first:context] for x in both]
        return both

    def numel(self):
        return sum(x.numel() for layer in self.layers.values() for x in layer)


class DFlashAttention(nn.Module):
    def __init__(self, config, index, window):
        super().__init__()
        self.index, self.window, self.head_dim = index, window, config.head_dim
        self.num_key_value_groups = config.num_attention_heads // config.num_key_value_heads
        width, bias = config.hidden_size, config.attention_bias
        heads, kv_heads = config.num_attention_heads * self.head_dim, config.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(width, heads, bias=bias)
        self.k_proj = nn.Linear(width, kv_heads, bias=bias)
        self.v_proj = nn.Linear(width, kv_heads, bias=bias)
        self.o_proj = nn.Linear(heads, width, bias=bias)
        self.q_norm, self.k_norm = Qwen3RMSNorm(self.head_dim), Qwen3RMSNorm(self.head_dim)

    def forward(self, x, context, mask, position_embeddings, cache):
        batch, block, new = x.shape[0], x.shape[1], context.shape[1]
        query = self.q_norm(self.q_proj(x).view(batch, block, -1, self.head_dim)).transpose(1, 2)
        keys = torch.cat([self.k_proj(context), self.k_proj(x)], dim=1).view(batch, new + block, -1, self.head_dim)
        values = torch.cat([self.v_proj(context), self.v_proj(x)], dim=1).view(batch, new + block, -1, self.head_dim)
        keys, values = self.k_norm(keys).transpose(1, 2), values.transpose(1, 2)
        cos, sin = (table.unsqueeze(1) for table in position_embeddings)
        query = query * cos[..., -block:, :] + rotate_half(query) * sin[..., -block:, :]
        keys = keys * cos + rotate_half(keys) * sin
        keys, values = cache.update(keys, values, self.index, block, self.window)
        out, _ = eager_attention_forward(self, query, keys, values, mask, scaling=self.head_dim**-0.5)
        return self.o_proj(out.reshape(batch, block, -1))


class GroupedConv(nn.Module):
    def __init__(self, width, taps, group_size):
        super().__init__()
        self.taps, self.group_size, self.groups = taps, group_size, width // group_size
        self.base_kernel = nn.Parameter(torch.empty(2, taps, width))
        self.kernel_projection = nn.Linear(width, 2 * taps * self.groups, bias=False)

    def convolve(self, x, delta, side):
        batch, block, width = x.shape
        blocks = x.view(batch, block, self.groups, self.group_size)
        base = self.base_kernel[side].view(1, 1, self.taps, self.groups, self.group_size)
        coefficients = base + delta.unsqueeze(-1)
        out = coefficients[:, :, 0] * blocks
        for tap in range(1, self.taps):
            shifted = F.pad(blocks[:, :block - tap], (0, 0, 0, 0, tap, 0))
            out = out + coefficients[:, :, tap] * shifted
        return out.view(batch, block, width)

    def prepare(self, x):
        deltas = self.kernel_projection(x).view(*x.shape[:-1], 2, self.taps, self.groups)
        return self.convolve(x, deltas[:, :, 0], 0), deltas[:, :, 1]

    def finish(self, x, delta):
        return self.convolve(x, delta, 1)


class CandidateSelector(nn.Module):
    def __init__(self, width, vocab_size, rank, top_k):
        super().__init__()
        self.top_k = top_k
        self.predecessor_codebook = nn.Parameter(torch.empty(vocab_size, rank))
        self.successor_codebook = nn.Parameter(torch.empty(vocab_size, rank))
        self.hidden_projection = nn.Linear(width, rank, bias=False)

    def forward(self, states, logits, predecessor):
        unary, candidates = torch.topk(logits, self.top_k, dim=-1, sorted=False)
        states = self.hidden_projection(states)
        for position in range(states.shape[1]):
            context = self.predecessor_codebook[predecessor] * states[:, position]
            successors = self.successor_codebook[candidates[:, position]]
            scores = unary[:, position] + torch.einsum("br,bkr->bk", context, successors)
            predecessor = candidates[:, position].gather(-1, scores.argmax(dim=-1)[:, None])[:, 0]
        return predecessor


class DFlashLayer(nn.Module):
    def __init__(self, config, index, window, draft):
        super().__init__()
        self.self_attn = DFlashAttention(config, index, window)
        self.mlp = Qwen3MLP(config)
        self.input_layernorm = Qwen3RMSNorm(config.hidden_size)
        self.post_attention_layernorm = Qwen3RMSNorm(config.hidden_size)
        if "conv_kernel_size" in draft:
            sizes = config.hidden_size, draft["conv_kernel_size"], draft["conv_group_size"]
            self.attention_conv, self.mlp_conv = GroupedConv(*sizes), GroupedConv(*sizes)

    def around(self, name, x, block):
        if not hasattr(self, name):
            return block(x)
        conv = getattr(self, name)
        x, delta = conv.prepare(x)
        return conv.finish(block(x), delta)

    def forward(self, x, **inputs):
        x = x + self.around("attention_conv", self.input_layernorm(x), lambda h: self.self_attn(h, **inputs))
        return x + self.around("mlp_conv", self.post_attention_layernorm(x), self.mlp)


class DFlash(nn.Module):
    def __init__(self, config, values):
        super().__init__()
        self.config, draft = config, {**values, **values.get("dflash_config", {})}
        width, layers = config.hidden_size, config.num_hidden_layers
        target_width = values.get("target_hidden_size") or width
        kinds = values.get("layer_types") or ["full_attention"] * layers
        if draft.get("use_swa") and "sliding_attention" not in kinds:
            kinds = ["sliding_attention"] * layers
        self.window = draft.get("swa_window_size") or values.get("sliding_window")
        self.kinds, causal = kinds, draft.get("is_causal", draft.get("causal"))
        self.causal = {"full_attention": bool(causal),
                       "sliding_attention": "sliding_attention" in (values.get("layer_types") or [])
                       if causal is None else causal}
        self.block = draft.get("block_size", 16)
        self.target_features = target_width * len(draft.get("target_layer_ids") or kinds)
        embedding, head = nn.Embedding(config.vocab_size, width), nn.Linear(width, config.vocab_size, bias=False)
        shared = target_width == width
        self.embed_tokens, self.lm_head = (Shared(embedding), Shared(head)) if shared else (embedding, head)
        self.fc = nn.Linear(self.target_features, width, bias=False)
        self.hidden_norm, self.norm = Qwen3RMSNorm(width), Qwen3RMSNorm(width)
        self.rotary_emb = Qwen3RotaryEmbedding(config)
        self.layers = nn.ModuleList(DFlashLayer(config, i, self.window if kind == "sliding_attention" else None, draft)
                                    for i, kind in enumerate(kinds))
        self.scale, self.multiplier = draft.get("input_embedding_scale"), draft.get("output_multiplier")
        self.soft_cap = draft.get("final_logit_softcapping")
        if "selector_rank" in draft:
            self.candidate_selector = CandidateSelector(width, config.vocab_size, draft["selector_rank"],
                                                        draft.get("selector_top_k", 16))

    def mask(self, kind, cached, total):
        """An additive mask of the block for `cached` keys and the block, of `total` tokens; None if all keys are visible."""
        if kind == "full_attention" and not self.causal[kind]:
            return None
        query = torch.arange(total - self.block, total, device="meta")[:, None]
        key = torch.arange(total - self.block - cached, total, device="meta")[None, :]
        visible = key <= query if self.causal[kind] else torch.ones_like(key <= query)
        if kind == "sliding_attention":
            visible = visible & (query - key < self.window) & (key - query < self.window)
        return torch.where(visible[None, None], torch.zeros((), device="meta"), torch.finfo(torch.float32).min)

    def forward(self, ids, states, past, cache):
        new, block = ids.shape[1], self.block
        x = self.embed_tokens(torch.zeros(ids.shape[0], block, dtype=torch.long, device="meta"))
        x = x if self.scale is None else x * self.scale
        context = self.hidden_norm(self.fc(states))
        kept = min(past, self.window - 1) if self.window else past
        masks = {kind: self.mask(kind, (kept if kind == "sliding_attention" else past) + new, past + new + block)
                 for kind in set(self.kinds)}
        positions = torch.arange(past, past + new + block, device="meta").unsqueeze(0)
        tables = self.rotary_emb(x, position_ids=positions)
        for layer, kind in zip(self.layers, self.kinds):
            x = layer(x, context=context, mask=masks[kind], position_embeddings=tables, cache=cache)
        draft_states = self.norm(x)[:, 1 - block:]
        logits = self.lm_head(draft_states)
        logits = logits if self.multiplier is None else logits * self.multiplier
        if self.soft_cap is not None:
            logits = torch.tanh(logits / self.soft_cap) * self.soft_cap
        if hasattr(self, "candidate_selector"):
            return self.candidate_selector(draft_states, logits, ids[:, -1])
        return logits


LLAMA = dict(model_type="llama", hidden_size=24, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2,
             head_dim=8, num_hidden_layers=1, max_position_embeddings=512, vocab_size=96)
CLASSES = {"EagleLlamaForCausalLM": Eagle, "LlamaForCausalLMEagle3": Eagle3, "Eagle3LlamaForCausalLM": Eagle3,
           "MedusaModel": Medusa, "DFlashDraftModel": DFlash, "DFlash2DraftModel": DFlash}


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

    def qwen3(architecture, **changes):
        return dict(LLAMA, model_type="qwen3", architectures=[architecture], **changes)

    mixed = ["sliding_attention", "full_attention"]
    sizes = dict(conv_kernel_size=2, conv_group_size=4, selector_rank=6)
    yield "dflash", qwen3("DFlashDraftModel")
    yield "dflash_target", qwen3("DFlashDraftModel", target_hidden_size=32, attention_bias=True, block_size=5,
                                 dflash_config=dict(target_layer_ids=[1, 4, 7], final_logit_softcapping=30.0,
                                                    input_embedding_scale=2.0, output_multiplier=0.5))
    yield "dflash_sliding", qwen3("DFlashDraftModel", num_hidden_layers=2, sliding_window=32,
                                  dflash_config=dict(use_swa=True, block_size=6))
    yield "dflash_causal", qwen3("DFlashDraftModel", num_hidden_layers=2, layer_types=mixed, sliding_window=32,
                                 dflash_config=dict(causal=True, block_size=6))
    yield "dflash2", qwen3("DFlash2DraftModel", num_hidden_layers=2, layer_types=mixed, sliding_window=32,
                           use_sliding_window=True, block_size=4,
                           dflash_config=dict(sizes, selector_top_k=3, target_layer_ids=[1, 3]))
    yield "dflash2_three_taps", qwen3("DFlash2DraftModel", is_causal=False,
                                      dflash_config=dict(sizes, conv_kernel_size=3, block_size=7))


def build(values):
    keys = LLAMA | {k: v for k, v in values.items() if k in LLAMA or k == "attention_bias"}
    chosen = CLASSES[values["architectures"][0]]
    config = (Qwen3Config if chosen is DFlash else LlamaConfig)(**{k: v for k, v in keys.items() if k != "model_type"})
    models.choose_implementations(config)
    config.dtype = torch.float32
    with torch.device("meta"):
        return chosen(config, values).eval()


def run(model, batch, sequence, past):
    """Figures of one pass, and elements of the cache after it."""
    cache = (ContextCache if isinstance(model, DFlash) else DynamicCache)(config=model.config)

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
    cached = (cache.numel() if isinstance(cache, ContextCache)
              else sum(prod(shape) for layer in cache_layers(cache) for shape in layer))
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
