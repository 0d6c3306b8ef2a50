// npm run bench [-- NAME [OPTIONS]]: measures the built program, all of it or what is named.
// The soak, which takes long and has no single value, prints its own table and resolves to the exit code.
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

const tableOf = (results) => {
  const rows = [
    ['measure', 'value', 'target', '', 'about'],
    ...results.map((one) => [
      one.name,
      shown(one.value, one.unit),
      shown(one.target, one.unit),
      one.met ? 'met' : 'missed',
      one.about,
    ]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isNumber = (column) => column === 1 || column === 2;
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          isNumber(column) ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

const shown = (value, unit) => `${Number(value.toFixed(2))} ${unit}`;

if (name === 'soak') {
  process.exitCode = await soak(args);
} else if (name === undefined || name in cases) {
  const results = [];
  for (const one of name === undefined ? Object.keys(cases) : [name]) results.push(...(await measured(one)));
  const machine = { node: process.version, processors: availableParallelism() };
  const reasons = reasonsOf(results);
  process.stdout.write(`${tableOf(results)}\n${reasons && `\n${reasons}\n\n`}`);
  process.stdout.write(`${JSON.stringify({ ...machine, results })}\n`);
} else {
  process.stderr.write(
    `npm run bench [-- NAME], with one of these names: ${[...Object.keys(cases), 'soak'].join(', ')}\n`,
  );
  process.exitCode = 1;
}
