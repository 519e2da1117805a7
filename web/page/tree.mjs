// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
import {element} from './elements.mjs';
import {exact, percent, short_count} from './format.mjs';

/// Modules as nodes `{name, scope, children}`, from the list `scopes` of the JSON output.
export function module_tree(scopes) {
  const root = {name: '', children: []};
  const nodes = new Map([['', root]]);
  for (const scope of scopes) {
    const cut = scope.path.lastIndexOf('.');
    const parent = nodes.get(cut < 0 ? '' : scope.path.slice(0, cut)) ?? root;
    const node = {name: scope.path.slice(cut + 1), scope, children: []};
    nodes.set(scope.path, node);
    parent.children.push(node);
  }
  return root;
}

function signature(node) {
  node.signature ??= JSON.stringify([{...node.scope, path: ''}, node.children.map((c) => [c.name, signature(c)])],
                                    (key, value) => typeof value === 'bigint' ? String(value) : value);
  return node.signature;
}

/// Runs of equal children with consecutive numbers, as `{first, last, number, node}`.
export function equal_runs(children) {
  const runs = [];
  for (const node of children) {
    const run = runs.at(-1);
    const continues = run && /^\d+$/.test(node.name) && Number(node.name) === Number(run.last) + 1 && signature(run.node) === signature(node);
    if (continues) { run.last = node.name; ++run.number; }
    else runs.push({first: node.name, last: node.name, number: 1, node});
  }
  return runs;
}

function cells(run, totals, metrics) {
  const {node, number} = run;
  const name = number > 1 ? `${run.first}–${run.last}` : node.name;
  const label = element('span', {class: 'module'}, element('b', {}, name), ' ',
                        element('small', {}, (number > 1 ? `${number} × ` : '') + node.scope.class));
  return [label, ...metrics.map((metric) => {
    const value = node.scope[metric];
    const share = Number(totals[metric]) > 0 ? Number(value) * number / Number(totals[metric]) : 0;
    return element('span', {class: 'amount', style: `--share:${share.toFixed(4)}`,
                            title: `${exact(value)}${number > 1 ? ' each' : ''}, ${percent(share)} of the total`}, short_count(value));
  })];
}

function row(run, totals, metrics, depth) {
  const content = cells(run, totals, metrics);
  if (run.node.children.length === 0) return element('li', {}, element('div', {class: 'node leaf'}, ...content));
  const details = element('details', {}, element('summary', {class: 'node'}, ...content));
  const fill = () => { if (details.children.length === 1) details.append(level(run.node, totals, metrics, depth + 1)); };
  details.addEventListener('toggle', fill);
  if (depth < 2) { details.open = true; fill(); }
  return element('li', {}, details);
}

function level(node, totals, metrics, depth) {
  return element('ul', {}, ...equal_runs(node.children).map((run) => row(run, totals, metrics, depth)));
}

/// The modules of a model as a collapsible tree with the metrics of each.
export function tree_view(answer, metrics, titles) {
  return element('div', {class: 'tree', style: `--columns:${metrics.length}`},
    element('div', {class: 'node head', 'aria-hidden': 'true'}, element('span', {}, 'Module'), ...titles.map((t) => element('span', {}, t))),
    level(module_tree(answer.scopes), answer.totals, metrics, 0));
}
