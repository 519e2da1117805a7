#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what denoisers of diffusers are and execute.

    diffusion.py -o tests/golden/diffusers.txt            all of them, a few lines each
    diffusion.py --against build/llmcost [NAME...]        where a built llmcost differs, module by module
    diffusion.py --calls NAME                             the calls of a forward pass, one a line

A pass of one denoising step on the meta device, in evaluation mode, then a training step of the sum of what it hands out, as
vision.py records them. Attention is one fused call (`_scaled_dot_product_flash_attention_for_cpu`), which
`F.scaled_dot_product_attention` is on a CPU, and like it on a GPU; meta tensors alone would have it product by product.
Configurations with the name of a repository are those that its `config.json` has; others are small ones of nobody's.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from vision import differences, record_of, text_of

BATCH, PIXELS_PER_LATENT = 2, 8
HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/diffusion.py: diffusers {diffusers}, torch {torch}.
"""
CROSS, PLAIN, UP_CROSS, UP_PLAIN = "CrossAttnDownBlock2D", "DownBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"
SMALL_UNET = dict(block_out_channels=[32, 64], layers_per_block=1, down_block_types=[PLAIN, CROSS],
                  up_block_types=[UP_CROSS, UP_PLAIN], norm_num_groups=8, cross_attention_dim=24, attention_head_dim=4)
SMALL_FLUX = dict(num_layers=2, num_single_layers=2, attention_head_dim=16, num_attention_heads=2, joint_attention_dim=24,
                  pooled_projection_dim=20, axes_dims_rope=[4, 4, 8], in_channels=16)
SMALL_SD3 = dict(sample_size=16, num_layers=3, attention_head_dim=8, num_attention_heads=4, caption_projection_dim=32,
                 joint_attention_dim=24, pooled_projection_dim=20, pos_embed_max_size=24)
XL_UNET = dict(sample_size=128, block_out_channels=[320, 640, 1280], down_block_types=[PLAIN, CROSS, CROSS],
               up_block_types=[UP_CROSS, UP_CROSS, UP_PLAIN], attention_head_dim=[5, 10, 20], cross_attention_dim=2048,
               transformer_layers_per_block=[1, 2, 10], use_linear_projection=True, addition_embed_type="text_time",
               addition_time_embed_dim=256, projection_class_embeddings_input_dim=2816)
# name: (class, its configuration, height and width in pixels, tokens of text)
CASES = {
    "dit": ("DiTTransformer2DModel", dict(num_attention_heads=2, attention_head_dim=16, num_layers=3, num_embeds_ada_norm=10,
                                          sample_size=8, out_channels=8), (64, 64), 1),
    "dit_defaults": ("DiTTransformer2DModel", dict(num_layers=2), (256, 256), 1),
    "facebook/DiT-XL-2-256": ("DiTTransformer2DModel", dict(out_channels=8), (256, 256), 1),
    "facebook/DiT-XL-2-512": ("DiTTransformer2DModel", dict(out_channels=8, sample_size=64), (512, 512), 1),
    "flux": ("FluxTransformer2DModel", SMALL_FLUX, (64, 96), 11),
    "flux_guided": ("FluxTransformer2DModel", dict(SMALL_FLUX, guidance_embeds=True, out_channels=4), (32, 32), 7),
    "flux_single_heads": ("FluxTransformer2DModel", dict(SMALL_FLUX, num_single_layers=1, num_attention_heads=3), (48, 32), 5),
    "black-forest-labs/FLUX.1-dev": ("FluxTransformer2DModel", dict(guidance_embeds=True), (1024, 1024), 512),
    "black-forest-labs/FLUX.1-schnell": ("FluxTransformer2DModel", dict(), (1024, 1024), 256),
    "sd3": ("SD3Transformer2DModel", SMALL_SD3, (128, 160), 9),
    "sd3_qk_norm": ("SD3Transformer2DModel", dict(SMALL_SD3, qk_norm="rms_norm"), (128, 128), 9),
    "sd3_dual": ("SD3Transformer2DModel", dict(SMALL_SD3, qk_norm="rms_norm", dual_attention_layers=[0, 1]), (160, 96), 9),
    "stabilityai/stable-diffusion-3-medium": (
        "SD3Transformer2DModel", dict(num_layers=24, num_attention_heads=24, caption_projection_dim=1536,
                                      pos_embed_max_size=192), (1024, 1024), 333),
    "stabilityai/stable-diffusion-3.5-medium": (
        "SD3Transformer2DModel", dict(num_layers=24, num_attention_heads=24, caption_projection_dim=1536, qk_norm="rms_norm",
                                      pos_embed_max_size=384, dual_attention_layers=list(range(13))), (1024, 1024), 333),
    "stabilityai/stable-diffusion-3.5-large": (
        "SD3Transformer2DModel", dict(num_layers=38, num_attention_heads=38, caption_projection_dim=2432, qk_norm="rms_norm",
                                      pos_embed_max_size=192), (1024, 1024), 333),
    "unet": ("UNet2DConditionModel", SMALL_UNET, (64, 96), 7),
    "unet_odd": ("UNet2DConditionModel", SMALL_UNET, (72, 104), 7),
    "unet_deep": ("UNet2DConditionModel", dict(
        SMALL_UNET, block_out_channels=[16, 32, 48], layers_per_block=2, down_block_types=[CROSS, PLAIN, CROSS],
        up_block_types=[UP_CROSS, UP_PLAIN, UP_CROSS], attention_head_dim=[2, 4, 8], use_linear_projection=True,
        transformer_layers_per_block=[1, 2, 3]), (128, 128), 7),
    "unet_text_time": ("UNet2DConditionModel", dict(
        SMALL_UNET, addition_embed_type="text_time", addition_time_embed_dim=8, projection_class_embeddings_input_dim=68),
        (64, 64), 7),
    "stable-diffusion-v1-5/stable-diffusion-v1-5": ("UNet2DConditionModel", dict(
        sample_size=64, cross_attention_dim=768), (512, 512), 77),
    "stabilityai/stable-diffusion-2-1-base": ("UNet2DConditionModel", dict(
        sample_size=64, cross_attention_dim=1024, attention_head_dim=[5, 10, 20, 20], use_linear_projection=True),
        (512, 512), 77),
    "stabilityai/stable-diffusion-xl-base-1.0": ("UNet2DConditionModel", XL_UNET, (1024, 1024), 77),
}


def build(kind, configuration):
    import diffusers
    import torch

    with torch.device("meta"):
        return getattr(diffusers, kind).from_config(dict(configuration)).eval()


def inputs(kind, model, height, width, tokens):
    """Keyword arguments of one denoising step."""
    import torch

    c = model.config
    rows, columns = height // PIXELS_PER_LATENT, width // PIXELS_PER_LATENT
    floats = lambda *shape: torch.empty(shape, device="meta")
    step = torch.empty(BATCH, dtype=torch.int64, device="meta")
    if kind == "DiTTransformer2DModel":
        return dict(hidden_states=floats(BATCH, c.in_channels, rows, columns), timestep=step,
                    class_labels=torch.empty(BATCH, dtype=torch.int64, device="meta"))
    if kind == "SD3Transformer2DModel":
        return dict(hidden_states=floats(BATCH, c.in_channels, rows, columns), timestep=step,
                    encoder_hidden_states=floats(BATCH, tokens, c.joint_attention_dim),
                    pooled_projections=floats(BATCH, c.pooled_projection_dim))
    if kind == "FluxTransformer2DModel":
        patches = rows // 2 * (columns // 2)  # the pipeline packs squares of 2 x 2 latents into channels
        named = dict(guidance=floats(BATCH)) if c.guidance_embeds else {}
        return dict(hidden_states=floats(BATCH, patches, c.in_channels), timestep=floats(BATCH), img_ids=floats(patches, 3),
                    encoder_hidden_states=floats(BATCH, tokens, c.joint_attention_dim), txt_ids=floats(tokens, 3),
                    pooled_projections=floats(BATCH, c.pooled_projection_dim), **named)
    named = {}
    if c.addition_embed_type == "text_time":
        width_of_text = c.projection_class_embeddings_input_dim - 6 * c.addition_time_embed_dim
        named = dict(added_cond_kwargs=dict(text_embeds=floats(BATCH, width_of_text), time_ids=floats(BATCH, 6)))
    return dict(sample=floats(BATCH, c.in_channels, rows, columns), timestep=step,
                encoder_hidden_states=floats(BATCH, tokens, c.cross_attention_dim), **named)


def fused_attention():
    """A mode in which scaled dot products are one call."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Fused(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if function is not torch.nn.functional.scaled_dot_product_attention:
                return function(*args, **kwargs)
            named = dict(zip(("query", "key", "value", "attn_mask", "dropout_p", "is_causal"), args), **kwargs)
            if named.get("attn_mask") is not None or named.get("dropout_p") or named.get("enable_gqa"):
                raise SystemExit("an attention that is no plain one")
            return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                named["query"], named["key"], named["value"], 0.0, bool(named.get("is_causal")), scale=named.get("scale"))[0]

    return Fused()


