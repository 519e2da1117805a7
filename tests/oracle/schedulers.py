#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Records whom the schedulers of engines put into their steps, and writes tests/simulation/schedulers.txt.

The engines' own schedulers run here, without a GPU and without a model: scripted requests come between two steps, every
step is told that it wrote one token for each request whose prompt is complete, and what the scheduler put into each step
is a line of the golden file. What their modules import and their schedulers do not use is a stub.

    pip download --no-deps vllm==0.33.0 sglang==0.5.23    # both wheels, unpacked into one FOLDER
    pip install torch transformers                        # as for the other records
    pip install --no-deps MODULES                         # what the two import beside those, without what that would bring
    python tests/oracle/schedulers.py FOLDER tests/simulation/schedulers.txt

MODULES: cbor2 pyzmq aiohttp aiohappyeyeballs aiosignal frozenlist multidict yarl propcache sniffio openai openai-harmony
pybase64 cachetools msgspec cloudpickle uvloop py-cpuinfo prometheus-client fastapi starlette opentelemetry-api llguidance
xgrammar apache-tvm-ffi orjson ipython traitlets dill einops compressed-tensors loguru gguf partial-json-parser
sentencepiece setproctitle uvicorn
"""

import importlib.abc
import importlib.machinery
import itertools
import os
import subprocess
import sys
import types

import schedulers_sglang
from schedulers_sglang import Plain

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")


class _AnyName(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class Nothing(metaclass=_AnyName):
    """Stands for whatever a stubbed module would define."""

    def __init__(self, *args, **options):
        pass

    def __call__(self, *args, **options):
        return args[0] if args and callable(args[0]) else self  # as a decorator it leaves what it decorates

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing


class _Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Nothing,), {})


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules of these names, empty."""

    def __init__(self, *names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if any(name == n or name.startswith(n + ".") for n in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


def stub(*names):
    if not any(isinstance(finder, Stubs) and finder.names == names for finder in sys.meta_path):
        sys.meta_path.insert(0, Stubs(*names))


class Scenario:
    """Requests `call:input+output`: they are in the queue when the scheduler is asked for its step of that number."""

    def __init__(self, name, requests, **options):
        self.name, self.options = name, options
        self.requests = []
        for word in requests.split():
            call, lengths = word.split(":")
            self.requests.append((int(call), *map(int, lengths.split("+"))))

    def __getattr__(self, name):
        try:
            return self.options[name]
        except KeyError:
            raise AttributeError(name) from None


class Trace:
    """The steps of a scenario: `id` of a request that writes, `id=tokens` of one of whose prompt so many are computed,
    `!id` of one whose cache was given away; `-` of a step with nobody in it."""

    def __init__(self):
        self.steps = []

    def add(self, tokens, given_away):
        words = [f"!{i}" for i in sorted(given_away)]
        words += [f"{i}={n}" if n else f"{i}" for i, n in sorted(tokens.items())]
        self.steps.append(" ".join(words) or "-")

    def text(self):
        while self.steps and self.steps[-1] == "-":
            self.steps.pop()
        return " | ".join(f"{s} x{n}" if n > 1 else s for s, n in ((k, len(list(g))) for k, g in itertools.groupby(self.steps)))


# ---- vLLM: v1/core/sched/scheduler.py, and with a step ahead v1/core/sched/async_scheduler.py


def vllm_trace(scenario):
    import torch

    stub("vllm.parser")
    from vllm.config import CacheConfig, DeviceConfig, SchedulerConfig, VllmConfig
    from vllm.sampling_params import SamplingParams
    from vllm.v1.core.sched.async_scheduler import AsyncScheduler
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
    from vllm.v1.outputs import ModelRunnerOutput
    from vllm.v1.request import Request

    ahead = scenario.ahead
    blocks = scenario.pages + 1  # the block 0 of vLLM's pool is never given out
    cache = CacheConfig(block_size=scenario.block, enable_prefix_caching=False)
    config = VllmConfig(
        cache_config=cache,
        device_config=DeviceConfig("cpu"),
        scheduler_config=SchedulerConfig(
            max_num_batched_tokens=scenario.budget, max_num_seqs=scenario.sequences,
            max_model_len=8192 if scenario.chunked else scenario.budget,
            enable_chunked_prefill=bool(scenario.chunked), is_encoder_decoder=False, async_scheduling=bool(ahead)))
    config.model_config = Plain(max_model_len=8192, runner_type="generate")
    cache.num_gpu_blocks = blocks
    spec = FullAttentionSpec(block_size=scenario.block, num_kv_heads=1, head_size=1, dtype=torch.float32)
    scheduler = (AsyncScheduler if ahead else Scheduler)(
        vllm_config=config,
        kv_cache_config=KVCacheConfig(num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)]),
        structured_output_manager=types.SimpleNamespace(accept_tokens=lambda *of: True),
        block_size=scenario.block, log_stats=False)

    trace, in_flight, wanted, done = Trace(), [], {}, {}
    times = [call for call, _, _ in scenario.requests]
    call = 0
    while call <= max(times) or scheduler.has_requests() or in_flight:
        for i, (at, tokens, output) in enumerate(scenario.requests):
            if at == call:
                scheduler.add_request(Request(
                    request_id=str(i), prompt_token_ids=[1] * tokens, pooling_params=None,
                    sampling_params=SamplingParams(max_tokens=output, ignore_eos=True)))
        call += 1
        if not scheduler.has_requests() and not in_flight:
            trace.add({}, [])
            continue
        before = dict(scheduler.requests)
        preempted = {i: r.num_preemptions for i, r in before.items()}
        out = scheduler.schedule()
        given_away = [int(i) for i, r in before.items() if r.num_preemptions > preempted[i]]
        for i in given_away:
            done.pop(i, None)
        tokens, finished = {}, []
        for name, n in out.num_scheduled_tokens.items():
            i = int(name)
            if i not in done:
                wanted[i], done[i] = before[name].num_tokens, 0
            tokens[i] = n if done[i] < wanted[i] else 0
            done[i] += n
            finished.append([7] if done[i] >= wanted[i] else [])
        trace.add(tokens, given_away)
        names = list(out.num_scheduled_tokens)
        in_flight.append((out, ModelRunnerOutput(
            req_ids=names, req_id_to_index={name: k for k, name in enumerate(names)}, sampled_token_ids=finished)))
        # v1/engine/core.py, step_with_batch_queue: the oldest result is waited for where no more steps may be in flight
        while len(in_flight) > ahead or (in_flight and not scheduler.has_requests()):
            scheduler.update_from_output(*in_flight.pop(0))
    return trace.text()


