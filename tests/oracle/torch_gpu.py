# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what PyTorch takes of a CUDA device: memory, time and kernels of training steps and forward passes.

    python tests/oracle/torch_gpu.py OUT.jsonl SECONDS

Needs a CUDA device, torch and transformers. No weights are loaded: models have random weights and published widths, most
of them with fewer layers. Every run is a process of its own, so that memory begins at nothing. One line of JSON is written
after each run. Runs that do not fit into SECONDS are left out, and a run that fails becomes a line with `kind` `error`.
The README beside this file says what the fields mean.
"""
import contextlib
import ctypes
import gc
import importlib.metadata
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import traceback

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # CUDA must not start before a process forks
os.environ.setdefault("HF_HUB_OFFLINE", "1")

LONGEST = 40  # seconds of one run
KERNEL_NAME = 160  # characters
WATCHED = 3  # steps whose memory is recorded
TIMED = 6

CONFIGS = {
    "gemma3": dict(
        model_type="gemma3_text", vocab_size=262144, hidden_size=1152, intermediate_size=6912, num_hidden_layers=8,
        num_attention_heads=4, num_key_value_heads=1, head_dim=256, sliding_window=512, query_pre_attn_scalar=256),
    "granite": dict(
        model_type="granite", vocab_size=49155, hidden_size=2048, intermediate_size=8192, num_hidden_layers=8,
        num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=4096, tie_word_embeddings=True,
        embedding_multiplier=12.0, attention_multiplier=0.015625, residual_multiplier=0.22, logits_scaling=8.0),
    "glm4": dict(
        model_type="glm4", vocab_size=65024, hidden_size=2048, intermediate_size=6848, num_hidden_layers=6,
        num_attention_heads=16, num_key_value_heads=2, head_dim=128, partial_rotary_factor=0.5,
        max_position_embeddings=32768, pad_token_id=0),
    "olmo2": dict(
        model_type="olmo2", vocab_size=100352, hidden_size=2048, intermediate_size=8192, num_hidden_layers=6,
        num_attention_heads=16, num_key_value_heads=16, max_position_embeddings=4096, pad_token_id=0),
    "qwen3": dict(
        model_type="qwen3", vocab_size=151936, hidden_size=2048, intermediate_size=6144, num_hidden_layers=8,
        num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
        tie_word_embeddings=True),
    "qwen3_moe": dict(
        model_type="qwen3_moe", vocab_size=65536, hidden_size=1024, intermediate_size=3072, moe_intermediate_size=384,
        num_hidden_layers=6, num_attention_heads=16, num_key_value_heads=4, head_dim=64, num_experts=32,
        num_experts_per_tok=4, norm_topk_prob=True, decoder_sparse_step=1),
    "olmoe": dict(
        model_type="olmoe", vocab_size=50304, hidden_size=2048, intermediate_size=1024, num_hidden_layers=3,
        num_attention_heads=16, num_key_value_heads=16, num_experts=64, num_experts_per_tok=8),
    "granitemoe": dict(
        model_type="granitemoe", vocab_size=49155, hidden_size=1024, intermediate_size=512, num_hidden_layers=6,
        num_attention_heads=16, num_key_value_heads=8, num_local_experts=32, num_experts_per_tok=8,
        tie_word_embeddings=True),
    "mistral": dict(
        model_type="mistral", vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=4,
        num_attention_heads=32, num_key_value_heads=8, head_dim=128, sliding_window=4096),
    "starcoder2": dict(
        model_type="starcoder2", vocab_size=49152, hidden_size=3072, intermediate_size=12288, num_hidden_layers=6,
        num_attention_heads=24, num_key_value_heads=2, sliding_window=None, use_bias=True),
    "deepseek_v2": dict(
        model_type="deepseek_v2", vocab_size=102400, hidden_size=1024, intermediate_size=4096, moe_intermediate_size=512,
        num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=8, n_routed_experts=16, n_shared_experts=2,
        num_experts_per_tok=4, q_lora_rank=None, kv_lora_rank=256, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
        first_k_dense_replace=1, n_group=1, topk_group=1, topk_method="greedy"),
    "bloom": dict(model_type="bloom", vocab_size=250880, hidden_size=1024, n_layer=8, n_head=16),
    "gpt2": dict(model_type="gpt2", n_layer=6),
    "mamba2": dict(
        model_type="mamba2", vocab_size=50288, hidden_size=768, num_hidden_layers=8, num_heads=24, head_dim=64,
        state_size=128, n_groups=1, expand=2, tie_word_embeddings=True, rms_norm=True, chunk_size=256),
    "recurrent_gemma": dict(
        model_type="recurrent_gemma", vocab_size=32000, hidden_size=1024, lru_width=1024, intermediate_size=6144,
        num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=1, head_dim=128, attention_window_size=1024),
    "t5": dict(
        model_type="t5", vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8,
        decoder_start_token_id=0, pad_token_id=0),
    "t5_gated": dict(
        model_type="t5", vocab_size=32128, d_model=768, d_kv=64, d_ff=2048, num_layers=12, num_heads=12,
        feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0, pad_token_id=0),
    "bart": dict(
        model_type="bart", d_model=768, encoder_layers=6, decoder_layers=6, encoder_attention_heads=12,
        decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072),
    "whisper": dict(
        model_type="whisper", d_model=512, encoder_layers=6, decoder_layers=6, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, vocab_size=51865),
    "whisper_small": dict(
        model_type="whisper", d_model=768, encoder_layers=12, decoder_layers=12, encoder_attention_heads=12,
        decoder_attention_heads=12, encoder_ffn_dim=3072, decoder_ffn_dim=3072, vocab_size=51865),
    "vit_small": dict(
        model_type="vit", hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536),
    "dinov2_small": dict(
        model_type="dinov2", hidden_size=384, num_hidden_layers=12, num_attention_heads=6, mlp_ratio=4, image_size=224,
        patch_size=14),
    "convnext_base": dict(model_type="convnext", hidden_sizes=[128, 256, 512, 1024], depths=[3, 3, 27, 3]),
    "convnextv2_atto": dict(model_type="convnextv2", hidden_sizes=[40, 80, 160, 320], depths=[2, 2, 6, 2]),
    "swin_tiny": dict(model_type="swin"),
    "distilbert": dict(model_type="distilbert"),
    "roberta": dict(model_type="roberta", vocab_size=50265, max_position_embeddings=514, type_vocab_size=1),
    "modernbert": dict(model_type="modernbert"),
    "bert": dict(model_type="bert"),
}
CLASSES = {"lm": "AutoModelForCausalLM", "masked": "AutoModelForMaskedLM", "image": "AutoModelForImageClassification",
           "seq2seq": "AutoModelForSeq2SeqLM", "speech": "AutoModelForSpeechSeq2Seq"}

RUNS = []


def train(model, dtype, attn, batch, sequence=0, optim="adamw", task="lm", mixed=False, recompute=False, dropout=False, target=0):
    words = [model, dtype, "mixed" if mixed else "", attn, optim, "recompute" if recompute else "", "dropout" if dropout else "",
             f"B{batch} S{sequence}"]
    RUNS.append(dict(kind="train", name=" ".join(w for w in words if w), model=model, dtype=dtype, attn=attn, batch=batch,
                     sequence=sequence, target=target, task=task, mixed=mixed, recompute=recompute, optim=optim, dropout=dropout))


def infer(model, dtype, attn, shapes, task="lm", target=0):
    RUNS.append(dict(kind="infer", name=f"{model} {dtype} {attn}", model=model, dtype=dtype, attn=attn, shapes=shapes, task=task,
                     target=target))


train("gemma3", "bfloat16", "sdpa", 2, 1024)
infer("granite", "bfloat16", "sdpa", [(1, 1024, 0), (8, 512, 0), (1, 1, 1024), (16, 1, 1024)])
train("granite", "bfloat16", "sdpa", 2, 1024, optim="adafactor")
train("glm4", "bfloat16", "sdpa", 2, 1024, optim="fused")
train("olmo2", "float32", "sdpa", 2, 1024, optim="fused", mixed=True)
train("qwen3", "float32", "sdpa", 2, 2048, optim="adafactor", mixed=True, recompute=True)
train("qwen3_moe", "bfloat16", "sdpa", 2, 512)
train("mamba2", "float32", "eager", 2, 256)
train("t5", "float32", "eager", 8, 128, task="seq2seq", target=64)
train("whisper", "float32", "sdpa", 4, 3000, task="speech", target=64)
train("vit_small", "float32", "sdpa", 32, 224, task="image")
train("convnext_base", "float32", "eager", 16, 224, task="image")
train("distilbert", "float32", "sdpa", 16, 128, task="masked")
train("recurrent_gemma", "float32", "eager", 1, 128)
infer("glm4", "bfloat16", "sdpa", [(2, 1024, 0), (4, 1, 2048)])
train("gemma3", "float32", "eager", 1, 512, optim="fused")
train("gemma3", "float32", "sdpa", 2, 1024, mixed=True, recompute=True, optim="fused")
train("granite", "float32", "sdpa", 1, 1024, optim="sgd")
train("granite", "float32", "eager", 2, 512, mixed=True)
train("glm4", "bfloat16", "eager", 2, 1024, recompute=True)
train("glm4", "float32", "sdpa", 1, 512, optim="adafactor")
train("olmo2", "bfloat16", "sdpa", 4, 1024)
train("olmo2", "float32", "eager", 1, 1024, optim="sgd", recompute=True)
infer("olmo2", "float32", "eager", [(1, 512, 0), (4, 1, 512)])
train("qwen3", "bfloat16", "eager", 2, 512)
train("qwen3", "float32", "sdpa", 1, 512, optim="fused")
infer("qwen3", "bfloat16", "eager", [(2, 1024, 0), (8, 1, 1024)])
train("qwen3_moe", "float32", "eager", 2, 512, optim="fused", mixed=True, recompute=True)
infer("qwen3_moe", "bfloat16", "sdpa", [(1, 1024, 0), (4, 1, 512)])
train("olmoe", "bfloat16", "sdpa", 2, 512, optim="sgd")
train("granitemoe", "float32", "sdpa", 2, 512)
train("mistral", "bfloat16", "sdpa", 1, 2048, optim="sgd")
train("starcoder2", "bfloat16", "sdpa", 2, 1024)
train("deepseek_v2", "bfloat16", "eager", 2, 512)
train("bloom", "float32", "eager", 2, 512)
train("gpt2", "float32", "sdpa", 4, 512, dropout=True)
train("mamba2", "bfloat16", "eager", 2, 512, optim="fused")
infer("mamba2", "bfloat16", "eager", [(1, 512, 0), (4, 1, 256)])
train("t5_gated", "bfloat16", "eager", 4, 256, optim="adafactor_transformers", task="seq2seq", target=128)
train("whisper_small", "float32", "sdpa", 2, 3000, optim="fused", task="speech", target=128, mixed=True, recompute=True)
train("bart", "float32", "sdpa", 8, 128, task="seq2seq", target=64, mixed=True)
train("vit_small", "float32", "eager", 32, 224, optim="fused", task="image", mixed=True)
train("dinov2_small", "bfloat16", "sdpa", 32, 224, task="image", optim="adafactor")
train("convnextv2_atto", "float32", "eager", 32, 224, task="image", mixed=True)
train("swin_tiny", "float32", "eager", 16, 224, task="image", optim="sgd")
train("roberta", "float32", "sdpa", 16, 256, task="masked", mixed=True, optim="adafactor")
train("modernbert", "bfloat16", "sdpa", 8, 512, task="masked")
train("bert", "float32", "eager", 8, 256, task="masked", dropout=True)
train("bert", "bfloat16", "sdpa", 16, 256, task="masked", recompute=True, optim="sgd")
infer("gemma3", "bfloat16", "sdpa", [(1, 2048, 0), (4, 1, 1024)])
infer("starcoder2", "bfloat16", "sdpa", [(1, 1024, 0), (1, 1, 1024)])
infer("mistral", "bfloat16", "sdpa", [(1, 4096, 0), (32, 1, 1024)])
infer("vit_small", "bfloat16", "sdpa", [(64, 224, 0)], task="image")
infer("convnext_base", "float32", "eager", [(32, 224, 0)], task="image")
infer("whisper", "bfloat16", "sdpa", [(4, 3000, 0)], task="speech", target=64)
infer("t5_gated", "bfloat16", "eager", [(4, 256, 0)], task="seq2seq", target=64)
infer("bert", "float32", "sdpa", [(16, 256, 0)], task="masked")


class Recording:
    """One run, in a process of its own."""

    def __init__(self, run, path):
        import torch
        import transformers
        self.torch, self.transformers, self.run, self.path = torch, transformers, run, path
        self.device = torch.device("cuda")
        self.dtype = getattr(torch, run.get("dtype", "float32"))

    def say(self, **row):
        with open(self.path, "a") as out:
            out.write(json.dumps(row, default=str) + "\n")

    def stats(self):
        cuda = self.torch.cuda
        cuda.synchronize()
        s = cuda.memory_stats()
        return dict(allocated=cuda.memory_allocated(), peak=cuda.max_memory_allocated(), reserved=cuda.memory_reserved(),
                    reserved_peak=cuda.max_memory_reserved(), requested=s["requested_bytes.all.current"],
                    requested_peak=s["requested_bytes.all.peak"], segments=s["segment.all.current"],
                    segments_peak=s["segment.all.peak"], blocks=s["active.all.current"],
                    inactive_split=s["inactive_split_bytes.all.current"], retries=s["num_alloc_retries"])

    def environment(self):
        torch = self.torch
        version = None
        try:
            torch.zeros(8, 8, device=self.device) @ torch.zeros(8, 8, device=self.device)
            with open("/proc/self/maps") as maps:
                library = next(line.split()[-1] for line in maps if "libcublas.so" in line)
            value, handle = ctypes.c_int(), ctypes.c_void_p()
            cublas = ctypes.CDLL(library)
            cublas.cublasCreate_v2(ctypes.byref(handle))
            cublas.cublasGetVersion_v2(handle, ctypes.byref(value))
            version = value.value
        except Exception as e:
            version = f"{type(e).__name__}: {e}"
        packages = {}
        for package in ("nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-cuda-runtime", "triton", "numpy"):
            with contextlib.suppress(Exception):
                packages[package] = importlib.metadata.version(package)
        properties = torch.cuda.get_device_properties(0)
        driver = None
        with contextlib.suppress(Exception):
            driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True,
                                    text=True, timeout=10).stdout.strip()
        self.say(kind="env", gpu=torch.cuda.get_device_name(0), multiprocessors=properties.multi_processor_count,
                 torch=torch.__version__, cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(), cublas=version,
                 driver=driver, transformers=self.transformers.__version__, packages=packages,
                 total=properties.total_memory, free=torch.cuda.mem_get_info()[0],
                 matmul_precision=torch.get_float32_matmul_precision(), cudnn_tf32=torch.backends.cudnn.allow_tf32,
                 allocator=os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""))

    def model(self):
        torch, run = self.torch, self.run
        config = self.transformers.AutoConfig.for_model(**CONFIGS[run["model"]])
        if not run.get("dropout"):
            for key, value in config.to_dict().items():
                if "drop" in key and isinstance(value, float):
                    setattr(config, key, 0.0)
        torch.set_default_dtype(self.dtype)
        try:
            with self.device:
                model = getattr(self.transformers, CLASSES[run["task"]]).from_config(config, attn_implementation=run["attn"])
        finally:
            torch.set_default_dtype(torch.float32)
        model = model.to(self.dtype)
        self.described = {k: v for k, v in model.config.to_dict().items()
                          if v is not None and k not in ("id2label", "label2id", "transformers_version", "_name_or_path")}
        self.described["architectures"] = [type(model).__name__]
        gc.collect()
        torch.cuda.empty_cache()
        return model

    def inputs(self, model, batch, sequence, labels):
        torch, task, target = self.torch, self.run["task"], self.run.get("target", 0)
        tokens = lambda *shape: torch.randint(5, model.config.vocab_size - 5, shape, device=self.device)
        if task == "image":
            channels = getattr(model.config, "num_channels", 3)
            result = dict(pixel_values=torch.randn(batch, channels, sequence, sequence, device=self.device, dtype=self.dtype))
            if labels:
                result["labels"] = torch.randint(0, 2, (batch,), device=self.device)
        elif task in ("seq2seq", "speech"):
            if task == "speech":
                result = dict(input_features=torch.randn(batch, model.config.num_mel_bins, sequence, device=self.device,
                                                         dtype=self.dtype))
            else:
                result = dict(input_ids=tokens(batch, sequence))
            result["labels" if labels else "decoder_input_ids"] = tokens(batch, target)
        else:
            result = dict(input_ids=tokens(batch, sequence))
            if labels:
                result["labels"] = result["input_ids"]
        return result

    def optimizer(self, parameters):
        torch, name = self.torch, self.run["optim"]
        if name == "adamw":
            return torch.optim.AdamW(parameters, lr=1e-5)
        if name == "fused":
            return torch.optim.AdamW(parameters, lr=1e-5, fused=True)
        if name == "sgd":
            return torch.optim.SGD(parameters, lr=1e-5)
        if name == "adafactor":
            return torch.optim.Adafactor(parameters, lr=1e-5)
        from transformers.optimization import Adafactor
        return Adafactor(parameters, lr=1e-5, relative_step=False, scale_parameter=False)

    def median_ms(self, call, count=TIMED, warm=1):
        torch, times, host = self.torch, [], []
        for _ in range(warm):
            call()
        for _ in range(count):
            torch.cuda.synchronize()
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            began = time.perf_counter()
            first.record()
            call()
            last.record()
            host.append(1e3 * (time.perf_counter() - began))
            last.synchronize()
            times.append(first.elapsed_time(last))
        times.sort()
        host.sort()
        return round(times[count // 2], 4), round(times[0], 4), round(times[-1], 4), round(host[count // 2], 4)

    def traced(self, call):
        """What the allocator is asked for during a call: see the README."""
        torch = self.torch
        torch.cuda.synchronize()
        record = torch.cuda.memory._record_memory_history
        try:
            more = dict(clear_history=True) if "clear_history" in inspect.signature(record).parameters else {}
            record("all", context=None, max_entries=200000, **more)
        except Exception as e:
            call()
            return f"{type(e).__name__}: {str(e)[:200]}"
        try:
            call()
            torch.cuda.synchronize()
            events = torch.cuda.memory._snapshot()["device_traces"][0]
        finally:
            record(None)
        trace, where, made = [], {}, 0
        for e in events:
            action, size = e["action"], e["size"]
            if action == "alloc":
                where[e["addr"]] = made
                made += 1
                trace.append(size)
            elif action == "free_completed":
                index = where.pop(e["addr"], None)
                trace.append([size] if index is None else index - made)
            elif action in ("segment_alloc", "segment_free"):
                trace.append(("+" if action == "segment_alloc" else "-") + str(size))
        return trace

    def profiled(self, call):
        torch = self.torch
        from torch.profiler import ProfilerActivity, profile
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as p:
            began = time.perf_counter()
            call()
            host = time.perf_counter() - began
            torch.cuda.synchronize()
        kernels, names, busy, launches = {}, {}, 0.0, 0
        for e in p.events():
            if e.device_type == torch.autograd.DeviceType.CUDA and not getattr(e, "is_user_annotation", False):
                short = names.get(e.name)
                if short is None:
                    short = e.name
                    for noise in ("void ", "at::native::", "(anonymous namespace)::", "at::cuda::", "std::array", "unrolled_", " "):
                        short = short.replace(noise, "")
                    short = names[e.name] = short[:KERNEL_NAME]
                took = e.time_range.elapsed_us()
                row = kernels.setdefault(short, [0, 0.0])
                row[0] += 1
                row[1] += took
                busy += took
                launches += 1
        operators = []
        for e in p.key_averages(group_by_input_shape=True):
            took = getattr(e, "self_device_time_total", 0)
            if took > 0 and (e.key.startswith("aten::") or e.input_shapes):
                operators.append([e.key, e.input_shapes, e.count, round(took, 1)])
        by_kernel = [[k, n, round(t, 1)] for k, (n, t) in sorted(kernels.items(), key=lambda x: -x[1][1])]
        return dict(host_ms=round(1e3 * host, 4), device_ms=round(busy / 1e3, 4), kernels=launches, by_kernel=by_kernel,
                    ops=operators)

    def train(self):
        torch, run = self.torch, self.run
        base = torch.cuda.memory_allocated()
        model = self.model()
        model.train()
        if run["recompute"]:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        parameters = [p for p in model.parameters() if p.requires_grad]
        buffers = sum(b.numel() * b.element_size() for b in model.buffers())
        optimizer = self.optimizer(parameters)
        built = self.stats()
        inputs = self.inputs(model, run["batch"], run["sequence"], labels=True)
        start, phases = self.stats(), []

        def step(watch=False):
            if watch:
                torch.cuda.synchronize()
                torch.cuda.reset_peak_memory_stats()
                watched = dict(before=self.stats())
            with torch.autocast("cuda", torch.bfloat16) if run["mixed"] else contextlib.nullcontext():
                loss = model(**inputs).loss
            if watch:
                watched["forward"] = self.stats()
                torch.cuda.reset_peak_memory_stats()
            loss.backward()
            del loss
            if watch:
                watched["backward"] = self.stats()
                torch.cuda.reset_peak_memory_stats()
            optimizer.step()
            if watch:
                watched["step"] = self.stats()
                torch.cuda.reset_peak_memory_stats()
            optimizer.zero_grad(set_to_none=True)
            if watch:
                watched["zero"] = self.stats()
                phases.append(watched)

        traces = []
        for i in range(WATCHED):
            traces.append(self.traced(lambda: step(True)))
        ms, low, high, issue = self.median_ms(step)
        row = dict(kind="train", name=run["name"], config=self.described, base=base, trainable=sum(p.numel() for p in parameters),
                   tensors=len(parameters), buffers=buffers)
        row.update({k: run[k] for k in ("task", "dtype", "attn", "batch", "sequence", "target", "recompute", "mixed", "optim",
                                        "dropout")})
        row.update(built=built, start=start, steps=phases,
                   peak=max(p[k]["peak"] for p in phases[1:] for k in ("forward", "backward", "step")),
                   reserved=phases[-1]["zero"]["reserved"], segments=phases[-1]["zero"]["segments"],
                   step_ms=ms, step_ms_min=low, step_ms_max=high, issue_ms=issue)
        row.update(self.profiled(step))
        row["traces"] = [traces[0], traces[-1]]
        self.say(**row)

    def infer(self):
        torch, run = self.torch, self.run
        model = self.model().eval()
        weights = self.stats()["allocated"]
        accepted = inspect.signature(model.forward).parameters
        for batch, sequence, past in run["shapes"]:
            gc.collect()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            more = {}
            if run["task"] == "lm":
                more["use_cache"] = True
                if "logits_to_keep" in accepted:
                    more["logits_to_keep"] = 1
            with torch.inference_mode():
                inputs = self.inputs(model, batch, sequence, labels=False)
                state = dict(cached=past)
                if past:
                    key = "cache_params" if "cache_params" in accepted else "past_key_values"
                    prompt = self.inputs(model, batch, past, labels=False)
                    state["cache"] = getattr(model(**prompt, **more), key)
                    del prompt

                    def call():
                        extra = {key: state["cache"]}
                        if "position_ids" in accepted:
                            extra["position_ids"] = torch.full((batch, 1), state["cached"], device=self.device)
                        if "cache_position" in accepted:
                            extra["cache_position"] = torch.full((1,), state["cached"], device=self.device)
                        result = model(**inputs, **extra, **more)
                        state["cache"] = getattr(result, key)
                        state["cached"] += sequence
                else:
                    def call():
                        model(**inputs, **more)
                call()
                call()
                torch.cuda.synchronize()
                before, cached = self.stats(), state["cached"]
                torch.cuda.reset_peak_memory_stats()
                trace = self.traced(call)
                after = self.stats()
                growing, again, fixed = None, call, not past
                if past:
                    growing = self.median_ms(call)[0]
                    length = state["cached"]

                    def same():
                        call()
                        state["cache"].crop(-sequence)
                        state["cached"] = length
                    try:  # not every cache can be cut
                        same()
                        again, fixed = same, True
                    except Exception:
                        state["cached"] = length + sequence
                ms, low, high, issue = self.median_ms(again)
                length = state["cached"]
                profile = self.profiled(again)
                row = dict(kind="infer", name=f"{run['name']} B{batch} S{sequence} P{past}", config=self.described)
                row.update({k: run[k] for k in ("task", "dtype", "attn", "target")})
                row.update(batch=batch, sequence=sequence, past=cached, past_profiled=length if past else 0,
                           fixed=fixed, growing_ms=growing, keeps_last_logits="logits_to_keep" in more,
                           weights=weights, before=before, after=after,
                           ms=ms, ms_min=low, ms_max=high, issue_ms=issue, **profile, traces=[trace])
                self.say(**row)
                state.clear()
                del inputs

    def go(self):
        try:
            self.torch.manual_seed(0)
            getattr(self, self.run["kind"] if self.run["kind"] != "env" else "environment")()
        except BaseException as e:
            where = traceback.extract_tb(e.__traceback__)[-1]
            self.say(kind="error", name=self.run.get("name", "env"), what=f"{type(e).__name__}: {str(e)[:400]}",
                     where=f"{os.path.basename(where.filename)}:{where.lineno}")


def main():
    path = sys.argv[1]
    if len(sys.argv) > 3:  # one run, by its number, in a new process
        number = int(sys.argv[3])
        Recording(RUNS[number] if number >= 0 else dict(kind="env"), path).go()
        return
    began = time.time()
    last = began + float(sys.argv[2])
    import torch
    import torch._dynamo  # what the first optimizer would import
    import torch.profiler
    import transformers
    for name in list(CLASSES.values()) + ["AutoConfig", "PreTrainedModel", "DynamicCache"]:
        getattr(transformers, name)
    print(f"imports: {time.time() - began:.1f} s, CUDA started: {torch.cuda.is_initialized()}", flush=True)
    fork = True
    numbers = [-1] + list(range(len(RUNS)))
    while numbers:
        number = numbers.pop(0)
        run = RUNS[number] if number >= 0 else dict(kind="env", name="env")
        if time.time() + 10 > last:
            with open(path, "a") as out:
                out.write(json.dumps(dict(kind="skipped", name=run["name"])) + "\n")
            continue
        size = os.path.getsize(path) if os.path.exists(path) else 0
        started = time.time()
        if fork:
            child = os.fork()
            if child == 0:
                try:
                    Recording(run, path).go()
                    sys.stdout.flush()
                finally:
                    os._exit(0)
        else:
            child = subprocess.Popen([sys.executable, os.path.abspath(__file__), path, "0", str(number)]).pid
        what = ""
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                what = "" if status == 0 else f"ended with status {status}"
                break
            if time.time() > min(started + LONGEST, last):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                what = "took too long"
                break
            time.sleep(0.02)
        new = ""
        if os.path.exists(path):
            with open(path) as rows:
                rows.seek(size)
                new = rows.read()
        if fork and number < 0 and (what or not new or '"kind": "error"' in new):
            print("a forked process cannot use CUDA; new processes instead:", what, new[:300], flush=True)
            fork = False
            numbers.insert(0, number)
            continue
        if what:
            with open(path, "a") as out:
                out.write(("" if not new or new.endswith("\n") else "\n")
                          + json.dumps(dict(kind="error", name=run["name"], what=what)) + "\n")
        for line in new.splitlines():
            with contextlib.suppress(Exception):
                r = json.loads(line)
                print({k: r[k] for k in ("kind", "name", "what", "where", "step_ms", "ms", "device_ms", "peak", "kernels")
                       if k in r}, flush=True)
        print(f"   {run['name']}: {time.time() - started:.1f} s {what}", flush=True)
    with open(path, "a") as out:
        out.write(json.dumps(dict(kind="end", seconds=round(time.time() - began, 1))) + "\n")


if __name__ == "__main__":
    main()
