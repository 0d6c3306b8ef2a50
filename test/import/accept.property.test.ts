import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { patchFor } from '../../src/import/accept.ts';
import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { directoryWith, write } from '../desired/load-files.ts';
import { acceptInto, differencesIn, loadIn } from './accepted.ts';

vi.setConfig({ testTimeout: 240_000 });

const oneOf = (list: string): fc.Arbitrary<string> => fc.constantFrom(...list.split(' '));

/** What a record says, few enough that contents and names repeat. */
const said = fc.oneof(
  fc.record({ type: fc.constant('A'), content: oneOf('192.0.2.1 192.0.2.2 192.0.2.3') }),
  fc.record({ type: fc.constant('AAAA'), content: oneOf('2001:db8::1 2001:db8::2') }),
  fc.record({
    type: fc.constant('MX'),
    content: oneOf('mx1.example.net mx2.example.net'),
    priority: fc.constantFrom(10, 20),
  }),
  fc.record({
    type: fc.constant('TXT'),
    content: fc.constantFrom('one', 'two # words', "it's", 'a "b"', 'c: d', '${x}', '@', 'x'.repeat(120)),
  }),
  fc.record({
    type: fc.constant('SRV'),
    content: oneOf('5|5060|sip.example.net 0|443|www.example.net').map((text) => text.replaceAll('|', ' ')),
    priority: fc.constantFrom(0, 10),
  }),
);
const names = fc.constantFrom(null, 'www', 'mail', 'a.b', '*', '_sip._tcp');
const ttls = fc.constantFrom(300, 3600);

/** How an entry is written. */
const style = fc.record({
  isBlock: fc.boolean(),
  place: fc.constantFrom<'own' | 'fragment'>('own', 'own', 'fragment'),
  content: fc.constantFrom('literal', 'literal', 'variable', 'anchor'),
  inList: fc.boolean(),
  inParts: fc.boolean(),
  quote: fc.boolean(),
  ttl: fc.constantFrom('own', 'template', 'none'),
  above: fc.constantFrom('', '# above\n', '\n# heading\n\n', '\n'),
  beside: fc.constantFrom('', ' # beside'),
});

/** What becomes of a record at the service. */
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'stays' as const }) },
  fc.record({ kind: fc.constant('ttl' as const), ttl: fc.constantFrom(60, 600) }),
  fc.record({ kind: fc.constant('priority' as const), priority: fc.constantFrom(1, 30) }),
  fc.record({ kind: fc.constant('content' as const), other: said }),
  fc.constant({ kind: 'gone' as const }),
);

const recordArbitrary = fc.record({ said, name: names, ttl: ttls, style, fate });
type Described = typeof recordArbitrary extends fc.Arbitrary<infer One> ? One : never;

const world = fc.record({
  records: fc.array(recordArbitrary, { minLength: 1, maxLength: 12 }),
  added: fc.array(fc.record({ said, name: names, ttl: fc.constantFrom(300, 900) }), { maxLength: 3 }),
  templateTtl: fc.constantFrom(null, 300, 3600),
  eol: fc.constantFrom('\n', '\n', '\r\n'),
  isLast: fc.boolean(),
});
type World = typeof world extends fc.Arbitrary<infer One> ? One : never;

const scalar = (text: string, quote: boolean): string =>
  !quote && /^[A-Za-z0-9][\w.-]*$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

interface MadeFiles {
  readonly files: Record<string, string>;
  /** At the service while nothing has changed there. */
  readonly wanted: readonly (Omit<ActualRecord, 'id'> & { fate: Described['fate'] })[];
}

