#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what layers of torch.nn are and execute, and a U-Net that is made of them.

    layers.py -o tests/golden/layers.txt     all of them, a few lines each

Each layer stands behind a convolution (a linear layer where sizes are features), so that its input wants a gradient, and in
front of another. `described` is the same in the words of docs/own-models.md: names of classes and of arguments are those of
torch.nn, so that one list makes both. Evaluation mode, meta device, a training step as vision.py records it.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

from vision import BATCH, record_of, text_of

HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/layers.py: torch {torch}.
"""
SIDES = {1: [21], 2: [9, 12], 3: [5, 6, 8]}
CHANNELS = 8


def by_dimensions():
    """(dimensions, class, arguments) of layers that exist for one, two and three dimensions."""
    for n in (1, 2, 3):
        yield n, f"Conv{n}d", dict(in_channels=8, out_channels=12, kernel_size=3)
        yield n, f"Conv{n}d", dict(in_channels=8, out_channels=8, kernel_size=3, stride=2, padding=1, groups=4, bias=False)
        yield n, f"Conv{n}d", dict(in_channels=8, out_channels=16, kernel_size=2, dilation=2, groups=8)
        yield n, f"ConvTranspose{n}d", dict(in_channels=8, out_channels=4, kernel_size=2, stride=2)
        yield n, f"ConvTranspose{n}d", dict(in_channels=8, out_channels=12, kernel_size=3, stride=2, padding=1,
                                            output_padding=1, groups=2, bias=False)
        yield n, f"ConvTranspose{n}d", dict(in_channels=8, out_channels=8, kernel_size=3, dilation=2, groups=8)
        yield n, f"BatchNorm{n}d", dict(num_features=8)
        yield n, f"BatchNorm{n}d", dict(num_features=8, affine=False)
        yield n, f"BatchNorm{n}d", dict(num_features=8, track_running_stats=False)
        yield n, f"InstanceNorm{n}d", dict(num_features=8)
        yield n, f"InstanceNorm{n}d", dict(num_features=8, affine=True)
        yield n, f"InstanceNorm{n}d", dict(num_features=8, affine=True, track_running_stats=True)
        yield n, "GroupNorm", dict(num_groups=4, num_channels=8)
        yield n, "GroupNorm", dict(num_groups=2, num_channels=8, affine=False)
        yield n, "LayerNorm", dict(normalized_shape=[8, *SIDES[n]])
        yield n, "LayerNorm", dict(normalized_shape=SIDES[n], elementwise_affine=False)
        yield n, "LayerNorm", dict(normalized_shape=SIDES[n], bias=False)
        yield n, f"MaxPool{n}d", dict(kernel_size=2)
        yield n, f"MaxPool{n}d", dict(kernel_size=3, stride=2, padding=1, ceil_mode=True)
        yield n, f"AvgPool{n}d", dict(kernel_size=2)
        yield n, f"AvgPool{n}d", dict(kernel_size=3, stride=2, padding=1, ceil_mode=True)
        yield n, f"AdaptiveAvgPool{n}d", dict(output_size=1)
        yield n, f"AdaptiveAvgPool{n}d", dict(output_size=[s // (i + 3) for i, s in enumerate(SIDES[n])])
        yield n, f"AdaptiveMaxPool{n}d", dict(output_size=[s // (i + 3) for i, s in enumerate(SIDES[n])])
        yield n, "Upsample", dict(scale_factor=2)
        yield n, "Upsample", dict(size=[2 * s + 1 for s in SIDES[n]], mode="nearest")
        yield n, "Upsample", dict(scale_factor=2, mode=("linear", "bilinear", "trilinear")[n - 1])
        yield n, "Flatten", dict()
        yield n, "Dropout", dict(p=0.5)
    yield 2, "Upsample", dict(scale_factor=2, mode="bilinear", align_corners=True)
    yield 2, "Upsample", dict(scale_factor=3, mode="bicubic")
    yield 2, "PixelShuffle", dict(upscale_factor=2)
    yield 2, "PixelUnshuffle", dict(downscale_factor=3)
    yield 2, "ChannelShuffle", dict(groups=4)
    yield 2, "InstanceNorm2d", dict(num_features=8, track_running_stats=True)
    yield 2, "BatchNorm2d", dict(num_features=8, affine=False, track_running_stats=False)
    yield 2, "ZeroPad2d", dict(padding=[1, 2, 0, 3])
    yield 2, "LeakyReLU", dict(negative_slope=0.2)
    yield 2, "LeakyReLU", dict(inplace=True)


def over_features():
    """(class, arguments) of layers of the last dimension."""
    yield "Linear", dict(in_features=8, out_features=5)
    yield "Linear", dict(in_features=8, out_features=5, bias=False)
    yield "LayerNorm", dict(normalized_shape=8)
    yield "LayerNorm", dict(normalized_shape=8, bias=False)
    yield "LayerNorm", dict(normalized_shape=8, elementwise_affine=False)
    yield "RMSNorm", dict(normalized_shape=8)
    yield "RMSNorm", dict(normalized_shape=8, elementwise_affine=False)
    for name in ("ReLU", "ReLU6", "Hardtanh", "SiLU", "Sigmoid", "Tanh", "Hardswish", "Hardsigmoid", "Softplus", "GELU",
                 "LeakyReLU", "Softmax", "Identity"):
        yield name, dict(dim=-1) if name == "Softmax" else dict()
    yield "GELU", dict(approximate="tanh")
    yield "Softmax", dict(dim=1)


def unet(in_channels, out_channels, widths, batch_norm, padded, bilinear, double_conv=None):
    """The U-Net of Ronneberger, Fischer and Brox (2015), in the words of torch.nn."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class DoubleConv(nn.Sequential):
        def __init__(self, inside, out, middle=None):
            layers = []
            for a, b in ((inside, middle or out), (middle or out, out)):
                layers.append(nn.Conv2d(a, b, 3, padding=int(padded), bias=not batch_norm))
                layers += [nn.BatchNorm2d(b)] if batch_norm else []
                layers.append(nn.ReLU(inplace=True))
            super().__init__(*layers)

    class Down(nn.Module):
        def __init__(self, inside, out):
            super().__init__()
            self.pool = nn.MaxPool2d(2)
            self.conv = DoubleConv(inside, out)

        def forward(self, x):
            return self.conv(self.pool(x))

    class Up(nn.Module):
        def __init__(self, inside, out):
            super().__init__()
            if bilinear:
                self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
                self.conv = DoubleConv(inside, out, inside // 2)
            else:
                self.up = nn.ConvTranspose2d(inside, inside // 2, 2, stride=2)
                self.conv = DoubleConv(inside, out)

        def forward(self, x, beside):
            x = self.up(x)
            rows, columns = beside.shape[2] - x.shape[2], beside.shape[3] - x.shape[3]
            if padded:
                x = F.pad(x, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
            else:
                beside = beside[:, :, rows // 2:rows // 2 + x.shape[2], columns // 2:columns // 2 + x.shape[3]]
            return self.conv(torch.cat([beside, x], dim=1))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            last = len(widths) - 1
            deep = [*widths[:-1], widths[-1] // 2] if bilinear else widths
            self.inc = DoubleConv(in_channels, widths[0])
            for i in range(last):
                self.add_module(f"down{i + 1}", Down(widths[i], deep[i + 1]))
            for i in range(last):
                out = widths[last - 1 - i]
                self.add_module(f"up{i + 1}", Up(widths[last - i], out // 2 if bilinear and i < last - 1 else out))
            self.outc = nn.Conv2d(widths[0], out_channels, 1)

        def forward(self, x):
            seen = [self.inc(x)]
            for i in range(len(widths) - 1):
                seen.append(getattr(self, f"down{i + 1}")(seen[-1]))
            x = seen.pop()
            for i in range(len(widths) - 1):
                x = getattr(self, f"up{i + 1}")(x, seen.pop())
            return self.outc(x)

    return UNet()


WIDTHS = [64, 128, 256, 512, 1024]
UNETS = {
    "unet": (dict(in_channels=3, out_channels=2, widths=WIDTHS, batch_norm=True, padded=True, bilinear=False), (572, 572)),
    "unet_bilinear": (dict(in_channels=3, out_channels=2, widths=WIDTHS, batch_norm=True, padded=True, bilinear=True), (203, 318)),
    "unet_2015": (dict(in_channels=1, out_channels=2, widths=WIDTHS, batch_norm=False, padded=False, bilinear=False), (572, 572)),
}


def layer(name, arguments):
    import torch

    return getattr(torch.nn, name)(**arguments)


def described(shape, steps):
    layers = [dict(type=name, **arguments) for name, arguments in steps]
    return {"class": "Sequential", "inputs": {"x": {"shape": ["batch", *shape]}}, "layers": layers}


def chains():
    """(name, shape of one input, layers one behind the other)."""
    for n, name, arguments in by_dimensions():
        channels = 18 if name == "PixelUnshuffle" else CHANNELS
        first = (f"Conv{n}d", dict(in_channels=6, out_channels=channels, kernel_size=1))
        yield name, [6, *SIDES[n]], [first, (name, arguments)]
    for name, arguments in over_features():
        yield name, [7, 6], [("Linear", dict(in_features=6, out_features=8)), (name, arguments)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch

    text, counted = HEAD.format(torch=torch.__version__.partition("+")[0]), {}
    for name, shape, steps in chains():
        counted[name] = counted.get(name, 0) + 1
        with torch.device("meta"):
            model = torch.nn.Sequential(*(layer(*s) for s in steps)).eval()
        r = record_of(f"{name}_{counted[name]}", model, torch.empty(BATCH, *shape, device="meta"))
        text += text_of(r) + f"described {json.dumps(described(shape, steps), separators=(',', ':'))}\n"
    for name, (arguments, sides) in UNETS.items():
        with torch.device("meta"):
            model = unet(**arguments).eval()
        text += text_of(record_of(name, model, torch.empty(BATCH, arguments["in_channels"], *sides, device="meta")))
        text += f"images {sides[0]} {sides[1]}\n"
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
