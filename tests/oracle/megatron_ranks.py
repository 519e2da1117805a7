#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/cli/megatron_rank_recordings.txt: what ranks of Megatron-Core hold and communicate in a training step.

usage: megatron_ranks.py > tests/cli/megatron_rank_recordings.txt

Each rank is a process with PyTorch's fake process group, whose collectives return at once, on a CPU: functions of
torch.cuda are replaced. Requires torch, transformers and megatron-core 0.16.1; neither a GPU nor Transformer Engine.
A dispatch mode below autograd records the operations of c10d. Lines of the output:

    recording NAME
    options WORDS            of `llmcost train`
    config JSON              the configuration
    rank N PARAMETERS GRADIENTS     bytes of 16-bit parameters, and of the float32 gradient buffers
    OP GROUP SIZE IN OUT TYPE [peer N]     a collective with the bytes of this rank's buffers; groups of one rank are left out
"""
import contextlib
import json
import subprocess
import sys
import types

SEQUENCE, BATCH, VOCABULARY = 32, 2, 512
CASES = [  # name, model, layers, sizes, ranks
    ("llama__tp2__sequence", "llama", 2, dict(tp=2, sequence=1, microbatches=2), [0, 1]),
    ("llama__tp4", "llama", 2, dict(tp=4, microbatches=1), [0, 3]),
    ("qwen3__tp2", "qwen3", 2, dict(tp=2, microbatches=1), [0]),
    ("qwen3__tp2__sequence__dp2__zero1", "qwen3", 2, dict(tp=2, sequence=1, dp=2, microbatches=2, zero=1), [0, 3]),
    ("llama__dp3__zero1", "llama", 2, dict(dp=3, microbatches=2, zero=1), [0, 2]),
    ("llama__pp2-dp2", "llama", 4, dict(pp=2, dp=2, microbatches=4), [0, 2, 3]),
    ("llama__pp4-tp2__sequence", "llama", 4, dict(pp=4, tp=2, sequence=1, microbatches=6), [0, 3, 7]),
    ("llama__pp2-dp2-tp2__sequence__zero1", "llama", 4, dict(pp=2, dp=2, tp=2, sequence=1, microbatches=3, zero=1), [0, 3, 7]),
    ("llama-tied__pp2-tp2", "llama", 4, dict(pp=2, tp=2, microbatches=3, tied=1), [0, 3]),
    ("llama__interleaved__pp2-dp2__zero1", "llama", 4, dict(pp=2, stages=2, dp=2, microbatches=4, zero=1), [0, 3]),
]
OPTIONS = [("tp", "--tp"), ("pp", "--pp"), ("dp", "--dp"), ("stages", "--stages-per-rank"), ("microbatches", "--microbatches")]
OPS = {"allreduce_": "all_reduce", "allreduce_coalesced_": "all_reduce", "_allgather_base_": "all_gather",
       "allgather_into_tensor_coalesced_": "all_gather", "_reduce_scatter_base_": "reduce_scatter",
       "reduce_scatter_tensor_coalesced_": "reduce_scatter", "send": "send", "recv_": "recv"}


def main():
    out = []
    for name, model, layers, sizes, ranks in CASES:
        config = dict(model_type=model, hidden_size=64, num_hidden_layers=layers, intermediate_size=192, num_attention_heads=8,
                      num_key_value_heads=4, head_dim=8, vocab_size=VOCABULARY, max_position_embeddings=2048,
                      rms_norm_eps=1e-5, hidden_act="silu", tie_word_embeddings="tied" in sizes)
        words = [f"--split megatron --precision bf16 --batch {BATCH} --sequence {SEQUENCE}"]
        words += [f"{option} {sizes[key]}" for key, option in OPTIONS if key in sizes]
        words += ["--sequence-parallel"] * sizes.get("sequence", 0) + ["--zero 1"] * sizes.get("zero", 0)
        out += ["recording " + name, "options " + " ".join(words), "config " + json.dumps(config, separators=(",", ":"))]
        for rank in ranks:
            job = json.dumps(dict(config=config, sizes=sizes, rank=rank))
            out.append(subprocess.run([sys.executable, __file__, job], capture_output=True, text=True, check=True).stdout.rstrip())
    print("\n".join(out))


class Stream:
    """In place of a stream or an event of CUDA."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, _):
        return lambda *_, **__: None


def run_on_cpu(torch):
    cuda = torch.cuda
    cuda.current_device, cuda.is_available, cuda.synchronize = lambda: torch.device("cpu"), lambda: False, lambda *_: None
    cuda.current_stream, cuda.Stream, cuda.Event = lambda *_, **__: Stream(), Stream, Stream
    cuda.stream = lambda *_: contextlib.nullcontext()
    cuda.nvtx.range_push = cuda.nvtx.range_pop = lambda *_: None
    torch.Tensor.cuda = lambda tensor, *_, **__: tensor


