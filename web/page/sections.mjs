// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
import {chart, element, table} from './elements.mjs';
import {parse_json} from './engine.mjs';
import {bytes, digits, exact, percent, seconds, short_count} from './format.mjs';
import {shell_text} from './requests.mjs';
import {tree_view} from './tree.mjs';

/// Exit codes with a result: success, and a workload that does not fit (docs/cli.md).
const has_result = (code) => code === 0 || code === 8;

const training = (state) => state.task === 'training';

function card(title, value, detail) {
  return element('div', {class: 'card'}, element('dt', {}, title), element('dd', {}, element('b', {}, value), element('span', {}, detail)));
}

function badge(fits, text) {
  return element('p', {class: fits ? 'badge good' : 'badge bad'}, element('b', {}, fits ? 'Fits' : 'Does not fit'), ' ' + text);
}

function interval(answer) { return `${seconds(answer.lower)} to ${seconds(answer.upper)}`; }

/// One section of the page: a function that runs command lines and turns their answers into elements. Sections with a
/// lower `cost` are computed first; `applies` says whether a state has the section.
class Section {
  constructor(id, title, cost, build, applies = () => true) {
    Object.assign(this, {cost, build, applies});
    this.body = element('div', {class: 'body'});
    this.root = element('section', {id, 'aria-labelledby': id + '-title', hidden: true},
                        element('h2', {id: id + '-title'}, title), this.body);
  }

  /// Marks the section as out of date, or shows a note where it has no content yet.
  expect() {
    this.root.classList.add('waiting');
    if (this.body.children.length === 0) this.body.append(element('p', {class: 'note'}, 'Computing …'));
    this.root.hidden = false;
  }

  clear() {
    this.root.hidden = true;
    this.body.replaceChildren();
  }

  show(elements, answers) {
    this.root.classList.remove('waiting');
    const lines = answers.map((a) => shell_text(a.args));
    const warnings = answers.flatMap((a) => has_result(a.code) && a.messages ? a.messages.split('\n') : []);
    this.body.replaceChildren(
      ...elements,
      ...[...new Set(warnings)].map((text) => element('p', {class: 'warning'}, text.replace(/^llmcost: warning: /, ''))),
      element('details', {class: 'lines'}, element('summary', {}, lines.length > 1 ? 'Commands' : 'Command'),
              element('pre', {tabindex: '0'}, lines.join('\n'))));
    if (elements.length === 0) this.clear();
    else this.root.hidden = false;
  }
}

/// Messages of a command without a result.
export function error_text(answer) {
  return element('p', {class: 'error', role: 'alert'}, answer.messages.replace(/^llmcost: /gm, ''));
}

async function summary({run, state, requests, results}) {
  const answer = await run(requests.line('', state, {}, '--tree', '--format', 'json'));
  if (answer.code !== 0) return [[error_text(answer)], [answer]];
  const found = results.front = parse_json(answer.output);
  const {model, totals, workload} = found;
  // the front page names the workload; the default sequence length depends on the model
  const front_page = await run(requests.line('', state));
  const label = front_page.output.match(/^(\S.*?) {2,}FLOPs per /m)?.[1] ?? '';
  results.sequence = label.match(/sequence ([\d,]+)/)?.[1].replaceAll(',', '');
  const cards = [
    card('Parameters', short_count(totals.params), exact(totals.params)),
    ...(totals.active === totals.params ? [] : [card('Active parameters', short_count(totals.active), exact(totals.active))]),
    card('FLOPs, forward pass', short_count(totals.flops), exact(totals.flops)),
    card('Weights', bytes(totals.weight_bytes), `${exact(totals.weight_bytes)} B`),
    ...(Number(totals.cache_bytes) === 0 ? [] : [card('KV cache', bytes(totals.cache_bytes), `${exact(totals.cache_bytes)} B`)]),
  ];
  if (totals.saved_bytes !== null) cards.push(card('Saved for backward', bytes(totals.saved_bytes), `${exact(totals.saved_bytes)} B`));
  return [[
    element('p', {class: 'lead'}, element('b', {}, model.name), ` · ${model.architecture} · ${workload.dtype} · ${label}`),
    element('dl', {class: 'cards'}, ...cards),
    element('p', {class: 'note'}, `${model.source}; counts are exact integers`),
  ], [answer]];
}