def vllm_scenarios():
    def make(name, requests, **options):
        for ahead in (0, 1):
            yield Scenario(name, requests, **{"ahead": ahead, "budget": 16, "sequences": 8, "pages": 100, "block": 4, "chunked": 1, **options})

    yield from make("one request", "0:5+4")
    yield from make("one token", "0:5+1 0:7+1 3:2+1")
    yield from make("a burst in one step", "0:4+3 0:5+3 0:3+2 0:4+5")
    yield from make("a burst behind the budget", "0:10+3 0:9+4 0:12+3 0:7+2")
    yield from make("a budget exactly full", "0:16+2 0:16+3 1:14+2 3:16+1")
    yield from make("a prompt in chunks", "0:50+3")
    yield from make("a long prompt behind one that writes", "0:4+12 1:40+3")
    yield from make("a short prompt behind a long one", "0:40+4 1:3+6 2:5+2")
    yield from make("a long prompt behind short ones", "0:3+6 0:4+6 0:5+6 0:60+2")
    yield from make("staggered", "0:6+10 2:7+6 4:12+8 5:3+2 9:20+4 11:4+4")
    yield from make("idle between", "0:6+3 12:7+4 30:17+2")
    yield from make("no more sequences", "0:4+3 0:4+5 0:4+4 0:4+2 0:4+3", sequences=2)
    yield from make("no more sequences behind a long prompt", "0:30+2 0:4+5 1:4+4 2:20+2", sequences=2)
    yield from make("whole prompts", "0:10+4 0:5+3 0:4+2 1:16+2 2:15+3 2:3+3", chunked=0)
    yield from make("a prompt waits for room", "0:20+4 0:18+4 1:8+3", pages=10)
    yield from make("exactly all pages", "0:20+1 0:20+1 0:16+5", pages=10)
    yield from make("the newest gives its cache away", "0:8+20 0:8+20 0:8+20", pages=12)
    yield from make("twice", "0:8+24 0:8+24 1:8+24 2:6+24", pages=10)
    yield from make("given away behind a step", "0:7+9 0:8+12 1:6+10 1:3+14", pages=8, block=4)
    yield from make("room in the middle of a prompt", "0:4+30 0:4+30 2:40+3", pages=14)
    yield from make("many", " ".join(f"{i // 2}:{3 + 7 * i % 29}+{1 + 5 * i % 11}" for i in range(24)), pages=24, budget=24, sequences=6)


# ---- SGLang: schedulers_sglang.py


def sglang_trace(scenario):
    import torch._dynamo
    import torch._inductor  # which asks whether there is a triton

    stub("triton", "sgl_kernel", "flashinfer", "vllm")
    return schedulers_sglang.record(scenario, Trace())


