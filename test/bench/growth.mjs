import { Console } from 'node:console';
import path from 'node:path';
import Database from 'libsql';
import { withDaemon } from './daemon.mjs';
import { mediansOf, repeated } from './statistics.mjs';
import { totalsOf, usageOf } from './usage.mjs';
import { withClients, withWorld } from './world.mjs';

const exponent = (of) => ({
  about: `processor time of a daemon and its passes by ${of}`,
  target: 1.05,
  unit: '',
});

const sizes = [1, 10, 100];

const measure = async () => {
  const table = [];
  for (const [name, grow] of Object.entries(growths)) {
    const costs = [];
    for (const size of sizes) costs.push(mediansOf(await repeated(3, () => grow(size))));
    for (const cost of Object.keys(costs[0])) {
      const [one, ten, hundred] = costs.map((found) => found[cost]);
      table.push({
        by: name,
        cost,
        '1×': one,
        '10×': ten,
        '100×': hundred,
        exponent: exponentOf(one, ten, hundred),
      });
    }
  }
  new Console(process.stderr).table(table.map(shown));
  const ofTime = table.filter(({ cost }) => cost === 'processor s');
  return Object.fromEntries(ofTime.map(({ by, exponent: found }) => [by, found]));
};

const shown = (row) =>
  Object.fromEntries(
    Object.entries(row).map(([key, cell]) => [
      key,
      typeof cell === 'number' ? Number(cell.toFixed(2)) : cell,
    ]),
  );

/**
 * Of `constant + growing * size ** exponent`, which three sizes give: 0 where the cost does not even double. Ten times as
 * much cannot be told from what varies from run to run where it costs less than a fifth more.
 */
const exponentOf = (one, ten, hundred) =>
  hundred < 2 * one || ten <= one
    ? 0
    : Math.max(0, Math.log10((hundred - one) / Math.max(ten - one, one / 5) - 1));

/** What a daemon has cost after its first pass and some without changes. */
const costsOf = ({ cwd, env }, { clients = 1, expected = 'in-sync' } = {}) =>
  withDaemon([], { cwd, env }, async ({ child, passed, request }) => {
    const all = async (trigger) => {
      for (let count = 0; count < clients; count += 1) {
        const { status } = await passed(trigger);
        if (status !== expected) throw new Error(`the pass found ${status}`);
      }
    };
    await all('startup');
    for (let pass = 0; pass < 5; pass += 1) {
      const ended = all('request');
      await request();
      await ended;
    }
    const { peak, written } = totalsOf(child.pid);
    return { 'processor s': usageOf(child.pid).cpu, 'memory MiB': peak, 'written MiB': written };
  });

const growths = {
  templates: (size) => withWorld({ templates: 10 * size, records: 10 }, (world) => costsOf(world)),
  records: (size) => withWorld({ templates: 10, records: 10 * size }, (world) => costsOf(world)),
  clients: (size) =>
    withClients(3 * size, { templates: 3, records: 10 }, (world) => costsOf(world, { clients: 3 * size })),
  differences: (size) =>
    withWorld({ templates: 100, records: 300 }, async (world) => {
      const { wanted, env, write } = world;
      const edited = (left) =>
        wanted.map((record) => {
          if (record.type !== 'A' || left === 0) return record;
          left -= 1;
          return { ...record, content: '198.51.100.1' };
        });
      for (let index = 0; index < 100; index += 1) await write(index, edited(size));
      const reporting = { ...world, env: { ...env, DNS_SYNC_MODE: 'report' } };
      return costsOf(reporting, { expected: 'drifted' });
    }),
  history: (size) =>
    withWorld({ templates: 1, records: 10 }, async (world) => {
      const { cwd, env, wanted, write } = world;
      await withDaemon([], { cwd, env }, async ({ passed }) => {
        await passed('startup');
        const ended = passed('file-change');
        await write(0, wanted.with(0, { ...wanted[0], content: '198.51.100.1' }));
        await ended;
      });
      fillHistory(path.join(cwd, '.state/memory.db'), 490 * size);
      return costsOf(world);
    }),
};

/** Copies the last write into the past, a minute before the next one each time. */
const fillHistory = (file, count) => {
  const database = new Database(file);
  database.exec(
    `INSERT INTO history (scope, at, body)
     WITH RECURSIVE past (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < ${count}),
       newest AS (SELECT * FROM history ORDER BY id DESC LIMIT 1)
     SELECT scope, at - n * 60000, json_set(body, '$.at', at - n * 60000) FROM past, newest`,
  );
  database.close();
};

export const growth = {
  about: 'how costs grow, at 1×, 10× and 100×: exponents, 1 where ten times as much costs ten times as much',
  rows: {
    templates: exponent('templates of 10 records'),
    records: exponent('records of 10 templates'),
    clients: exponent('clients of 3 × 10 records'),
    differences: exponent('differing records of 30,000'),
    history: exponent('writes in the history'),
  },
  measure,
};
