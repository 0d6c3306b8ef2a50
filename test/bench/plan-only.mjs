// Forked with RECORDS: plans templates of so many records whenever it is told to, and tells how long that took, in ms.
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { recordOf } from './records.mjs';

const root = path.join(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(root, 'node_modules/.bench-'));
const bundle = await rolldown({ input: path.join(root, 'src/plan/plan.ts'), platform: 'node' });
await bundle.write({ dir: folder, entryFileNames: 'plan.mjs' });
const { planTemplate } = await import(pathToFileURL(path.join(folder, 'plan.mjs')));
rmSync(folder, { recursive: true });

const inputOf = (count) => {
  const records = Array.from({ length: count }, (_, index) => recordOf(index));
  const source = { file: 'template.yaml', line: 1, column: 1 };
  return {
    desired: {
      template: 'template',
      id: null,
      source,
      mode: 'enforce',
      surplus: 'report',
      adopt: false,
      limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
      subdomains: [],
      ignore: [],
      records: records.map((record) => ({ ...record, ttl: null, source })),
    },
    present: {
      id: 1,
      name: 'template',
      publiclyAvailable: false,
      subdomains: null,
      // One of 800 differs.
      records: records.map((record, index) => ({
        ...record,
        id: index + 1,
        ttl: 3600,
        content: index % 800 === 0 ? '198.51.100.1' : record.content,
      })),
    },
    memory: {
      hasBeenRead: true,
      byKey: new Map(),
      byId: new Map(),
      causes: new Map(),
      displaced: new Map(),
      tentative: new Map(),
      preexisting: new Set(),
    },
  };
};

/** Of the largest size that a file can have, or nearly so. */
const perTemplate = 25_000;
const inputs = Array.from({ length: Number(process.env.RECORDS) / perTemplate }, () => inputOf(perTemplate));

/** What was planned is kept until all is, as in a pass. */
const planAll = () => {
  const started = performance.now();
  const plans = inputs.map(planTemplate);
  const ended = performance.now();
  if (plans.some(({ steps }) => steps.length === 0)) throw new Error('nothing was planned');
  return ended - started;
};

process.on('message', () => process.send(planAll()));
process.send('ready');
