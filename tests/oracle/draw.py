#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Draw random small configurations of model types, and record what the reference does with each.

    draw.py TYPE... -o FOLDER [--count 4] [--seed 1] [--architecture CLASS] [--foreign]

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
              "use_bidirectional_attention", "is_vision", "return_legacy_cache", "torch_dtype", "tie_encoder_decoder",
              "chunk_size_feed_forward", "pretraining_tp", "num_nextn_predict_layers", "num_mtp_layers", "num_labels",
              "image_size", "patch_size", "num_channels", "original_max_position_embeddings", "model_max_length", "n_ctx",
              "max_source_positions", "max_target_positions", "rotary_dim", "vocab_list", "is_moe", "esmfold_config",
              "is_folding_model"}
ACTIVATIONS = ["silu", "gelu", "gelu_pytorch_tanh", "relu", "gelu_new", "relu2"]
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads")
TYPES_WITH_AXES = {"glm4v_text": 3, "glm4v_moe_text": 3, "glm_ocr_text": 3, "qwen2_vl_text": 3, "qwen2_5_vl_text": 3,
                   "paddleocr_vl_text": 3}  # whose default sections suit no other head
KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv")
WIDTHS = ("hidden_size", "n_embd", "d_model", "dim", "n_embed", "emb_dim", "embedding_dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len")
# keys that many types have: where a type has none, a file may still say one
FOREIGN = {"num_key_value_heads": (1, 2), "head_dim": (8, 24), "attention_bias": (False, True), "mlp_bias": (False, True),
           "sliding_window": (20, 90), "intermediate_size": (16, 48), "hidden_act": ("relu", "silu"),
           "tie_word_embeddings": (False, True), "num_local_experts": (4, 4), "partial_rotary_factor": (0.5, 0.5),
           "layer_norm_eps": (1e-3, 1e-3), "use_qk_norm": (False, True), "bias": (False, True)}


def names(defaults, *spellings):
    """Which of these spellings of a key the type has."""
    return [s for s in spellings if s in defaults]


def is_size(value):
    return isinstance(value, int) and not isinstance(value, bool)


