#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Turn recorded goldens (JSON, as record.py --json makes them) into the compact text that the tests read, and back.

    compact.py -o tests/golden --configs DIR RECORD.json[.gz]...   write NAME.golden and NAME.json beside it, long tables of labels left out
    compact.py --check -o tests/golden --configs DIR RECORD...     expand what is there, compare it with the records

README.md beside this file describes the format. Nothing outside the standard library is needed.
"""
import argparse
import gzip
import itertools
import json
import sys
from pathlib import Path

FORMAT = "llmcost-golden 1"
PRIMITIVES = ("ADD", "MULT", "DIV", "SQRT", "EXP", "LOG", "TANH", "ERF", "TRIG", "POW", "NEG", "CMP")
FIGURES = PRIMITIVES + ("OUT", "WRITTEN")
RECORD_KEYS = {"model_type", "architecture", "device", "total", "parameters", "tied", "classes", "runs", "training",
               "training_bfloat16", "errors"}
# What a run shows: so many images and videos of one size per sequence, a recording; how many tokens stand for them.
SHOWN = ("images", "videos", "audio_seconds")
TOKENS = ("image_tokens", "video_tokens", "audio_tokens")
RUN_KEYS = {"kind", "batch", "sequence", "past", "encoder_sequence", "total", "flops", "modules", "cache", "unknown",
            *SHOWN, *TOKENS}
TRAININGS = ("training", "training_bfloat16")  # by the type of parameters and activations
TRAINING_KEYS = ("batch", "sequence", "encoder_sequence", "forward", "backward", "saved_bytes")  # then PRIMITIVES
# Provenance and what nothing is compared with: versions go into a comment, the rest is dropped.
UNCOMPARED_KEYS = {"config", "transformers", "torch", "traceback", "seconds", "processor", "media", "refused"}
UNCOMPARED_RUN_KEYS = {"fed", "grid", "audio_samples", "sampling_rate"}


class FormatError(Exception):
    """A record or a compact file that is not what this page describes."""


# --- paths: consecutive and listed indices -------------------------------------------------------------------------

def index_list(indices):
    """[0, 1, 2, 5] -> "[0-2,5]"; a single index stands bare."""
    indices = sorted(indices)
    if len(indices) == 1:
        return str(indices[0])
    spans = []
    for i in indices:
        if spans and spans[-1][1] == i - 1:
            spans[-1][1] = i
        else:
            spans.append([i, i])
    return "[" + ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans) + "]"


def index_values(text):
    """The inverse of index_list."""
    if not text.startswith("["):
        return [int(text)]
    values = []
    for span in text[1:-1].split(","):
        first, _, last = span.partition("-")
        values += range(int(first), int(last or first) + 1)
    return values


def is_index(component):
    return component.isdigit() and str(int(component)) == component


def fold(entries):
    """{path: value} -> [(path with index lists, value)].

    Paths that differ in one index and have equal values become one, innermost indices first; a path with several lists
    stands for their product.
    """
    items = []
    for path, value in entries.items():
        if any(c in path for c in "[], \t\n"):
            raise FormatError(f"{path!r}: a character that the format uses itself")
        items.append(([(int(c),) if is_index(c) else c for c in path.split(".")], value))
    for position in reversed(range(max((len(c) for c, _ in items), default=0))):
        merged = {}
        for components, value in items:
            indexed = position < len(components) and isinstance(components[position], tuple)
            rest = [*components[:position], None, *components[position + 1:]] if indexed else components
            merged.setdefault((indexed, tuple(rest), value), []).extend(components[position] if indexed else ())
        items = []
        for (indexed, components, value), indices in merged.items():
            components = list(components)
            if indexed:
                components[position] = tuple(indices)
            items.append((components, value))
    return [(".".join(c if isinstance(c, str) else index_list(c) for c in components), v) for components, v in items]


def unfold(path):
    """Every path that a folded one stands for."""
    choices = [index_values(c) if c.startswith("[") else [c] for c in path.split(".")]
    return [".".join(map(str, combination)) for combination in itertools.product(*choices)]


# --- what a record says, in one canonical form ---------------------------------------------------------------------

def canonical(record):
    """The compared content of a record, free of order and of zero figures; refuses keys that it would lose."""
    strange = record.keys() - RECORD_KEYS - UNCOMPARED_KEYS
    if strange:
        raise FormatError(f"keys without a place in the format: {sorted(strange)}")

    def figures(counts):
        if counts.keys() - set(FIGURES):
            raise FormatError(f"figures without a column: {sorted(counts.keys() - set(FIGURES))}")
        return {name: counts[name] for name in FIGURES if counts.get(name)}

    def shown(r):
        """Images and their height and width, videos with their frames and sides, milliseconds; none where nothing is."""
        if not any(r.get(key) for key in SHOWN):
            return None
        images, videos = r.get("images") or [], r.get("videos") or []
        if any(each != of[0] for of in (images, videos) for each in of):
            raise FormatError("images of several sizes in one run")
        return (len(images), *(images[0] if images else (0, 0)), len(videos), *(videos[0] if videos else (0, 0, 0)),
                round(1000 * (r.get("audio_seconds") or 0)))

    def run(r):
        strange = r.keys() - RUN_KEYS - UNCOMPARED_RUN_KEYS
        if strange:
            raise FormatError(f"run keys without a place in the format: {sorted(strange)}")
        result = {k: r[k] for k in ("kind", "batch", "sequence", "past", "flops")}
        result["encoder_sequence"] = r.get("encoder_sequence", 0)
        result["total"] = figures(r["total"])
        result["modules"] = {p: figures(c) for p, c in r["modules"].items()} if "modules" in r else None
        result["cache"] = None
        if "cache" in r:
            layers = [[tuple(shape) for shape in layer] for layer in r["cache"]["layers"]]
            result["cache"] = dict(total=r["cache"]["total"], layers=layers)
        result["unknown"] = dict(r.get("unknown") or {})
        result["shows"] = shown(r)
        result["tokens"] = tuple(r.get(key, 0) for key in TOKENS) if result["shows"] else None
        return result

    def training(r):
        return r and dict(batch=r["batch"], sequence=r["sequence"], encoder_sequence=r.get("encoder_sequence", 0),
                          forward=r["flops"]["forward"], backward=r["flops"]["backward"], saved_bytes=r["saved_bytes"],
                          primitives=figures(r["primitives"]) if "primitives" in r else None, shows=shown(r))

    tensors = {name: tuple(shape) for name, shape in record["parameters"]}
    if len(tensors) != len(record["parameters"]):
        raise FormatError("a tensor name stands twice")
    return dict(model_type=record["model_type"], architecture=record["architecture"], total=record["total"],
                device=record.get("device", "meta"), tensors=tensors, tied=sorted(record["tied"]),
                classes=dict(record["classes"]), runs=[run(r) for r in record["runs"]],
                **{word: training(record.get(word)) for word in TRAININGS}, errors={kind.replace(" ", "_"): text for kind, text in (record.get("errors") or {}).items()})


# --- writing -------------------------------------------------------------------------------------------------------

def shape_word(shape):
    return "x".join(map(str, shape)) if shape else "scalar"


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def write(record, name, torch_version="unknown"):
    """The text of a compact file: one fact per line, a word first that says which."""
    c = canonical(record)
    lines = ["# SPDX-FileCopyrightText: 2026 The llmcost authors", "# SPDX-License-Identifier: Apache-2.0",
             f"# recorded with transformers {record.get('transformers')}, torch {record.get('torch', torch_version)}"]

    def line(*words):
        lines.append(" ".join(map(str, words)))

    def counts(figures):
        return [figures.get(f, 0) for f in FIGURES]

    line(FORMAT)
    line("name", name)
    line("model_type", c["model_type"])
    line("architecture", c["architecture"])
    line("device", c["device"])
    line("parameters", c["total"])
    line("figures", *FIGURES)
    line("tied", len(c["tied"]))
    for path, _ in fold(dict.fromkeys(c["tied"])):
        line("-", path)
    line("tensors", len(c["tensors"]))
    for path, shape in fold(c["tensors"]):
        line("-", path, shape_word(shape))
    line("classes", len(c["classes"]))
    for path, class_name in fold(c["classes"]):
        line("-", path, class_name)
    line("runs", len(c["runs"]))
    for r in c["runs"]:
        line("run", r["kind"], r["batch"], r["sequence"], r["past"], r["encoder_sequence"])
        if r["shows"] is not None:
            line("shows", *r["shows"])
            line("tokens", *r["tokens"])
        line("total", *counts(r["total"]))
        line("torch_flops", r["flops"])
        for call, times in r["unknown"].items():
            line("unknown", call, times)
        if r["cache"] is not None:
            line("cache", r["cache"]["total"], len(r["cache"]["layers"]))
            layers = {str(i): tuple(layer) for i, layer in enumerate(r["cache"]["layers"])}
            for indices, shapes in fold(layers):
                line("-", indices, *map(shape_word, shapes))
        if r["modules"] is not None:
            line("modules", len(r["modules"]))
            for path, figures in fold({p: tuple(counts(f)) for p, f in r["modules"].items()}):
                line("-", path, *figures)
    for word in TRAININGS:
        if c[word] is not None:
            executed = c[word]["primitives"]
            line(word, *(c[word][key] for key in TRAINING_KEYS),
                 *([] if executed is None else (executed.get(p, 0) for p in PRIMITIVES)))
            if c[word]["shows"] is not None:
                line("step_shows", *c[word]["shows"])
    for kind, message in c["errors"].items():
        if len(kind.split()) != 1:
            raise FormatError(f"error kind {kind!r}: not one word")
        line("error", kind, escaped(message))
    line("end")
    return "\n".join(lines) + "\n"


# --- reading -------------------------------------------------------------------------------------------------------

def read(text):
    """The canonical form of a compact file."""
    lines = iter([words for words in (l.split(" ") for l in text.splitlines()) if words[0] != "#"])
    c = dict(tied=[], tensors={}, classes={}, runs=[], **dict.fromkeys(TRAININGS), errors={})
    single = {"name": str, "model_type": str, "architecture": str, "device": str, "parameters": int}

    def numbers(words):
        return [int(w) for w in words]

    def figures(words):
        if len(words) != len(FIGURES):
            raise FormatError(f"{len(words)} figures where {len(FIGURES)} belong")
        return {f: n for f, n in zip(FIGURES, numbers(words)) if n}

    def shape(word):
        return () if word == "scalar" else tuple(numbers(word.split("x")))

    def table(count, value):
        entries = {}
        while len(entries) < int(count):
            dash, path, *words = next(lines)
            if dash != "-":
                raise FormatError(f"{len(entries)} entries where {count} were announced")
            for one in unfold(path):
                if one in entries:
                    raise FormatError(f"{one} stands twice")
                entries[one] = value(words)
        if len(entries) > int(count):
            raise FormatError(f"{len(entries)} entries where {count} were announced")
        return entries

    if " ".join(next(lines)) != FORMAT:
        raise FormatError(f"does not begin with {FORMAT!r}")
    run_count = 0
    for word, *rest in lines:
        run = c["runs"][-1] if c["runs"] else None
        if word in single:
            c[{"parameters": "total"}.get(word, word)] = single[word](" ".join(rest))
        elif word == "figures":
            if tuple(rest) != FIGURES:
                raise FormatError(f"columns {rest}, expected {FIGURES}")
        elif word == "tied":
            c["tied"] = sorted(table(rest[0], lambda words: None))
        elif word == "tensors":
            c["tensors"] = table(rest[0], lambda words: shape(words[0]))
        elif word == "classes":
            c["classes"] = table(rest[0], lambda words: words[0])
        elif word == "runs":
            run_count = int(rest[0])
        elif word == "run":
            kind, batch, sequence, past, encoder = rest
            c["runs"].append(dict(kind=kind, batch=int(batch), sequence=int(sequence), past=int(past),
                                  encoder_sequence=int(encoder), modules=None, cache=None, unknown={}, shows=None,
                                  tokens=None))
        elif word in ("shows", "tokens"):
            run[word] = tuple(numbers(rest))
        elif word == "step_shows":
            c[step]["shows"] = tuple(numbers(rest))
        elif word == "total":
            run["total"] = figures(rest)
        elif word == "torch_flops":
            run["flops"] = int(rest[0])
        elif word == "unknown":
            run["unknown"][rest[0]] = int(rest[1])
        elif word == "cache":
            layers = table(rest[1], lambda words: [shape(w) for w in words])
            run["cache"] = dict(total=int(rest[0]), layers=[layers[str(i)] for i in range(len(layers))])
        elif word == "modules":
            run["modules"] = table(rest[0], figures)
        elif word in TRAININGS:
            n, step = len(TRAINING_KEYS), word
            c[word] = dict(zip(TRAINING_KEYS, numbers(rest[:n]), strict=True), primitives=None, shows=None)
            if len(rest) > n:
                executed = zip(PRIMITIVES, numbers(rest[n:]), strict=True)
                c[word]["primitives"] = {p: count for p, count in executed if count}
        elif word == "error":
            message = " ".join(rest[1:])
            c["errors"][rest[0]] = message.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
        elif word == "end":
            if run_count != len(c["runs"]) or next(lines, None) is not None:
                raise FormatError("runs are missing, or text follows the end")
            return c
        else:
            raise FormatError(f"a line that begins with {word!r}")
    raise FormatError("no end")


def read_file(path):
    """The canonical form of a compact file on disk; errors name it."""
    try:
        return read(path.read_text(encoding="utf-8"))
    except (FormatError, ValueError, IndexError, StopIteration) as e:
        raise FormatError(f"{path}: {str(e) or 'ends too early'}") from e


def differences(expected, got, where=""):
    """Where two canonical forms differ, one sentence each."""
    if where.endswith("/primitives") and None in (expected, got):
        return  # a record that does not know what backward executes
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys(), key=str):
            if key not in expected or key not in got:
                yield f"{where}/{key}: only in the {'first' if key in expected else 'second'}"
            else:
                yield from differences(expected[key], got[key], f"{where}/{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for i, (a, b) in enumerate(zip(expected, got)):
            yield from differences(a, b, f"{where}/{i}")
    elif expected != got:
        if isinstance(expected, list) and isinstance(got, list):
            expected, got = f"{len(expected)} entries", len(got)
        yield f"{where}: expected {str(expected)[:120]}, got {str(got)[:120]}"


def without_labels(config):
    """A configuration whose long tables of labels are their number; every other key stays as it is."""
    given = json.loads(config)
    labels = given.get("id2label")
    if not isinstance(labels, dict) or len(labels) < 100:
        return config
    kept = {key: value for key, value in given.items() if key not in ("id2label", "label2id")}
    return (json.dumps(kept | {"num_labels": len(labels)}, indent=2) + "\n").encode()


def load(path):
    """A record from JSON, gzip'd or not."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", help="recorded goldens, .json or .json.gz")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the compact files")
    parser.add_argument("--configs", type=Path, required=True, help="folder that holds NAME.json for every record")
    parser.add_argument("--torch", default="unknown", help="torch version of records that do not name theirs")
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files that are there")
    a = parser.parse_args()
    failures = 0
    for source in a.records:
        record = load(source)
        name = Path(source).name.removesuffix(".gz").removesuffix(".json")
        config = without_labels((a.configs / f"{name}.json").read_bytes())
        compact, beside = a.output / f"{name}.golden", a.output / f"{name}.json"
        if not a.check:
            compact.write_text(write(record, name, a.torch), encoding="utf-8")
            beside.write_bytes(config)
        found = read_file(compact)
        wrong = list(differences(canonical(record) | {"name": name}, found))
        if beside.read_bytes() != config:
            wrong.append(f"{beside.name}: not the configuration")
        failures += bool(wrong)
        for sentence in wrong[:10]:
            print(f"{compact.name}: {sentence}", file=sys.stderr)
        print(f"{compact.name}: {'differs' if wrong else 'equal'}, {compact.stat().st_size} bytes")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FormatError, OSError) as e:
        sys.exit(f"compact.py: {e}")
