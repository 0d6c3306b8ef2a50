// Forked with RECORDS: plans templates of so many records whenever it is told to, and tells how long that took, in ms.
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { recordOf } from './records.mjs';

const folder = mkdtempSync(path.join(import.meta.dirname, '../../node_modules/.bench-'));
const bundle = await rolldown({ input: path.join(import.meta.dirname, 'plan-many.ts'), platform: 'node' });
await bundle.write({ dir: folder, entryFileNames: 'plan.mjs' });
const { inputOf, planAll } = await import(pathToFileURL(path.join(folder, 'plan.mjs')));
rmSync(folder, { recursive: true });

/** Of the largest size that a file can have, or nearly so. */
const perTemplate = 25_000;
const inputs = Array.from({ length: Number(process.env.RECORDS) / perTemplate }, () =>
  inputOf(Array.from({ length: perTemplate }, (_, index) => recordOf(index))),
);

process.on('message', () => process.send(planAll(inputs)));
process.send('ready');