def sglang_scenarios():
    def make(name, requests, **options):
        for ahead in (0, 1):
            yield Scenario(name, requests, **{"ahead": ahead, "budget": 16, "prompts": 32, "sequences": 8, "pages": 400, "block": 1, "mixed": 0, "ends": 0, **options})

    yield from make("one request", "0:5+4")
    yield from make("one token", "0:5+1 0:7+1 3:2+1")
    yield from make("a burst in one step", "0:4+3 0:5+3 0:3+2 0:4+5")
    yield from make("a burst behind the budget", "0:10+3 0:9+4 0:12+3 0:7+2")
    yield from make("a budget exactly full", "0:16+2 0:16+3 1:14+2 3:16+1")
    yield from make("a prompt in chunks", "0:50+3")
    yield from make("a long prompt behind one that writes", "0:4+12 1:40+3")
    yield from make("a short prompt behind a long one", "0:40+4 1:3+6 2:5+2")
    yield from make("a long prompt behind short ones", "0:3+6 0:4+6 0:5+6 0:60+2")
    yield from make("staggered", "0:6+10 2:7+6 4:12+8 5:3+2 9:20+4 11:4+4")
    yield from make("idle between", "0:6+3 12:7+4 30:17+2")
    yield from make("fewer tokens of prompts than the step holds", "0:9+3 0:8+4 0:3+3 1:20+2 1:4+2", prompts=8)
    yield from make("no more sequences", "0:4+3 0:4+5 0:4+4 0:4+2 0:4+3", sequences=2)
    yield from make("no more sequences behind a long prompt", "0:30+2 0:4+5 1:4+4 2:20+2", sequences=2)
    yield from make("a prompt waits for room", "0:20+4 0:18+4 1:8+3", pages=50)
    yield from make("foreseen outputs leave no room", "0:10+30 0:10+30 0:10+30 4:5+20", pages=96)
    yield from make("exactly all of it", "0:10+9 0:5+4", pages=26)
    yield from make("one less", "0:10+9 0:5+4", pages=25)
    yield from make("the fewest outputs give their cache away", "0:5+140 0:17+114 3:1+132 3:6+121 6:15+137 6:20+128",
                    sequences=3, pages=237, budget=32, prompts=16)
    yield from make("many", " ".join(f"{i // 2}:{3 + 7 * i % 29}+{1 + 5 * i % 11}" for i in range(24)), pages=90, budget=24, sequences=6)
    # ends=1: --disable-radix-cache, and clients that ask for all tokens (ignore_eos)
    yield from make("ends are known: outputs in turn fit", "0:10+30 0:10+30 0:10+30 4:5+20", pages=96, ends=1)
    yield from make("ends are known: just enough", "0:10+20 0:20+10 0:5+3", pages=58, ends=1)
    yield from make("ends are known: too little by one", "0:10+20 0:20+10 0:5+3", pages=57, ends=1)
    yield from make("ends are known: a long answer waits for short ones", "0:8+40 0:8+4 1:8+40 2:6+4 9:12+30", pages=80, ends=1)
    yield from make("ends are known: chunks", "0:50+10 0:30+8 2:20+20", pages=110, ends=1)
    yield from make("ends are known: no more sequences", "0:4+3 0:4+5 0:4+4 0:4+2 0:4+3", sequences=2, ends=1)
    yield from make("ends are known: many", " ".join(f"{2 * i}:{3 + 7 * i % 19}+{20 + 5 * i % 31}" for i in range(12)), pages=110, budget=24, ends=1)
    yield from make("ends are known: many at once", " ".join(f"{i // 4}:{3 + 7 * i % 29}+{1 + 5 * i % 23}" for i in range(16)), pages=140, budget=24, ends=1)
    yield from make("those that write join chunks", "0:4+8 1:40+3 3:6+5 9:5+4", mixed=1)
    yield from make("many, those that write join chunks", " ".join(f"{i}:{3 + 7 * i % 29}+{1 + 5 * i % 23}" for i in range(14)), mixed=1, pages=140, budget=24)
    yield from make("many, with retractions", " ".join(f"{2 * i}:{3 + 7 * i % 19}+{20 + 5 * i % 31}" for i in range(12)), pages=110, budget=24)


HEAD = """# Recorded by tests/oracle/schedulers.py from the engines' own schedulers; do not edit.
#
# asks: the engine and its settings, `pages` of the cache of `block` tokens, `ahead` steps composed before the one that runs
# has ended; then each request, call:input+output: in the queue when the scheduler is asked for its step of that number.
# steps: `id` of a request that writes, `id=tokens` where so many of its prompt are computed, `!id` where its cache was given
# away before, `-` where nobody had anything to do; ` xN`: so many alike.
"""


ENGINES = {"vllm": (vllm_trace, vllm_scenarios), "sglang": (sglang_trace, sglang_scenarios)}


def record(folder, engine):
    sys.path.insert(0, folder)
    trace, scenarios = ENGINES[engine]
    for s in scenarios():
        settings = " ".join(f"{key}={value}" for key, value in s.options.items())
        requests = " ".join(f"{at}:{tokens}+{output}" for at, tokens, output in s.requests)
        yield f"\nscenario {s.name}\n  asks {engine} {settings} {requests}\n  steps {trace(s)}\n"


def main():
    folder, to = sys.argv[1:3]
    if len(sys.argv) > 3:  # one engine a process: each has its own stubs
        with open(to, "a", encoding="utf-8") as file:
            file.writelines(record(folder, sys.argv[3]))
        return
    with open(to, "w", encoding="utf-8") as file:
        file.write(HEAD)
    for engine in ENGINES:
        subprocess.run([sys.executable, __file__, folder, to, engine], check=True)


if __name__ == "__main__":
    main()
