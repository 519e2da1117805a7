// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0

export const defaults = {model: 'meta-llama/Llama-3.2-1B', task: 'inference', device: 'h100_sxm'};

/// The fields of the form that are not empty.
export function read_form(form) {
  const state = {};
  for (const [name, value] of new FormData(form)) if (typeof value === 'string' && value.trim() !== '') state[name] = value.trim();
  return state;
}

/// Writes a state to the form; fields that it lacks get their default or become empty.
export function write_form(form, state) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = state[field.name] ?? defaults[field.name] ?? '';
    if (field.type === 'radio') field.checked = field.value === value;
    else if (field.type === 'checkbox') field.checked = value !== '';
    else if (field.tagName === 'SELECT' && value && ![...field.options].some((o) => o.value === value)) field.add(new Option(value, value));
    if (field.type !== 'radio' && field.type !== 'checkbox') field.value = value;
  }
}

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/// The state as the fragment of an address. A pasted configuration is compressed.
export async function to_fragment(state) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value === defaults[name] && name !== 'model') continue;
    if (name !== 'config') { parameters.set(name, value); continue; }
    const packed = await through(new CompressionStream('deflate-raw'), new TextEncoder().encode(value));
    parameters.set(name, btoa(String.fromCharCode(...packed)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''));
  }
  return parameters.toString().replaceAll('%2F', '/');
}

/// The state in the fragment of an address. Throws: if a configuration in it is damaged.
export async function from_fragment(fragment) {
  const state = Object.fromEntries(new URLSearchParams(fragment));
  if (state.config) {
    const packed = Uint8Array.from(atob(state.config.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    state.config = new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), packed));
  }
  return state;
}
