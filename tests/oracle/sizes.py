#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what Transformers' processors make of images: how many tokens stand for one, how many pictures of which size.

    sizes.py -o tests/golden/sizes.txt [TYPE...]

Needs torch, torchvision, pillow and Transformers, no weights, no tokenizer and no GPU. For each type and each way to set its
processor the image processor that AutoImageProcessor picks is made of the settings, the type's own Processor class hands it
blank images of many sizes with the keywords that it hands it always, and the words that it puts in an image's place are
counted: those that features take the place of. Sizes are drawn at random with a fixed seed: tiny ones, long ones, large ones,
and some that are as large as what towers read.

A tokenizer is stood in for by an object that names every special token after its attribute. What the processor is set to is
written as the file beside a configuration has it; `none` is no such file. `refused` is an image that the processor refuses.
"""

import argparse
import json
import random
import sys
import warnings
from pathlib import Path

HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/sizes.py: transformers {transformers}, torch {torch}, torchvision {torchvision}.
# width height = tokens pictures height width (of a picture); -: not told
"""
# sizes that processors are made for, and neighbours of borders between tilings
COMMON = (
    (224, 224),
    (336, 336),
    (448, 448),
    (512, 512),
    (640, 480),
    (480, 640),
    (1024, 768),
    (1, 1),
    (896, 448),
    (1920, 1080),
)


class Nothing:
    """What a stand-in takes as keywords."""

    __annotations__ = {}


class Tokens:
    """In a tokenizer's place: each special token by its attribute's name."""

    init_kwargs, valid_kwargs = {}, Nothing
    boi_token, eoi_token = "<boi>", "<eoi>"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith("_id") or name.endswith("_ids"):
            return 0
        return f"<{name}>"

    def get_vocab(self):
        return type("vocabulary", (dict,), {"__missing__": lambda self, key: 0})()

    def convert_tokens_to_ids(self, tokens):
        return 0

    def convert_ids_to_tokens(self, ids):
        return "<token>"

    def encode(self, *args, **kwargs):
        return [0]

    def add_tokens(self, *args, **kwargs):
        return 0

    add_special_tokens = add_tokens


class Part:
    """In the place of a processor of videos or sound, which images do not meet."""

    valid_kwargs = Nothing

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


