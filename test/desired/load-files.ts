import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createTemplateLoader, type LoadOptions } from '../../src/source/load.ts';
import { openOwnFiles } from '../../src/source/own-files.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState, TemplateDefaults } from '../../src/model/template.ts';

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

/** A directory of its own, gone after the test. */
export const directoryWith = async (files: Record<string, string | Uint8Array>): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'templates-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await write(directory, files);
  return directory;
};

export const write = async (directory: string, files: Record<string, string | Uint8Array>): Promise<void> => {
  for (const folder of new Set(Object.keys(files).map(dirname)))
    await mkdir(join(directory, folder), { recursive: true });
  await Promise.all(
    Object.entries(files).map(([name, content]) => writeFile(join(directory, name), content)),
  );
};

/** Loads files as `templates/NAME`, whatever the directory is really called. */
export const loadFiles = async (
  files: Record<string, string | Uint8Array>,
  settings: Partial<LoadOptions> = {},
): Promise<DesiredState & { lines: string[] }> => {
  const directory = await directoryWith(files);
  const given = { ...options, paths: [directory], ...settings };
  const state = await createTemplateLoader().load(given);
  await expectTheSamePublished(given, state);
  const renamed: DesiredState = JSON.parse(JSON.stringify(state).replaceAll(directory, 'templates'));
  return withLines(renamed);
};

/** The same without a copy of what it gives and without that comparison: for large files, and for many. */
export const loadOnce = async (
  files: Record<string, string | Uint8Array>,
): Promise<DesiredState & { lines: string[] }> => {
  const directory = await directoryWith(files);
  const state = await createTemplateLoader().load({ ...options, paths: [directory] });
  const { lines } = withLines(state);
  return { ...state, lines: lines.map((line) => line.replaceAll(directory, 'templates')) };
};

/** Whoever reads what another process publishes sees all as if it had the files itself. */
const expectTheSamePublished = async (given: LoadOptions, state: DesiredState): Promise<void> => {
  const own = openOwnFiles(given.paths);
  const published = await own.read();
  if (published === null) return;
  const contents = async (hashes: readonly string[]): Promise<Map<string, Buffer>> =>
    new Map(await Promise.all(hashes.map(async (hash) => [hash, await own.contentOf(hash)] as const)));
  const copied = structuredClone(published.files);
  expect(await createTemplateLoader().loadPublished(given, copied, contents)).toEqual(state);
};

const withLines = (state: DesiredState): DesiredState & { lines: string[] } => ({
  ...state,
  lines: state.problems.map(formatProblem),
});
