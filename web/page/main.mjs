// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
import {make_combobox} from './combobox.mjs';
import {chart, element} from './elements.mjs';
import {Engine, parse_json} from './engine.mjs';
import {exact, short_count} from './format.mjs';
import {Requests, split_line} from './requests.mjs';
import {make_sections} from './sections.mjs';
import {from_fragment, read_form, to_fragment, write_form} from './state.mjs';

const by_id = (id) => document.getElementById(id);
const form = by_id('form');
const status = by_id('status');
const sections = make_sections();
by_id('sections').append(...sections.map((s) => s.root));

// ---- color scheme

const dark = matchMedia('(prefers-color-scheme: dark)');
function apply_theme() {
  const choice = by_id('theme').value;
  document.documentElement.dataset.theme = choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice;
}
dark.addEventListener('change', apply_theme);
by_id('theme').addEventListener('change', apply_theme);
apply_theme();

// ---- program

const engine = new Engine(by_id('worker').textContent);
let help, requests, metrics, bundled;

async function json_of(...args) {
  const answer = await engine.run([...args, '--format', 'json']);
  if (answer.code !== 0) throw new Error(answer.messages);
  return parse_json(answer.output);
}

// ---- kernel measurements: a file next to the page, which is only loaded where the form asks for it

let installed;

/// Loads the file once. A page without the file keeps its rooflines, and its form says so.
function install_measurements() {
  installed ??= new Promise((resolve, reject) => {
    const script = element('script', {src: 'measurements.js'});
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('measurements.js is not next to the page')));
    document.head.append(script);
  }).then(() => engine.install(globalThis.llmcost_measurements));
  return installed;
}

// ---- results

let generation = 0;

/// The button is there for names of repositories that are not bundled.
function show_fetch_button(state) {
  by_id('fetch').hidden = Boolean(state.config) || bundled.size === 0 || bundled.has(state.model) || !/^[\w.-]+\/[\w.-]+$/.test(state.model ?? '');
}

/// Computes all sections for the form. A later call ends an earlier one.
async function update() {
  const own = ++generation;
  const state = read_form(form);
  document.body.dataset.task = state.task;
  by_id('model-fields').classList.toggle('has-config', Boolean(state.config));
  by_id('config-note').hidden = !state.config;
  by_id('config-note').textContent = state.config ? 'The configuration below is used instead of this name.' : '';
  show_fetch_button(state);
  history.replaceState(null, '', '#' + await to_fragment(state));
  if (own !== generation) return;
  status.textContent = 'Computing …';
  by_id('results').setAttribute('aria-busy', 'true');
  const begin = performance.now();
  const run = async (args, folder = '') => {
    if (own !== generation) throw new DOMException('a later request', 'AbortError');
    return {args, ...await engine.run(args, {input: state.config ?? '', folder})};
  };
  if (state.measurements) {
    try {
      await install_measurements();
    } catch (problem) {
      installed = undefined;
      by_id('measurements').checked = false;
      by_id('measurements-note').textContent = problem.message;
      delete state.measurements;
    }
    if (own !== generation) return;
  }
  const context = {run, state, requests, metrics, results: {}};
  try {
    const [first, ...others] = [...sections].sort((a, b) => a.cost - b.cost);
    const show = async (section) => {
      const [elements, answers] = await section.build(context);
      if (own === generation) section.show(elements, answers);
    };
    await show(first);
    document.body.dataset.ready ??= 'first';
    const has_model = Boolean(context.results.front);
    const wanted = others.filter((section) => has_model && section.applies(state));
    for (const section of others) wanted.includes(section) ? section.expect() : section.clear();
    for (const section of wanted) await show(section);
    if (own !== generation) return;
  } catch (problem) {
    if (problem.name === 'AbortError') return;
    throw problem;
  }
  document.title = (state.config ? 'Own configuration' : state.model ?? '') + ' – llmcost';
  const totals = context.results.front?.totals;
  status.textContent = totals ? `${short_count(totals.params)} parameters, ${short_count(totals.flops)}FLOPs; computed in ${Math.round(performance.now() - begin)} ms`
                              : 'This request has no result.';
  by_id('results').removeAttribute('aria-busy');
}

function report(problem) {
  status.textContent = '';
  status.append(element('span', {class: 'error', role: 'alert'}, 'The page failed: ' + problem.message));
}
const refresh = () => update().catch(report);

// ---- form

let typing = 0;
form.addEventListener('input', (event) => {
  if (event.target.getAttribute('role') === 'combobox') return;  // complete with Enter, a click or the end of the focus
  clearTimeout(typing);
  typing = setTimeout(refresh, event.target.type === 'number' || event.target.tagName === 'TEXTAREA' ? 250 : 0);
});
form.addEventListener('change', (event) => { if (event.target.getAttribute('role') === 'combobox') refresh(); });
form.addEventListener('submit', (event) => { event.preventDefault(); refresh(); });

