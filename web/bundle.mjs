// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// bundle.mjs PAGE_FOLDER PROGRAM.js CALIBRATIONS_FOLDER OUTPUT.html: one page without other files. The modules become
// one script, and the WebAssembly program next to PROGRAM.js becomes gzip-compressed base64 text. The kernel
// measurements become measurements.js next to the page, which the page loads when they are wanted. With zopfli on the PATH,
// the program is 5 % smaller.
import child_process from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const [folder, program, calibrations, output] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');

/// The text of a module after those that it imports, each once, without comments, `import` and `export`.
function joined(name, done = new Set()) {
  if (done.has(name)) return '';
  done.add(name);
  const text = read(name).replace(/^ *\/\/.*$\n/gm, '');
  const imported = [...text.matchAll(/^import \{[^}]*\} from '\.\/([\w.]+)';$/gm)].map(([, file]) => joined(file, done));
  return imported.join('') + text.replace(/^import .*$\n/gm, '').replace(/^export /gm, '');
}

/// A script for HTML: nothing in it ends the element.
const script = (text) => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

/// Bytes of a file as base64 text, compressed as gzip.
function packed_file(file) {
  const smallest = child_process.spawnSync('zopfli', ['--i5', '-c', file], {maxBuffer: 2 ** 28});
  return smallest.status === 0 ? smallest.stdout.toString('base64') : packed(fs.readFileSync(file));
}

const packed = (content) => zlib.gzipSync(content, {level: 9}).toString('base64');

/// All kernel measurements, `{path: text}`.
function measurements() {
  const paths = fs.readdirSync(calibrations, {recursive: true}).map(String).filter((name) => name.endsWith('.json')).sort();
  return JSON.stringify(Object.fromEntries(paths.map((name) => [name, fs.readFileSync(path.join(calibrations, name), 'utf8')])));
}

const parts = {
  '<link rel="stylesheet" href="style.css">': `<style>${read('style.css')}</style>`,
  '<script type="text/plain" id="worker" src="worker.js"></script>':
      `<script type="text/plain" id="worker">${script(fs.readFileSync(program, 'utf8') + '\n' + read('worker.js'))}</script>`,
  '<script type="text/plain" id="program"></script>':
      `<script type="text/plain" id="program">${packed_file(program.replace(/\.js$/, '.wasm'))}</script>`,
  '<script type="module" src="main.mjs"></script>': `<script type="module">${script(joined('main.mjs'))}</script>`,
};
let page = read('index.html');
for (const [placeholder, text] of Object.entries(parts)) {
  if (!page.includes(placeholder)) throw new Error('index.html lacks ' + placeholder);
  page = page.replace(placeholder, () => text);
}
fs.writeFileSync(output, page);
fs.writeFileSync(path.join(path.dirname(output), 'measurements.js'), `globalThis.llmcost_measurements = '${packed(measurements())}';\n`);
console.log(`${output}: ${page.length} bytes, ${zlib.gzipSync(page, {level: 9}).length} compressed`);
