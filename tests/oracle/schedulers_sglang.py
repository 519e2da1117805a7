# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of SGLang's scheduler, for schedulers.py.

What decides is SGLang's own: of Scheduler get_next_batch_to_run, get_new_batch_prefill, get_num_allocatable_reqs and
update_running_batch, PrefillAdder with its PrefillBudget, SchedulePolicy, of ScheduleBatch retract_decode and
check_decode_mem, NewTokenRatioTracker. Stand-ins are what needs a model or tensors: requests are lengths, the pool of
the cache counts tokens of pages of one, nothing shares a prefix, and a result is one token for each request of a batch
(managers/scheduler_components/batch_result_processor.py), handled behind the launch of the next batch where `ahead` is 1
(managers/scheduler.py, event_loop_overlap).
"""

import types


class Plain(types.SimpleNamespace):
    """An object that has nothing but what is said."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def ignore(*args, **options):
    return None


class Request(Plain):
    def __init__(self, rid, tokens, output, ignore_eos):
        super().__init__(
            rid=rid, origin_input_ids=[1] * tokens, output_ids=[], prefix_len=0, extend_end=0, inflight_middle_chunks=0,
            is_retracted=False, retracted_stain=False, skip_radix_cache_insert=True, host_hit_length=0, swa_host_hit_length=0,
            storage_hit_length=0, fulfilled_storage_hit_len=lambda prefix: 0, materialized_host_hit_len=lambda: 0,
            sampling_params=Plain(max_new_tokens=output, ignore_eos=ignore_eos), full_untruncated_fill_ids=[],
            kv=Plain(holds_kv=False, kv_committed_len=0), time_stats=Plain(set_wait_queue_entry_time=ignore), done=False)

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    @property
    def extend_len(self):
        return self.extend_end - self.prefix_len

    def finished(self):
        return self.done

    def needs_host_load_back(self):
        return False

    def init_next_round_input(self, tree_cache=None):
        self.full_untruncated_fill_ids = self.origin_input_ids + self.output_ids

    def next_output_finishes_by_length(self):
        return len(self.output_ids) + 1 >= self.sampling_params.max_new_tokens


