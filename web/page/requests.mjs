// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0

/// Fields that are options of the same name, in the order of the command line.
const workload_fields = ['batch', 'sequence', 'past', 'image', 'device', 'engine', 'tp'];
const inference_fields = ['dtype', 'quantization', 'cache-dtype'];
const training_fields = ['precision', 'optimizer', 'recompute', 'adapter', 'gradient-accumulation', 'shards', 'zero'];
/// Engines of `memory` that `latency` has no kernels for.
const engines_without_kernels = ['transformers', 'none'];
/// Commands whose `--engine` is an inference engine; that of others is PyTorch.
const engine_commands = ['memory', 'fit', 'latency'];

/// Command lines of a state of the form. `help`: the JSON output of `help`, which lists the options of each command.
export class Requests {
  #options;

  constructor(help) {
    this.#options = new Map(help.commands.map((c) => [c.name, new Set(c.options.map((o) => o.name))]));
  }

  /// The command line of `command`: all fields of the form that it has an option for, then `changes` of fields.
  line(command, state, changes = {}, ...more) {
    const fields = {...state, ...changes};
    const known = this.#options.get(command);
    const is_training = fields.task === 'training';
    const args = command ? [command] : [];
    if (fields.config) args.push('--config', '-');
    else args.push('--model', fields.model ?? '');
    const add = (option, value) => { if (value && known.has(option)) args.push(option, String(value)); };
    if (is_training && known.has('--training')) args.push('--training');
    for (const name of [...workload_fields, ...(is_training ? training_fields : inference_fields)]) {
      if (name === 'past' && is_training) continue;
      if (name === 'engine' && !engine_commands.includes(command)) continue;
      if (name === 'engine' && command === 'latency' && engines_without_kernels.includes(fields.engine)) continue;
      add(name === 'tp' && command === 'fit' ? '--devices' : '--' + name, fields[name]);
    }
    if (!fields.measurements) add('--calibration', 'none');
    return [...args, ...more];
  }
}

/// A command line for a shell.
export function shell_text(args) {
  return ['llmcost', ...args].map((a) => /^[\w@%+=:,./-]+$/.test(a) ? a : `'${a.replaceAll("'", "'\\''")}'`).join(' ');
}

/// The arguments of a typed command line: blanks separate, single and double quotes group.
export function split_line(text) {
  const args = [];
  for (const [, single, double, plain] of text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) args.push(single ?? double ?? plain);
  return args[0] === 'llmcost' ? args.slice(1) : args;
}
