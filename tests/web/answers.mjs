// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// answers.mjs PAGE LLMCOST: runs the WebAssembly program of a page and compares its answers with those of the program,
// for bundled models from the whole list. Integers and texts are equal; times may differ in the last digits, which
// depend on the mathematical functions of the C library. Exit code 77: there is no page.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

const [page, llmcost] = process.argv.slice(2);
const num_models = 50;
const tolerance = 1e-12;

if (!fs.existsSync(page)) {
  console.log('no page: ' + page);
  process.exit(77);
}

/// The content of the script element `id` of the page.
function script(id) {
  const text = fs.readFileSync(page, 'utf8');
  const begin = text.indexOf('>', text.indexOf(`<script type="text/plain" id="${id}"`)) + 1;
  return text.slice(begin, text.indexOf('</script>', begin));
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'llmcost-web-'));
const worker = script('worker').replaceAll('<\\/script', '</script').replaceAll('<\\!--', '<!--');
fs.writeFileSync(path.join(folder, 'worker.cjs'), worker.slice(0, worker.indexOf("'use strict';")) + '\nmodule.exports = llmcost_module;');
const make = createRequire(import.meta.url)(path.join(folder, 'worker.cjs'));
const program = await make({
  wasmBinary: zlib.gunzipSync(Buffer.from(script('program'), 'base64')),
  preRun: [(module) => { module.ENV.HF_HUB_OFFLINE = '1'; }],
});
fs.rmSync(folder, {recursive: true});

function page_answer(args) {
  const texts = args.map((text) => {
    const size = program.lengthBytesUTF8(text) + 1;
    const at = program._malloc(size);
    program.stringToUTF8(text, at, size);
    return at;
  });
  const list = program._malloc(4 * texts.length);
  texts.forEach((at, i) => program.setValue(list + 4 * i, at, 'i32'));
  const result = program._llmcost_run(args.length, list, 0, 0);
  const answer = {code: program._llmcost_exit_code(result), text: program.UTF8ToString(program._llmcost_output(result, 0)),
                  messages: program.UTF8ToString(program._llmcost_messages(result, 0))};
  program._llmcost_free(result);
  for (const at of [...texts, list]) program._free(at);
  return answer;
}

function program_answer(args) {
  const environment = {...process.env, HF_HUB_OFFLINE: '1', HF_HOME: '/home/web_user/.cache/huggingface'};
  try {
    return {code: 0, text: execFileSync(llmcost, args, {encoding: 'utf8', env: environment, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28}), messages: ''};
  } catch (problem) {
    if (typeof problem.status !== 'number') throw problem;
    return {code: problem.status, text: problem.stdout, messages: problem.stderr};
  }
}

/// The first place where two outputs differ; undefined if they agree.
function difference(a, b) {
  const numbers = /-?\d+\.\d+(e[-+]?\d+)?|-?\d+e[-+]?\d+/g;
  const lines = [a.split('\n'), b.split('\n')];
  for (let i = 0; i < Math.max(lines[0].length, lines[1].length); ++i) {
    const [x, y] = lines.map((l) => l[i] ?? '<end>');
    if (x === y) continue;
    const [p, q] = [x, y].map((line) => (line.match(numbers) ?? []).map(Number));
    const agree = x.replace(numbers, '#') === y.replace(numbers, '#') && p.length === q.length && p.length > 0 &&
                  p.every((n, k) => Math.abs(n - q[k]) <= tolerance * Math.max(Math.abs(n), Math.abs(q[k])));
    if (!agree) return `line ${i + 1}: page "${x}", program "${y}"`;
  }
}

/// Compares the answers to one command line; returns the number of differences and of results.
function compare(args) {
  const [found, expected] = [page_answer(args), program_answer(args)];
  const problem = found.code !== expected.code ? `exit code ${found.code}, expected ${expected.code}: ${found.messages}`
                                               : difference(found.text, expected.text);
  if (problem) console.log(`${args.join(' ')}: ${problem}`);
  return [problem ? 1 : 0, expected.code === 0 || expected.code === 8 ? 1 : 0];
}

/// Writes the measurements next to the page to where the worker of the page writes them.
function install_measurements() {
  const text = fs.readFileSync(path.join(path.dirname(page), 'measurements.js'), 'utf8');
  const files = JSON.parse(zlib.gunzipSync(Buffer.from(text.split("'")[1], 'base64')));
  for (const [name, content] of Object.entries(files)) {
    program.FS.mkdirTree('/calibrations/' + path.dirname(name));
    program.FS.writeFile('/calibrations/' + name, content);
  }
  const size = 64, at = program._malloc(size);
  program.stringToUTF8('/calibrations', at, size);
  program._llmcost_set_calibrations(at);
}

const bundled = JSON.parse(program_answer(['models', '--format', 'json']).text).bundled.map((m) => m.name);
const chosen = Array.from({length: num_models}, (_, i) => bundled[Math.floor(i * bundled.length / num_models)]);
let failures = 0, results = 0;
const add = ([differences, answers]) => { failures += differences; results += answers; };
for (const name of chosen) {
  const model = ['--model', name, '--format', 'json'];
  add(compare([...model, '--tree']));
  add(compare(['memory', ...model, '--device', 'h100_sxm', '--batch', '4']));
  add(compare(['latency', ...model, '--device', 'h100_sxm', '--calibration', 'none']));
  add(compare(['train', ...model, '--batch', '2', '--sequence', '64']));
}
const llama = ['--model', 'meta-llama/Llama-3.2-1B'];
add(compare(['sweep', ...llama, '--batch', '1..8', '--sequence', '128,256']));
add(compare(['formula', ...llama, 'flops']));
add(compare(['fit', ...llama, '--device', 'rtx_4090', '--training', '--format', 'json']));
install_measurements();
for (const device of ['h100_sxm', 'h200_sxm', 'a100_sxm_80gb', 'b200_sxm', 'l40s', 'rtx_4090'])
  for (const name of ['meta-llama/Llama-3.2-1B', 'Qwen/Qwen3-30B-A3B', 'google/vit-base-patch16-224'])
    add(compare(['latency', '--model', name, '--device', device, '--engine', 'vllm', '--format', 'json']));
add(compare(['simulate', ...llama, '--device', 'h100_sxm', '--engine', 'vllm', '--num-prompts', '20', '--format', 'json']));
// messages contain the cache directory, so that both have the one of the page
for (const args of [['--model', 'meta-llama/Llama-3.2-1C'], ['--model', 'meta-llama/Llama-3.2-1B', '--batsh', '2'], ['memmory']]) {
  const [found, expected] = [page_answer(args), program_answer(args)];
  if (found.code !== expected.code || found.messages !== expected.messages) {
    ++failures;
    console.log(`${args.join(' ')}: page "${found.messages}", program "${expected.messages}"`);
  }
}
console.log(`${chosen.length} models, ${results} results, ${failures} differences`);
process.exit(failures > 0 || results < 3 * num_models ? 1 : 0);
