// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0

/// An element with attributes and children; texts are escaped.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value);
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/// A name that may break after its separators.
export function breakable(name) {
  return element('span', {}, ...name.split(/(?<=[./+_])/).flatMap((part, i) => i === 0 ? [part] : [element('wbr'), part]));
}

/// A table in a frame that scrolls sideways. `columns`: `{title, numeric}`; the first cell of a row is its heading.
export function table(caption, columns, rows) {
  const align = (i) => columns[i].numeric ? 'n' : undefined;
  return element('div', {class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0'},
    element('table', {},
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...columns.map((c, i) => element('th', {scope: 'col', class: align(i)}, breakable(c.title))))),
      element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell, i) =>
        element(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : undefined, class: align(i)}, typeof cell === 'string' && i === 0 ? breakable(cell) : cell)))))));
}

const chart_styles = new Set();
let num_charts = 0;

/// A chart of the program as part of the page. Its identifiers become unique. Its style sheet applies once, its dark
/// rules with the dark scheme.
export function chart(svg) {
  const own = svg.replace(/( id="|url\(#|href="#)([\w-]+)/g, `$1$2-${++num_charts}`);
  const parsed = new DOMParser().parseFromString(own, 'image/svg+xml').documentElement;
  const style = parsed.querySelector('style');
  if (style && !chart_styles.has(style.textContent)) {
    chart_styles.add(style.textContent);
    const [light, dark] = style.textContent.split('@media screen and (prefers-color-scheme:dark){');
    const nested = dark === undefined ? '' : `:root[data-theme=dark]{${dark.slice(0, dark.lastIndexOf('}'))}}`;
    document.head.append(element('style', {}, light + nested));
  }
  style?.remove();
  return element('div', {class: 'chart'}, document.importNode(parsed, true));
}