async function memory({run, state, requests, results}) {
  const answer = await run(requests.line('memory', state, {}, '--plot', '/charts/memory.svg', '--format', 'json'), '/charts');
  if (!has_result(answer.code)) return [[error_text(answer)], [answer]];
  const found = results.memory = parse_json(answer.output);
  const parts = [['weights', 'Weights'], ['cache_allocated', 'KV cache, as allocated'], ['activations_peak', 'Activations, peak'],
                 ['runtime', 'Engine runtime'], ['tables', 'Engine tables'], ['communication', 'Communication']];
  const rows = parts.filter(([key]) => found[key] > 0).map(([key, title]) => [title, bytes(found[key]), exact(found[key]), percent(Number(found[key]) / Number(found.total))]);
  return [[
    badge(found.fits, `${bytes(found.total)} of ${bytes(found.available)} on ${state.device}, engine ${found.engine}`),
    element('div', {class: 'pair'}, ...Object.values(answer.files).map(chart),
      table('Memory per device', [{title: 'Part'}, {title: 'Size', numeric: true}, {title: 'Bytes', numeric: true}, {title: 'Share', numeric: true}],
            [...rows, ['Total', bytes(found.total), exact(found.total), '']])),
  ], [answer]];
}

async function training_memory({run, state, requests}) {
  const answer = await run(requests.line('train', state, {}, '--format', 'json'));
  if (!has_result(answer.code)) return [[error_text(answer)], [answer]];
  const found = parse_json(answer.output);
  const titles = {PARAM: 'Parameters', BUFFER: 'Buffers', GRAD: 'Gradients', ACT: 'Activations', TEMP: 'Temporaries', OPT: 'Optimizer state', OTH: 'Other'};
  const stages = [['At the peak', found.peak], ['After forward', found.snapshots.after_forward],
                  ['After backward', found.snapshots.after_backward], ['After the step', found.snapshots.after_step]];
  const rows = Object.entries({...titles, total: 'Total'}).map(([key, title]) => [title, ...stages.map(([, s]) => bytes(s[key]))]);
  const at = found.peak_at;
  const elements = [];
  if (found.fits !== null) elements.push(badge(found.fits, `${bytes(found.peak.total)} of ${bytes(found.available)} on ${state.device}`));
  elements.push(
    element('p', {}, `Peak ${bytes(found.peak.total)} in step ${at.step}, phase ${at.phase}, operation ${at.operation}. ` +
                     `${exact(found.trainable)} of ${exact(found.parameters)} parameters are trained.`),
    table('Memory per rank', [{title: 'Category'}, ...stages.map(([title]) => ({title, numeric: true}))], rows));
  return [elements, [answer]];
}

async function counts({results, metrics}) {
  const found = results.front;
  if (!found) return [[], []];
  const {totals} = found;
  const operations = ['add', 'mult', 'div', 'sqrt', 'exp', 'log', 'tanh', 'erf', 'trig', 'pow', 'neg', 'cmp', 'flops', 'torch_flops', 'macs'];
  const share = (role, key) => Number(totals[key]) > 0 ? percent(Number(role[key]) / Number(totals[key])) : '';
  return [[
    tree_view(found, ['params', 'flops', 'act'], ['Parameters', 'FLOPs', 'Activations']),
    element('div', {class: 'pair'},
      table('By scope', [{title: 'Scope'}, {title: 'Parameters', numeric: true}, {title: '', numeric: true}, {title: 'FLOPs', numeric: true}, {title: '', numeric: true}],
            found.roles.map((r) => [r.scope, exact(r.params), share(r, 'params'), exact(r.flops), share(r, 'flops')])),
      table('By operation', [{title: 'Metric'}, {title: 'Count', numeric: true}, {title: 'Meaning'}],
            operations.filter((key) => Number(totals[key]) > 0).map((key) => [key, exact(totals[key]), metrics.get(key) ?? '']))),
  ], []];
}

/// The kernels of a step that take the most time.
function kernel_table(caption, answer) {
  const top = [...answer.ops].sort((a, b) => b.seconds - a.seconds).slice(0, 8);
  return table(caption, [{title: 'Kernel'}, {title: 'Calls', numeric: true}, {title: 'Time', numeric: true}, {title: 'Share', numeric: true}, {title: 'Bound'}],
               top.map((op) => [`${op.name} (${op.kind})`, exact(op.times), seconds(op.seconds), percent(op.seconds / answer.seconds), op.bound]));
}