def record(name):
    kind, configuration, (height, width), tokens = CASES[name]
    model = build(kind, configuration)
    with fused_attention():
        return record_of(name, model, **inputs(kind, model, height, width, tokens), return_dict=False)


def written_config(name):
    """The `config.json` that a case stands for."""
    return {"_class_name": CASES[name][0], **CASES[name][1]}


def lines_of(name):
    _, _, (height, width), tokens = CASES[name]
    config = json.dumps(written_config(name), separators=(",", ":"))
    return text_of(record(name)) + f"workload {height} {width} {tokens}\nconfig {config}\n"


def answer(exe, name):
    """What a built llmcost says, as `record` has it."""
    _, _, (height, width), tokens = CASES[name]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(written_config(name), f)
        f.flush()
        asked = [exe, "--config", f.name, "--batch", str(BATCH), "--image", f"{width}x{height}", "--sequence", str(tokens),
                 "--dtype", "float32", "--training", "--scopes", "--tensors", "--format", "json"]
        done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    out = json.loads(done.stdout)
    upper = lambda figures: {k.upper(): v for k, v in figures.items()}
    step = out["training"]
    return dict(type=out["scopes"][0]["class"], parameters=out["totals"]["params"],
                tensors={t["name"]: t["shape"] for t in out["tensors"]},
                classes={s["path"]: s["class"] for s in out["scopes"] if s["path"]},
                total=upper(out["totals"]), modules={s["path"]: upper(s) for s in out["scopes"] if s["path"]},
                forward=out["totals"]["torch_flops"], backward=step["torch_flops"]["backward"], saved=step["saved_bytes"])


def print_calls(name):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Calls(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            tensors = lambda all: [tuple(t.shape) for t in (all if isinstance(all, (tuple, list)) else [all])
                                   if isinstance(t, torch.Tensor)]
            print(str(function).removeprefix("aten."), tensors(args), "->", tensors(result))
            return result

    kind, configuration, (height, width), tokens = CASES[name]
    model = build(kind, configuration)
    for path, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, path=path, kind=type(module).__name__: print(f"--- {path} {kind}"))
    with torch.no_grad(), fused_attention(), Calls():
        model(**inputs(kind, model, height, width, tokens), return_dict=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--against", metavar="EXE")
    parser.add_argument("--calls", metavar="NAME")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import diffusers
    import torch

    if a.calls:
        print_calls(a.calls)
        return 0
    names = a.names or list(CASES)
    if a.against:
        found = 0
        for name in names:
            told = list(differences(record(name), answer(a.against, name)))
            print(f"{name}: {len(told)} differences", *told[:20], sep="\n  ")
            found += len(told)
        return 1 if found else 0
    versions = dict(diffusers=diffusers.__version__, torch=torch.__version__.partition("+")[0])
    text = HEAD.format(**versions) + "".join(lines_of(name) for name in names)
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
