#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Draw random small configurations of model types, and record what the reference does with each.

    draw.py TYPE... -o FOLDER [--count 4] [--seed 1] [--architecture CLASS]

Sizes, heads that share keys, biases, windows, kinds of layers, experts, rotary parameters and activations are drawn; what the
reference refuses is drawn again. FOLDER holds TYPE__SEED_N.golden and its configuration, as tests/golden does:

    LLMCOST_GOLDENS=FOLDER build/tests/golden -tc='every golden is exact'
"""
import argparse
import json
import random
import sys
import warnings
from pathlib import Path

import compact
import models
import workloads
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

# switches that say nothing of a forward pass, or make it another kind of model
LEFT_ALONE = {"use_cache", "is_encoder_decoder", "is_decoder", "add_cross_attention", "return_dict", "output_hidden_states",
              "output_attentions", "torchscript", "use_mamba_kernels", "output_router_logits", "scale_attn_weights",
              "use_bidirectional_attention", "is_vision", "return_legacy_cache", "torch_dtype", "tie_encoder_decoder"}
ACTIVATIONS = ["silu", "gelu", "gelu_pytorch_tanh", "relu", "gelu_new", "relu2"]


def names(defaults, *spellings):
    """Which of these spellings of a key the type has."""
    return [s for s in spellings if s in defaults]


def draw_heads(rng, d, values):
    heads = rng.choice([1, 2, 3, 4, 6, 8])
    width = rng.choice([4, 8, 12, 16, 20]) * heads
    dim = width // heads
    for key in names(d, "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"):
        values[key] = heads
    for key in names(d, "num_key_value_heads", "num_kv_heads", "n_head_kv"):
        values[key] = rng.choice([k for k in range(1, heads + 1) if heads % k == 0])
    for key in names(d, "hidden_size", "n_embd", "d_model", "dim", "n_embed"):
        values[key] = width
    for key in names(d, "head_dim", "d_kv"):
        if d[key] is not None or rng.random() < 0.5:
            values[key] = rng.choice([dim, 8, 12, 24])


def draw_sizes(rng, d, values):
    pick = {"intermediate_size": (8, 70), "num_hidden_layers": (1, 5), "vocab_size": (40, 200), "n_layer": (1, 5),
            "n_layers": (1, 5), "num_layers": (1, 5), "ffn_dim": (8, 70), "d_ff": (8, 70), "n_inner": (8, 70),
            "moe_intermediate_size": (4, 40), "shared_expert_intermediate_size": (4, 40), "sliding_window": (2, 90),
            "max_window_layers": (0, 3), "first_k_dense_replace": (0, 3), "decoder_sparse_step": (1, 3),
            "sliding_window_pattern": (1, 4), "n_shared_experts": (1, 3), "q_lora_rank": (4, 30), "kv_lora_rank": (4, 30),
            "qk_nope_head_dim": (2, 12), "v_head_dim": (2, 12), "conv_L_cache": (2, 5), "type_vocab_size": (1, 4)}
    for key, (low, high) in pick.items():
        if key not in d:
            continue
        if d[key] is None and rng.random() < 0.5:
            continue
        values[key] = rng.randint(low, high)
        if key == "sliding_window" and d[key] is not None and rng.random() < 0.2:
            values[key] = None
    for key in names(d, "qk_rope_head_dim"):
        values[key] = 2 * rng.randint(1, 6)
    experts = names(d, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
    if experts and d[experts[0]]:
        groups = rng.choice([1, 2]) if "n_group" in d else 1
        values[experts[0]] = 2 * groups * rng.randint(1, 4)
        for key in names(d, "num_experts_per_tok", "moe_k", "moe_topk", "num_experts_per_token"):
            values[key] = rng.randint(1, max(1, values[experts[0]] // groups))
        if "n_group" in d:
            values["n_group"], values["topk_group"] = groups, rng.randint(1, groups)


def draw_layers(rng, d, values):
    layers = next((values[k] for k in ("num_hidden_layers", "n_layer", "num_layers") if k in values), None)
    kinds = d.get("layer_types")
    if layers is None or not isinstance(kinds, list) or not kinds:
        return
    words = sorted(set(kinds)) + (["sliding_attention"] if d.get("sliding_window") else [])
    if rng.random() < 0.7:
        values["layer_types"] = [rng.choice(words) for _ in range(layers)]
    for key in ("mlp_layer_types",):
        if isinstance(d.get(key), list) and d[key]:
            values[key] = [rng.choice(sorted(set(d[key]))) for _ in range(layers)]


def draw_rope(rng, d, values):
    rope = d.get("rope_parameters")
    if not isinstance(rope, dict) or any(isinstance(v, dict) for v in rope.values()):
        return
    drawn = {"rope_theta": 10000.0, "rope_type": rng.choice(["default", "default", "linear", "dynamic"])}
    if drawn["rope_type"] != "default":
        drawn["factor"] = rng.choice([2.0, 4.0])
    if "partial_rotary_factor" in rope or rng.random() < 0.15:
        drawn["partial_rotary_factor"] = rng.choice([0.25, 0.5, 1.0])
    if rng.random() < 0.5:
        values["rope_parameters"] = drawn


def draw(model_type, rng, architecture):
    d = CONFIG_MAPPING[model_type]().to_dict()
    values = {"model_type": model_type}
    if architecture:
        values["architectures"] = [architecture]
    for part in (draw_heads, draw_sizes, draw_layers, draw_rope):
        part(rng, d, values)
    for key, default in d.items():
        if isinstance(default, bool) and key not in LEFT_ALONE and not key.startswith("_") and rng.random() < 0.3:
            values[key] = not default
    for key in names(d, "hidden_act", "hidden_activation", "activation_function"):
        if rng.random() < 0.4:
            values[key] = rng.choice(ACTIVATIONS)
    for key in names(d, "max_position_embeddings", "n_positions"):
        values[key] = rng.choice([300, 600])
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=4, help="configurations of each type (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--architecture", metavar="CLASS")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    a.output.mkdir(parents=True, exist_ok=True)
    options = workloads.Options(past=230, light=True)
    for model_type in a.types:
        rng, made, why = random.Random(f"{model_type} {a.seed}"), 0, {}
        for _ in range(a.count * 12):
            if made == a.count:
                break
            values = draw(model_type, rng, a.architecture)
            try:
                values.setdefault("architectures", [models.model_class(models.read_configuration(values)).__name__])
                result = workloads.record(json.loads(json.dumps(values)), options)
                if result.get("errors") or any(run.get("unknown") for run in result["runs"]):
                    raise ValueError(str(result.get("errors") or "a call without a price"))
            except Exception as problem:  # whatever the reference says of sizes that do not go together
                why[type(problem).__name__ + ": " + str(problem)[:100]] = why.get(str(problem)[:100], 0) + 1
                continue
            name = f"{model_type}__{a.seed}_{made}"
            (a.output / f"{name}.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
            (a.output / f"{name}.golden").write_text(compact.write(result, name), encoding="utf-8")
            made += 1
        print(f"{model_type}: {made} of {a.count}" + ("" if made == a.count else f"; refused: {list(why)[:3]}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
