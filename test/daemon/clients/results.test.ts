import { rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Results } from '../../../src/daemon/clients/client-state.ts';
import { createTemplateLoader } from '../../../src/source/load.ts';
import type { DesiredState } from '../../../src/model/template.ts';
import type { PassResult, TemplateResult } from '../../../src/result.ts';
import { directoryWith, options, write } from '../../desired/load-files.ts';

/** Files in a directory, and one loader of them for the whole of a test. */
const files = async (contents: Record<string, string>) => {
  const directory = await directoryWith(contents);
  const loader = createTemplateLoader();
  return {
    write: (name: string, content: string) => write(directory, { [name]: content }),
    remove: (name: string) => rm(path.join(directory, name)),
    touch: (name: string) => utimes(path.join(directory, name), new Date(), new Date(0)),
    load: () => loader.load({ ...options, paths: [directory] }),
  };
};

const describing = (template: string, address = '192.0.2.1'): string =>
  `template: ${template}\nrecords:\n  - {type: A, content: ${address}}\n`;

/** What a pass over that part would give, with as many records in sync as it is the how-maniest. */
const resultOf = (part: DesiredState, inSync: number, rest: Partial<PassResult> = {}): PassResult => ({
  client: 'acme',
  run: `run ${inSync}`,
  trigger: 'file-change',
  startedAt: '2026-11-20T20:00:00.000Z',
  durationMs: 1,
  dryRun: false,
  holdReason: null,
  retryAfter: null,
  problems: part.problems.map((problem) => ({ ...problem, client: 'acme' })),
  templates: [
    ...part.templates.map(({ template, source }) => found(template, source.file, inSync)),
    ...part.unusable.map(({ template, file }) => ({
      ...found(template ?? file, file, 0),
      status: 'held' as const,
    })),
  ],
  ...rest,
});

const found = (template: string, file: string, inSync: number): TemplateResult => ({
  client: 'acme',
  template,
  id: 1,
  file,
  revision: null,
  status: 'in-sync',
  message: null,
  inSync,
  parked: 0,
  ignored: 0,
  differences: [],
  subdomains: [],
});

const shown = ({ latest }: Results): Record<string, number> =>
  Object.fromEntries((latest?.templates ?? []).map(({ template, inSync }) => [template, inSync]));

const withTwo = async () => {
  const folder = await files({ 'web.yaml': describing('web'), 'mail.yaml': describing('mail') });
  const newest = new Results();
  /** A pass over the files as they are now. */
  const pass = async (
    inSync: number,
    resultFor: (all: DesiredState, inSync: number) => PassResult = resultOf,
  ): Promise<readonly string[]> => {
    const all = await folder.load();
    newest.begin(all);
    return newest.add(resultFor(all, inSync));
  };
  await pass(1);
  return { folder, newest, pass };
};

describe('a service that cannot be read', () => {
  const unread = (all: DesiredState): PassResult => {
    const { templates, ...result } = resultOf(all, 0, {
      startedAt: '2026-11-20T20:30:00.000Z',
      holdReason: 'the service is away',
    });
    const failed = { status: 'failed', message: 'the service is away', asOf: null } as const;
    return { ...result, templates: templates.map((one) => ({ ...one, ...failed })) };
  };
  const read = (all: DesiredState, inSync: number): PassResult => resultOf(all, inSync, { wasRead: true });

  it('keeps the last known result of each template, and its time', async () => {
    const { newest, pass } = await withTwo();
    await pass(2, read);
    await pass(0, unread);
    await pass(0, unread);
    const known = { status: 'failed', message: 'the service is away', asOf: '2026-11-20T20:00:00.000Z' };
    expect(newest.latest?.templates).toMatchObject([
      { ...known, inSync: 2 },
      { ...known, inSync: 2 },
    ]);
    await pass(3, read);
    expect(newest.latest?.templates.map(({ asOf }) => asOf)).toEqual([undefined, undefined]);
  });

  it('keeps nothing of a template that was never read', async () => {
    const { folder, newest, pass } = await withTwo();
    await pass(2, read);
    await folder.write('new.yaml', describing('new'));
    await pass(0, unread);
    expect(newest.latest?.templates.find(({ template }) => template === 'new')).toMatchObject({ asOf: null });
  });
});

describe('a template whose file is gone', () => {
  it('is reported once, and then forgotten', async () => {
    const { folder, newest, pass } = await withTwo();
    await folder.remove('web.yaml');
    expect(await pass(2)).toEqual(['web']);
    expect(shown(newest)).toEqual({ mail: 2 });
    expect(await pass(3)).toEqual([]);
  });

  it('is not reported while an unreadable file may describe it', async () => {
    const { folder, newest, pass } = await withTwo();
    await folder.write('web.yaml', 'template: [\n');
    expect(await pass(2)).toEqual([]);
    expect(Object.values(shown(newest))).toEqual([2, 0]);
    await folder.write('web.yaml', describing('web'));
    expect(await pass(3)).toEqual([]);
    expect(shown(newest)).toEqual({ mail: 3, web: 3 });
  });
});
