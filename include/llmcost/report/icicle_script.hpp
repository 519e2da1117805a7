// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// The script of an interactive icicle diagram. The URL fragment has the state: #scope=PATH&by=MEASURE.
namespace llmcost {

inline constexpr std::string_view icicle_script = R"js('use strict';
(() => {
  const frame = document.getElementById('icicle');
  if (!frame) return;
  const measure = document.getElementById('icicle-measure'), out = document.getElementById('icicle-out');
  const now = document.getElementById('icicle-now');
  const numbers = text => text.split(',').map(Number);
  const boxes = [...frame.children].map(button => {
    const d = button.dataset;
    return {button, path: d.path || '', type: d.type, times: +d.times, parent: +d.parent,
            from: numbers(d.from), wide: numbers(d.wide), sizes: numbers(d.sizes)};
  });
  let at = boxes[0];

  // 1.648 T: four digits, powers of 1000
  const scaled = n => {
    const units = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y', 'R', 'Q'];
    let i = 0;
    while (n >= 9999.5 && i + 1 < units.length) n /= 1000, ++i;
    if (i > 0 && n >= 999.95 && i + 1 < units.length) n /= 1000, ++i;
    const digits = i === 0 && Number.isInteger(n) ? String(n) : n.toPrecision(4);
    return units[i] ? digits + ' ' + units[i] : digits;
  };
  const amount = box => {
    const k = measure.selectedIndex, option = measure.options[k], unit = option.dataset.unit || '';
    let n = box.sizes[k], text = '';
    if (unit === 's') text = n >= 1 ? n.toPrecision(4) + ' s' : n >= 1e-3 ? (n * 1e3).toPrecision(4) + ' ms'
                                                                        : (n * 1e6).toPrecision(4) + ' µs';
    else text = unit ? scaled(n) + (/\d$/.test(scaled(n)) ? ' ' : '') + unit : scaled(n);
    const total = boxes[0].sizes[k];
    return option.text + ' ' + text + ', ' + (total > 0 ? 100 * n / total : 0).toFixed(1) + ' % of the model';
  };
  const name = box => box.path || box.type;
  const describe = box => name(box) + (box.path ? ', ' + box.type : '') + (box.times > 1 ? ', ' + 'sum of ' + box.times : '') +
                      ': ' + amount(box);

  // whether a merged path such as layers.0-15.mlp contains layers.3.mlp
  const contains = (box, path) => {
    const own = box.path.split('.'), parts = path.split('.');
    return own.length === parts.length && own.every((part, i) => part === parts[i] ||
      (/^\d+$/.test(parts[i]) && /^[\d,-]+$/.test(part) && part.split(',').some(run => {
        const [low, high] = run.split('-');
        return +parts[i] >= +low && +parts[i] <= +(high ?? low);
      })));
  };
  const find = path => boxes.find(b => b.path === path) || boxes.find(b => contains(b, path));

  const draw = () => {
    const k = measure.selectedIndex, from = at.from[k], wide = at.wide[k] || 1;
    for (const box of boxes) {
      const left = Math.max(0, (box.from[k] - from) / wide);
      const right = Math.min(1, (box.from[k] + box.wide[k] - from) / wide);
      const share = right - left, style = box.button.style;
      box.button.hidden = !(share > 1e-9) || (box !== boxes[0] && !(box.wide[k] > 0));
      style.left = 100 * left + '%', style.width = 100 * Math.max(0, share) + '%';
      box.button.classList.toggle('narrow', share * frame.clientWidth < 26);
      box.button.tabIndex = share * frame.clientWidth < 3 ? -1 : 0;
      box.button.setAttribute('aria-label', describe(box));
      box === at ? box.button.setAttribute('aria-current', 'true') : box.button.removeAttribute('aria-current');
    }
    now.textContent = describe(at);
    out.disabled = at === boxes[0];
  };
  const address = () => {
    const parts = [];
    if (at !== boxes[0]) parts.push('scope=' + encodeURIComponent(at.path));
    if (measure.selectedIndex > 0) parts.push('by=' + encodeURIComponent(measure.value));
    return parts.join('&');
  };
  const go = box => {
    at = box;
    location.hash = address() || 'scopes';
    draw();
  };
  const read = () => {
    const parameters = new URLSearchParams(location.hash.slice(1));
    if (!parameters.has('scope') && !parameters.has('by') && location.hash.length > 1 && location.hash !== '#scopes') return;
    const by = [...measure.options].findIndex(o => o.value === parameters.get('by'));
    measure.selectedIndex = Math.max(0, by);
    at = parameters.has('scope') ? find(parameters.get('scope')) || boxes[0] : boxes[0];
    draw();
    if (parameters.has('scope')) document.getElementById('scopes').scrollIntoView();
  };
  const up = () => {
    if (at.parent < 0) return;
    go(boxes[at.parent]);
    at.button.focus();
  };

  for (const box of boxes) {
    box.button.addEventListener('click', () => box === at ? up() : (go(box), box.button.focus()));
    box.button.addEventListener('focus', () => now.textContent = describe(box));
    box.button.addEventListener('pointerenter', () => now.textContent = describe(box));
    box.button.addEventListener('pointerleave', () => now.textContent = describe(at));
  }
  frame.addEventListener('keydown', event => {
    const box = boxes.find(b => b.button === document.activeElement);
    if (event.key === 'Escape') up(), event.preventDefault();
    if (!box) return;
    const isVisible = b => !b.button.hidden && b.button.tabIndex === 0, row = b => b.button.style.getPropertyValue('--row');
    const siblings = boxes.filter(b => isVisible(b) && row(b) === row(box)), place = siblings.indexOf(box);
    const next = {ArrowLeft: siblings[place - 1], ArrowRight: siblings[place + 1], ArrowUp: boxes[box.parent],
                  ArrowDown: boxes.find(b => isVisible(b) && b.parent === boxes.indexOf(box))}[event.key];
    if (next) next.button.focus(), event.preventDefault();
  });
  out.addEventListener('click', up);
  measure.addEventListener('change', () => go(at));
  addEventListener('hashchange', read);
  addEventListener('resize', draw);
  // A closed table is not printed: opens all tables for printing.
  const details = [...document.querySelectorAll('details')];
  addEventListener('beforeprint', () => details.forEach(d => (d.dataset.was = d.open, d.open = true)));
  addEventListener('afterprint', () => details.forEach(d => d.open = d.dataset.was === 'true'));
  read();
  draw();
})();
)js";

}  // namespace llmcost
