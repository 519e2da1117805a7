# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what torch.compile saves for backward, and which kernels Inductor fuses, to tests/torch/compiled_graphs.txt.

    python tests/oracle/torch_compile.py [NAME...] [--out FILE] [--graphs FOLDER]

--graphs: also writes the forward and backward graphs of each model.

The graphs are those of AOTAutograd with Inductor's decompositions and `min_cut_rematerialization_partition`, traced
with the model on the CPU. Inductor's scheduler then runs for a CUDA device with fake tensors: lowering and fusion need
the properties of the device, but no GPU. Fused attention is the operator of the CPU, which saves the same tensors as
FlashAttention and is a call to a library, too.
"""
import argparse
import collections
import contextlib
import json
import logging
import pathlib
import types
from unittest import mock

import torch
import torch._dynamo.config
import torch._dynamo.device_interface as device_interface
import torch._inductor.config
from torch._inductor.codegen.common import init_backend_registration
from torch._inductor.compile_fx import compile_fx
from torch._inductor.debug import DebugContext
from torch._inductor.fx_passes.post_grad import post_grad_passes
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
import transformers
from transformers import AutoConfig

TESTS = pathlib.Path(__file__).resolve().parent.parent
TEXT = {"vocab_size": 320, "hidden_size": 96, "num_hidden_layers": 2}
DECODER = {**TEXT, "intermediate_size": 224, "num_attention_heads": 6, "head_dim": 16, "tie_word_embeddings": False,
           "max_position_embeddings": 128}
MODELS = {
    "llama": ("LlamaForCausalLM", {"model_type": "llama", **DECODER, "num_key_value_heads": 2}),
    "qwen3": ("Qwen3ForCausalLM", {"model_type": "qwen3", **DECODER, "num_key_value_heads": 2}),
    "mistral": ("MistralForCausalLM", {"model_type": "mistral", **DECODER, "num_key_value_heads": 6,
                                       "sliding_window": None}),
    "phi3": ("Phi3ForCausalLM", {"model_type": "phi3", **DECODER, "num_key_value_heads": 2, "pad_token_id": 0,
                                 "resid_pdrop": 0.0, "embd_pdrop": 0.0}),
    "gemma2": ("Gemma2ForCausalLM", {"model_type": "gemma2", **DECODER, "num_key_value_heads": 2}),
    "gpt2": ("GPT2LMHeadModel", {"model_type": "gpt2", "vocab_size": 320, "n_embd": 96, "n_layer": 2, "n_head": 6,
                                 "n_positions": 128, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}),
    "opt": ("OPTForCausalLM", {"model_type": "opt", "vocab_size": 320, "hidden_size": 96, "word_embed_proj_dim": 96,
                               "ffn_dim": 224, "num_hidden_layers": 2, "num_attention_heads": 6,
                               "max_position_embeddings": 128, "dropout": 0.0}),
    "bert": ("BertForMaskedLM", {"model_type": "bert", **TEXT, "intermediate_size": 224, "num_attention_heads": 6,
                                 "max_position_embeddings": 128, "hidden_dropout_prob": 0.0,
                                 "attention_probs_dropout_prob": 0.0}),
    "t5": ("T5ForConditionalGeneration", {"model_type": "t5", "vocab_size": 320, "d_model": 96, "d_kv": 16, "d_ff": 224,
                                          "num_layers": 2, "num_heads": 6, "dropout_rate": 0.0,
                                          "decoder_start_token_id": 0}),
    "vit": ("ViTForImageClassification", {"model_type": "vit", "hidden_size": 96, "num_hidden_layers": 2,
                                          "num_attention_heads": 6, "intermediate_size": 224, "image_size": 32,
                                          "patch_size": 8, "hidden_dropout_prob": 0.0,
                                          "attention_probs_dropout_prob": 0.0, "num_labels": 10}),
    "convnext": ("ConvNextForImageClassification", {"model_type": "convnext", "hidden_sizes": [16, 32, 64, 96],
                                                    "depths": [1, 1, 1, 1], "image_size": 64, "num_labels": 10}),
    "resnet": ("ResNetForImageClassification", {"model_type": "resnet", "embedding_size": 16,
                                                "hidden_sizes": [16, 32, 64, 96], "depths": [1, 1, 1, 1],
                                                "layer_type": "basic", "num_labels": 10}),
    "mixtral": ("MixtralForCausalLM", {"model_type": "mixtral", **DECODER, "num_key_value_heads": 2,
                                       "num_local_experts": 4, "num_experts_per_tok": 2}),
}
IMAGES = {"vit": 32, "convnext": 64, "resnet": 64}
# name, attention implementation, element type
RECORDINGS = [(name, "eager", "float32") for name in MODELS] + [
    ("llama", "sdpa", "bfloat16"), ("qwen3", "sdpa", "bfloat16"), ("llama", "eager", "bfloat16"),
    ("mistral", "sdpa", "float32"), ("gpt2", "sdpa", "float32"),
    ("bert", "sdpa", "float32"), ("vit", "sdpa", "float32")]
BATCH, SEQUENCE = 2, 24

PROPERTIES = types.SimpleNamespace(
    name="H100", major=9, minor=0, multi_processor_count=132, total_memory=80 << 30, warp_size=32,
    regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
    shared_memory_per_block=49152, shared_memory_per_block_optin=232448, gcnArchName="", L2_cache_size=50 << 20, uuid="")


@contextlib.contextmanager
def described_gpu():
    """The properties of a CUDA device, for lowering and fusion without one."""
    with contextlib.ExitStack() as stack:
        worker, interface = device_interface.CudaInterface.Worker, device_interface.CudaInterface
        for owner, member, value in (
                (worker, "get_device_properties", PROPERTIES), (worker, "current_device", 0),
                (interface, "is_available", True), (interface, "get_compute_capability", 90),
                (interface, "get_device_properties", PROPERTIES)):
            stack.enter_context(mock.patch.object(owner, member, staticmethod(lambda *a, value=value, **k: value)))
        for path, value in (("is_available", True), ("current_device", 0), ("device_count", 1),
                            ("get_device_properties", PROPERTIES), ("get_device_capability", (9, 0))):
            stack.enter_context(mock.patch(f"torch.cuda.{path}", lambda *a, value=value, **k: value))
        stack.enter_context(mock.patch("torch.version.cuda", "12.8"))
        stack.enter_context(mock.patch("torch._inductor.scheduler.has_triton", lambda *a, **k: True))
        yield


def traced_graphs(model, inputs):
    """Forward and backward graph of a training step."""
    graphs = []

    def keep(graph, example_inputs, **options):
        graphs.append((graph, bool(options.get("is_backward"))))

        def run(arguments):
            taken = list(arguments)
            arguments.clear()
            return graph(*taken)
        run._boxed_call = True
        return run

    torch._dynamo.reset()
    compiled = torch.compile(model, backend=lambda graph, args: compile_fx(graph, args, inner_compile=keep),
                             fullgraph=True)
    compiled(**inputs).loss.backward()
    if [is_backward for _, is_backward in graphs] != [False, True]:
        raise RuntimeError(f"expected one forward and one backward graph, found {len(graphs)} graphs")
    return graphs[0][0], graphs[1][0]


def saved_tensors(forward, backward):
    """Tensors that forward saves for backward, without the inputs of the graph: (type, elements)."""
    outputs = {n.name for n in forward.graph.output_node().args[0] if isinstance(n, torch.fx.Node)}
    saved = []
    for node in backward.graph.nodes:
        if node.op != "placeholder" or "tangents" in node.name or node.name.startswith("primals"):
            continue
        assert node.name in outputs, node.name
        value = node.meta["val"]
        saved.append((str(value.dtype).removeprefix("torch."), value.numel()))
    return saved


def on_gpu(graph):
    """A graph with fake tensors on the described GPU, and its inputs."""
    cuda = torch.device("cuda", 0)
    for node in graph.graph.nodes:
        node.kwargs = {k: cuda if isinstance(v, torch.device) else v for k, v in node.kwargs.items()}
    graph.recompile()
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        inputs = [torch.empty_strided(v.shape, v.stride(), dtype=v.dtype, device=cuda) if isinstance(v, torch.Tensor)
                  else v for v in (n.meta["val"] for n in graph.graph.nodes if n.op == "placeholder")]
    FakeTensorProp(graph, mode).propagate_dont_convert_inputs(*inputs)
    output = graph.graph.output_node()
    output.meta.setdefault("original_output_strides", [
        n.meta["val"].stride() if isinstance(n, torch.fx.Node) and isinstance(n.meta.get("val"), torch.Tensor) else None
        for n in output.args[0]])
    with V.set_fake_mode(mode):
        post_grad_passes(graph, False)
    FakeTensorProp(graph, mode).propagate_dont_convert_inputs(*inputs)
    return inputs, mode


def kernels(graph, is_backward):
    """Inductor's Triton kernels: (kind, elements, reduced elements, bytes read, bytes written).

    Inductor counts the complete table that an embedding reads rows of: those kernels have their own kind."""
    from torch._inductor.scheduler import ExternKernelSchedulerNode, NopKernelSchedulerNode
    inputs, mode = on_gpu(graph)
    init_backend_registration()
    lowered = GraphLowering(graph, example_inputs=inputs, shape_env=None, is_backward=is_backward, is_inference=False)
    found = []
    with V.set_graph_handler(lowered), V.set_fake_mode(mode), DebugContext():
        lowered.run(*inputs)
        lowered._update_scheduler()
        for node in lowered.scheduler.nodes:
            if isinstance(node, (ExternKernelSchedulerNode, NopKernelSchedulerNode)):
                continue
            origins = {str(origin.target) for part in node.get_nodes() for origin in part.node.get_origins()}
            kind = ("embedding" if any("aten.embedding." in name for name in origins) else
                    "reduction" if any(part.is_reduction() for part in node.get_nodes()) else "pointwise")
            elements, reduced = node.group[1]
            found.append((kind, int(elements), int(reduced), node.get_read_buffer_sizes(),
                          node.get_write_buffer_sizes()))
    return found


def inputs_of(name, model):
    torch.manual_seed(0)
    if name in IMAGES:
        side = IMAGES[name]
        return {"pixel_values": torch.rand(BATCH, 3, side, side), "labels": torch.randint(0, 10, (BATCH,))}
    tokens = torch.randint(1, 320, (BATCH, SEQUENCE))
    return {"input_ids": tokens, "labels": tokens}


def record(name, attention, element_type, folder):
    class_name, settings = MODELS[name]
    config = AutoConfig.for_model(**{"model_type": settings["model_type"]},
                                  **{k: v for k, v in settings.items() if k != "model_type"})
    config._attn_implementation = attention
    model = getattr(transformers, class_name)(config).to(getattr(torch, element_type)).train()
    inputs = {k: v.to(getattr(torch, element_type)) if v.is_floating_point() else v
              for k, v in inputs_of(name, model).items()}
    forward, backward = traced_graphs(model, inputs)
    if folder:
        for part, graph in (("forward", forward), ("backward", backward)):
            (pathlib.Path(folder) / f"{name}_{attention}_{element_type}_{part}.txt").write_text(
                graph.print_readable(print_output=False))
    published = dict(settings, architectures=[class_name], dtype=element_type)
    lines = [f"model {name} {attention} {element_type} {BATCH} {SEQUENCE} {IMAGES.get(name, 0)}",
             "config " + json.dumps(published)]
    for (dtype, elements), times in sorted(collections.Counter(saved_tensors(forward, backward)).items()):
        lines.append(f"saved {dtype} {elements} {times}")
    with described_gpu():
        for part, graph in (("forward", forward), ("backward", backward)):
            for kernel, times in collections.Counter(kernels(graph, part == "backward")).items():
                lines.append(f"kernel {part} {' '.join(map(str, kernel))} {times}")
    return lines + ["end"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default=TESTS / "torch" / "compiled_graphs.txt")
    parser.add_argument("--graphs")
    chosen = parser.parse_args()
    torch._inductor.config.force_disable_caches = True
    torch._dynamo.config.ignore_logging_functions.add(logging.Logger.warning_once)
    lines = [f"# torch {torch.__version__}, transformers {transformers.__version__}: tests/oracle/torch_compile.py"]
    for name, attention, element_type in RECORDINGS:
        if chosen.names and name not in chosen.names:
            continue
        try:
            lines += record(name, attention, element_type, chosen.graphs)
            print(name, attention, element_type, flush=True)
        except Exception as problem:  # a model with a graph break has no such recording
            print(name, attention, element_type, type(problem).__name__, str(problem)[:2000], flush=True)
    pathlib.Path(chosen.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
