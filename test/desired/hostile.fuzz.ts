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
const maxMs = 20_000;
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
const one = (content: string): Record<string, string> => ({ 'a.yaml': content });

const shapesOf = (size: number): Record<string, Record<string, string>> => {
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
    indents: one(filled('', (n) => (n < 2_800 ? `${' '.repeat(n)}a:\n` : 'x'))),
    'a quoted text without end': one(filled('template: "', () => 'x')),
    'one long word': one(filled('template: a\nrecords: [{type: TXT, content: ', () => 'x')),
    'octets that are no UTF-8': one(filled('template: ', () => '\u0000')),
    'line ends': one(filled('', () => '\n')),
    comments: one(filled('', () => '#\n')),
    subdomains: one(filled('template: a\nrecords: []\nsubdomains:\n', (n) => `- s${n}\n`)),
  };
};

const usage = z.object({ maxRSS: z.number(), userCPUTime: z.number(), systemCPUTime: z.number() });

const measure = async (
  files: Record<string, string>,
): Promise<{ code: number; ms: number; mib: number; end: string }> => {
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
