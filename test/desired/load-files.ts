import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createTemplateLoader, type LoadOptions } from '../../src/source/load.ts';
import { groupBy } from '../../src/model/group.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState, Problem, TemplateDefaults } from '../../src/model/template.ts';

const defaults: TemplateDefaults = {
  mode: 'enforce',
  surplus: 'report',
  adopt: false,
  limits: { maxAdds: 100, maxChangePercent: 30, minRecords: 10 },
};

export const options: Omit<LoadOptions, 'paths'> = {
  defaults,
  variables: { override: {}, defaults: {} },
  strict: false,
};

/** A file, or a link. */
export type FileContent = string | Uint8Array | { readonly link: string };

/** A directory of its own, gone after the test. */
export const directoryWith = async (files: Readonly<Record<string, FileContent>>): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'templates-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await write(directory, files);
  return directory;
};

export const write = async (
  directory: string,
  files: Readonly<Record<string, FileContent>>,
): Promise<void> => {
  for (const folder of new Set(Object.keys(files).map(dirname)))
    await mkdir(join(directory, folder), { recursive: true });
  await Promise.all(
    Object.entries(files).map(([name, content]) =>
      typeof content === 'object' && 'link' in content
        ? symlink(content.link, join(directory, name))
        : writeFile(join(directory, name), content),
    ),
  );
};

export interface LoadedFiles extends DesiredState {
  /** The problems, as `validate` prints them. */
  readonly lines: readonly string[];
  /** The same without words, in the notation of `../files/bad.txt`. */
  readonly found: readonly string[];
}

/** Loads files as `templates/NAME`, whatever the directory is really called. */
export const loadFiles = async (
  files: Readonly<Record<string, FileContent>>,
  settings: Partial<LoadOptions> = {},
): Promise<LoadedFiles> => {
  const directory = await directoryWith(files);
  const given = { ...options, paths: [directory], ...settings };
  const state = await createTemplateLoader().load(given);
  const renamed: DesiredState = JSON.parse(JSON.stringify(state).replaceAll(directory, 'templates'));
  return withLines(renamed);
};

/** The same without a copy of what it gives: for large files, and for many. */
export const loadOnce = async (
  files: Readonly<Record<string, FileContent>>,
): Promise<DesiredState & Pick<LoadedFiles, 'lines'>> => {
  const directory = await directoryWith(files);
  const state = await createTemplateLoader().load({ ...options, paths: [directory] });
  const lines = state.problems.map(formatProblem);
  return { ...state, lines: lines.map((line) => line.replaceAll(directory, 'templates')) };
};

const withLines = (state: DesiredState): LoadedFiles => ({
  ...state,
  lines: state.problems.map(formatProblem),
  found: [...groupBy(state.problems, ({ severity, check }) => `${severity} ${check}`)].map(([what, group]) =>
    [...group.map(placeOf), what].filter((part) => part !== '').join(' '),
  ),
});

const placeOf = ({ file, line, column }: Problem): string =>
  [file?.replace(/^templates(?:\/(?:a\.yaml$)?|$)/, ''), line, column].filter(Boolean).join(':');

/** A file with every key. */
export const standardWeb = `template: standard-web
id: 17
ttl: 3600
mode: edits
surplus: park
adopt: true
limits: {maxChangePercent: 60}
subdomains: [shop.example.net]
answers: on
nameservers: [ns1.example.net, '192.0.2.53:5353']
vars: {web: 203.0.113.10}
include: [_mail.yaml]
ignore:
  - {type: txt, name: "_acme-challenge*"}
records:
  - {type: A, content: "\${web}"}
  - {type: a, name: www, content: ["\${web}", 203.0.113.11], ttl: 5m}
  - {type: SRV, name: _sip._tcp, priority: 10, weight: 5, port: 5060, target: sip.example.net}
  - {type: SRV, name: _sips._tcp, priority: 10, content: "5  5061 sip.example.net"}
  - {type: TXT, content: "v=spf1 mx -all"}
  - {type: CNAME, content: shop.example.org, allow: [cname-apex]}
`;
