// npm run bench [-- NAME [OPTIONS]]: measures the built program, all of it or what is named.
// The soak, which takes long and has no single value, prints its own table and resolves to the exit code.
import { Console } from 'node:console';
import { availableParallelism } from 'node:os';
import { cases } from './cases.mjs';
import { measure as soak } from './soak.mjs';

const [name, ...args] = process.argv.slice(2);

/** One row or several. What octoDNS does too is compared with it, where it is installed. */
const measured = async (one) => {
  const { rows, about, targetOfOctodns, measure, ...measuredAlone } = cases[one];
  process.stderr.write(`${one}: ${about} …\n`);
  const found = await measure();
  if (rows)
    return Object.entries(rows).map(([key, row]) => rowOf({ name: `${one}, ${key}`, ...row }, found[key]));
  const { value, ofOctodns = null, ...details } = found;
  const row = { ...rowOf({ name: one, about, ...measuredAlone }, value), ...details };
  if (ofOctodns === null) return [row];
  const beside = { about: 'the same against octoDNS, whole processes', target: targetOfOctodns };
  return [row, rowOf({ name: `${one}, octoDNS`, unit: measuredAlone.unit, ...beside }, ofOctodns)];
};

const rowOf = ({ why, ...row }, value) => {
  process.stderr.write(`${row.name}: ${shown(value, row.unit)}\n`);
  const met = value <= row.target;
  return { ...row, value, met, ...(met || !why ? {} : { why }) };
};

const reasonsOf = (results) =>
  results.flatMap((one) => (one.why ? `${one.name}: ${one.why}` : [])).join('\n');

/** Rows for `console.table`, by the name of the measure. */
const tableOf = (results) =>
  Object.fromEntries(
    results.map(({ name: key, value, target, unit, met, about }) => [
      key,
      { value: shown(value, unit), target: shown(target, unit), '': met ? 'met' : 'missed', about },
    ]),
  );

const shown = (value, unit) => `${Number(value.toFixed(2))} ${unit}`;

if (name === 'soak') {
  process.exitCode = await soak(args);
} else if (name === undefined || name in cases) {
  const results = [];
  for (const one of name === undefined ? Object.keys(cases) : [name]) results.push(...(await measured(one)));
  const machine = { node: process.version, processors: availableParallelism() };
  const reasons = reasonsOf(results);
  new Console(process.stdout).table(tableOf(results));
  if (reasons) process.stdout.write(`\n${reasons}\n\n`);
  process.stdout.write(`${JSON.stringify({ ...machine, results })}\n`);
} else {
  process.stderr.write(
    `npm run bench [-- NAME], with one of these names: ${[...Object.keys(cases), 'soak'].join(', ')}\n`,
  );
  process.exitCode = 1;
}
