import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { patchFor } from '../../src/import/accept.ts';
import type { RecordData } from '../../src/model/record.ts';
import { entryOf, recordKey } from '../../src/plan/entry.ts';
import { directoryWith, write } from '../desired/load-files.ts';
import { acceptInto, differencesIn, loadIn } from './accepted.ts';
import { templateOf } from './written.ts';

vi.setConfig({ testTimeout: 240_000 });

type Said = Pick<RecordData, 'type' | 'content' | 'priority'>;

const saying = (type: string, contents: readonly string[], priorities: readonly (number | null)[] = [null]) =>
  fc.record({
    type: fc.constant(type),
    content: fc.constantFrom(...contents),
    priority: fc.constantFrom(...priorities),
  });

/** What a record says, few enough that contents and names repeat. */
const said: fc.Arbitrary<Said> = fc.oneof(
  saying('A', ['192.0.2.1', '192.0.2.2', '192.0.2.3']),
  saying('AAAA', ['2001:db8::1', '2001:db8::2']),
  saying('MX', ['mx1.example.net', 'mx2.example.net'], [10, 20]),
  saying('TXT', ['one', 'two # words', "it's", 'a "b"', 'c: d', '${x}', '@', 'x'.repeat(120)]),
  saying('SRV', ['5 5060 sip.example.net', '0 443 www.example.net'], [0, 10]),
);

/** A content that no other record of its type has. */
const fresh = (type: string, number: number): string =>
  ({
    A: `192.0.2.${number}`,
    AAAA: `2001:db8::${number}`,
    MX: `mx${number}.example.net`,
    TXT: `text ${number}`,
    SRV: `${number} ${number} sip${number}.example.net`,
  })[type]!;

const names = fc.constantFrom(null, 'www', 'mail', 'a.b', '*', '_sip._tcp');

/** How an entry is written. */
const style = fc.record({
  isBlock: fc.boolean(),
  place: fc.constantFrom<'web' | 'shared'>('web', 'web', 'shared'),
  content: fc.constantFrom('literal', 'literal', 'variable', 'anchor'),
  inList: fc.boolean(),
  inParts: fc.boolean(),
  quote: fc.boolean(),
  hasTtl: fc.boolean(),
  above: fc.constantFrom('', '  # above\n', '\n  # heading\n\n', '\n'),
  beside: fc.constantFrom('', ' # beside'),
});
type Style = typeof style extends fc.Arbitrary<infer One> ? One : never;

type Fate = (one: RecordData) => readonly RecordData[];

/** What becomes of a record at the service: it stays, has another TTL, priority or content, or is gone. */
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 4, arbitrary: fc.constant((one: RecordData) => [one]) },
  fc.constantFrom(60, 600).map((ttl): Fate => (one) => [{ ...one, ttl }]),
  fc.constantFrom(1, 30).map((priority): Fate => (one) => [
    one.priority === null ? one : { ...one, priority },
  ]),
  said.map((other): Fate => (one) => {
    const content = other.type === one.type ? other.content : fresh(one.type, 88);
    return [{ ...one, content }];
  }),
  fc.constant(() => []),
);

const world = fc.record({
  records: fc.array(fc.record({ said, name: names, ttl: fc.constantFrom(300, 3600), style, fate }), {
    minLength: 1,
    maxLength: 12,
  }),
  added: fc.array(fc.record({ said, name: names, ttl: fc.constantFrom(300, 900) }), { maxLength: 3 }),
  templateTtl: fc.constantFrom(null, 300, 3600),
  eol: fc.constantFrom('\n', '\n', '\r\n'),
  isLast: fc.boolean(),
});
type World = typeof world extends fc.Arbitrary<infer One> ? One : never;

/** A file while it is written. */
class Part {
  readonly #name: string;
  readonly #vars = new Map<string, string>();
  readonly #anchors = new Map<string, string>();
  entries = '';

  constructor(name: string) {
    this.#name = name;
  }

  /** A text as a value: as it is, by a variable, or by an alias where it comes again. */
  value(text: string, { content, quote }: Style): string {
    const literal = scalar(text, quote);
    if (content === 'literal') return literal;
    const known = content === 'variable' ? this.#vars : this.#anchors;
    const before = known.get(text);
    const name = before ?? `${this.#name}-${known.size}`;
    known.set(text, name);
    if (content === 'variable') return `"\${${name}}"`;
    return before === undefined ? `&${name} ${literal}` : `*${name} `;
  }

