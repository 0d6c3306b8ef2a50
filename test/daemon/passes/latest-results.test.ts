import { rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { LatestResults } from '../../../src/daemon/passes/latest-results.ts';
import { createTemplateLoader } from '../../../src/source/load.ts';
import type { DesiredState } from '../../../src/model/template.ts';
import type { Difference } from '../../../src/plan/difference.ts';
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
const broken = (template: string): string => `template: ${template}\nrecords:\n  - {type: A}\n`;

/** What a pass over that part would give, with as many records in sync as it is the how-maniest. */
const resultOf = (part: DesiredState, inSync: number, rest: Partial<PassResult> = {}): PassResult => ({
  client: 'acme',
  run: `run ${inSync}`,
  trigger: 'file-change',
  startedAt: '2026-11-20T20:00:00.000Z',
  durationMs: 1,
  dryRun: false,
  holdReason: null,
  retryAt: null,
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

const namesOf = ({ templates, unusable }: DesiredState): string[] =>
  [...templates, ...unusable].map(({ template }) => template ?? 'unknown').sort();

const shown = ({ result }: LatestResults): Record<string, number> =>
  Object.fromEntries((result?.templates ?? []).map(({ template, inSync }) => [template, inSync]));

const withTwo = async () => {
  const folder = await files({ 'web.yaml': describing('web'), 'mail.yaml': describing('mail') });
  const newest = new LatestResults();
  const all = await folder.load();
  newest.begin(all, true);
  newest.add(resultOf(all, 1));
  return { folder, newest };
};

describe('a pass after a file change', () => {
  it('is about everything as long as nothing was compared', async () => {
    const folder = await files({ 'web.yaml': describing('web'), 'mail.yaml': describing('mail') });
    expect(namesOf(new LatestResults().begin(await folder.load(), false))).toEqual(['mail', 'web']);
  });

  it('is about nothing where no content has changed', async () => {
    const { folder, newest } = await withTwo();
    await folder.touch('web.yaml');
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual([]);
  });

  it('is about the template that was edited, and leaves what is known of the others', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('web.yaml', describing('web', '192.0.2.2'));
    const part = newest.begin(await folder.load(), false);
    expect(namesOf(part)).toEqual(['web']);
    expect(newest.add(resultOf(part, 2))).toEqual([]);
    expect(shown(newest)).toEqual({ mail: 1, web: 2 });
    expect(newest.result?.run).toBe('run 2');
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual([]);
  });

  it('is about every template that an edited fragment is part of', async () => {
    const folder = await files({
      '_base.yaml': 'records:\n  - {type: TXT, content: one}\n',
      'web.yaml': `${describing('web')}include: [_base.yaml]\n`,
      'mail.yaml': `${describing('mail')}include: [_base.yaml]\n`,
      'other.yaml': describing('other'),
    });
    const newest = new LatestResults();
    const all = newest.begin(await folder.load(), true);
    newest.add(resultOf(all, 1));
    await folder.write('_base.yaml', 'records:\n  - {type: TXT, content: two}\n');
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['mail', 'web']);
  });

  it('is about a template that became invalid, once, and again when it is valid', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('web.yaml', broken('web'));
    const held = newest.begin(await folder.load(), false);
    expect([namesOf(held), held.problems]).toEqual([['web'], [expect.anything()]]);
    newest.add(resultOf(held, 2));
    expect(shown(newest)).toEqual({ mail: 1, web: 0 });
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual([]);
    await folder.write('web.yaml', describing('web'));
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['web']);
  });

  it('is about both descriptions where a second one appears', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('again.yaml', describing('web'));
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['web', 'web']);
  });

  it('is about both templates of one name, which ids tell apart, where either is edited', async () => {
    const withId = (id: number, address?: string): string => `id: ${id}\n${describing('web', address)}`;
    for (const [edited, id] of [
      ['one.yaml', 1],
      ['two.yaml', 2],
    ] as const) {
      const folder = await files({ 'one.yaml': withId(1), 'two.yaml': withId(2) });
      const newest = new LatestResults();
      newest.add(resultOf(newest.begin(await folder.load(), true), 1));
      await folder.write(edited, withId(id, '192.0.2.2'));
      expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['web', 'web']);
    }
  });

  it('is about what an interrupted pass did not reach', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('web.yaml', describing('web', '192.0.2.2'));
    const part = newest.begin(await folder.load(), false);
    newest.add(resultOf(part, 2, { holdReason: 'the service is away' }));
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['web']);
  });

  it.each<Difference>([
    {
      action: 'add',
      desired: { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: null },
      cause: 'edited',
      source: { file: 'web.yaml', line: 1, column: 1 },
      outcome: 'unknown',
    },
    {
      action: 'blocked',
      reason: 'pending-write',
      desired: { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: null },
      source: { file: 'web.yaml', line: 1, column: 1 },
      message: 'not known yet',
    },
  ])('is about a template with a write of unknown outcome too: $action', async (difference) => {
    const { folder, newest } = await withTwo();
    const all = newest.begin(await folder.load(), true);
    const { templates, ...result } = resultOf(all, 2);
    newest.add({ ...result, templates: templates.map((one) => ({ ...one, differences: [difference] })) });
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['mail', 'web']);
  });

  it('is about everything when all files are gone, because then all templates are held', async () => {
    const { folder, newest } = await withTwo();
    await folder.remove('web.yaml');
    await folder.remove('mail.yaml');
    const all = await folder.load();
    expect(newest.begin(all, false)).toBe(all);
  });
});

