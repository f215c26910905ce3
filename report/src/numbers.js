// SPDX-License-Identifier: Apache-2.0
// Numbers as the tables of `kith report` print them.

/** With `digits` decimals; exact halves go to the even digit, as the program does it. */
export function fixed(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  const text = value.toFixed(digits);
  const exact = Math.abs(value) < 1e6 ? Math.abs(value).toFixed(digits + 18) : "";
  const rest = exact.slice(exact.indexOf(".") + 1 + digits);
  if (!/^50*$/.test(rest)) return text;
  const kept = exact.slice(0, exact.length - 18).replace(/\.$/, "");
  if (Number(kept[kept.length - 1]) % 2 !== 0) return text;
  return (value < 0 ? "-" : "") + kept;
}

/** Equal but for rounding: the share is that of the program. */
export const alike = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

export function percent(share, digits = 2) {
  return share === null || share === undefined ? "\u2013" : `${fixed(100 * share, digits)} %`;
}

/** A few significant digits, for values of any size. */
export function few(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e").replace(/\.?0+e/, "e");
  return String(Number(value.toPrecision(digits)));
}

/**
 * The words of ticks, in as few digits, at least `least`, as move none by a tenth of the smallest gap between them. A
 * logarithmic axis does not hand its ticks over: they are `known`.
 */
export function tickText(least, known = null) {
  return (value, _index, shown) => {
    const ticks = [...new Set(known ?? shown)].sort((a, b) => a - b);
    const gap = Math.min(...ticks.slice(1).map((tick, i) => tick - ticks[i]));
    const isClear = (digits) => ticks.every((tick) => Math.abs(Number(few(tick, digits)) - tick) <= 0.1 * gap);
    let digits = least;
    while (digits < 15 && !isClear(digits)) digits += 1;
    return few(value, digits);
  };
}

/** Fixed digits with a minus as long as a plus, and no sign at zero. */
export function minus(value, digits) {
  const text = fixed(value, digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}

/** The same with its sign: of differences. */
export function signed(value, digits) {
  const text = minus(value, digits);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

export function pValue(p) {
  if (p === null || p === undefined) return "\u2013";
  return p < 0.0005 ? "< 0.001" : fixed(p, 3);
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function list(items) {
  if (items.length < 2) return items;
  const parts = [];
  items.forEach((item, i) => {
    if (i > 0) parts.push(i === items.length - 1 ? " and " : ", ");
    parts.push(item);
  });
  return parts;
}

export function seconds(value) {
  if (value === null || value === undefined) return "\u2013";
  if (value < 0.01) return "< 0.01 s";
  if (value >= 100) return `${Math.round(value).toLocaleString("en")} s`;
  return `${few(value, 2)} s`;
}

/** The step of about `most` round values over a span: 1, 2 or 5 times a power of ten. */
export function roundStep(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => span / step <= most);
}
