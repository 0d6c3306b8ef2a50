import { describe, expect, it } from 'vitest';
import { address, openPlace } from './place.ts';
import { quirks, type Quirk } from './quirks.ts';
import type { FileRecord } from './template-files.ts';
import type { SeenRequest } from './wire.ts';

const record = (type: string, name: string | null, content: string): FileRecord => ({
  type,
  name,
  content,
  priority: type === 'SRV' ? 10 : null,
  ttl: null,
});

const fileOf = (n: number): readonly FileRecord[] => [
  address('www', `203.0.113.${n}`),
  address(null, `203.0.113.${n}0`),
  record('AAAA', 'www', `2001:db8::${n}`),
  record('CNAME', 'docs', `docs${n}.example.net`),
  record('TXT', 'info', `Token ${n}`),
  record('SRV', '_sip._tcp', `5 5060 sip${n}.example.net`),
  record('PTR', '7', `host${n}.example.net`),
];

const contentsOf = (records: readonly { content: string }[]): string[] =>
  records.map(({ content }) => content).toSorted();

/** How a service stores each name that it is sent. */
const names = (make: (name: string) => string): Quirk => ({
  store: ({ parameters }: SeenRequest) => {
    const name = parameters['name'] ?? '';
    return name === '' ? {} : { name: make(name) };
  },
});

/** Services that store names in their own spelling. */
const spellings: Readonly<Record<string, Quirk>> = {
  'adds a placeholder to names': quirks['adds a placeholder to names']!,
  'gives a name to what has none': quirks['gives a name to what has none']!,
  'adds its zone to names': names((name) => (name.endsWith('.example.org') ? name : `${name}.example.org`)),
  'ends names with a dot': names((name) => (name.endsWith('.') ? name : `${name}.`)),
  'writes names in capitals': names((name) => name.toUpperCase()),
};

describe('at a service that', { timeout: 60_000 }, () => {
  it.each(Object.entries(spellings))(
    '%s an edit changes the record that the file listed before',
    async (_, quirk) => {
      const place = await openPlace([], { quirk });
      await place.write(fileOf(1));
      expect(await place.apply()).toMatchObject({ code: 0, writes: 7 });
      const before = await place.records();

      await place.write(fileOf(2));
      expect(await place.apply({ args: ['--force', 'web'] })).toMatchObject({
        code: 0,
        writes: 7,
        report: { summary: { applied: 7, surplus: 0 } },
      });
      const after = await place.records();
      expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
      expect(contentsOf(after)).toEqual(contentsOf(fileOf(2)));
      expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
    },
  );

  it('has a foreign record beside the file’s own, an edit leaves the foreign one alone', async () => {
    const place = await openPlace([address('www', '192.0.2.1'), address('www', '203.0.113.1')]);
    const [foreign, own] = await place.records();
    await place.write([address('www', '203.0.113.1')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
    await place.write([address('www', '203.0.113.2')]);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1 });
    expect(await place.records()).toEqual([foreign, { ...own, content: '203.0.113.2' }]);
  });
});