describe('a service that cannot be read', () => {
  const unread = (part: DesiredState): PassResult => {
    const { templates, ...result } = resultOf(part, 0, {
      startedAt: '2026-11-20T20:30:00.000Z',
      holdReason: 'the service is away',
    });
    const failed = { status: 'failed', message: 'the service is away', asOf: null } as const;
    return { ...result, templates: templates.map((one) => ({ ...one, ...failed })) };
  };

  it('keeps the last known result of each template, and its time', async () => {
    const { folder, newest } = await withTwo();
    const all = newest.begin(await folder.load(), true);
    newest.add(resultOf(all, 2, { wasRead: true }));
    newest.add(unread(newest.begin(await folder.load(), true)));
    newest.add(unread(newest.begin(await folder.load(), true)));
    const known = { status: 'failed', message: 'the service is away', asOf: '2026-11-20T20:00:00.000Z' };
    expect(newest.result?.templates).toMatchObject([
      { ...known, inSync: 2 },
      { ...known, inSync: 2 },
    ]);
    newest.add(resultOf(newest.begin(await folder.load(), true), 3, { wasRead: true }));
    expect(newest.result?.templates.map(({ asOf }) => asOf)).toEqual([undefined, undefined]);
  });

  it('keeps nothing of a template that was never read', async () => {
    const { folder, newest } = await withTwo();
    newest.add(resultOf(newest.begin(await folder.load(), true), 2, { wasRead: true }));
    await folder.write('new.yaml', describing('new'));
    newest.add(unread(newest.begin(await folder.load(), true)));
    expect(newest.result?.templates.find(({ template }) => template === 'new')).toMatchObject({ asOf: null });
  });
});

describe('a template whose file is gone', () => {
  it('is reported once, and then forgotten', async () => {
    const { folder, newest } = await withTwo();
    await folder.remove('web.yaml');
    const part = newest.begin(await folder.load(), false);
    expect(namesOf(part)).toEqual([]);
    expect(newest.add(resultOf(part, 2))).toEqual(['web']);
    expect(shown(newest)).toEqual({ mail: 1 });
    expect(newest.add(resultOf(newest.begin(await folder.load(), true), 3))).toEqual([]);
  });

  it('is new when it comes back, still invalid', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('web.yaml', broken('web'));
    newest.add(resultOf(newest.begin(await folder.load(), false), 2));
    await folder.remove('web.yaml');
    newest.add(resultOf(newest.begin(await folder.load(), false), 3));
    await folder.write('web.yaml', broken('web'));
    expect(namesOf(newest.begin(await folder.load(), false))).toEqual(['web']);
  });

  it('is not reported while an unreadable file may describe it', async () => {
    const { folder, newest } = await withTwo();
    await folder.write('web.yaml', 'template: [\n');
    const part = newest.begin(await folder.load(), false);
    expect(namesOf(part)).toEqual(['unknown']);
    expect(newest.add(resultOf(part, 2))).toEqual([]);
    expect(Object.values(shown(newest))).toEqual([1, 0]);
    await folder.write('web.yaml', describing('web'));
    const mended = newest.begin(await folder.load(), false);
    expect(namesOf(mended)).toEqual(['web']);
    expect(newest.add(resultOf(mended, 3))).toEqual([]);
    expect(shown(newest)).toEqual({ mail: 1, web: 3 });
  });
});