def sizes_of(seed, how_many):
    """So many pairs of width and height: those that all types have, then some of each kind by turns."""
    draw = random.Random(seed)
    found = list(COMMON[: max(how_many // 4, 2)])
    while len(found) < how_many:
        kind = len(found) % 6
        if kind == 0:
            size = draw.randint(2, 60), draw.randint(2, 60)
        elif kind == 1:
            short = draw.randint(4, 60)
            size = short, min(short * draw.randint(8, 199), 4000)
        elif kind == 2:
            short = draw.randint(4, 90)
            size = min(short * draw.randint(5, 160), 5000), short
        elif kind == 3:
            size = draw.randint(1500, 4200), draw.randint(1200, 3200)
        else:
            size = draw.randint(100, 1700), draw.randint(100, 1700)
        found.append(size)
    return found


class Family:
    """A type: its configuration, the classes that make its images ready, and how they are set.

    What `agrees` says is what a processor is set to always, as it must fit the configuration: sides of patches and squares.
    What `assumed` says it is set to where no file is there: what published files say, where classes say something else.
    """

    def __init__(
        self,
        kind,
        config=None,
        *settings,
        folder=None,
        processor=None,
        image_processor=None,
        word="image_token",
        arguments=None,
        tokens=None,
        few=False,
        keywords=None,
        pictures=True,
        agrees=None,
        assumed=None,
    ):
        self.kind, self.config, self.settings = kind, {"model_type": kind} | (config or {}), settings
        self.folder, self.processor, self.image_processor = folder or kind, processor, image_processor
        self.word, self.arguments, self.tokens, self.few = word, arguments or {}, tokens, few
        self.keywords, self.pictures = keywords or {}, pictures
        self.agrees, self.assumed = agrees or {}, assumed or {}


def classes_of(family):
    """The image processor that AutoImageProcessor picks, and the Processor class of a type."""
    import importlib

    from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
    import transformers

    name = family.image_processor
    if name is None:
        names = IMAGE_PROCESSOR_MAPPING_NAMES[family.kind]
        name = names.get("torchvision") or names["pil"]
    module = importlib.import_module(f"transformers.models.{family.folder}.processing_{family.folder}")
    wanted = family.processor
    found = getattr(module, wanted) if wanted else next(getattr(module, n) for n in module.__all__ if n.endswith("Processor"))
    return getattr(transformers, name), found


def make_processor(family, processor, images):
    import inspect

    given = {"image_processor": images, "tokenizer": Tokens()} | family.arguments
    for name in inspect.signature(processor.__init__).parameters:
        if name in ("video_processor", "feature_extractor", "audio_processor", "qformer_tokenizer") and name not in given:
            given[name] = Part()
    return processor(**given)


def pictures_of(out, images):
    """Pictures that a tower reads for one image, and their sides."""
    if "image_grid_thw" in out:
        frames, rows, columns = (int(n) for n in out["image_grid_thw"][0])
        side = images.patch_size if isinstance(images.patch_size, int) else images.patch_size["height"]
        return 1, rows * side, columns * side
    pixels = out["pixel_values"] if "pixel_values" in out else None
    while isinstance(pixels, list) and len(pixels) == 1:
        pixels = pixels[0]
    if isinstance(pixels, list) or pixels is None or pixels.ndim < 3:
        return None
    n = 1
    for size in pixels.shape[:-3]:
        n *= size
    return n, pixels.shape[-2], pixels.shape[-1]


def record(family, settings, width, height, made):
    """`TOKENS PICTURES HEIGHT WIDTH` of an image."""
    import torch

    images, processor = made
    image = torch.zeros(3, height, width, dtype=torch.uint8)
    try:
        keywords = processor._merge_kwargs()["images_kwargs"] | family.keywords | {"return_tensors": "pt"}
        if family.tokens is not None:
            out = images([image], **keywords)
            tokens = family.tokens(out, images)
        else:
            out, words = processor._process_images([image], **keywords)
            named = processor.tokenizer if family.word == "tokenizer" else processor
            word = (
                family.word if family.word.startswith("<") else getattr(named, family.word.replace("tokenizer", "image_token"))
            )
            tokens = "".join(words).count(word)
    except (ValueError, RuntimeError, ZeroDivisionError, TypeError) as e:
        return "refused", str(e)
    if tokens == 0 and family.tokens is None:
        return "refused", "no token stands for it"  # no feature either: the projector cannot merge a part of a square
    told = pictures_of(out, images) if family.pictures else None
    return f"{tokens} {' '.join(map(str, told))}" if told else f"{tokens} - - -", None


def table_of(family, number):
    """The lines of a type."""
    from transformers.processing_utils import ProcessorMixin

    ProcessorMixin.check_argument_for_proper_class = lambda self, name, argument: type(argument)
    picked, processor = classes_of(family)
    lines = [f"type {family.kind}", f"config {json.dumps(family.config, separators=(',', ':'))}"]
    whole = {k: v for k, v in picked().to_dict().items() if k not in ("image_mean", "image_std", "rescale_factor")}
    whole |= family.agrees
    # as no file says anything, as a file that says everything, and as files that say some of it
    for i, each in enumerate([None, whole, *family.settings]):
        set_to = family.agrees | {
            k: v for k, v in (family.assumed if each is None else each).items() if k != "image_processor_type"
        }
        images = picked(**json.loads(json.dumps(set_to)))
        made = images, make_processor(family, processor, images)
        lines.append("processor " + ("none" if each is None else json.dumps(each, separators=(",", ":"))))
        how_many = 4 if family.few or i == 1 else 24 if i == 0 else max(12 // len(family.settings), 8)
        for width, height in sizes_of(1000 * number + i, how_many):
            told, why = record(family, each, width, height, made)
            if why:
                print(f"{family.kind} {width}x{height}: {why[:140]}", file=sys.stderr)
            lines.append(f"{width} {height} = {told}")
    return "\n".join(lines) + "\n"


def idefics2_tokens(out, images):
    """processing_idefics2.py, `prepare_inputs_layout`: 64 words, for each of four parts, too, where an image is split."""
    return 64 * (5 if images.do_image_splitting else 1)


def none(out, images):
    return 0


TEXT = {"model_type": "llama"}
SECTIONS = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "mrope_section": [8, 12, 12]}
GLM = {"text_config": {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 24, 24]}}}
GLM_HALF = {"text_config": {"head_dim": 128, "rope_parameters": SECTIONS}}
GLM_WHOLE = {"text_config": GLM["text_config"] | {"head_dim": 128}}
CLIP = {
    "model_type": "clip_vision_model",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
}


def siglip(image, patch):
    return {
        "model_type": "siglip_vision_model",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "num_attention_heads": 16,
        "image_size": image,
        "patch_size": patch,
    }


# bounds of pixels as published files have them
QWEN = (
    {"min_pixels": 3136, "max_pixels": 12845056},
    {"min_pixels": 200704, "max_pixels": 1003520},
    {"size": {"shortest_edge": 3136, "longest_edge": 501760}},
)
QWEN3 = (
    {"size": {"shortest_edge": 65536, "longest_edge": 16777216}, "patch_size": 16},
    {"min_pixels": 65536, "max_pixels": 401408, "patch_size": 16},
)
PIXTRAL = (
    {"size": {"longest_edge": 1540}, "patch_size": 14},
    {"size": {"longest_edge": 448}, "patch_size": {"height": 14, "width": 14}},
)
PINPOINTS = [[384, 768], [768, 384], [768, 768], [1152, 384], [384, 1152]]

FAMILIES = (
    Family(
        "aria",
        {
            "vision_config": {"model_type": "idefics3_vision", "image_size": 980, "patch_size": 14},
            "projector_patch_to_query_dict": {"1225": 128, "4900": 256},
        },
        {"max_image_size": 490, "split_image": True},
        {"max_image_size": 980, "split_image": True},
        {"max_image_size": 490, "split_image": False},
        {"max_image_size": 980, "split_image": True, "split_resolutions": [[490, 980], [980, 490], [980, 980], [1470, 490]]},
    ),
    Family(
        "aya_vision",
        {"vision_config": siglip(364, 14), "text_config": {"model_type": "cohere2"}},
        {"crop_to_patches": True, "max_patches": 6},
        {"min_patches": 2, "max_patches": 9},
        word="img_patch_token",
        agrees={"size": {"height": 364, "width": 364}},
    ),
    Family(
        "cohere2_vision",
        {"vision_config": siglip(512, 16)},
        {"max_patches": 4},
        {"crop_to_patches": False},
        {"crop_to_patches": True, "min_patches": 3, "max_patches": 9, "size": {"height": 512, "width": 512}},
        agrees={"size": {"height": 512, "width": 512}},
    ),
    Family(
        "cosmos3_edge",
        {},
        {"size": {"shortest_edge": 3136, "longest_edge": 1003520}},
        {"min_pixels": 65536, "max_pixels": 262144},
    ),
    Family(
        "deepseek_ocr2",
        {
            "text_config": {"num_experts_per_tok": 6, "n_group": 1, "topk_group": 1},
            "vision_config": {"encoder_config": {"hidden_size": 896, "num_attention_heads": 14, "num_key_value_heads": 2}},
        },
        {"min_patches": 2, "max_patches": 4},
        {"crop_to_patches": False},
        {"size": {"height": 1024, "width": 1024}, "tile_size": 768},
        pictures=False,
    ),
    Family("dots3_note", {}, *QWEN),
    Family(
        "ernie4_5_vl_moe",
        {},
        {"size": {"shortest_edge": 3136, "longest_edge": 4816896}},
        {"min_pixels": 3136, "max_pixels": 1003520},
    ),
    Family("exaone4_5", {}, *QWEN),
    Family("fuyu", {}, {"size": {"height": 540, "width": 960}}),
    Family(
        "gemma3",
        {"vision_config": siglip(896, 14), "mm_tokens_per_image": 256},
        {"size": {"height": 896, "width": 896}},
        {
            "size": {"height": 896, "width": 896},
            "do_pan_and_scan": True,
            "pan_and_scan_min_crop_size": 256,
            "pan_and_scan_max_num_crops": 4,
            "pan_and_scan_min_ratio_to_activate": 1.2,
        },
        word="tokenizer",
        agrees={"size": {"height": 896, "width": 896}},
    ),
    Family(
        "shieldgemma2",
        {"vision_config": siglip(896, 14), "mm_tokens_per_image": 256},
        {"size": {"height": 896, "width": 896}},
        word="tokenizer",
        agrees={"size": {"height": 896, "width": 896}},
    ),
    Family(
        "gemma4",
        {"vision_config": {"model_type": "gemma4_vision", "default_output_length": 280}},
        {"max_soft_tokens": 70},
        {"max_soft_tokens": 1120},
        {"max_soft_tokens": 560, "patch_size": 16, "pooling_kernel_size": 3},
        pictures=False,
    ),
    Family(
        "gemma4_unified",
        {"vision_config": {}, "text_config": {}},
        {"max_soft_tokens": 70},
        {"max_soft_tokens": 1120},
        pictures=False,
    ),
    Family(
        "glm46v",
        GLM,
        {"size": {"shortest_edge": 12544, "longest_edge": 1003520}},
        {"min_pixels": 200704, "max_pixels": 602112},
    ),
    Family(
        "glm4v",
        GLM,
        {"size": {"shortest_edge": 12544, "longest_edge": 9633792}},
        {"size": {"shortest_edge": 200704, "longest_edge": 602112}},
        {"min_pixels": 200704, "max_pixels": 602112},
    ),
    Family(
        "glmga",
        GLM,
        {"size": {"shortest_edge": 12544, "longest_edge": 1003520}},
        {"min_pixels": 200704, "max_pixels": 602112},
        folder="glm46v",
    ),
    Family(
        "hunyuan_vl",
        {
            "text_config": {
                "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [16, 16, 16, 16]},
                "head_dim": 128,
                "hidden_size": 4096,
            },
            "vision_config": {"text_hidden_size": 4096},
        },
        {"min_pixels": 262144, "max_pixels": 1048576},
        {"size": {"shortest_edge": 65536, "longest_edge": 2097152}},
    ),
    Family("hyperclovax_vision_v2", {}, *QWEN),
    Family(
        "idefics2",
        {"vision_config": {"model_type": "idefics2_vision", "image_size": 980, "patch_size": 14}},
        {"do_image_splitting": True},
        {"size": {"shortest_edge": 378, "longest_edge": 768}},
        {"size": {"shortest_edge": 200, "longest_edge": 448}, "do_image_splitting": True},
        tokens=idefics2_tokens,
    ),
    Family(
        "idefics3",
        {"vision_config": {"image_size": 364, "patch_size": 14}, "scale_factor": 2},
        {"size": {"longest_edge": 728}},
        {"do_image_splitting": False},
        {"size": {"longest_edge": 1820}, "max_image_size": {"longest_edge": 364}},
    ),
    Family(
        "smolvlm",
        {"vision_config": {"image_size": 384, "patch_size": 14}, "scale_factor": 3},
        {"size": {"longest_edge": 1536}, "max_image_size": {"longest_edge": 384}},
        {"size": {"longest_edge": 2048}, "max_image_size": {"longest_edge": 384}},
        {"do_image_splitting": False, "max_image_size": {"longest_edge": 384}},
        arguments={"image_seq_len": 81},
        agrees={"max_image_size": {"longest_edge": 384}},
        assumed={"size": {"longest_edge": 1536}},
    ),
    Family("inkling2", {}, pictures=False),
    Family("inkling_mm_model", {}, folder="inkling", pictures=False),
    Family(
        "internvl",
        {"vision_config": {"model_type": "internvl_vision", "image_size": [448, 448], "patch_size": [14, 14]}},
        {"size": {"height": 448, "width": 448}, "min_patches": 1, "max_patches": 12, "crop_to_patches": False},
        {"size": {"height": 448, "width": 448}, "max_patches": 6},
        {"size": {"height": 448, "width": 448}, "min_patches": 4, "max_patches": 24, "crop_to_patches": True},
        agrees={"size": {"height": 448, "width": 448}},
    ),
    Family(
        "qianfan_ocr",
        {},
        {"size": {"height": 448, "width": 448}, "min_patches": 1, "max_patches": 12},
        {"size": {"height": 448, "width": 448}, "max_patches": 4},
        agrees={"size": {"height": 448, "width": 448}},
    ),
    Family("kimi_k25", {}, {"max_patches": 4096}, {"size": {"max_height": 64, "max_width": 64}}),
    Family(
        "lfm2_vl",
        {"vision_config": {"model_type": "siglip2_vision_model", "hidden_size": 1152, "num_attention_heads": 16}},
        {"max_pixels_tolerance": 1.5},
        {"do_image_splitting": False},
        {"max_tiles": 4, "max_image_tokens": 128},
        {"min_image_tokens": 32, "max_image_tokens": 512},
        {"tile_size": 256, "max_tiles": 6},
        keywords={"use_image_special_tokens": True},
        pictures=False,
    ),
    Family("lfm3_vl", {}, *QWEN3, agrees={"patch_size": 16}),
    Family(
        "lighton_ocr",
        {},
        *PIXTRAL,
        arguments={"patch_size": 14},
        pictures=False,
        assumed={"size": {"longest_edge": 1540}, "patch_size": 28},
        agrees={"patch_size": 28},
    ),
    Family(
        "llama4",
        {"vision_config": {"image_size": 336, "patch_size": 14}},
        {"max_patches": 4},
        {"max_patches": 1},
        {"resize_to_max_canvas": True},
        word="img_patch_token",
    ),
    Family(
        "llava_next",
        {"vision_config": CLIP, "text_config": TEXT},
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        agrees={"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    Family(
        "llava_next_video",
        {"vision_config": CLIP, "text_config": TEXT},
        {"size": {"height": 336, "width": 336}},
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        agrees={"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    Family(
        "llava_onevision",
        {"vision_config": siglip(384, 14), "text_config": TEXT},
        {"size": {"height": 384, "width": 384}},
        arguments={"num_image_tokens": 729, "vision_feature_select_strategy": "full"},
    ),
    Family(
        "llava_next",
        {"vision_config": CLIP, "text_config": TEXT, "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672]]},
        agrees={
            "size": {"shortest_edge": 336},
            "crop_size": {"height": 336, "width": 336},
            "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672]],
        },
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
    ),
    Family(
        "llava_onevision",
        {"vision_config": siglip(384, 14), "text_config": TEXT, "image_grid_pinpoints": PINPOINTS},
        agrees={"image_grid_pinpoints": PINPOINTS},
        arguments={"num_image_tokens": 729, "vision_feature_select_strategy": "full"},
    ),
    Family(
        "minicpm_ocr",
        {"vision_config": {"patch_size": 14}},
        {"max_slice_nums": 4},
        {"scale_resolution": 336},
        {"slice_mode": False},
        pictures=False,
    ),
    Family(
        "minicpmv4_6",
        {"vision_config": {"patch_size": 14}},
        {"max_slice_nums": 4},
        {"scale_resolution": 336, "max_slice_nums": 9},
        {"slice_mode": False},
        pictures=False,
    ),
    Family(
        "minicpmv4_6",
        {"vision_config": {"patch_size": 14}, "downsample_mode": "4x"},
        {"max_slice_nums": 2},
        pictures=False,
        agrees={"downsample_mode": "4x"},
    ),
    Family("minicpmv4_7", {"vision_config": {"patch_size": 14}}, {"max_slice_nums": 4}, {"slice_mode": False}, pictures=False),
    Family(
        "minimax_m3_vl",
        {},
        {"size": {"shortest_edge": 3136, "longest_edge": 1003520}},
        {"min_pixels": 200704, "max_pixels": 2007040},
        {"size": [672, 672]},
        word="IMAGE_TOKEN",
    ),
    Family(
        "mistral3",
        {
            "vision_config": {"model_type": "pixtral", "image_size": 1540, "patch_size": 14},
            "text_config": {"model_type": "mistral"},
            "spatial_merge_size": 2,
        },
        *PIXTRAL,
        folder="pixtral",
        arguments={"patch_size": 14, "spatial_merge_size": 2},
        pictures=False,
        assumed={"size": {"longest_edge": 1540}},
    ),
    Family(
        "mllama",
        {
            "architectures": ["MllamaForConditionalGeneration"],
            "vision_config": {"image_size": 448, "patch_size": 14},
            "text_config": {},
        },
        {"max_image_tiles": 4},
        tokens=none,
        few=True,
        agrees={"size": {"height": 448, "width": 448}},
    ),
    Family("muse_glimmer", {}, {"max_image_tokens": 1024}, {"max_image_tokens": 16384}),
    Family(
        "nemotron_h_omni",
        {"vision_config": {"model_type": "radio"}},
        {"min_num_patches": 256, "max_num_patches": 1024},
        {"max_num_patches": 4096},
    ),
    Family(
        "ovis2",
        {"vision_config": {"image_size": 448, "patch_size": 14, "hidden_stride": 2}},
        {"crop_to_patches": True, "max_patches": 9},
        {"crop_to_patches": True, "min_patches": 2, "max_patches": 4},
        word="<IMG_ATOM>",
        agrees={"size": {"height": 448, "width": 448}},
        assumed={"crop_to_patches": True},
    ),
    Family(
        "paddleocr_vl",
        {},
        {"min_pixels": 147384, "max_pixels": 2822400},
        {"size": {"shortest_edge": 3136, "longest_edge": 1003520}},
    ),
    Family("qwen2_5_omni_thinker", {}, *QWEN, folder="qwen2_5_omni", image_processor="Qwen2VLImageProcessor"),
    Family("qwen2_5_vl", {}, *QWEN),
    Family("qwen2_vl", {}, *QWEN),
    Family(
        "qwen3_omni_moe_thinker",
        {
            "text_config": {
                "head_dim": 128,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [24, 20, 20]},
            }
        },
        *QWEN3,
        folder="qwen3_omni_moe",
        image_processor="Qwen2VLImageProcessor",
        agrees={"patch_size": 16},
    ),
    Family("qwen3_vl", {}, *QWEN3, agrees={"patch_size": 16}),
    Family("qwen3_vl_moe", {}, *QWEN3, folder="qwen3_vl", image_processor="Qwen2VLImageProcessor", agrees={"patch_size": 16}),
    Family("qwen3_5", {}, *QWEN3, folder="qwen3_vl", agrees={"patch_size": 16}),
    Family("siglip2", {}, {"max_num_patches": 1024}, {"max_num_patches": 64, "patch_size": 16}, tokens=none, pictures=False),
    Family(
        "t5gemma2",
        {"encoder": {"vision_config": siglip(896, 14)}},
        {"size": {"height": 896, "width": 896}},
        folder="gemma3",
        word="tokenizer",
        agrees={"size": {"height": 896, "width": 896}},
    ),
    Family(
        "unlimited_ocr",
        {},
        {"max_patches": 4},
        {"crop_to_patches": False},
        {"size": {"height": 1024, "width": 1024}, "tile_size": 512},
        pictures=False,
    ),
    Family("video_llama_3", {}, *QWEN, agrees={"patch_size": 16}),
    # whose number does not depend on the image
    Family("chameleon", few=True),
    Family(
        "florence2",
        {"vision_config": {}},
        {"size": {"height": 768, "width": 768}, "crop_size": {"height": 768, "width": 768}, "image_seq_length": 577},
        few=True,
        agrees={"size": {"height": 768, "width": 768}, "crop_size": {"height": 768, "width": 768}, "image_seq_length": 577},
    ),
    Family(
        "gemma3n",
        {},
        {"size": {"height": 768, "width": 768}},
        few=True,
        word="tokenizer",
        agrees={"size": {"height": 768, "width": 768}},
    ),
    Family(
        "got_ocr2", {}, {"size": {"height": 1024, "width": 1024}}, few=True, agrees={"size": {"height": 1024, "width": 1024}}
    ),
    Family(
        "llava",
        {"vision_config": CLIP, "text_config": TEXT},
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
        few=True,
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        agrees={"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    Family(
        "paligemma",
        {},
        {"size": {"height": 224, "width": 224}, "image_seq_length": 256},
        few=True,
        agrees={"size": {"height": 224, "width": 224}, "image_seq_length": 256},
    ),
    # whose sizes are drawn last
    Family(
        "glm4v_moe",
        GLM_HALF,
        {"size": {"shortest_edge": 12544, "longest_edge": 9633792}},
        {"size": {"shortest_edge": 200704, "longest_edge": 602112}},
        folder="glm4v",
        image_processor="Glm4vImageProcessor",
    ),
    Family(
        "glm_ocr",
        GLM_WHOLE,
        {"size": {"shortest_edge": 12544, "longest_edge": 9633792}},
        {"size": {"shortest_edge": 200704, "longest_edge": 602112}},
        folder="glm46v",
        image_processor="Glm46VImageProcessor",
    ),
    Family(
        "vipllava",
        {"vision_config": CLIP, "text_config": TEXT},
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
        few=True,
        folder="llava",
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        agrees={"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    Family(
        "video_llava",
        {"vision_config": CLIP | {"image_size": 224}, "text_config": TEXT},
        {"size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}},
        few=True,
        arguments={"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1},
        agrees={"size": {"shortest_edge": 224}, "crop_size": {"height": 224, "width": 224}},
    ),
    Family(
        "fast_vlm",
        {},
        {"size": {"shortest_edge": 1024}, "crop_size": {"height": 1024, "width": 1024}},
        few=True,
        folder="llava",
        image_processor="CLIPImageProcessor",
        arguments={"patch_size": 64, "vision_feature_select_strategy": "full", "num_additional_image_tokens": 0},
        agrees={"size": {"shortest_edge": 1024}, "crop_size": {"height": 1024, "width": 1024}},
    ),
    Family(
        "cohere_compass",
        {
            "text_config": {
                "layer_types": ["full_attention"],
                "num_hidden_layers": 1,
                "rope_parameters": {"full_attention": SECTIONS},
            }
        },
        *QWEN3,
        {"size": {"shortest_edge": 65536, "longest_edge": 1048576}},
        agrees={"patch_size": 16},
    ),
    Family("cosmos3_omni", {}, *QWEN3, folder="qwen3_vl", agrees={"patch_size": 16}),
    Family(
        "llava",
        {
            "vision_config": {"model_type": "pixtral", "image_size": 1024, "patch_size": 16},
            "text_config": {"model_type": "mistral"},
            "vision_feature_select_strategy": "full",
        },
        {"size": {"longest_edge": 448}},
        {"size": {"longest_edge": 1540}, "patch_size": 14},
        folder="pixtral",
        image_processor="PixtralImageProcessor",
        arguments={"patch_size": 16},
        pictures=False,
    ),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("types", nargs="*", metavar="TYPE", help="only these")
    parser.add_argument("-o", "--output", type=Path)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    import torchvision
    import transformers

    transformers.logging.set_verbosity_error()
    bare = {
        name: m.__version__.partition("+")[0]
        for name, m in {"transformers": transformers, "torch": torch, "torchvision": torchvision}.items()
    }
    text = HEAD.format(**bare)
    for number, family in enumerate(FAMILIES):
        if a.types and family.kind not in a.types:
            continue
        text += table_of(family, number)
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
