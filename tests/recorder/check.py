# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""check.py LLMCOST: compares `llmcost ops --engine torch` with the operators that PyTorch runs on its meta device.

Runs examples/record_torch.py --dry-run for small models: products must have equal numbers of calls and equal sizes. The rows
that it writes must be readable by tests/oracle/torch_time.py. Exit code 77: PyTorch or Transformers is missing.
"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError:
    sys.exit(77)

FOLDER = pathlib.Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent / "oracle"), str(FOLDER.parents[1] / "examples")]
import record_torch  # noqa: E402
import torch_time  # noqa: E402

CONFIGS = {
    "llama": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1000, "hidden_size": 128,
              "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
    "qwen3": {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 1000, "hidden_size": 128,
              "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "head_dim": 32, "tie_word_embeddings": True},
    "gpt2": {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 1000, "n_embd": 128, "n_layer": 2,
             "n_head": 4},
    "bert": {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": 1000, "hidden_size": 128,
             "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 256},
    "vit": {"architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 96, "num_hidden_layers": 2,
            "num_attention_heads": 4, "intermediate_size": 192, "image_size": 64, "patch_size": 16},
}
CASES = ([], ["--training"], ["--training", "--precision", "fp32", "--attention-implementation", "eager"])


def fail(text):
    print("check.py:", text)
    sys.exit(1)


def main():
    common = ["--dry-run", "--device", "h200", "--llmcost", sys.argv[1], "--batch", "2", "--sequence", "64"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rows = folder / "rows.jsonl"
        for model, config in CONFIGS.items():
            path = folder / model / "config.json"
            path.parent.mkdir()
            path.write_text(json.dumps(config))
            for case in CASES:
                text = io.StringIO()
                with contextlib.redirect_stdout(text):
                    differs = record_torch.main([str(path.parent), *common, *case, "--out", str(rows)])
                if differs:
                    fail(f"{model} {case}:\n{text.getvalue()}")
        # a difference must be reported: one layer less than the recorded step has
        recorded = torch_time.records(rows)
        if len(recorded) != len(CONFIGS) * len(CASES):
            fail(f"{len(recorded)} recorded steps")
        step = record_torch.estimated_operators(
            record_torch.argparse.Namespace(llmcost=sys.argv[1], batch=2, sequence=64, device="h200", precision="bf16",
                                            attention="auto", training=False, optimizer="adamw"),
            {**CONFIGS["llama"], "num_hidden_layers": 1})
        if not record_torch.different_products(recorded[0], step, True):
            fail("a model with one layer has the products of one with two")
        for row in recorded:
            args, _ = torch_time.arguments(row, row["device"], folder)
            if ("--training" in args) != (row["kind"] == "train"):
                fail(f"arguments of {row['name']}: {args}")


if __name__ == "__main__":
    main()
