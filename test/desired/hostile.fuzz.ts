import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { built } from '../built.ts';
import { directoryWith } from './load-files.ts';

/*
 * Files made to cost as much as they can: what the built program needs for one. As large as a file may be, most are
 * given up while they are parsed; the smaller ones go all the way.
 */

/** Of the processor. */
const maxMs = 10_000;
const maxMemory = 1_000;

const filledTo =
  (size: number) =>
  (head: string, line: (index: number) => string): string => {
    const lines = [head];
    for (let length = head.length, index = 0; ; index += 1) {
      const next = line(index);
      length += next.length;
      if (length > size) return lines.join('');
      lines.push(next);
    }
  };
const records = 'template: a\nrecords:\n';

type Files = Readonly<Record<string, string | Uint8Array>>;

const one = (content: string | Uint8Array): Files => ({ 'a.yaml': content });

const shapesOf = (size: number): Record<string, Files> => {
  const filled = filledTo(size);
  return {
    'records without fault': one(filled(records, (n) => `- {type: A, name: n${n}, content: 192.0.2.1}\n`)),
    'records at one name': one(filled(records, (n) => `- {type: TXT, content: x${n}}\n`)),
    'one record again and again': one(filled(records, () => '- {type: A, content: 192.0.2.1}\n')),
    'CNAMEs at one name': one(
      filled(records, (n) => `- {type: CNAME, name: w, content: x${n}.example.net}\n`),
    ),
    'CNAMEs in a chain': one(filled(records, (n) => `- {type: CNAME, name: n${n}, content: n${n + 1}}\n`)),
    'a fault in each record': one(filled(records, (n) => `- {type: A, contend: x${n}}\n`)),
    'unknown keys': one(filled('template: a\n', (n) => `reccords${n}: x\n`)),
    'unknown tags': one(filled(records, () => '- !x y\n')),
    'aliases of nothing': one(filled(records, (n) => `- *a${n}\n`)),
    'one alias again and again': one(filled('template: a\nvars: &v {x: y}\nrecords:\n', () => '- *v\n')),
    'variables without definition': one(
      filled(
        filled('template: a\nvars:\n', (n) => `  variable_${n}: x\n`)
          .slice(0, size / 2)
          .replace(/\n[^\n]*$/, '\nrecords:\n'),
        (n) => `- {type: TXT, content: "\${varible_${n}}"}\n`,
      ),
    ),
    'variables in variables': one(
      filled(
        `template: a\nvars: {a: ${'x'.repeat(10_000)}, b: "${'${a}'.repeat(90)}"}\nrecords:\n`,
        (n) => `- {type: TXT, name: n${n}, content: "\${b}"}\n`,
      ),
    ),
    documents: one(filled('', (n) => `---\ntemplate: a${n}\nrecords: []\n`)),
    'documents of one name': one(filled('', () => '---\ntemplate: a\nrecords: []\n')),
    'documents that include one fragment': {
      ...one(filled('', (n) => `---\ntemplate: a${n}\ninclude: [_f.yaml]\n`)),
      '_f.yaml': filled('records:\n', (n) => `- {type: A, name: n${n}, contend: x}\n`),
    },
    'ignore rules': one(
      filled(
        filled('template: a\nignore:\n', (n) => `- {name: "*a*a*a*${n}"}\n`)
          .slice(0, size / 2)
          .replace(/\n[^\n]*$/, '\nrecords:\n'),
        (n) => `- {type: TXT, name: ${'a'.repeat(40)}${n}, content: x}\n`,
      ),
    ),
    brackets: one(filled('', () => '[')),
    braces: one(filled('', () => '{a: ')),
    'brackets closed at once': one(filled('template: a\nrecords: [', () => '[],')),
    'dashes in one line': one(filled('', () => '- ')),
    'lines of dashes': one(filled('template: a\nrecords:\n', () => `${'- '.repeat(60)}\n`)),
    'question marks': one(filled('', () => '? ')),
    indents: one(filled('', (n) => (n < 2_800 ? `${' '.repeat(n)}a:\n` : 'x'))),
    'a quoted text without end': one(filled('template: "', () => 'x')),
    'one long word': one(filled('template: a\nrecords: [{type: TXT, content: ', () => 'x')),
    'one quoted text': one(`template: a\nrecords: [{type: TXT, content: "${'x '.repeat(size / 2 - 30)}"}]\n`),
    'one block text': one(filled('template: a\nrecords:\n- type: TXT\n  content: |\n', () => '    x\n')),
    'one text of escapes': one(
      `template: a\nrecords: [{type: TXT, content: "${'\\x41'.repeat(size / 4 - 20)}"}]\n`,
    ),
    anchors: one(filled('template: a\nrecords:\n', (n) => `- &a${n} x\n`)),
    'lists of aliases of lists': one(
      filled(
        `template: a\nvars:\n  a0: &a0 x\n`,
        (n) => `  a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(20)}]\n`,
      ),
    ),
    'records by aliases of lists of aliases': one(
      filled(`template: a\nrecords:\n- &r {type: TXT, content: &c [${'x,'.repeat(9_000)}]}\n`, (n) =>
        n % 2 === 0 ? '- *r\n' : '- {type: TXT, content: *c}\n',
      ),
    ),
    'keys of variables': one(filled('template: a\nrecords: []\nvars:\n', (n) => `  k${n}: x\n`)),
    'keys of a record': one(filled('template: a\nrecords:\n- type: A\n', (n) => `  k${n}: x\n`)),
    'one key again and again': one(filled('template: a\nrecords:\n- type: A\n', () => '  type: A\n')),
    tabs: one(filled('template:\ta\n', () => '\t')),
    'tabs before each value': one(
      filled(records, (n) => `-\t{type:\tA, name:\tn${n}, content:\t192.0.2.1}\n`),
    ),
    'lines of blanks': one(filled('template: a\n', () => `${' '.repeat(99)}\n`)),
    'byte order marks': one(filled('', () => '\ufeff')),
    'UTF-16': one(Buffer.from(filled('\ufeff', (n) => `- a${n}\n`).slice(0, size / 2), 'utf16le')),
    'NUL bytes': one(filled('template: ', () => '\u0000')),
    'octets that are no UTF-8': one(Buffer.alloc(size, 0xff)),
    'conflict markers': one(filled('template: a\n', () => '<<<<<<< HEAD\n=======\n')),
    'line ends': one(filled('', () => '\n')),
    comments: one(filled('', () => '#\n')),
    subdomains: one(filled('template: a\nrecords: []\nsubdomains:\n', (n) => `- s${n}\n`)),
  };
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

describe.each([16_700_000, 4_190_000, 510_000])('a hostile file of %i characters', (size) => {
  test.each(Object.entries(shapesOf(size)))('%s', async (name, files) => {
    const { code, ms, mib, end } = await measure(files);
    process.stdout.write(`${name}: ${ms} ms, ${mib} MiB; ${end}\n`);
    expect({ ended: code === 0 || code === 1, inTime: ms < maxMs, inMemory: mib < maxMemory }).toEqual({
      ended: true,
      inTime: true,
      inMemory: true,
    });
    expect(end).toMatch(/^\d+ template files?: /);
  });
});