def classes():
    """SGLang's classes with what needs tensors replaced."""
    from sglang.srt.managers import schedule_batch, schedule_policy, scheduler
    from sglang.srt.managers.scheduler_components import new_token_ratio_tracker
    from sglang.srt.mem_cache.allocator.base import BaseTokenToKVPoolAllocator
    from sglang.srt.model_executor.forward_batch_info import ForwardMode

    settings = Plain(schedule_conservativeness=1.0, schedule_policy="fcfs", retraction_policy="default")
    for module in (schedule_batch, schedule_policy, scheduler, new_token_ratio_tracker):
        for name in ("get_schedule", "get_exec", "get_disagg", "get_memory", "get_spec"):
            if hasattr(module, name):
                values = {"get_schedule": settings, "get_exec": Plain(features=Plain(), mamba=Plain()),
                          "get_disagg": Plain(disaggregation_mode="null"),
                          "get_memory": Plain(radix_eviction_policy="lru")}.get(name, Plain())
                setattr(module, name, lambda values=values: values)
    for name in ("set_time_batch", "set_schedule_time_batch"):
        setattr(scheduler, name, ignore)
    scheduler.PrefillStats = Plain(from_adder=ignore)

    class Pool(BaseTokenToKVPoolAllocator):
        """A cache of so many tokens, and as many rows as requests may run."""

        def __init__(self, tokens, rows):
            self.page_size, self.tokens, self.rows = 1, tokens, rows

        def available_size(self):
            return self.tokens

        def evict_to_free_tokens(self, tree_cache, tokens):
            return None

        def alloc(self, need_size):
            raise NotImplementedError

        def free(self, free_index):
            raise NotImplementedError

        def clear(self):
            raise NotImplementedError

        def take(self, req, tokens):
            self.tokens -= tokens
            assert self.tokens >= 0
            if not req.kv.holds_kv:
                req.kv.holds_kv, self.rows = True, self.rows - 1
            req.kv.kv_committed_len += tokens

        def give_back(self, req):
            self.tokens += req.kv.kv_committed_len
            self.rows += 1
            req.kv.holds_kv, req.kv.kv_committed_len = False, 0

    class Batch(schedule_batch.ScheduleBatch):
        def __init__(self, reqs, batch_is_full=False, **others):
            self.reqs, self.batch_is_full, self.beam_tail, self.is_prefill_only = list(reqs), batch_is_full, None, False
            self.spec_algorithm = Plain(is_none=lambda: True)
            self.forward_mode, self.decoding_reqs, self.chunked_req, self.return_logprob = None, None, None, False
            self.input_embeds = self.hisparse_coordinator = None

        @classmethod
        def init_new(cls, reqs, rows, pool, tree_cache, model_config, enable_overlap, spec_algorithm, chunked_req=None):
            batch = cls(reqs)
            batch.token_to_kv_pool_allocator, batch.tree_cache, batch.chunked_req = pool, tree_cache, chunked_req
            return batch

        def prepare_for_extend(self):
            self.forward_mode = ForwardMode.EXTEND
            for req in self.reqs:
                self.token_to_kv_pool_allocator.take(req, req.extend_len)
                req.is_retracted = False

        def prepare_for_decode(self):
            self.forward_mode = ForwardMode.DECODE
            for req in self.reqs:
                self.token_to_kv_pool_allocator.take(req, 1)

        def mix_with_running(self, running):
            self.forward_mode = ForwardMode.MIXED
            self.reqs = self.reqs + running.reqs

        def filter_batch(self, reqs_to_exclude=None, keep_indices=None):
            if keep_indices is None:
                out = reqs_to_exclude or []
                keep_indices = [i for i, r in enumerate(self.reqs) if not r.finished() and r not in out]
            self.reqs = [self.reqs[i] for i in keep_indices]

        def merge_batch(self, other):
            self.reqs = self.reqs + other.reqs

        def release_req(self, idx, remaining, offload_kv=True):
            req = self.reqs[idx]
            self.token_to_kv_pool_allocator.give_back(req)
            req.prefix_len, req.extend_end, req.inflight_middle_chunks = 0, 0, 0
            req.is_retracted = req.retracted_stain = True
            return True

    scheduler.ScheduleBatch = Batch

    class Engine(scheduler.Scheduler):
        def __init__(self):
            pass

        def __getattr__(self, name):  # none of the features that are asked for
            if name.startswith("__"):
                raise AttributeError(name)
            return None

        def _add_request_to_queue(self, req, is_retracted=False):  # as in Scheduler where nothing is disaggregated
            self.waiting_queue.append(req)
            if is_retracted:
                self.retracted.append(req)

    return scheduler, schedule_policy, new_token_ratio_tracker, Pool, Batch, Engine