const filesOf = ({ records, templateTtl, eol, isLast }: World): MadeFiles => {
  const seen = new Set<string>();
  const vars = { own: new Map<string, string>(), fragment: new Map<string, string>() };
  const anchors = { own: new Map<string, string>(), fragment: new Map<string, string>() };
  const bodies = { own: '', fragment: '' };
  const wanted: MadeFiles['wanted'][number][] = [];
  for (const [index, { said: data, name: given, ttl, style: how, fate: becomes }] of records.entries()) {
    const name = data.type === 'SRV' ? '_sip._tcp' : given;
    const { place } = how;
    const state = how.ttl === 'own' ? ttl : templateTtl;
    const others = how.inList ? [{ ...data, content: contentOf(data.type, 77) }] : [];
    const all = [data, ...others].map((one) => ({ priority: null, ...one, name, ttl: state }));
    const keys = all.map((one) => recordKey(entryOf({ id: 0, ...one })));
    // One name, one kind of alias and one SPF: only copies of a record are in the way.
    if (keys.some((key) => seen.has(key))) continue;
    for (const key of keys) seen.add(key);
    const escaped = (text: string): string => text.replaceAll('${', () => '$${');
    const valueOf = (text: string): string => {
      if (how.content === 'variable') {
        const key = `v${index}`;
        const known =
          [...vars[place]].find(([, value]) => value === text)?.[0] ?? `${place}-${key}-${vars[place].size}`;
        vars[place].set(known, text);
        return `"\${${known}}"`;
      }
      if (how.content === 'literal') return scalar(escaped(text), how.quote);
      const known = anchors[place].get(text);
      if (known) return `*${known} `;
      anchors[place].set(text, `x${index}-${anchors[place].size}`);
      return `&${anchors[place].get(text)} ${scalar(escaped(text), how.quote)}`;
    };
    const values = all.map(({ content }) => content);
    const parts = data.type === 'SRV' && how.inParts && !how.inList ? data.content.split(' ') : null;
    const content = how.inList ? `[ ${values.map(valueOf).join(', ')} ]` : parts ? '' : valueOf(data.content);
    const fields = [
      `type: ${data.type}`,
      ...(name === null ? [] : [`name: ${scalar(name, how.quote)}`]),
      ...(parts
        ? [`weight: ${parts[0]}`, `port: ${parts[1]}`, `target: ${valueOf(parts[2]!)}`]
        : [`content: ${content}`]),
      ...('priority' in data ? [`priority: ${data.priority}`] : []),
      ...(how.ttl === 'own' ? [`ttl: ${ttl}`] : []),
    ];
    const lines = how.isBlock
      ? fields
          .map(
            (field, at) =>
              `${at === 0 ? '  - ' : '    '}${field}${at === fields.length - 1 ? how.beside : ''}\n`,
          )
          .join('')
      : `  - { ${fields.join(', ')} }${how.beside}\n`;
    bodies[place] += how.above.replaceAll(/^#/gm, '  #') + lines;
    wanted.push(...all.map((one) => ({ ...one, fate: becomes })));
  }
  const section = (key: 'own' | 'fragment'): string => {
    const defined = [...vars[key]]
      .map(
        ([name, text]) =>
          `  ${name}: ${scalar(
            text.replaceAll('${', () => '$${'),
            true,
          )} # used\n`,
      )
      .join('');
    return `${defined === '' ? '' : `vars:\n${defined}`}records:${bodies[key] === '' ? ' []\n' : `\n${bodies[key]}`}`;
  };
  const own = `# the web servers\ntemplate: web\n${templateTtl === null ? '' : `ttl: ${templateTtl} # usual\n`}include: [_shared.yaml]\n${section('own')}`;
  const tail = isLast ? '' : '# the end\n';
  return {
    files: {
      'web.yaml': `${own}${tail}`.replaceAll('\n', eol),
      '_shared.yaml': section('fragment'),
    },
    wanted,
  };
};

/** One of its type that no other record has. */
const contentOf = (type: string, number: number): string =>
  ({
    A: `192.0.2.${number}`,
    AAAA: `2001:db8::${number}`,
    MX: `mx${number}.example.net`,
    TXT: `text ${number}`,
    SRV: `${number} ${number} sip${number}.example.net`,
  })[type]!;

/** The service after its records went their ways. */
const driftedFrom = ({ wanted }: MadeFiles, { added }: World): ActualTemplate => {
  const records: Omit<ActualRecord, 'id'>[] = wanted.flatMap(({ fate: { kind, ...change }, ...one }) => {
    if (kind === 'gone') return [];
    if (kind === 'priority' && one.priority === null) return [one];
    if ('other' in change)
      return [
        { ...one, content: change.other.type === one.type ? change.other.content : contentOf(one.type, 88) },
      ];
    return [{ ...one, ...change }];
  });
  records.push(...added.map(({ said: data, ...one }) => ({ priority: null, ...data, ...one })));
  return {
    id: 17,
    name: 'web',
    publiclyAvailable: false,
    subdomains: 0,
    records: records.map((one, index) => ({ id: index + 1, ...one })),
  };
};

/** By line, from 1: the line at which its entry begins; 0 outside of entries. */
const entryLinesIn = (text: string): number[] => {
  let start = 0;
  return text.split('\n').map((line, index) => {
    if (line.startsWith('  - ')) start = index + 1;
    else if (!line.startsWith('    ')) start = 0;
    return start;
  });
};

/** What may change for a record besides its entry: an empty list, and the comment above it. */
const mayChange = /^records:|^ *# above/;

/** Place, reason, and what to write there. */
const refusalPattern = /^\S+\.yaml(?::\d+)?: .+: (?:add - \{|remove \{|instead of \{ .* \}, write - \{)/s;

/** Whether lines stand in a text in their order, whatever is between them. */
const areIn = (lines: readonly string[], text: string): boolean => {
  const others = text.split('\n');
  let at = -1;
  return lines.every((line) => (at = others.indexOf(line, at + 1)) >= 0);
};

test('after accepting, files plan in sync, and only lines of the records concerned have changed; or they are refused', async () => {
  const directory = await directoryWith({});
  execFileSync('git', ['init', '-q'], { cwd: directory });
  let count = 0;
  let patch = '';
  let refused = 0;
  const accepted = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const made = filesOf(given);
      const place = path.join(directory, String((count += 1)));
      await write(place, made.files);
      const before = await loadIn(place);
      const actual = driftedFrom(made, given);
      const differences = differencesIn(before, actual);
      const result = await acceptInto(place, actual);
      if ('refusals' in result) {
        refused += 1;
        expect(result.refusals.length).toBeGreaterThan(0);
        for (const refusal of result.refusals) expect(refusal).toMatch(refusalPattern);
        for (const [name, text] of Object.entries(made.files))
          expect(await readFile(path.join(place, name), 'utf8')).toBe(text);
        return;
      }

      const after = await loadIn(place);
      const left = differencesIn(after, actual);
      expect(left.filter((one) => !(one.action === 'surplus' && one.reason === 'duplicate'))).toEqual([]);
      expect(left.length).toBeLessThanOrEqual(result.unsaid.length);
      if (differences.length === 0) expect(result.files).toEqual([]);

      const concerned = new Set(
        differences.flatMap((one) => ('source' in one ? `${one.source.file}:${one.source.line}` : [])),
      );
      for (const [name, text] of Object.entries(made.files)) {
        const now = await readFile(path.join(place, name), 'utf8');
        if (text.includes('\r')) expect(now).not.toMatch(/(?<!\r)\n/);
        const starts = entryLinesIn(text);
        const places = [...concerned].filter((at) => at.includes(`/${name}:`));
        const own = new Set(places.map((at) => starts[Number(at.split(':').at(-1)) - 1]));
        const kept = text
          .split('\n')
          .filter((line, index) => !own.has(starts[index]) && !mayChange.test(line));
        expect({ text, now, kept: areIn(kept, now) }).toMatchObject({ kept: true });
      }

      for (const edited of result.files) {
        const file = edited.path;
        patch += patchFor(path.relative(directory, file), edited.before, edited.after);
        accepted.set(file, await readFile(file, 'utf8'));
      }
      await write(place, made.files);
    }),
    { numRuns: 200 },
  );
  expect(refused).toBeLessThan(count / 2);
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: directory, input: patch });
  for (const [file, text] of accepted) expect(await readFile(file, 'utf8')).toBe(text);
});
