# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what autograd keeps and executes where parts of a model are frozen.

    python tests/oracle/frozen.py > tests/memory/frozen.txt

For every configuration and every list of modules whose parameters are frozen: one training step in float32 with random
weights on a CPU, eager attention. A line has the configuration, what is frozen in llmcost's words, the workload (batch,
tokens of the text, images, their side), parameters that are trained, the bytes that autograd keeps, and FLOPs of both passes.
"""
import json

import torch
from torch.utils.flop_counter import FlopCounterMode

import models

TEXT = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 128, "max_position_embeddings": 512}
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **TEXT, "tie_word_embeddings": False}
BERT = {"model_type": "bert", "architectures": ["BertForSequenceClassification"], "hidden_size": 64,
        "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 128, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0}
VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 64, "intermediate_size": 96,
       "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8, "num_labels": 10}
TOWER = {"model_type": "clip_vision_model", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3,
         "num_attention_heads": 3, "image_size": 56, "patch_size": 14}
LLAVA = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], "image_token_index": 127,
         "tie_word_embeddings": False, "vision_feature_layer": -1, "text_config": {"model_type": "llama", **TEXT}, "vision_config": TOWER}

# configuration, what llmcost is told, the ends of the modules' paths, text, images
CASES = [
    (LLAMA, "none", [], 12, 0),
    (LLAMA, "freeze:embedding", ["model.embed_tokens"], 12, 0),
    (LLAMA, "freeze:embed_tokens+layers.0+layers.1", ["model.embed_tokens", "model.layers.0", "model.layers.1"], 12, 0),
    (LLAMA, "freeze:model", ["model"], 12, 0),
    (LLAMA, "freeze:mlp", [f"model.layers.{i}.mlp" for i in range(3)], 12, 0),
    (BERT, "freeze:encoder.layer.0+embeddings", ["bert.encoder.layer.0", "bert.embeddings"], 12, 0),
    (BERT, "freeze:bert", ["bert"], 12, 0),
    (VIT, "freeze:vit", ["vit"], 0, 1),
    (LLAVA, "none", [], 9, 2),
    (LLAVA, "freeze:vision_tower", ["model.vision_tower"], 9, 2),
    (LLAVA, "freeze:vision+projector", ["model.vision_tower", "model.multi_modal_projector"], 9, 2),
    (LLAVA, "freeze:vision_tower+language_model+lm_head", ["model.vision_tower", "model.language_model", "lm_head"], 9, 2),
]


def inputs(values, text, images):
    side = (values.get("vision_config") or values).get("image_size", 0)
    out = {}
    if text:
        each = (side // values["vision_config"]["patch_size"]) ** 2 if images else 0
        row = [values["image_token_index"]] * (each * images) if images else []
        out["input_ids"] = torch.tensor([row + list(range(1, text + 1))] * 2)
    if images:
        out["pixel_values"] = torch.rand(2 * images, 3, side, side)
    if "Causal" in values["architectures"][0]:
        out["use_cache"] = False
    return out, side


def record(values, words, modules, text, images):
    config = models.read_configuration(values)
    model = models.with_random_weights(models.build(config)).train()
    for name in modules:
        model.get_submodule(name).requires_grad_(False)
    arguments, side = inputs(values, text, images)
    own = {t.untyped_storage()._cdata for t in [*model.parameters(), *model.buffers()]}
    saved, alive = {}, []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and storage._cdata not in own:
            alive.append(tensor)  # or the address would be used again
            saved[storage._cdata] = storage.nbytes()
        return tensor

    forward, backward = FlopCounterMode(display=False), FlopCounterMode(display=False)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), forward:
        logits = model(**arguments).logits
    with backward:
        logits.float().sum().backward()
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"{json.dumps(values)} | {words} | 2 {text} {images} {side} | {trained} {sum(saved.values())} "
          f"{forward.get_total_flops()} {backward.get_total_flops()}", flush=True)


def main():
    models.prepare_transformers()
    for case in CASES:
        record(*case)


if __name__ == "__main__":
    main()