def start(scenario):
    scheduler, schedule_policy, ratio, Pool, Batch, Engine = classes()
    pool = Pool(scenario.pages, scenario.sequences)
    nothing = lambda *args, **options: None
    no = lambda *args, **options: False
    cache = Plain(supports_mamba=no, supports_prefix_sharing=no, supports_fast_match_prefix=no, evictable_size=lambda: 0,
                  disable=bool(scenario.ends), lock=nothing, unlock=nothing, finish_storage_prefetch_admission=nothing,
                  discard_storage_prefetch_accounting=nothing, is_chunk_cache=no)
    scheduler.get_parallel = lambda: Plain(pp_max_micro_batch_size=scenario.sequences)
    engine = Engine()
    engine.tree_cache, engine.token_to_kv_pool_allocator, engine.page_size = cache, pool, 1
    engine.req_to_token_pool = Plain(available_size=lambda: pool.rows)
    engine.tree_cache.req_to_token_pool = engine.req_to_token_pool
    engine.tree_cache.token_to_kv_pool_allocator = pool
    engine.policy = schedule_policy.SchedulePolicy("fcfs", cache, False, False, False)
    engine.new_token_ratio_tracker = ratio.NewTokenRatioTracker.from_config()
    engine.chunked_prefill_size, engine.max_prefill_tokens = scenario.budget, scenario.prompts
    engine.is_mixed_chunk, engine.enable_overlap = bool(scenario.mixed), bool(scenario.ahead)
    engine.enable_skip_finishing_decode = bool(scenario.ahead)
    engine.max_prefill_bs = engine.priority_scheduling_preemption_threshold = engine._prefill_decode_interval_remaining = 0
    engine.prefill_decode_interval, engine.forward_ct, engine.processed_tokens_counter = 0, 0, 0
    engine.max_running_requests = scenario.sequences
    engine.spec_algorithm = Plain(is_none=lambda: True)
    engine.disaggregation_mode = scheduler.DisaggregationMode.NULL
    engine.grammar_manager = Plain(has_waiting_grammars=lambda: False)
    engine.beam_coordinator = Plain(pending_member_rows=lambda batch: 0)
    engine.dp_attn_adapter = Plain(maybe_prepare_mlp_sync_batch=lambda batch, need_sync=None: batch,
                                   maybe_convert_decode_to_extend=lambda batch: batch)
    engine.ngram_embedding_manager = Plain(prepare_for_forward=lambda batch, chunked_req=None: batch)
    engine.tp_worker = Plain(model_runner=types.SimpleNamespace(attn_backend=object(), prefill_aware_swa=False))
    engine.load_inquirer = Plain(_get_num_pending_tokens=nothing)
    engine.metrics_reporter = Plain(enable_metrics=False)
    engine.waiting_queue, engine.result_queue, engine.retracted = [], [], []
    engine.running_batch = Batch([])
    return engine


def process(engine, reqs):
    """As process_batch_result_prefill and process_batch_result_decode: what was retracted meanwhile gets nothing."""
    for req in reqs:
        if req.is_retracted or req.finished():
            continue
        if req.inflight_middle_chunks > 0:
            req.inflight_middle_chunks -= 1
            continue
        req.output_ids.append(7)
        if len(req.output_ids) >= req.sampling_params.max_new_tokens:
            req.done = True
            engine.token_to_kv_pool_allocator.give_back(req)


def record(scenario, trace):
    engine = start(scenario)
    times = [call for call, _, _ in scenario.requests]
    unfinished, call = [], 0
    while call <= max(times) or any(not req.finished() for req in unfinished):
        for i, (at, tokens, output) in enumerate(scenario.requests):
            if at == call:
                unfinished.append(Request(i, tokens, output, bool(scenario.ends)))
                engine.waiting_queue.append(unfinished[-1])
        call += 1
        assert call < 5000
        engine.retracted.clear()
        plan = engine.get_next_batch_to_run(running_batch=engine.running_batch, last_batch=engine.last_batch)
        engine.running_batch, batch = plan.running_batch, plan.batch_to_run
        extends = batch is not None and batch.forward_mode.is_extend()
        writers = set(batch.decoding_reqs or []) if extends else set()
        trace.add({r.rid: r.extend_len if extends and r not in writers else 0 for r in batch.reqs} if batch else {},
                  [r.rid for r in engine.retracted])
        if batch:
            engine.result_queue.append((types.SimpleNamespace(reqs=list(batch.reqs)), None))
        if scenario.ahead and engine.last_batch or not scenario.ahead and batch:
            process(engine, engine.result_queue.pop(0)[0].reqs)
        if not batch and not (scenario.ahead and engine.last_batch) and all(req.finished() for req in unfinished):
            engine.new_token_ratio_tracker.reset()  # on_idle
        engine.last_batch = batch
    return trace.text()