  text(): string {
    const vars = [...this.#vars].map(([text, name]) => `  ${name}: ${scalar(text, true)} # used\n`);
    const entries = this.entries === '' ? ' []\n' : `\n${this.entries}`;
    return `${vars.length === 0 ? '' : `vars:\n${vars.join('')}`}records:${entries}`;
  }
}

const scalar = (text: string, quote: boolean): string =>
  !quote && /^[A-Za-z0-9][\w.-]*$/.test(text)
    ? text
    : `"${text.replaceAll('${', () => '$${').replaceAll(/["\\]/g, '\\$&')}"`;

/** Files, and what the service has while nothing has changed there. */
const made = ({ records, templateTtl, eol, isLast }: World) => {
  const wanted: { readonly record: RecordData; readonly fate: Fate }[] = [];
  const seen = new Set<string>();
  const parts = { web: new Part('web'), shared: new Part('shared') };
  for (const { said: data, name: given, ttl, style: how, fate: becomes } of records) {
    const part = parts[how.place];
    const name = data.type === 'SRV' ? '_sip._tcp' : given;
    const contents = [data.content, ...(how.inList ? [fresh(data.type, 77)] : [])];
    const all = contents.map((content) => ({ ...data, content, name, ttl: how.hasTtl ? ttl : templateTtl }));
    const keys = all.map((one) => recordKey(entryOf({ id: 0, ...one })));
    // One name, one kind of alias and one SPF: only copies of a record are in the way.
    if (keys.some((key) => seen.has(key))) continue;
    for (const key of keys) seen.add(key);
    const inParts = data.type === 'SRV' && how.inParts && !how.inList;
    const [weight, port, target = ''] = data.content.split(' ');
    const values = (inParts ? [target] : contents).map((text) => part.value(text, how));
    const fields = [
      `type: ${data.type}`,
      ...(name === null ? [] : [`name: ${scalar(name, how.quote)}`]),
      ...(inParts ? [`weight: ${weight}`, `port: ${port}`] : []),
      `${inParts ? 'target' : 'content'}: ${how.inList ? `[ ${values.join(', ')} ]` : values[0]}`,
      ...(data.priority === null ? [] : [`priority: ${data.priority}`]),
      ...(how.hasTtl ? [`ttl: ${ttl}`] : []),
    ];
    const entry = how.isBlock ? fields.join('\n    ') : `{ ${fields.join(', ')} }`;
    part.entries += `${how.above}  - ${entry}${how.beside}\n`;
    wanted.push(...all.map((record) => ({ record, fate: becomes })));
  }
  const ttl = templateTtl === null ? '' : `ttl: ${templateTtl} # usual\n`;
  const own = `# the web servers\ntemplate: web\n${ttl}include: [_shared.yaml]\n${parts.web.text()}`;
  const web = `${own}${isLast ? '' : '# the end\n'}`.replaceAll('\n', eol);
  return { files: { 'web.yaml': web, '_shared.yaml': parts.shared.text() }, wanted };
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

/** Whether lines stand in a text in their order, whatever is between them. */
const areIn = (lines: readonly string[], text: string): boolean => {
  const others = text.split('\n');
  let at = -1;
  return lines.every((line) => (at = others.indexOf(line, at + 1)) >= 0);
};

/** Place, reason, and what to write there. */
const refusal = /^\S+\.yaml(?::\d+)?: .+: (?:add - \{|remove \{|instead of \{ .* \}, write - \{)/s;

test('after accepting, files plan in sync, and only lines of the records concerned have changed; or they are refused', async () => {
  const directory = await directoryWith({});
  execFileSync('git', ['init', '-q'], { cwd: directory });
  let [count, refused, patch] = [0, 0, ''];
  const accepted = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const { files, wanted } = made(given);
      const place = path.join(directory, String((count += 1)));
      await write(place, files);
      const drifted = wanted.flatMap(({ record, fate: becomes }) => becomes(record));
      const actual = templateOf(
        ...drifted,
        ...given.added.map(({ said: data, ...one }) => ({ ...data, ...one })),
      );
      const differences = differencesIn(await loadIn(place), actual);
      const result = await acceptInto(place, actual);
      const textOf = (name: string): Promise<string> => readFile(path.join(place, name), 'utf8');
      if ('refusals' in result) {
        refused += 1;
        expect(result.refusals.length).toBeGreaterThan(0);
        for (const one of result.refusals) expect(one).toMatch(refusal);
        for (const [name, text] of Object.entries(files)) expect(await textOf(name)).toBe(text);
        return;
      }

      const left = differencesIn(await loadIn(place), actual);
      expect(left.filter((one) => !(one.action === 'surplus' && one.reason === 'duplicate'))).toEqual([]);
      expect(left.length).toBeLessThanOrEqual(result.unsaid.length);
      if (differences.length === 0) expect(result.files).toEqual([]);
      for (const [name, text] of Object.entries(files)) {
        const now = await textOf(name);
        if (text.includes('\r')) expect(now).not.toMatch(/(?<!\r)\n/);
        const entries = entryLinesIn(text);
        const own = differences.flatMap((one) =>
          'source' in one && one.source.file.endsWith(`/${name}`) ? one.source.line : [],
        );
        const starts = new Set(own.map((line) => entries[line - 1]!));
        const kept = text
          .split('\n')
          .filter((line, index) => !starts.has(entries[index]!) && !mayChange.test(line));
        expect({ text, now, kept: areIn(kept, now) }).toMatchObject({ kept: true });
      }

      for (const { path: file, before, after } of result.files) {
        patch += patchFor(path.relative(directory, file), before, after);
        accepted.set(file, await readFile(file, 'utf8'));
      }
      await write(place, files);
    }),
    { numRuns: 200 },
  );
  // Two in five, as a rule.
  expect(refused).toBeLessThan(count * 0.7);
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: directory, input: patch });
  for (const [file, text] of accepted) expect(await readFile(file, 'utf8')).toBe(text);
});