def record(config, sizes, rank):
    """Prints one rank of a job."""
    import os
    import torch
    import torch.distributed as dist
    from torch.overrides import TorchFunctionMode
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    run_on_cpu(torch)
    tp, pp, dp, stages = (sizes.get(key, 1) for key in ("tp", "pp", "dp", "stages"))
    world = tp * pp * dp
    os.environ.update(WORLD_SIZE=str(world), RANK=str(rank), LOCAL_RANK=str(rank))
    dist.init_process_group("fake", rank=rank, world_size=world, store=FakeStore())
    from megatron.core import parallel_state
    from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.pipeline_parallel import get_forward_backward_func
    from megatron.core.transformer.torch_norm import WrappedTorchNorm
    from megatron.core.transformer.transformer_config import TransformerConfig
    several = stages if stages > 1 else None
    parallel_state.initialize_model_parallel(tp, pp, several, create_gloo_process_groups=False)
    tracker = types.SimpleNamespace(fork=lambda *_, **__: contextlib.nullcontext())  # random states of CUDA
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("megatron") and hasattr(module, "get_cuda_rng_tracker"):
            module.get_cuda_rng_tracker = lambda *_, **__: tracker

    def norm(_, config, hidden_size, eps=1e-5, **__):
        made = torch.nn.RMSNorm(hidden_size, eps)
        made.weight.sequence_parallel = config.sequence_parallel  # as FusedLayerNorm and Transformer Engine mark it
        return made
    WrappedTorchNorm.__new__ = norm

    has_qk_norm = config["model_type"] == "qwen3"
    settings = TransformerConfig(
        num_layers=config["num_hidden_layers"], hidden_size=config["hidden_size"], kv_channels=config["head_dim"],
        num_attention_heads=config["num_attention_heads"], num_query_groups=config["num_key_value_heads"],
        ffn_hidden_size=config["intermediate_size"], tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp,
        virtual_pipeline_model_parallel_size=several, sequence_parallel="sequence" in sizes, params_dtype=torch.bfloat16,
        bf16=True, pipeline_dtype=torch.bfloat16, use_cpu_initialization=True, perform_initialization=False,
        gated_linear_unit=True, activation_func=torch.nn.functional.silu, add_bias_linear=False, normalization="RMSNorm",
        hidden_dropout=0, attention_dropout=0, bias_activation_fusion=False, masked_softmax_fusion=False,
        gradient_accumulation_fusion=False, persist_layer_norm=False, bias_dropout_fusion=False, apply_rope_fusion=False,
        qk_layernorm=has_qk_norm, deallocate_pipeline_outputs=False, batch_p2p_comm=True, batch_p2p_sync=False,
        finalize_model_grads_func=finalize_model_grads)
    spec = get_gpt_layer_local_spec(qk_layernorm=has_qk_norm, normalization="RMSNorm")
    reduction = DistributedDataParallelConfig(grad_reduce_in_fp32=True, use_distributed_optimizer="zero" in sizes)
    chunks = []
    for stage in range(stages):
        place = dict(vp_stage=stage) if several else {}
        ends = dict(ignore_virtual=False, **place) if several else {}
        model = GPTModel(settings, spec, VOCABULARY, SEQUENCE, pre_process=parallel_state.is_pipeline_first_stage(**ends),
                         post_process=parallel_state.is_pipeline_last_stage(**ends), position_embedding_type="rope",
                         share_embeddings_and_output_weights=config["tie_word_embeddings"], **place).bfloat16()
        chunks.append(DistributedDataParallel(settings, reduction, model))

    groups = {}
    for name, group in (("tp", parallel_state.get_tensor_model_parallel_group()),
                        ("pp", parallel_state.get_pipeline_model_parallel_group()),
                        ("dp", parallel_state.get_data_parallel_group(with_context_parallel=True)),
                        ("pp", parallel_state.get_embedding_group(check_initialized=False))):
        if group is not None and group.size() > 1:
            groups.setdefault(group.group_name, (name, group.size()))
    collectives = []

    def size_of(tree):
        return sum(t.numel() * t.element_size() for t in tree_leaves(tree) if isinstance(t, torch.Tensor))

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, func, _, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            op = OPS.get(func._overloadpacket.__name__) if func.namespace == "c10d" else None
            if op is None:
                return result
            bound = dict(zip([a.name for a in func._schema.arguments], args)) | (kwargs or {})
            group = groups.get(dist.ProcessGroup.unbox(bound["process_group"]).group_name)
            if group is None:
                return result
            name, size = group
            given = next(bound[k] for k in ("input_tensor", "inputs", "tensors") if k in bound)
            taken = next((bound[k] for k in ("output_tensor", "outputs") if k in bound), given)
            words = [op, name, size, 0 if op == "recv" else size_of(given), 0 if op == "send" else size_of(taken),
                     str(next(t.dtype for t in tree_leaves(given))).removeprefix("torch.")]
            if op in ("send", "recv"):
                peer = bound["dst"] if op == "send" else bound["src"]  # a rank of the pipeline
                words += ["peer", peer * tp * dp + rank % (tp * dp)]
            collectives.append(" ".join(map(str, words)))
            return result

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, func, _, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if str(kwargs.get("device", "")).startswith("cuda"):
                kwargs["device"] = "cpu"
            return func(*args, **kwargs)

    def batches():
        while True:
            yield torch.zeros(BATCH, SEQUENCE, dtype=torch.long)

    def forward(iterator, model):
        tokens, positions = next(iterator), torch.arange(SEQUENCE)[None].expand(BATCH, -1)
        mask = torch.ones(1, 1, SEQUENCE, SEQUENCE, dtype=torch.bool).triu(1)
        return model(tokens, positions, mask, labels=tokens), lambda output: (output.float().mean(), {})

    iterators = [batches() for _ in chunks]
    with OnCpu(), Recorder():
        get_forward_backward_func()(
            forward_step_func=forward, data_iterator=iterators if several else iterators[0],
            model=chunks if several else chunks[0], num_microbatches=sizes["microbatches"], seq_length=SEQUENCE,
            micro_batch_size=BATCH, forward_only=False)
        if "zero" in sizes:
            for chunk in chunks:
                chunk.start_param_sync(force_sync=True)  # as the optimizer does after its step
    parameters = sum(2 * p.numel() for chunk in chunks for p in chunk.parameters())
    gradients = sum(4 * buffer.numel for chunk in chunks for buffer in chunk.buffers)
    print("\n".join([f"rank {rank} {parameters} {gradients}"] + collectives))


if __name__ == "__main__":
    record(**json.loads(sys.argv[1])) if len(sys.argv) > 1 else main()
