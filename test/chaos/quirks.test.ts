import { describe, expect, it } from 'vitest';
import { noFault } from './fault.ts';
import type { FaultyServiceOptions } from './faulty-service.ts';
import { openPlace, type Applied } from './place.ts';
import { quirks } from './quirks.ts';
import type { FileRecord } from './template-files.ts';
import type { SeenRequest } from './wire.ts';

const record = (
  type: string,
  name: string | null,
  content: string,
  more: Partial<FileRecord> = {},
): FileRecord => ({
  type,
  name,
  content,
  priority: null,
  ttl: null,
  ...more,
});

/** Adds and updates of all types, of contents and of TTLs. */
const actual = [
  record('A', 'www', '203.0.113.9', { ttl: 60 }),
  record('CNAME', 'docs', 'old.example.net'),
  record('TXT', null, 'v=spf1 -all'),
  record('MX', null, 'mx1.example.net', { priority: 20 }),
  record('A', 'foreign', '192.0.2.1'),
];
const desired = [
  record('A', null, '203.0.113.1', { ttl: 60 }),
  record('A', 'www', '203.0.113.1', { ttl: 60 }),
  record('A', 'www', '203.0.113.2', { ttl: 7200 }),
  record('AAAA', 'www', '2001:db8::1'),
  record('CNAME', 'docs', 'Docs.Example.Net'),
  record('TXT', null, 'v=spf1 mx include:spf.example.net -all', { ttl: 600 }),
  record('TXT', 'info', 'say "yes" or \\ no'),
  record('MX', null, 'mx1.example.net', { priority: 10 }),
  record('MX', null, 'MX2.example.net.', { priority: 20 }),
  record('SRV', '_sip._tcp', '5 5060 Sip.example.net', { priority: 10, ttl: 60 }),
  record('PTR', '7', 'host.example.net', { ttl: 60 }),
];

/** What the last pass reports of the records that differ from the file. */
const openIn = ({ report }: Applied) =>
  (report.templates[0]?.differences ?? []).filter(
    ({ action, outcome }) => action !== 'surplus' && outcome !== 'applied',
  );

const compare = (a: string, b: string): number => a.localeCompare(b, 'en');

/** How a report says so if it knows more than the sent and the stored values. */
const says: Readonly<Record<string, RegExp>> = {
  'gives a name to what has none': /a name cannot be cleared$/,
};

/** By quirk, the contents of records that can never equal the file; none if all can. */
const neverConverge: Readonly<Record<string, readonly string[]>> = {
  'clamps TTLs to at least 300 seconds': ['203.0.113.1', '5 5060 Sip.example.net', 'host.example.net'],
  'keeps one TTL per record set': ['203.0.113.1'],
  'writes texts anew, with other blanks': ['say "yes" or \\ no', 'v=spf1 mx include:spf.example.net -all'],
  'adds a placeholder to names': [
    '2001:db8::1',
    '203.0.113.2',
    '5 5060 Sip.example.net',
    'host.example.net',
    'say "yes" or \\ no',
  ],
  'gives a name to what has none': ['203.0.113.1', 'MX2.example.net.'],
  'ignores the TTL of an update': ['v=spf1 mx include:spf.example.net -all'],
  'ignores the content of an update': [
    '203.0.113.1',
    'Docs.Example.Net',
    'v=spf1 mx include:spf.example.net -all',
  ],
  'ignores the priority of an update': ['mx1.example.net'],
};

const contentsOf = (differences: ReturnType<typeof openIn>): string[] =>
  differences.map((one) => ('desired' in one ? one.desired.content : '')).toSorted(compare);

const threePasses = async (options: FaultyServiceOptions) => {
  const place = await openPlace(actual, options);
  await place.write(desired);
  const passes = [await place.apply(), await place.apply(), await place.apply()] as const;
  const foreign = (await place.records()).find(({ name }) => name === 'foreign');
  expect(foreign).toMatchObject({ content: '192.0.2.1', ttl: 3600 });
  return { place, passes };
};

describe('a service that', { timeout: 60_000 }, () => {
  it.each(Object.entries(quirks))(
    '%s gets each write once, and the report shows what it stored',
    async (name, quirk) => {
      const { passes } = await threePasses({ quirk });
      const [first, second, third] = passes;
      expect(first.writes).toBeGreaterThan(0);
      expect([second.writes, third.writes]).toEqual([0, 0]);
      for (const pass of passes) {
        const open = openIn(pass);
        expect(contentsOf(open)).toEqual(neverConverge[name] ?? []);
        for (const one of open)
          expect(one).toMatchObject({
            action: 'blocked',
            reason: 'not-converging',
            message: expect.stringMatching(says[name] ?? /^sent .*stored /),
          });
      }
      expect(third.report.status).toBe('drifted');
    },
  );

  it('adds a placeholder to names and answers with a short list gets each write once', async () => {
    const quirk = {
      ...quirks['adds a placeholder to names'],
      ...quirks['answers a write with a short list of records'],
    };
    const place = await openPlace([record('PTR', '7', 'host.example.net')], { quirk });
    await place.write([record('PTR', '7', 'other.example.net')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1, report: { status: 'drifted' } });
    expect(openIn(await place.apply())).toMatchObject([{ reason: 'not-converging' }]);
  });

  it('turns one desired record into another gets no third one', async () => {
    const store = ({ parameters }: SeenRequest): Record<string, string> =>
      parameters['type'] === 'MX' ? { priority: '0' } : {};
    const place = await openPlace([record('A', 'www', '203.0.113.9')], { quirk: { store } });
    const [first, second] = [0, 20].map((priority) => record('MX', null, 'mx1.example.net', { priority }));
    await place.write([record('A', 'www', '203.0.113.9'), first!, second!]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 2 });
    const [, made] = await place.records();
    await place.apply();
    await place.service.change('remove-record', { record_id: made?.id });
    // The remaining one is used as the first, and the second cannot be had.
    for (const turn of [1, 2, 3]) {
      const pass = await place.apply({ later: 3_600_000 });
      expect(pass.writes, `${turn}`).toBe(0);
      expect(openIn(pass)).toMatchObject([
        { action: 'blocked', reason: 'not-converging', desired: { priority: 20 } },
      ]);
    }
  });

  it('lists its records one write late is waited for', async () => {
    const { passes } = await threePasses({
      faultOf: ({ operation, ordinal }) =>
        operation === 'list' && ordinal === 0 ? { commit: 'now', answer: 'lag' } : noFault,
    });
    const [first, second, third] = passes;
    expect(first.writes).toBeGreaterThan(0);
    expect([second.writes, third.writes]).toEqual([0, 0]);
    expect(openIn(third)).toEqual([]);
  });
});
