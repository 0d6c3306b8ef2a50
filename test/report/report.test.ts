import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { assembleReport, exitCodeOf } from '../../src/report/assemble.ts';
import { renderJson, reportSchema } from '../../src/report-schema.ts';
import type { Difference } from '../../src/plan/difference.ts';
import {
  notAsked,
  type PassResult,
  type Report,
  type SubdomainResult,
  type TemplateResult,
} from '../../src/result.ts';
import { add, behind, blocked, everyKindReport, pass, problem, template } from './every-kind.ts';
import { commands, forHostileTexts, reportWith, unseen } from './hostile.ts';

const www = 'www A 203.0.113.10';

const of = (...templates: Partial<TemplateResult>[]) => ({ templates: templates.map(template) });

const drifted = (...differences: Difference[]) => of({ status: 'drifted', differences });

const following = (status: SubdomainResult['status']) =>
  of({
    subdomains: [
      {
        subdomain: 'shop.example.net',
        status,
        message: null,
        differences: [behind('missing', null)],
        answers: notAsked,
      },
    ],
  });

// The exit codes without and with --detailed-exitcode, of a plan and of an apply.
test.each<[string, Partial<PassResult>, Report['status'], plan: string, apply: string]>([
  ['nothing', {}, 'in-sync', '0 0', '0 0'],
  ['in sync', of({}), 'in-sync', '0 0', '0 0'],
  ['differences', of({ differences: [add(www)] }), 'drifted', '0 2', '0 2'],
  ['everything applied', of({ differences: [add(www, { outcome: 'applied' })] }), 'in-sync', '0 0', '0 0'],
  ['held back by a mode', drifted(add(www, { outcome: 'skipped' })), 'drifted', '0 2', '0 2'],
  [
    'held back by the pass',
    drifted(add(www, { outcome: 'skipped', skippedBy: 'pass' })),
    'drifted',
    '0 2',
    '1 1',
  ],
  ['a write failed', drifted(add(www, { outcome: 'failed' })), 'drifted', '0 2', '1 1'],
  ['a write stayed unknown', drifted(add(www, { outcome: 'unknown' })), 'drifted', '0 2', '1 1'],
  [
    'blocked by a conflict',
    drifted(blocked(www, 'cname-conflict', 'Another record is there.')),
    'drifted',
    '0 2',
    '0 2',
  ],
  ['held beats drifted', of({ status: 'held' }, { status: 'drifted' }), 'held', '0 2', '1 1'],
  ['suspended without a difference', of({ status: 'suspended' }), 'suspended', '0 0', '0 0'],
  ['failed beats held', of({ status: 'failed' }, { status: 'held' }), 'failed', '1 1', '1 1'],
  [
    'an error in a file',
    { problems: [problem('warning', 'No.'), problem('error', 'No.')] },
    'failed',
    '1 1',
    '1 1',
  ],
  ['a warning in a file', { problems: [problem('warning', 'No.')] }, 'in-sync', '0 0', '0 0'],
  ['a subdomain behind', following('drifted'), 'drifted', '0 2', '0 2'],
  ['a subdomain that may follow', following('pending'), 'in-sync', '0 0', '0 0'],
  ['a subdomain unread', following('failed'), 'failed', '1 1', '1 1'],
])('status and exit codes: %s', (_, parts, status, plan, apply) => {
  const codes = (dryRun: boolean): string => {
    const report = assembleReport([pass({ ...parts, dryRun })]);
    expect(report.status).toBe(status);
    return [false, true].map((detailed) => exitCodeOf(report, { detailed })).join(' ');
  };
  expect([codes(true), codes(false)]).toEqual([plan, apply]);
});

test('the summary counts applied differences as applied only, and the others under their action', () => {
  expect(everyKindReport.summary).toEqual({
    templates: 5,
    inSync: 75,
    add: 3,
    update: 3,
    park: 1,
    surplus: 3,
    blocked: 6,
    applied: 2,
    differing: 4,
    held: { add: 2, update: 1, park: 1 },
    heldTemplates: 1,
    suspendedTemplates: 1,
    failedTemplates: 1,
    subdomains: 5,
    subdomainDifferences: 6,
  });
});

test('run and time are those of the newest pass, and any pass that writes makes it no dry run', () => {
  const early = pass({ client: 'a', startedAt: '2026-11-20T20:00:00.000Z' });
  const late = { run: 'newest', trigger: 'schedule', startedAt: '2026-11-20T20:00:00.500Z' } as const;
  const passes = [early, pass({ client: 'b', ...late, durationMs: 700.4, dryRun: false })];
  for (const all of [passes, passes.toReversed()])
    expect(assembleReport(all)).toMatchObject({ ...late, durationMs: 700, dryRun: false });
  expect(assembleReport([])).toMatchObject({ status: 'in-sync', dryRun: true, run: '', durationMs: 0 });
});

describe('as JSON', () => {
  test('a report of every kind has every word that the schema knows, except what occurs once', () => {
    const schema = JSON.stringify(z.toJSONSchema(reportSchema));
    const lists = [...schema.matchAll(/"enum":\[(.*?)\]|"const":(".*?")/g)];
    const words = lists.flatMap(([, list, one]): string[] => JSON.parse(`[${list ?? one}]`));
    const json = JSON.stringify(everyKindReport);
    expect(new Set(words.filter((word) => !json.includes(`"${word}"`)))).toEqual(
      new Set(['startup', 'file-change', 'schedule', 'request']),
    );
  });

  test('it is as its schema says, and reads as what was written', () => {
    for (const report of [everyKindReport, assembleReport([])])
      expect(reportSchema.parse(JSON.parse(renderJson(report)))).toEqual(report);
  });

  test('keys have a fixed order, for any input order', () => {
    const backwards = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(backwards);
      if (typeof value !== 'object' || value === null) return value;
      const entries = Object.entries(value).toReversed();
      return Object.fromEntries(entries.map(([key, part]) => [key, backwards(part)]));
    };
    expect(renderJson(backwards(everyKindReport))).toBe(renderJson(everyKindReport));
  });

  test('hostile texts in every place are preserved', () => {
    forHostileTexts((texts) => {
      const report = reportWith(texts);
      const json = renderJson(report);
      expect(JSON.parse(json)).toEqual(report);
      expect(json).not.toMatch(unseen);
      expect(json).not.toMatch(commands);
    });
  });
});
