// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
import {element} from './elements.mjs';

/// Candidates that contain all words of a text; names that begin with it come first.
export function matches(candidates, text, maximum = 50) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const begins = (name) => name.split('/').some((part) => words.length > 0 && part.startsWith(words[0]));
  return candidates.filter((c) => words.every((word) => c.name.toLowerCase().includes(word)))
    .sort((a, b) => begins(b.name.toLowerCase()) - begins(a.name.toLowerCase()) || a.name.localeCompare(b.name))
    .slice(0, maximum);
}

/// Turns an input into a list box with search (WAI-ARIA pattern "combobox"). `candidates`: `{name, detail}`.
export function make_combobox(input, candidates, choose) {
  const list = document.getElementById(input.getAttribute('aria-controls'));
  let active = -1;
  const options = () => [...list.children];
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  };
  const activate = (i) => {
    const all = options();
    if (all.length === 0) return;
    all[active]?.removeAttribute('aria-selected');
    active = (i + all.length) % all.length;
    all[active].setAttribute('aria-selected', 'true');
    all[active].scrollIntoView({block: 'nearest'});
    input.setAttribute('aria-activedescendant', all[active].id);
  };
  const open = (text) => {
    const found = matches(candidates, text);
    list.replaceChildren(...found.map(({name, detail}, i) =>
      element('li', {role: 'option', id: `${list.id}-${i}`, 'data-name': name}, element('span', {}, name), element('small', {}, detail))));
    active = -1;
    input.removeAttribute('aria-activedescendant');
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', String(found.length > 0));
  };
  const select = (name) => {
    input.value = name;
    input.select();  // so that the next letter begins another search
    close();
    choose();
  };
  input.addEventListener('input', () => open(input.value));
  input.addEventListener('focus', () => input.select());
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (list.hidden) open('');
      activate(active + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      select(active >= 0 ? options()[active].dataset.name : input.value);
    } else if (event.key === 'Escape') {
      close();
    }
  });
  list.addEventListener('mousedown', (event) => {
    event.preventDefault();  // the input keeps the focus
    const option = event.target.closest('[role=option]');
    if (option) select(option.dataset.name);
  });
}
