import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileContent } from '../desired/load-files.ts';

/** A case of `bad.txt`, which explains its notation. */
export interface BadFile {
  readonly name: string;
  /** By their names. */
  readonly files: Readonly<Record<string, FileContent>>;
  /** As in `3:21 4:21 error wildcard`. */
  readonly found: readonly string[];
}

export const badFiles = (): readonly BadFile[] =>
  readFileSync(join(import.meta.dirname, 'bad.txt'), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map(badFileIn);

/** The text of one of its files, if it is not a link. */
export const textOf = ({ files }: BadFile, name: string): string => {
  const file = files[name];
  return Buffer.isBuffer(file) ? file.toString() : '';
};

const badFileIn = (text: string): BadFile => {
  const [name = '', ...lines] = text.trimEnd().split('\n');
  const isFound = (line: string): boolean => /^(?:\S+[:.]\S+ )*(?:error|warning) [\w-]+$/.test(line);
  const end = lines.findLastIndex((line) => !isFound(line)) + 1;
  const files = lines
    .slice(0, end)
    .map((line) => `${line}\n`)
    .join('');
  return { name, files: filesIn(files), found: lines.slice(end) };
};

const filesIn = (text: string): BadFile['files'] => {
  const [own = '', ...others] = text.split(/^:: /m);
  const first = own === '' && others.length > 0 ? [] : [['a.yaml', bytesOf(own)] as const];
  return Object.fromEntries([...first, ...others.map(otherIn)]);
};

const otherIn = (text: string): readonly [name: string, FileContent] => {
  const end = text.indexOf('\n');
  const [name = '', link] = text.slice(0, end).split(' -> ');
  return [name, link === undefined ? bytesOf(text.slice(end + 1)) : { link }];
};

const bytesOf = (text: string): Buffer => {
  const whole = text.startsWith(' ') ? `template: web\nrecords:\n${text}` : text;
  const repeated = whole.replaceAll(/<([^<>]+)\*(\d+)>/g, (_, what: string, times) =>
    what.repeat(Number(times)),
  );
  // Each character stands for an octet, so that there can be others than those of UTF-8.
  const octets = Buffer.from(repeated).toString('latin1');
  return Buffer.from(
    octets.replaceAll(/<([\dA-F]{2}(?: [\dA-F]{2})*)>/g, (_, hex: string) =>
      Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1'),
    ),
    'latin1',
  );
};