async function latency({run, state, requests, results}) {
  if (training(state)) {
    const answer = await run(requests.line('latency', state, {engine: 'torch'}, '--format', 'json'));
    if (!has_result(answer.code)) return [[error_text(answer)], [answer]];
    const found = parse_json(answer.output);
    const kernels = [...found.kernels].sort((a, b) => b.calls * b.seconds - a.calls * a.seconds).slice(0, 8);
    const inputs = Object.keys(found).find((key) => /^[a-z]+_per_second$/.test(key));
    const parts = [['forward', 'Forward'], ['backward', 'Backward'], ['recomputed', 'Recomputed forward'], ['reduction', 'Gradient reduction'], ['optimizer', 'Optimizer']];
    return [[
      element('dl', {class: 'cards'}, card('Step time', seconds(found.seconds), interval(found)),
              card('Throughput', `${short_count(Math.round(found[inputs]))} ${inputs.split('_')[0]}/s`, `bound: ${found.bound}`),
              card('Model FLOPs utilization', percent(found.model_flops_utilisation), found.device)),
      element('p', {class: 'note'}, 'Estimate for the kernels of PyTorch' + (state.shards ? ', one rank without communication.' : '.')),
      element('div', {class: 'pair'}, table('Parts of a training step', [{title: 'Part'}, {title: 'Time', numeric: true}, {title: 'FLOPs', numeric: true}, {title: 'Bytes', numeric: true}],
            parts.filter(([key]) => found[key].seconds > 0).map(([key, title]) => [title, seconds(found[key].seconds), short_count(found[key].flops_per_device), bytes(found[key].bytes_per_device)])),
      table('Kernels with the most time', [{title: 'Kernel'}, {title: 'Phase'}, {title: 'Calls', numeric: true}, {title: 'Time per call', numeric: true}],
            kernels.map((k) => [k.operator, k.phase, exact(k.calls), seconds(k.seconds)]))),
    ], [answer]];
  }
  const prompt = results.sequence;
  const has_cache = Number(results.front.totals.cache_bytes) > 0;
  const prefill = await run(requests.line('latency', state, {sequence: prompt}, '--format', 'json'));
  const answers = [prefill];
  if (!has_result(prefill.code)) return [[error_text(prefill)], answers];
  const first = parse_json(prefill.output);
  const steps = [[has_cache ? 'Prefill step' : 'Forward pass', first, prompt ? `${exact(first.batch)} × ${exact(first.sequence)} tokens` : `batch ${exact(first.batch)}`]];
  if (has_cache) {
    const decode = await run(requests.line('latency', state, {sequence: '1', past: String(Number(state.past || 0) + Number(prompt))}, '--format', 'json'));
    answers.push(decode);
    if (has_result(decode.code)) {
      const next = parse_json(decode.output);
      steps.push(['Decode step', next, `${exact(next.batch)} × 1 token after ${exact(next.past)}`]);
    }
  }
  const cards = steps.flatMap(([title, step, tokens]) => [
    card(title, seconds(step.seconds), `${interval(step)} · ${tokens}`),
    card(`${title}: bound`, step.bound, `${short_count(step.flops_per_device)}FLOPs, ${bytes(step.bytes_per_device)}`)]);
  return [[
    element('dl', {class: 'cards'}, ...cards),
    element('div', {class: 'pair'}, ...steps.map(([title, step]) => kernel_table(`${title}: kernels with the most time`, step))),
  ], answers];
}

const chart_titles = {roofline: 'Roofline', scopes: 'FLOPs by scope', timeline: 'Memory over a training step', peak: 'Peak memory',
                      memory_over_sequence: 'Memory over sequence length', memory_over_batch: 'Memory over batch size',
                      flops_over_sequence: 'FLOPs over sequence length', flops_over_batch: 'FLOPs over batch size'};

async function charts({run, state, requests, results}, is_roofline) {
  results.report ??= run(requests.line('report', state, {}, '--svg', '/charts'), '/charts');
  const answer = await results.report;
  if (!has_result(answer.code)) return is_roofline ? [[error_text(answer)], [answer]] : [[], [answer]];
  const shown = Object.entries(chart_titles).filter(([name]) => (name === 'roofline') === is_roofline && answer.files[name + '.svg']);
  const elements = [element('div', {class: is_roofline ? '' : 'charts'}, ...shown.map(([name]) => chart(answer.files[name + '.svg'])))];
  if (!is_roofline && answer.files['layer.svg'])
    elements.push(element('details', {class: 'layer'}, element('summary', {}, 'Graph of a layer'), chart(answer.files['layer.svg'])));
  return [elements, [answer]];
}

