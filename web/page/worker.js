// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
// Runs command lines of the WebAssembly program outside the thread of the page. `llmcost_module` precedes this text.
'use strict';

let program;

/// The bytes of gzip-compressed base64 text.
function decompress(text) {
  return fetch('data:application/octet-stream;base64,' + text)
      .then((answer) => answer.body.pipeThrough(new DecompressionStream('gzip')));
}

/// Writes kernel measurements, `{path: text}`, to where the program looks for them.
async function install({calibrations}) {
  const files = await new Response(await decompress(calibrations)).json();
  for (const [path, text] of Object.entries(files)) {
    const at = '/calibrations/' + path;
    program.FS.mkdirTree(at.slice(0, at.lastIndexOf('/')));
    program.FS.writeFile(at, text);
  }
  const folder = allocate('/calibrations');
  program._llmcost_set_calibrations(folder);
  program._free(folder);
}

async function start({code}) {
  const stream = await decompress(code);
  const answer = new Response(stream, {headers: {'Content-Type': 'application/wasm'}});
  program = await llmcost_module({
    instantiateWasm(imports, done) {
      WebAssembly.instantiateStreaming(answer, imports).then((made) => done(made.instance, made.module),
                                                             (problem) => fail(problem));
      return {};
    },
    preRun: [(module) => { module.ENV.HF_HUB_OFFLINE = '1'; }],
  });
  return {version: program.UTF8ToString(program._llmcost_version())};
}

/// A null-terminated copy of a text in the memory of the program.
function allocate(text) {
  const size = program.lengthBytesUTF8(text) + 1;
  const at = program._malloc(size);
  program.stringToUTF8(text, at, size);
  return at;
}

/// The SVG files of a folder by name; they are removed.
function take_files(folder) {
  const files = {};
  if (!folder || !program.FS.analyzePath(folder).exists) return files;
  for (const name of program.FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    files[name] = program.FS.readFile(folder + '/' + name, {encoding: 'utf8'});
    program.FS.unlink(folder + '/' + name);
  }
  return files;
}

function run({args, input, folder}) {
  const texts = args.map(allocate);
  const list = program._malloc(4 * texts.length + 4);
  texts.forEach((at, i) => program.setValue(list + 4 * i, at, 'i32'));
  const typed = input ? allocate(input) : 0;
  if (folder && !program.FS.analyzePath(folder).exists) program.FS.mkdir(folder);
  const result = program._llmcost_run(args.length, list, typed, typed ? program.lengthBytesUTF8(input) : 0);
  const answer = {
    code: program._llmcost_exit_code(result),
    output: program.UTF8ToString(program._llmcost_output(result, 0)),
    messages: program.UTF8ToString(program._llmcost_messages(result, 0)).trim(),
    files: take_files(folder),
  };
  program._llmcost_free(result);
  for (const at of [...texts, list, ...(typed ? [typed] : [])]) program._free(at);
  return answer;
}

function fail(problem, id) { postMessage({id, problem: String(problem && problem.message || problem)}); }

onmessage = async ({data}) => {
  try {
    postMessage({id: data.id, answer: data.code ? await start(data) : data.calibrations ? await install(data) : run(data)});
  } catch (problem) {
    fail(problem, data.id);
  }
};
