#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `llmcost train` (memory of a rank) and `latency --training` (time of a step) with measured training runs.

usage: compare_training_runs.py --llmcost PATH --rows CSV [--configs DIR] [--list] [--source NAME] [--what memory|time]

A row is "exact" if the options express it completely. It is "near" if something is left out or replaced. The other rows
are counted by the first reason. The passes before a step are added here from the parts that the program prints."""
import argparse, collections, csv, json, os, re, statistics, subprocess, tempfile
G = 2**30
def num(x):
    try: return float(x)
    except (TypeError, ValueError): return None
NAMES = {  # labels of Megatron-Bridge's tables
 'llama3_8b': 'meta-llama/Meta-Llama-3-8B', 'llama3_70b': 'meta-llama/Meta-Llama-3-70B', 'llama3.1_405b': 'meta-llama/Llama-3.1-405B',
 'deepseekv3': 'deepseek-ai/DeepSeek-V3', 'gpt oss 120b': 'openai/gpt-oss-120b', 'qwen3_30b_a3b': 'Qwen/Qwen3-30B-A3B', 'qwen3_235b_a22b': 'Qwen/Qwen3-235B-A22B',
 'nemotronh_56b': 'nvidia/Nemotron-H-56B-Base-8K', 'nemotron_3_nano': 'nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16', 'kimi_k2': 'moonshotai/Kimi-K2-Instruct',
 'nemotron_3_super': 'nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8', 'nemotron_3_ultra': 'nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16', 'deepseekv4 flash': 'deepseek-ai/DeepSeek-V4-Flash', 'qwen3_next_80b_a3b': 'Qwen/Qwen3-Next-80B-A3B-Instruct'}
ALIAS = {'Qwen/Qwen-7B': 'Qwen/Qwen-7B-Chat', 'Qwen/Qwen-14B': 'Qwen/Qwen-14B-Chat', 'Qwen/Qwen-1_8B': 'Qwen/Qwen-1_8B-Chat', 'Qwen/Qwen-7B-Chat-Int4': 'Qwen/Qwen-7B-Chat', 'Qwen/Qwen-14B-Chat-Int4': 'Qwen/Qwen-14B-Chat',
 'Qwen/Qwen-1_8B-Chat-Int4': 'Qwen/Qwen-1_8B-Chat', 'Qwen/Qwen-72B-Chat-Int4': 'Qwen/Qwen-72B-Chat', 'internlm/internlm-7b': 'internlm/internlm-chat-7b', 'meta-llama/Llama-4-Scout-17B-16E': 'unsloth/Llama-4-Scout-17B-16E-Instruct',
 'meta-llama/Meta-Llama-3-8B': 'meta-llama/Llama-3.1-8B', 'mistralai/Mistral-7B-v0.2': 'mistralai/Mistral-7B-v0.1', 'meta-llama/Meta-Llama-3-70B': 'meta-llama/Llama-3.1-70B'}
cache = {}
def ask(cmd):
    key = tuple(cmd)
    if key not in cache:
        p = subprocess.run(cmd, capture_output=True, text=True)
        cache[key] = (json.loads(p.stdout), '') if p.returncode == 0 or (p.returncode == 8 and p.stdout.startswith('{')) else (None, f'exit {p.returncode}: ' + ((p.stderr.strip().splitlines() or [''])[0])[:110])
    return cache[key]
def model_args(name, bundled, configs):
    extra = []
    if name.startswith('{'):
        j = json.loads(name)
        if j.get('type') == 'mpt':
            return ['--model', 'mosaicml/mpt-7b', '--offline'] + sum((['--set', f'{a}={b}'] for a, b in (('d_model', j['d_model']), ('n_heads', j['n_heads']), ('n_layers', j['n_layers']), ('vocab_size', j['vocab']), ('max_seq_len', j['max_seq_len']))), []), ''
        if j.get('type') == 'gpt':
            if not j.get('layers'): return None, 'number of layers not known'
            return ['--model', 'openai-community/gpt2', '--offline'] + sum((['--set', f'{a}={b}'] for a, b in (('n_embd', j['hidden']), ('n_head', j['heads']), ('n_layer', j['layers']), ('vocab_size', j['vocab']), ('n_positions', 2048))), []), ''
        name = j['base']; extra = ['--set', f"num_hidden_layers={j['num_hidden_layers']}"] + (['--set', 'first_k_dense_replace=1'] if 'V3' in name else [])
    name = NAMES.get(name.lower(), name)
    for n in (name, ALIAS.get(name)):
        if n in bundled: return ['--model', n, '--offline'] + extra, '' if n == name else f'sizes of {n}'
        for d in configs:
            f = os.path.join(d, (n or '-').replace('/', '__') + '.json')
            if os.path.exists(f): return ['--config', f] + extra, ''
    return None, 'no configuration of ' + name
def main():
    a = argparse.ArgumentParser(); a.add_argument('--llmcost', required=True); a.add_argument('--rows', required=True); a.add_argument('--configs', nargs='*', default=[]); a.add_argument('--list', action='store_true'); a.add_argument('--source'); a.add_argument('--what', choices=('memory', 'time'))
    a = a.parse_args()
    bundled = {x['name'] for x in json.loads(subprocess.run([a.llmcost, 'models', '--format', 'json'], capture_output=True, text=True).stdout)['bundled']}
    devices = {l.split()[0] for l in subprocess.run([a.llmcost, 'devices'], capture_output=True, text=True).stdout.splitlines() if l.strip()}
    configs = [os.path.join(os.path.dirname(os.path.abspath(a.rows)), 'configs')] + a.configs
    err = collections.defaultdict(list); why = collections.defaultdict(collections.Counter); total = collections.Counter(); ooms = collections.Counter()
    for r in csv.DictReader(open(a.rows)):
        s = r['source']
        if a.source and s != a.source: continue
        total[s] += 1
        tp, pp, cp, ep = (int(num(r[k]) or 1) for k in ('tp', 'pp', 'cp', 'ep')); dp = int(num(r['dp']) or 1); mb = int(num(r['microbatch']) or 0); seq = int(num(r['sequence']) or 0); gb = int(num(r['global_batch']) or 0)
        measured = num(r['peak_allocated_gib']) or num(r['peak_reserved_gib']); step = num(r['step_seconds'])
        margs, note = model_args(r['model'], bundled, configs)
        def no(what, reason): why[what][(s, reason)] += 1
        # ---- memory
        if (measured or r['oom'] == '1') and a.what != 'time':
            near = []; reason = ''
            framework = r['framework'].lower()
            is_megatron = 'megatron' in framework
            microbatches = max(1, round(gb / (mb * dp))) if mb and gb else 1
            if margs is None: reason = note
            elif not mb or not seq: reason = 'batch or sequence not published'
            elif mb != int(mb): reason = 'fraction of a sequence as microbatch'
            else:
                if note: near.append(note)
                if 'sequences vary' in r['notes']: near.append('the longest sequence is not known')
                p = r['precision']; fsdp2 = p.startswith('fsdp2')
                if fsdp2: prec = 'fp32'
                elif p in ('bf16', 'bf16-true'): prec = 'bf16'
                elif p == 'fp16': prec = 'fp16'
                elif p.startswith('amp_bf16') or 'mixed' in p: prec = 'bf16-mixed'
                else: prec = ''; reason = 'precision ' + p
                if 'float8' in p: near.append('float8 as bf16')
                local = mb
                if 'cut into microbatches' in r['notes'] or 'local batch 8' in r['notes']:
                    microbatches, local = pp, int(mb // pp)  # torchtitan: as many microbatches as the pipeline has ranks
                cmd = [a.llmcost, 'train'] + margs + ['--batch', str(local), '--sequence', str(seq), '--precision', prec, '--attention-implementation', 'sdpa', '--format', 'json']
                if fsdp2: cmd += ['--fsdp-parameter-dtype', 'bf16', '--fsdp-reduce-dtype', 'fp32', '--on', 'cuda']
                rec = r['recompute']
                if rec.startswith('full'): cmd += ['--recompute', 'full']
                elif rec == 'selective core_attn' and not is_megatron: cmd += ['--recompute', 'selective']
                elif rec.startswith('selective') and is_megatron: cmd += ['--recompute-modules', 'core_attn']
                elif rec == 'selective operators': cmd += ['--recompute', 'operators']
                elif rec.startswith('selective (recipe'):
                    cmd += ['--recompute', 'operators']; near.append('recompute ' + rec)
                elif rec.startswith('selective'):
                    cmd += ['--recompute', 'selective']; near.append('recompute of ' + rec[10:] + ' as of attention')
                elif rec not in ('none', ''): near.append('recompute ' + rec); cmd += ['--recompute', 'full']
                if r['compile'] == '1': near.append('compiled; we say eager')
                opt = r['optimizer'].split(' (')[0].replace('decoupled ', '').replace('bnb ', '').replace('adamw distributed', 'adamw').replace('adam distributed', 'adamw')
                if '(paged)' in r['optimizer']: near.append('paged state')
                if opt: cmd += ['--optimizer', opt]
                if tp > 1: cmd += ['--tp', str(tp)]
                if pp > 1: cmd += ['--pp', str(pp), '--microbatches', str(int(microbatches))]
                elif is_megatron: cmd += ['--microbatches', str(int(microbatches))]
                if cp > 1: cmd += ['--cp', str(cp)]
                if ep > 1: cmd += ['--ep', str(ep)]
                etp = int(num(r['etp']) or 1)
                if etp > 1: cmd += ['--etp', str(etp)]
                if r['vpp'].isdigit() and int(r['vpp']) > 1: cmd += ['--stages-per-rank', r['vpp']]
                elif r['vpp'] == 'interleaved': cmd += ['--schedule', 'interleaved', '--stages-per-rank', '2']; near.append('two stages per rank')
                if r['sp'] == '1' and tp > 1: cmd += ['--sequence-parallel']
                if is_megatron:
                    cmd += ['--split', 'megatron']
                    if 'fused cross entropy' in r['notes']: cmd += ['--cross-entropy', 'te']
                    if s == 'simumax':
                        # run_pretrain_llama3.sh of SimuMax: NullTokenizer, which adds one token; 16 groups of queries in the 405B
                        cmd += ['--set', 'vocab_size=128257'] + (['--set', 'num_key_value_heads=16'] if '405B' in r['model'] else [])
                        if cp > 1: cmd += ['--cp-comm-type', 'a2a']
                    if 'deepspeed' in framework: near.append('Megatron-DeepSpeed as Megatron-Core')
                ad = r['adapter']
                if ad:
                    rank = re.search(r'r=(\d+)', ad); kind = 'qlora' if 'qlora' in ad else 'lora'
                    w = f"{kind}:r={rank[1] if rank else 8}"
                    if 'query' in ad: w += ',targets=q_proj+v_proj'; near.append('targets of another naming')
                    elif 'c_attn' in ad: w += ',targets=c_attn+c_proj+w1+w2'
                    elif 'recipe' in ad: near.append('rank and targets read by the recipe\'s name')
                    if 'embedding' in ad:
                        w = 'adapter_with_embedding.json'
                        with open(os.path.join(tempfile.gettempdir(), w), 'w') as f:
                            json.dump({'peft_type': 'LORA', 'task_type': 'CAUSAL_LM', 'r': int(rank[1]) if rank else 8, 'lora_alpha': 16,
                                       'target_modules': ['c_attn', 'c_proj', 'w1', 'w2'], 'modules_to_save': ['wte', 'lm_head']}, f)
                        w = os.path.join(tempfile.gettempdir(), w)
                    if kind == 'qlora' and prec != 'bf16': near.append('precision')
                    cmd += ['--adapter', w]
                sh = r['shard']; n = int(num(r['dp']) or num(r['devices']) or 1)
                if is_megatron: cmd += ['--dp', str(n)] + (['--zero', '1'] if sh.startswith('zero') else [])
                elif sh.startswith('fsdp') and (n > 1 or cp > 1):
                    cmd += ['--fsdp', '--dp', str(int(num(r['dp']) or 1) if cp > 1 else n)]
                    near += ['shard_grad_op' ] if 'grad_op' in sh else []
                elif sh.startswith('zero-') and n > 1: cmd += ['--zero', sh[5], '--dp', str(n)]
                if '--fsdp' not in cmd and fsdp2:
                    i = cmd.index('--fsdp-parameter-dtype'); del cmd[i:i + 4]
                if r['offload'] == 'activations': cmd += ['--offload', 'activations']
                elif r['offload'] == 'host': cmd += ['--offload', 'optimizer']; near.append('offload kind')
                if 'fused loss' in r['notes']: cmd += ['--loss', 'fused']
                near = [x for x in near if x]
                if r['peak_reserved_gib'] and not r['peak_allocated_gib']: near.append('measured is reserved or seen from outside')
                if not reason:
                    got, bad = ask(cmd)
                    if got is None: reason = bad
                    else:
                        have = got['peak']['total'] / G
                        count = int(num(r['devices']) or 1)
                        if s == 'qwen1' and count > 1:  # its README adds up the devices
                            have *= count
                            near.append('sum of the devices')
                        if r['oom'] == '1' and not measured:
                            cap = {'a10g': 22.3, 'a100_sxm_80gb': 79.2, 'h100_sxm': 79.1}.get(r['device']); ooms[(s, have > cap * 0.97 if cap else None)] += 1
                        else:
                            e = (have / measured - 1) * 100; err[(s, 'memory', 'near' if near else 'exact')].append((e, r['id']))
                            if a.list: print(f"{r['id']} memory {have:.2f}/{measured} GiB {e:+.1f}%  {'; '.join(near)}")
            if reason: no('memory', reason)
        # ---- time
        if step and a.what != 'memory':
            near = []; reason = ''
            if margs is None: reason = note
            elif r['device'] not in devices: reason = 'device ' + (r['device'] or 'not known')
            elif pp > 1: reason = 'latency --training has no pp'
            elif cp > 1: reason = 'latency --training has no cp'
            elif not mb or not seq or not gb: reason = 'microbatch, batch or sequence not published'
            elif r['adapter'] and 'qlora' in r['adapter']: reason = 'no time of a quantised base'
            elif 'offload' in r['offload'] or r['offload'] in ('activations', 'host'): reason = 'no time of offload'
            else:
                if note: near.append(note)
                acc = max(1, round(gb / (mb * dp)))
                cmd = [a.llmcost, 'latency'] + margs + ['--device', r['device'], '--training', '--batch', str(mb), '--sequence', str(seq), '--format', 'json']
                if tp > 1: cmd += ['--tp', str(tp)]
                if dp > 1: cmd += ['--dp', str(dp)]
                if ep > 1: cmd += ['--ep', str(ep)]
                if tp * dp > (72 if r['device'] in ('gb200', 'gb300') else 8): cmd += ['--network', '50']; near.append('network taken as 50 GB/s a device')
                rec = r['recompute']
                if rec == 'full': cmd += ['--recompute', 'full']
                elif rec.startswith('selective') or rec not in ('none', ''): near.append('recompute ' + rec + ' left out')
                elif rec == '': near.append('recompute not published')
                p = r['precision'].lower()
                if any(x in p for x in ('fp8', 'float8', 'fp4')): cmd += ['--dtype', 'fp8']; near.append('narrow products as fp8')
                if r['shard'].startswith('fsdp') and dp > 1: near.append('no gathering of shards')
                if r['compile'] == '1': near.append('compiled')
                if r['adapter']: cmd += ['--adapter', 'lora:r=' + (re.search(r'r=(\d+)', r['adapter']) or [0, '8'])[1] + (',targets=c_attn+c_proj+w1+w2' if 'c_attn' in r['adapter'] else '')]
                o = r['optimizer'].split(' ')[0].split(':')[0]
                if acc > 1: near.append('passes added here')
                if mb != int(mb): reason = 'microbatch'
                got, bad = ask(cmd)
                if got is None: reason = bad
                else:
                    if got.get('fits') is False: near.append('we say that it does not fit')
                    have = got['seconds'] + (acc - 1) * sum(got[k]['seconds'] for k in ('forward', 'backward', 'recomputed'))
                    e = (have / step - 1) * 100; err[(s, 'time', 'near' if near else 'exact')].append((e, r['id']))
                    if a.list: print(f"{r['id']} time {have:.4g}/{step:.4g} s {e:+.1f}%  {'; '.join(near)}")
            if reason: no('time', reason)
    print(f"{sum(total.values())} rows")
    for s in sorted(total):
        print(f"\n{s}: {total[s]} rows")
        for what in ('memory', 'time'):
            for kind in ('exact', 'near'):
                e = [x for x, _ in err[(s, what, kind)]]
                if e:
                    z = sorted(abs(x) for x in e); worst = max(err[(s, what, kind)], key=lambda x: abs(x[0]))
                    print(f"   {what:6s} {kind:5s} {len(e):4d}  median {statistics.median(e):+7.1f} %  |median| {statistics.median(z):6.1f}  p90 {z[-(-9*(len(z)-1)//10)]:6.1f}  worst {worst[0]:+.1f} ({worst[1]})")
            for (q, reason), c in why[what].most_common():
                if q == s: print(f"   {what:6s} -     {c:4d}  {reason}")
        for (q, ok), c in ooms.items():
            if q == s: print(f"   ran out of memory: {c} rows, we say more than the device has: {ok}")
    for what in ('memory', 'time'):
        e = [abs(x) for k, v in err.items() if k[1] == what for x, _ in v]
        if e: print(f"\nall {what}: {len(e)} rows asked, |error| median {statistics.median(e):.1f} %, p90 {sorted(e)[-(-9*(len(e)-1)//10)]:.1f} %; {sum(why[what].values())} rows cannot be asked")
if __name__ == '__main__': main()
