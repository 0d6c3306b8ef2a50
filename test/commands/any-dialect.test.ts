import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openClient } from '../../src/app/client.ts';
import { systemClock } from '../../src/lib/clock.ts';
import {
  getParameterForms,
  pageForms,
  putParameterForms,
  specifiedDialect,
  writeAnswers,
  type Dialect,
} from '../../src/model/dialect.ts';
import { SandboxData } from '../../src/sandbox/data.ts';
import { isReality, realities, type RealityName } from '../../src/sandbox/realities.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { readSettings } from '../../src/settings.ts';
import { post } from '../sandbox/requests.ts';
import { newFolder } from '../state/samples.ts';

const fields = { priority: null, ttl: 3600 };
const before = [
  { type: 'A', name: null, content: '192.0.2.1', ...fields },
  { type: 'A', name: 'www', content: '192.0.2.1', ...fields },
  { type: 'TXT', name: null, content: 'v=spf1 -all', ...fields },
];
const wanted = [
  { type: 'A', content: '203.0.113.1' },
  { type: 'A', name: 'www', content: '203.0.113.1' },
  { type: 'AAAA', content: '2001:db8::1' },
  { type: 'TXT', content: 'v=spf1 mx -all' },
  { type: 'SRV', name: '_sip._tcp', content: '5 5060 sip.example.com', priority: 10 },
  { type: 'MX', content: 'mx1.example.com', priority: 10 },
];

const rowOf = ({ type, name, content }: { type: string; name?: string | null; content: string }): string =>
  [type, name === '@' ? '' : (name ?? ''), content].join(' ');
const known = new Set([...before, ...wanted].map(rowOf));

/** Two passes over such a service with such settings, and what it has then. */
const rowsAfter = async (names: readonly RealityName[], dialect: Dialect): Promise<string[]> => {
  const cwd = newFolder();
  const dataFile = path.join(cwd, 'service.json');
  const sandbox = await startSandbox({ dataFile, realities: names });
  await post(`${sandbox.controlUrl}/add-template`, { name: 'web', records: before });
  mkdirSync(path.join(cwd, 'templates'));
  writeFileSync(
    path.join(cwd, 'templates/web.yaml'),
    JSON.stringify({ template: 'web', limits: { maxChangePercent: 100 }, records: wanted }),
  );
  const [settings] = readSettings({
    flags: { config: false },
    needs: { baseUrl: true, tokens: true },
    env: {
      HOME: cwd,
      DNS_SYNC_BASE_URL: sandbox.url,
      DNS_SYNC_USER_TOKEN: 'user-token',
      DNS_SYNC_CLIENT_TOKEN: 'client-token',
      DNS_SYNC_TEMPLATES: path.join(cwd, 'templates'),
      DNS_SYNC_STATE_DIR: path.join(cwd, 'state'),
      DNS_SYNC_SETTLE: '0s',
      DNS_SYNC_UNKNOWN_PAUSE: '1ms',
    },
    cwd,
  }).clients;
  const client = openClient({
    settings: { ...settings!, ...dialect },
    clock: systemClock,
    strict: false,
    isSandbox: false,
    warn: () => undefined,
  });
  for (const run of ['one', 'two', 'three'])
    await client.pass({
      run,
      trigger: 'command',
      templates: [],
      signal: new AbortController().signal,
      onChange: () => undefined,
      lockTimeout: 0,
      dryRun: false,
    });
  await client.close();
  await sandbox.close();
  const data = SandboxData.parse(JSON.parse(readFileSync(dataFile, 'utf8')));
  return data.dns_templates.find(({ name }) => name === 'web')!.dns_template_records.map(rowOf);
};

/** Their listings lack records, which the reading alone cannot tell. */
const partial = new Set(['cut-listing', 'empty-listing']);
const played = Object.keys(realities)
  .filter(isReality)
  .filter((name) => !partial.has(name));

const rounds = Number(process.env['DIALECT_ROUNDS'] ?? 15);

test('no setting makes a wrong write in any reality', async () => {
  const dialect: fc.Arbitrary<Dialect> = fc.record({
    getParameters: fc.constantFrom(...getParameterForms),
    putParameters: fc.constantFrom(...putParameterForms),
    writeAnswers: fc.constantFrom(...writeAnswers),
    pages: fc.constantFrom(...pageForms),
    listKey: fc.constantFrom(null, 'data'),
    apexName: fc.constantFrom(null, '' as const, '@' as const),
  });
  const names = fc.uniqueArray(fc.constantFrom(...played), { maxLength: 2 });
  let written = 0;
  await fc.assert(
    fc.asyncProperty(names, dialect, async (chosen, settings) => {
      const rows = await rowsAfter(chosen, settings);
      if (rows.length > before.length) written += 1;
      expect(new Set(rows).size).toBe(rows.length);
      expect(rows.filter((row) => !known.has(row))).toEqual([]);
    }),
    // The first one shows that something is written at all.
    { numRuns: rounds, examples: [[[], specifiedDialect]] },
  );
  expect(written).toBeGreaterThan(0);
}, 600_000);
