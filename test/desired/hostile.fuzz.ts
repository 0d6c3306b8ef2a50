import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { built } from '../built.ts';
import { directoryWith } from './load-files.ts';

/*
 * Files made to cost as much as they can: what the built program needs for one. Most are as large as a file may be. YAML
 * that is wrong is explained in smaller ones only, so those are as large as what is explained may be.
 */

/** Of the processor. */
const maxMs = 10_000;
const maxMemory = 1_000;

const largest = { characters: 16_700_000, marks: 1_999_000 };
const explained = { characters: 510_000, marks: 1_999_000 };

const filledTo =
  (size: typeof largest) =>
  (head: string, line: (index: number) => string): string => {
    const lines = [head];
    for (let characters = head.length, marks = marksIn(head), index = 0; ; index += 1) {
      const next = line(index);
      characters += next.length;
      marks += marksIn(next);
      if (characters > size.characters || marks > size.marks) return lines.join('');
      lines.push(next);
    }
  };

/** What the reader counts before it reads. */
const marksIn = (line: string): number => line.match(/[,[{\n]|[-:] /g)?.length ?? 0;

const records = 'template: a\nrecords:\n';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** What a file begins with, and what follows again and again until it is as large as it may be. */
const repeated: Readonly<
  Record<string, readonly [head: string, line: string | ((index: number) => string)]>
> = {
  'records without fault': [records, (n) => `- {type: A, name: n${n}, content: 192.0.2.1}\n`],
  'records at one name': [records, (n) => `- {type: TXT, content: x${n}}\n`],
  'one record again and again': [records, '- {type: A, content: 192.0.2.1}\n'],
  'CNAMEs at one name': [records, (n) => `- {type: CNAME, name: w, content: x${n}.example.net}\n`],
  'CNAMEs in a chain': [records, (n) => `- {type: CNAME, name: n${n}, content: n${n + 1}}\n`],
  'a fault in each record': [records, (n) => `- {type: A, contend: x${n}}\n`],
  'unknown keys': ['template: a\n', (n) => `reccords${n}: x\n`],
  'unknown tags': [records, '- !x y\n'],
  'aliases of nothing': [records, (n) => `- *a${n}\n`],
  'one alias again and again': ['template: a\nvars: &v {x: y}\nrecords:\n', '- *v\n'],
  'variables without definition': [records, (n) => `- {type: TXT, content: "\${varible_${n}}"}\n`],
  'variables in variables': [
    `template: a\nvars: {a: ${'x'.repeat(10_000)}, b: "${'${a}'.repeat(90)}"}\nrecords:\n`,
    (n) => `- {type: TXT, name: n${n}, content: "\${b}"}\n`,
  ],
  documents: ['', (n) => `---\ntemplate: a${n}\nrecords: []\n`],
  'documents of one name': ['', '---\ntemplate: a\nrecords: []\n'],
  'ignore rules': ['template: a\nignore:\n', (n) => `- {name: "*a*a*a*${n}"}\n`],
  brackets: ['', '['],
  braces: ['', '{a: '],
  'brackets closed at once': ['template: a\nrecords: [', '[],'],
  'dashes in one line': ['', '- '],
  'lines of dashes': [records, `${'- '.repeat(60)}\n`],
  'question marks': ['', '? '],
  indents: ['', (n) => (n < 2_800 ? `${' '.repeat(n)}a:\n` : 'x')],
  'a quoted text without end': ['template: "', 'x'],
  'signs that begin no text': [records, '- @\n'],
  'one long word': ['template: a\nrecords: [{type: TXT, content: ', 'x'],
  'one block text': ['template: a\nrecords:\n- type: TXT\n  content: |\n', '    x\n'],
  'one text of escapes': ['template: "', '\\x41'],
  anchors: [records, (n) => `- &a${n} x\n`],
  'lists of aliases of lists': [
    'template: a\nvars:\n  a0: &a0 x\n',
    (n) => `  a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(20)}]\n`,
  ],
  'records by aliases': [
    `template: a\nrecords:\n- &r {type: TXT, content: &c [${'x,'.repeat(9_000)}]}\n`,
    (n) => (n % 2 === 0 ? '- *r\n' : '- {type: TXT, content: *c}\n'),
  ],
  'keys of variables': ['template: a\nrecords: []\nvars:\n', (n) => `  k${n}: x\n`],
  'keys of a record': ['template: a\nrecords:\n- type: A\n', (n) => `  k${n}: x\n`],
  'one key again and again': ['template: a\nrecords:\n- type: A\n', '  type: A\n'],
  tabs: ['template:\ta\n', '\t'],
  'lines of blanks': ['template: a\n', `${' '.repeat(99)}\n`],
  'byte order marks': ['', '\ufeff'],
  'NUL bytes': ['template: ', '\u0000'],
  'conflict markers': ['template: a\n', '<<<<<<< HEAD\n=======\n'],
  'line ends': ['', '\n'],
  subdomains: ['template: a\nrecords: []\nsubdomains:\n', (n) => `- s${n}\n`],
};

/** Of which the YAML is wrong. */
const wrong = new Set(
  [
    'brackets, braces, brackets closed at once, dashes in one line, lines of dashes, question marks, indents',
    'a quoted text without end, signs that begin no text, one text of escapes, tabs, conflict markers',
  ].flatMap((line) => line.split(', ')),
);

const shapes: Readonly<Record<string, () => Files>> = {
  ...Object.fromEntries(
    Object.entries(repeated).map(([name, [head, line]]) => {
      const filled = filledTo(wrong.has(name) ? explained : largest);
      return [name, () => ({ 'a.yaml': filled(head, typeof line === 'string' ? () => line : line) })];
    }),
  ),
  'brackets, more than are explained': () => ({ 'a.yaml': '[],'.repeat(660_000) }),
  'more values than are read': () => ({ 'a.yaml': `a: [${'[],'.repeat(5_000_000)}]` }),
  'documents that include one fragment': () => {
    // Together as large as one may be.
    const filled = filledTo({ characters: largest.characters / 2, marks: largest.marks / 2 });
    return {
      'a.yaml': filled('', (n) => `---\ntemplate: a${n}\ninclude: [_f.yaml]\n`),
      '_f.yaml': filled('records:\n', (n) => `- {type: A, name: n${n}, contend: x}\n`),
    };
  },
  'UTF-16': () => ({ 'a.yaml': Buffer.from('- a\n'.repeat(largest.characters / 8), 'utf16le') }),
  'octets that are no UTF-8': () => ({ 'a.yaml': Buffer.alloc(largest.characters, 0xff) }),
};

const usage = z.object({ maxRSS: z.number(), userCPUTime: z.number(), systemCPUTime: z.number() });

const measure = async (files: Files): Promise<{ code: number; ms: number; mib: number; end: string }> => {
  const cwd = await directoryWith(files);
  const note = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\n'+JSON.stringify(process.resourceUsage())))`;
  const child = spawn(
    process.execPath,
    ['--import', note, built('main.js'), 'validate', '--templates', '.'],
    {
      cwd,
      env: { HOME: cwd },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 15 * maxMs,
      killSignal: 'SIGKILL',
    },
  );
  const [out, told, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  const { maxRSS, userCPUTime, systemCPUTime } = usage.parse(JSON.parse(told.split('\n').at(-1) ?? ''));
  return {
    code: Number(code ?? -1),
    ms: Math.round((userCPUTime + systemCPUTime) / 1_000),
    mib: Math.round(maxRSS / 1_024),
    end: out.trimEnd().split('\n').at(-1) ?? '',
  };
};

test.each(Object.entries(shapes))('a hostile file: %s', async (name, files) => {
  const { code, ms, mib, end } = await measure(files());
  process.stdout.write(`${name}: ${ms} ms, ${mib} MiB; ${end}\n`);
  expect({ ended: code === 0 || code === 1, inTime: ms < maxMs, inMemory: mib < maxMemory }).toEqual({
    ended: true,
    inTime: true,
    inMemory: true,
  });
  expect(end).toMatch(/^\d+ template files?: /);
});
