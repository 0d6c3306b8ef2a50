// A process of teeth.mjs: `reach` plays the unbroken product, and writes down which rules each schedule runs;
// `look` plays a broken one.
import { appendFileSync, readFileSync } from 'node:fs';
import inspector from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';

const [what, bundle] = process.argv.slice(2);
const url = pathToFileURL(bundle).href;
const task = JSON.parse(readFileSync(0, 'utf8'));

const reach = async () => {
  const session = new inspector.Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const { playAll } = await import(url);
  const take = async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.find((script) => script.url === url)?.functions ?? [];
  };
  // What runs when a module is loaded counts always.
  const always = rulesIn(await take(), (_count, isOfModule) => isOfModule);
  await playAll(task, async (played, isCourse) => {
    const rules = rulesIn(await take(), (count) => count > 0);
    const { world, schedule, faults, course } = played;
    const line = { world, schedule, faults, course, isCourse, rules: [...new Set([...always, ...rules])] };
    appendFileSync(task.file, `${JSON.stringify(line)}\n`);
  });
};

/** The numbers of the rules of which a place is in code whose innermost range is so. */
const rulesIn = (functions, isSo) => {
  const innermost = new Map();
  for (const { ranges } of functions)
    for (const { startOffset, endOffset, count } of ranges)
      for (let at = firstFrom(startOffset); at < places.length && places[at].offset < endOffset; at += 1) {
        const size = endOffset - startOffset;
        if (size <= (innermost.get(at)?.size ?? Infinity))
          innermost.set(at, { size, count, isOfModule: startOffset === 0 });
      }
  return new Set(
    [...innermost]
      .filter(([, { count, isOfModule }]) => isSo(count, isOfModule))
      .map(([at]) => places[at].rule),
  );
};

/** Sorted by offset. */
const places = (task.places ?? []).toSorted((a, b) => a.offset - b.offset);

const firstFrom = (offset) => {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (places[middle].offset < offset) from = middle + 1;
    else to = middle;
  }
  return from;
};

if (what === 'reach') await reach();
else {
  const { look } = await import(url);
  process.stdout.write(JSON.stringify(await look(task)));
}