async function fit({run, state, requests, results}) {
  const answer = await run(requests.line('fit', state, {}, '--format', 'json'));
  if (!has_result(answer.code)) return [[error_text(answer)], [answer]];
  const found = parse_json(answer.output);
  const limit = (n) => n === null || n === undefined ? 'not applicable' : exact(n);
  const elements = [
    element('dl', {class: 'cards'},
      card('Largest batch', limit(found.max_batch), 'at this sequence length'),
      ...(results.sequence === undefined ? [] : [card('Longest context', limit(found.max_context), 'tokens, at this batch size')]),
      ...(training(state) || !found.max_concurrency ? [] : [card('Highest concurrency', limit(found.max_concurrency), 'sequences of this length')]),
      card('Fewest devices', limit(found.min_devices), state.device)),
  ];
  const changes = [...found.suggestions, ...found.combinations];
  if (changes.length > 0)
    elements.push(table('Changes that need less memory', [{title: 'Change'}, {title: 'Memory', numeric: true}, {title: 'Fits'}],
                        changes.map((c) => [c.change, bytes(c.needed), c.fits ? 'yes' : 'no'])));
  return [elements, [answer]];
}

/// One column of the comparison of devices.
async function device_column(device, {run, state, requests, results}) {
  const answers = [];
  const ask = async (command, changes, key) => {
    const answer = await run(requests.line(command, state, {device, ...changes}, '--format', 'json'));
    answers.push(answer);
    return has_result(answer.code) ? parse_json(answer.output) : undefined;
  };
  const room = await ask('fit', {});
  const step = await ask('latency', {sequence: results.sequence, ...(training(state) && {engine: 'torch'})});
  const bound = (value, format) => value === undefined || value === null ? 'not available' : format(value);
  return {answers, cells: [bound(room?.available, bytes), bound(room?.fits, (f) => f ? 'yes' : 'no'), bound(room?.max_batch, exact),
                           bound(room?.max_context, exact), bound(room?.min_devices, exact), bound(step?.seconds, seconds), bound(step?.bound, String)]};
}

async function comparison(context) {
  const {run, state, requests, results} = context;
  const elements = [], answers = [];
  if (state['other-model'] && results.front) {
    const args = requests.line('compare', state, {device: ''}, '--model', state['other-model'], '--format', 'json');
    const answer = await run(args);
    answers.push(answer);
    if (answer.code !== 0) elements.push(error_text(answer));
    else {
      const found = parse_json(answer.output);
      const [first, second] = found.models.map((m) => m.name);
      for (const {scope, figures} of found.comparisons)
        elements.push(table(`Models, scope ${scope}`, [{title: 'Metric'}, {title: first, numeric: true}, {title: second, numeric: true}, {title: 'Ratio', numeric: true}],
          figures.filter((f) => f.values.some((v) => v !== null && Number(v) !== 0)).map((f) => [f.name, ...f.values.map((v) => v === null ? '' : exact(v)), f.ratios[1] === null ? '' : digits(f.ratios[1])])));
    }
  }
  if (state['other-device']) {
    const devices = [state.device, state['other-device']];
    const columns = [];
    for (const device of devices) columns.push(await device_column(device, context));
    const titles = ['Memory', 'Fits', 'Largest batch', 'Longest context', 'Fewest devices', training(state) ? 'Step time' : 'Prefill or forward pass', 'Bound'];
    elements.push(table('Devices', [{title: 'Result'}, ...devices.map((title) => ({title, numeric: true}))],
                        titles.map((title, i) => [title, ...columns.map((c) => c.cells[i])])));
    answers.push(...columns.flatMap((c) => c.answers));
  }
  return [elements, answers];
}

/// The sections in the order of the page.
export function make_sections() {
  return [
    new Section('summary', 'Summary', 0, summary),
    new Section('memory', 'Memory', 1, (context) => training(context.state) ? training_memory(context) : memory(context)),
    new Section('latency', 'Latency', 2, latency),
    new Section('fit', 'What fits', 5, fit),
    new Section('comparison', 'Comparison', 6, comparison, (state) => Boolean(state['other-model'] || state['other-device'])),
    new Section('counts', 'Counts by module', 0, counts),
    new Section('roofline', 'Roofline', 3, (context) => charts(context, true)),
    new Section('charts', 'Charts', 4, (context) => charts(context, false)),
  ];
}
