// SPDX-License-Identifier: Apache-2.0
// A page of 3,000 samples and 30 methods: small enough to send, ready before a reader waits.
import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { unpack } from "../../report/src/model.js";
import { folder, kith, launch } from "./browser.mjs";
import { documentOf, evaluate, marks, packed, report, variant, writeData } from "./support.mjs";

const SAMPLES = 3000;
const SIDE = 750; // of the picture of so many samples
const COUNT = 30;
const PARTITIONS = 20;
const NAMES = Array.from({ length: 12 }, (_, c) => `class ${c}`);
let browser;

before(async () => {
  browser = await launch();
  writeData("one", 2.2);
  evaluate("one", "one.db", "--protocol", "kith", "--repeats", PARTITIONS);
  report("one");
});
after(() => browser?.close());

/** Numbers between 0 and 1 that nothing compresses. */
function noise(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The largest picture that a page of so many samples has, of noise. */
function largestPicture() {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${SIDE}, ${SIDE}), }`.padEnd(117) + "\n";
  const values = Float32Array.from({ length: SIDE * SIDE }, noise(1));
  writeFileSync(join(folder, "noise.npy"), Buffer.concat([Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"), Buffer.from(header), Buffer.from(values.buffer)]));
  kith("inspect", "--similarity", "noise.npy", "--html", "noise.html");
  const { picture } = documentOf("noise.html").data_sets[0].portraits[0];
  assert.equal(picture.side, SIDE);
  return { ...picture, samples_per_pixel: SAMPLES / SIDE };
}

/** A method with answers, curves and recalls of twelve classes. */
function grownMethod(method, m, next) {
  const numbers = (most) => packed(Array.from({ length: SAMPLES }, () => Math.floor(most * next())));
  const grown = structuredClone(method);
  const curve = (label) => ({ ...grown.details.curves.classes[0], class: label });
  Object.assign(grown, { method: `${method.method} ${m}`, leads: m === 0, confusion: NAMES.map(() => NAMES.map(() => Math.floor(400 * next()))), recall: NAMES.map(() => ({ mean: next(), low: next(), high: next() })) });
  Object.assign(grown.details, { wrong: numbers(8), said: numbers(NAMES.length) });
  grown.details.curves.classes = [-1, ...NAMES.keys()].map(curve);
  return grown;
}

function grow(_, set) {
  const next = noise(2);
  const list = (text, of = (v) => v) => packed(Array.from({ length: SAMPLES }, (_unused, i) => of(unpack(text)[i % 45], i)));
  const methods = set.methods.filter((method) => method.details.curves);
  Object.assign(set, {
    n: SAMPLES, class_names: NAMES, labels: list(set.labels, (_label, i) => i % NAMES.length), tested: list(set.tested),
    ids: Array.from({ length: SAMPLES }, (_unused, i) => `the name of sample ${i}`), methods: Array.from({ length: COUNT }, (_unused, m) => grownMethod(methods[m % methods.length], m, next)),
  });
  const value = () => next() - 0.5;
  set.pairs = Array.from({ length: COUNT }, (_unused, i) => Array.from({ length: i }, (_other, j) => ({ methods: [j, i], difference: value(), low: value(), high: value(), p_value: next(), p_adjusted: next() }))).flat();
  const portrait = set.portraits[0];
  portrait.picture = largestPicture();
  portrait.order = packed([...Array(SAMPLES).keys()]);
  portrait.neighbours = packed(Array.from({ length: SAMPLES * portrait.nearest }, () => Math.floor(SAMPLES * next())));
  portrait.eigenvalues = Array.from({ length: SAMPLES }, () => Number((100 * value()).toPrecision(5)));
  const coordinates = () => Array.from({ length: SAMPLES }, () => Math.floor(20000 * value()));
  Object.assign(portrait.map, { x: coordinates(), y: coordinates() });
}

test("it has at most 2 MB and is ready within 1.5 s", async () => {
  const file = variant("one.html", "large.html", grow);
  const { size } = statSync(file);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error.stack)));
  // Time of the page's own thread: other work on the machine does not count.
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]", { timeout: 30000 });
  const ready = await page.evaluate(() => performance.now());
  const { metrics } = await session.send("Performance.getMetrics");
  const busy = metrics.find((metric) => metric.name === "TaskDuration").value;
  console.log(`${SAMPLES} samples and ${COUNT} methods: busy for ${Math.round(1000 * busy)} ms, ready after ${Math.round(ready)} ms, ${Math.round(size / 1e3)} kB`);
  assert.ok(size <= 2e6, `${size} bytes`);
  assert.ok(busy > 0.05 && busy <= 1.5, `${busy} s of work`);
  assert.ok(ready <= 7500, `${ready} ms, five times what a machine with nothing else to do may take`);
  assert.equal(await marks(page, "map", "sample"), SAMPLES);
  assert.equal(await marks(page, "pairs", "pair"), COUNT * (COUNT - 1));
  assert.equal(await page.locator("table.results tbody tr").count(), COUNT);
  assert.deepEqual(complaints, []);
});
