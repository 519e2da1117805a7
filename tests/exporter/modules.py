# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that the exporter test converts: each uses other layers, functions and kinds of inputs."""
import torch
from torch import nn


class ConvNet(nn.Module):
    """Convolutions, a residual connection, pooling, and a module that is called twice."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU())
        self.body = nn.ModuleList([nn.Conv2d(8, 8, 3, padding="same", groups=2) for _ in range(2)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.stem(x), 2)
        for conv in self.body:
            x = x + conv(conv(x)).relu()
        return self.head(torch.flatten(self.pool(x), 1))


class Attention(nn.Module):
    """Operations between layers: splits, views, scaled dot product attention, a parameter that is read directly."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.scale = nn.Parameter(torch.ones(hidden))
        self.out = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x):
        batch, length, hidden = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.qkv(x * self.scale).chunk(3, dim=-1))
        x = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(x.transpose(1, 2).reshape(batch, length, hidden))


class Encoder(nn.Module):
    """Token ids, embeddings, blocks of a transformer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.positions = nn.Parameter(torch.zeros(1, 12, 16))
        self.norms = nn.ModuleList([nn.LayerNorm(16) for _ in range(2)])
        self.attention = Attention(16, 4)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, ids):
        x = self.embedding(ids) + self.positions
        x = x + self.attention(self.norms[0](x))
        return (x + self.mlp(self.norms[1](x))).mean(dim=1)


class Recurrent(nn.Module):
    """A recurrent layer, whose results are selected, and two inputs."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 10, num_layers=2, batch_first=True)
        self.attention = nn.MultiheadAttention(10, 2, batch_first=True)
        self.head = nn.Linear(10, 3)

    def forward(self, x, memory):
        x, _ = self.lstm(x)
        x, _ = self.attention(x, memory, memory, need_weights=False)
        return self.head(x[:, -1])


class Unsupported(nn.Module):
    """An operation without a function in llmcost."""

    def forward(self, x):
        return torch.cumsum(x, dim=1)


# the shapes of the inputs, as on the command line of the exporter
SHAPES = {
    "ConvNet": ["2,3,32,32"],
    "Encoder": ["int:3,12"],
    "Recurrent": ["2,7,6", "2,5,10"],
}