def draw_heads(rng, d, values):
    heads = rng.choice([1, 2, 3, 4, 6, 8])
    if values["model_type"] == "codegen":
        heads = rng.choice([4, 8])
    width = rng.choice([4, 8, 12, 16, 20]) * heads
    dim = width // heads
    for key in names(d, *HEADS):
        if is_size(d[key]):
            values[key] = heads
    divisors = [k for k in range(1, heads + 1) if heads % k == 0]
    for key in names(d, *KEY_HEADS):
        values[key] = rng.choice(divisors)
    for key in names(d, "decoder_attention_heads"):
        values[key] = rng.choice(divisors)
    for key in names(d, *WIDTHS):
        if is_size(d[key]):
            values[key] = width
    for key in names(d, "head_dim", "d_kv", "dim_head", "d_head"):
        if d[key] is not None or rng.random() < 0.5:
            values[key] = rng.choice([dim, 8, 12, 24])
    for key in names(d, "rotary_dim"):
        values[key] = 2 * rng.randint(1, values.get("head_dim", dim) // 2)
    for key in names(d, "d_inner", "attention_hidden_size"):
        values[key] = width


def draw_sizes(rng, d, values):
    pick = {"intermediate_size": (8, 70), "vocab_size": (64, 200), "ffn_dim": (8, 70), "d_ff": (8, 70), "n_inner": (8, 70),
            "encoder_ffn_dim": (8, 70), "decoder_ffn_dim": (8, 70),
            "moe_intermediate_size": (4, 40), "shared_expert_intermediate_size": (4, 40), "sliding_window": (2, 90),
            "max_window_layers": (0, 3), "first_k_dense_replace": (0, 3), "decoder_sparse_step": (1, 3),
            "sliding_window_pattern": (1, 4), "n_shared_experts": (1, 3), "q_lora_rank": (4, 30), "kv_lora_rank": (4, 30),
            "qk_nope_head_dim": (2, 12), "v_head_dim": (2, 12), "conv_L_cache": (2, 5), "type_vocab_size": (1, 4),
            **dict.fromkeys(LAYERS, (1, 5))}
    for key, (low, high) in pick.items():
        if key not in d or not (d[key] is None or is_size(d[key])):
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
    layers = next((values[k] for k in LAYERS if k in values), None)
    kinds = d.get("layer_types")
    if layers is None:
        return
    if isinstance(kinds, list) and kinds:
        words = sorted(set(kinds)) + (["sliding_attention"] if d.get("sliding_window") else [])
        if rng.random() < 0.7:
            values["layer_types"] = [rng.choice(words) for _ in range(layers)]
    for key in ("mlp_layer_types", "layers_block_type"):
        if isinstance(d.get(key), list) and d[key]:
            values[key] = [rng.choice(sorted(set(d[key]))) for _ in range(layers)]


def draw_rotation(rng, d, values, rope):
    drawn = {"rope_theta": 10000.0, "rope_type": rng.choice(["default", "default", "linear", "dynamic"])}
    if drawn["rope_type"] != "default":
        drawn["factor"] = rng.choice([2.0, 4.0])
    heads = next((values[k] for k in HEADS if k in values), 1)
    width = next((values[k] for k in WIDTHS if k in values), 0)
    dim = values.get("head_dim") or width // heads
    if "partial_rotary_factor" in rope or rng.random() < 0.15:
        fits = [f for f in (0.25, 0.5, 0.75, 1.0) if int(dim * f) > 1 and int(dim * f) % 2 == 0]
        drawn["partial_rotary_factor"] = rng.choice(fits or [1.0])
    if values["model_type"] in TYPES_WITH_AXES:
        half, parts = int(dim * drawn.get("partial_rotary_factor", 1)) // 2, TYPES_WITH_AXES[values["model_type"]]
        ends = sorted(rng.randint(0, half) for _ in range(parts - 1))
        drawn["mrope_section"] = [b - a for a, b in zip([0, *ends], [*ends, half])]
        drawn["rope_type"] = "default"
    return drawn


def draw_rope(rng, d, values):
    rope = d.get("rope_parameters")
    if not isinstance(rope, dict) or values["model_type"] not in TYPES_WITH_AXES and rng.random() < 0.5:
        return
    if any(isinstance(v, dict) for v in rope.values()):
        values["rope_parameters"] = {kind: draw_rotation(rng, d, values, v) for kind, v in rope.items() if isinstance(v, dict)}
    else:
        values["rope_parameters"] = draw_rotation(rng, d, values, rope)


def draw_state_space(rng, d, values):
    width, groups = values.get("hidden_size", 0), rng.choice([1, 2])
    heads = groups * rng.choice([1, 2, 4])
    if {"mamba_d_ssm", "mamba_n_heads"} <= d.keys():
        dim = rng.choice([4, 6, 8])
        values.update(mamba_n_heads=heads, mamba_d_head=dim, mamba_d_ssm=heads * dim, mamba_n_groups=groups)
    elif "mamba_n_heads" in d:
        values.update(mamba_expand=2, mamba_n_heads=2 * heads, mamba_d_head="auto", mamba_n_groups=groups)
        values["hidden_size"] = width * heads
    elif "mamba_num_heads" in d:
        values.update(mamba_num_heads=heads, mamba_head_dim=rng.choice([4, 6, 8]), n_groups=groups)
    elif values["model_type"] == "mamba2":
        values.update(hidden_size=4 * heads, expand=2, num_heads=heads, head_dim=8, n_groups=groups)
    elif "n_mamba_heads" in d:
        values.update(mamba_expand=2, n_mamba_heads=2 * heads, mamba_ngroups=groups, hidden_size=width * heads)
        values.update(mamba_headdim=width, attention_hidden_size=2 * width * heads)
        values["attention_head_dim"] = 2 * width * heads // values["num_attention_heads"]
    if "linear_num_key_heads" in d:
        keys = rng.choice([1, 2, 3])
        values.update(linear_num_key_heads=keys, linear_num_value_heads=keys * rng.choice([1, 2]))
        values.update(linear_key_head_dim=rng.choice([4, 8]), linear_value_head_dim=rng.choice([4, 8, 12]))


def draw_other_sizes(rng, d, values):
    """Whatever else is a size; one in three stays as it is."""
    for key, default in d.items():
        if key in values or key in LEFT_ALONE or key.startswith("_") or not is_size(default) or default < 1:
            continue
        if any(part in key for part in ("token", "_id", "index", "position", "seq_len", "chunk")) or rng.random() < 0.35:
            continue
        values[key] = 4 * rng.randint(1, 12) if default > 32 else rng.randint(1, default + 1)


def draw_own(rng, d, values):
    """Keys whose defaults suit the default sizes only, or that say nothing by default."""
    kind, layers = values["model_type"], values.get("num_hidden_layers", 1)
    if kind == "gpt_neo":
        values["attention_types"] = [[["global", "local"], rng.randint(1, 3)]]
        values["num_layers"] = 2 * values["attention_types"][0][1]
    elif kind == "lfm2_moe":
        values["layer_types"] = [rng.choice(["conv", "full_attention"]) for _ in range(layers)]
    elif kind == "cohere_compass_text":
        values["rope_parameters"] = {k: {"rope_type": "default", "rope_theta": 10000.0}
                                     for k in ("full_attention", "sliding_attention")}
    elif kind in ("esm", "esmc"):
        values.update(vocab_size=rng.randint(64, 90), pad_token_id=1, mask_token_id=32)
    elif kind == "bamba":
        values["attn_layer_indices"] = sorted({0, rng.randint(0, layers - 1)})
    elif kind == "granitemoehybrid":
        values["layer_types"] = ["attention" if rng.random() < 0.5 else "mamba" for _ in range(layers - 1)] + ["attention"]
    elif kind == "cpmant":
        values["prompt_length"] = 32
    elif kind == "squeezebert":
        values.update({f"{part}_groups": 1 for part in ("q", "k", "v", "post_attention", "intermediate", "output")})
        values["embedding_size"] = values["hidden_size"]
    elif kind == "xlstm":
        values.update(num_heads=2, hidden_size=128, embedding_dim=128, num_blocks=layers)
        values.pop("intermediate_size", None)
    elif kind == "bailing_hybrid":
        values.update(num_hidden_layers=rng.choice([2, 4]), layer_group_size=2, num_expert_group=1, topk_group=1)
        values.update(num_experts=8, num_experts_per_tok=rng.randint(1, 4))
        values.pop("num_experts_per_token", None)
    elif kind in ("deepseek_v3", "youtu"):
        values["head_dim"] = values["qk_rope_head_dim"]
        values.pop("rope_parameters", None)
    elif kind == "gemma3n_text":
        shared = rng.choice([0, 1])
        values.update(num_kv_shared_layers=shared, num_hidden_layers=4, sliding_window=rng.randint(2, 90))
        kinds = ["sliding_attention", "full_attention"]
        values["layer_types"] = [*kinds, *rng.choices(kinds, k=2)]
        values["activation_sparsity_pattern"] = [rng.choice([0.0, 0.95]) for _ in range(4)]
    elif kind == "dots1" and "n_routed_experts" not in values:
        values.update(n_routed_experts=rng.choice([4, 6]), num_experts_per_tok=rng.randint(1, 3), n_group=1, topk_group=1)
    elif kind == "ibert":
        values["quant_mode"] = False


def draw_tokens(rng, d, values):
    """Special tokens that the vocabulary has."""
    for key, default in d.items():
        limit = values.get("vocab_size", 0)
        if key.endswith("_token_id") and is_size(default) and default >= limit > 0:
            values[key] = rng.randint(0, 9)


def draw_foreign(rng, config, d, values):
    """Keys that the type does not have."""
    none = [key for key in FOREIGN if key not in d and key not in config.attribute_map]
    for key in rng.sample(none, min(len(none), rng.randint(1, 3))):
        values[key] = rng.choice(FOREIGN[key])


def draw(model_type, rng, architecture, foreign=False):
    config = CONFIG_MAPPING[model_type]()
    return draw_of(model_type, rng, config, architecture, foreign)


def draw_of(model_type, rng, config, architecture, foreign):
    d = config.to_dict()
    values = {"model_type": model_type}
    if architecture:
        values["architectures"] = [architecture]
    parts = [key for key in config.sub_configs if isinstance(d.get(key), dict)]
    for key in parts:
        part = getattr(config, key)
        values[key] = draw_of(part.model_type, rng, part, None, foreign)
    if not parts:
        for part in (draw_heads, draw_sizes, draw_layers, draw_state_space, draw_rope, draw_other_sizes, draw_tokens,
                     draw_own):
            part(rng, d, values)
        for key in names(d, *POSITIONS):
            values[key] = rng.choice([300, 600])
        if foreign:
            draw_foreign(rng, config, d, values)
    for key, default in d.items():
        if isinstance(default, bool) and key not in LEFT_ALONE and not key.startswith("_") and rng.random() < 0.3:
            values[key] = not default
    for key in names(d, "hidden_act", "hidden_activation", "activation_function"):
        if rng.random() < 0.4:
            values[key] = rng.choice(ACTIVATIONS)
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=4, help="configurations of each type (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--architecture", metavar="CLASS")
    parser.add_argument("--foreign", action="store_true", help="with keys that the type does not have")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    a.output.mkdir(parents=True, exist_ok=True)
    options = workloads.Options(past=230, light=True)
    for model_type in a.types:
        rng, made, why = random.Random(f"{model_type} {a.seed}"), 0, {}
        for _ in range(a.count * 12):
            if made == a.count:
                break
            values = draw(model_type, rng, a.architecture, a.foreign)
            try:
                values.setdefault("architectures", [models.model_class(models.read_configuration(values)).__name__])
                result = workloads.record(json.loads(json.dumps(values)), options)
                # a backward operation without a price leaves out the training steps only
                errors = {k: e for k, e in result.get("errors", {}).items() if "backward calls without a price" not in e}
                if errors or any(run.get("unknown") for run in result["runs"]):
                    raise ValueError(str(errors or "a call without a price"))
            except Exception as problem:  # whatever the reference says of sizes that do not go together
                why[f"{type(problem).__name__}: {str(problem)[:160]}"] = True
                continue
            name = f"{model_type}__{a.seed}_{made}"
            (a.output / f"{name}.json").write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
            (a.output / f"{name}.golden").write_text(compact.write(result, name), encoding="utf-8")
            made += 1
        print(f"{model_type}: {made} of {a.count}" + ("" if made == a.count else f"; refused: {list(why)[:3]}"), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
