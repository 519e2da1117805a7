// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0

/// Three significant digits and a prefix, e.g. `1.24 G`.
export function short_count(n) {
  const value = Number(n);
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
  let order = 0;
  while (value / 1000 ** order >= 999.5 && order < prefixes.length - 1) ++order;
  const scaled = value / 1000 ** order;
  return order === 0 ? String(value) : digits(scaled) + ' ' + prefixes[order];
}

/// Three significant digits, e.g. `2.30`, `132` or `0.0581`.
export function digits(value) {
  if (value === 0) return '0';
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-12));
  return value.toFixed(Math.min(places, 12));
}

export function exact(n) {
  return typeof n === 'bigint' || Number.isInteger(n) ? n.toLocaleString('en-US') : String(n);
}

/// Binary units, e.g. `2.30 GiB`.
export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = Number(n), order = 0;
  while (value >= 1023.5 && order < units.length - 1) { value /= 1024; ++order; }
  return (order === 0 ? String(value) : digits(value)) + ' ' + units[order];
}

export function seconds(s) {
  if (s >= 1) return digits(s) + ' s';
  return s >= 1e-3 ? digits(s * 1e3) + ' ms' : digits(s * 1e6) + ' µs';
}

/// One decimal, e.g. `21.3 %`.
export function percent(share) { return (100 * share).toFixed(1) + ' %'; }