function use_config(text) {
  by_id('config').value = text;
  by_id('config-details').open = text !== '';
  refresh();
}
by_id('clear-config').addEventListener('click', () => use_config(''));
by_id('file').addEventListener('change', async ({target}) => { if (target.files[0]) use_config(await target.files[0].text()); });
addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('dropping'); });
addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('dropping'); });
addEventListener('drop', async (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  const [file] = event.dataTransfer.files;
  use_config(file ? await file.text() : event.dataTransfer.getData('text'));
});

by_id('fetch').addEventListener('click', async () => {
  const name = by_id('model').value.trim();
  status.textContent = `Fetching ${name} …`;
  try {
    const answer = await fetch(`https://huggingface.co/${name}/resolve/main/config.json`, {credentials: 'omit', referrerPolicy: 'no-referrer'});
    if (!answer.ok) throw new Error(answer.status === 401 || answer.status === 403 ? 'the repository is gated or private; download config.json and drop it here'
                                                                                   : `HTTP ${answer.status}`);
    use_config(await answer.text());
  } catch (problem) {
    status.textContent = '';
    status.append(element('span', {class: 'error', role: 'alert'}, `${name}: ${problem.message}`));
  }
});

by_id('share').addEventListener('click', async ({target}) => {
  const link = location.href;
  try {
    await navigator.clipboard.writeText(link);
    status.textContent = 'The link is in the clipboard.';
  } catch {
    status.replaceChildren('Link: ', element('a', {href: link}, link));
  }
});
by_id('save').addEventListener('click', async () => {
  const state = read_form(form);
  const answer = await engine.run(requests.line('report', state), {input: state.config});
  if (!answer.output) {
    status.textContent = answer.messages;
    return;
  }
  const url = URL.createObjectURL(new Blob([answer.output], {type: 'text/html'}));
  element('a', {href: url, download: 'llmcost-report.html'}).click();
  URL.revokeObjectURL(url);
  status.textContent = 'The report is saved as llmcost-report.html.';
});
addEventListener('hashchange', async () => {
  write_form(form, await from_fragment(location.hash.slice(1)));
  refresh();
});

// ---- command line

by_id('command-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const args = split_line(by_id('command-line').value);
  const chart_file = args[args.indexOf('--plot') + 1];
  const folder = args.includes('--svg') ? args[args.indexOf('--svg') + 1]
                                        : args.includes('--plot') && chart_file?.includes('/') ? chart_file.replace(/\/[^/]*$/, '') : '';
  const answer = await engine.run(args, {input: by_id('config').value, folder});
  const output = by_id('command-output');
  output.hidden = false;
  output.textContent = [answer.messages, answer.output].filter(Boolean).join('\n');
  by_id('command-charts').replaceChildren(...Object.values(answer.files).filter((text) => text.includes('<svg')).map(chart));
});

// ---- start

function fill_devices(devices) {
  const vendors = Map.groupBy ? Map.groupBy(devices, (d) => d.vendor) : devices.reduce((map, d) => map.set(d.vendor, [...map.get(d.vendor) ?? [], d]), new Map());
  for (const [id, empty] of [['device', false], ['other-device', true]]) {
    if (empty) by_id(id).append(new Option('none', ''));
    for (const [vendor, all] of vendors)
      by_id(id).append(element('optgroup', {label: vendor}, ...all.map((d) => new Option(`${d.title}, ${d.memory_gigabytes} GB`, d.name))));
  }
}

async function start() {
  const program = by_id('program');
  const {version} = await engine.start(program.textContent.trim());
  program.remove();
  by_id('version').textContent = `llmcost ${version}, Apache-2.0`;
  help = await json_of('help');
  requests = new Requests(help);
  metrics = new Map(help.metrics.map((m) => [m.name, m.meaning]));
  fill_devices((await json_of('devices')).devices);
  bundled = new Set();
  write_form(form, await from_fragment(location.hash.slice(1)));
  if (by_id('config').value) by_id('config-details').open = true;
  await update();
  const models = (await json_of('models')).bundled;
  for (const m of models) bundled.add(m.name);
  const candidates = models.map((m) => ({name: m.name, detail: `${m.model_type} · ${short_count(m.params)}`}));
  for (const id of ['model', 'other-model']) make_combobox(by_id(id), candidates, refresh);
  show_fetch_button(read_form(form));
  document.body.dataset.ready = 'all';
}
start().catch(report);
