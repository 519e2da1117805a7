// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0

/// The program in a worker. Command lines run one after another.
export class Engine {
  #worker;
  #waiting = new Map();
  #next = 0;

  constructor(script) {
    const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
    this.#worker = new Worker(url);
    this.#worker.onmessage = ({data}) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if (data.problem) for (const one of waiting ? [waiting] : this.#waiting.values()) one.reject(new Error(data.problem));
      else waiting.resolve(data.answer);
    };
  }

  #ask(message) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {resolve, reject});
      this.#worker.postMessage({id, ...message});
    });
  }

  start(code) { return this.#ask({code}); }

  install(calibrations) { return this.#ask({calibrations}); }

  /// Resolves to `{code, output, messages, files}`.
  run(args, {input = '', folder = ''} = {}) { return this.#ask({args, input, folder}); }
}

/// The JSON output of a command. Integers above 2^53 become BigInt.
export function parse_json(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '') ? BigInt(context.source) : value);
}
