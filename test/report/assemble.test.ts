import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { assembleReport, exitCodeOf } from '../../src/report/assemble.ts';
import { reportSchema } from '../../src/report-schema.ts';
import { notAsked, type PassResult, type Report, type TemplateResult } from '../../src/result.ts';
import { everyKindReport, pass, template } from './every-kind.ts';

const addition: TemplateResult['differences'][number] = {
  action: 'add',
  desired: { type: 'A', name: 'www', content: '203.0.113.10', priority: null, ttl: null },
  cause: 'edited',
  source: { file: 'templates/standard-web.yaml', line: 9, column: 5 },
};

const subdomain = (status: TemplateResult['subdomains'][number]['status']) => ({
  subdomain: 'shop.example.net',
  status,
  message: null,
  differences: [{ kind: 'missing' as const, templateRecord: null, record: null, fields: [] }],
  answers: notAsked,
});

const warning: PassResult['problems'][number] = {
  severity: 'warning',
  check: 'mixed-ttl',
  message: 'Records of one set have different TTLs.',
  client: 'default',
  file: null,
  line: null,
  column: null,
};

const error = { ...warning, severity: 'error' as const };

const blocked: TemplateResult['differences'][number] = {
  action: 'blocked',
  reason: 'not-converging',
  desired: addition.desired,
  source: addition.source,
  message: 'The outcome is not known.',
};
const ending = (...differences: TemplateResult['differences']) => ({
  templates: [template({ status: 'drifted', differences })],
});

const codes = (report: Report) => [
  exitCodeOf(report, { detailed: false }),
  exitCodeOf(report, { detailed: true }),
];

describe('the schema', () => {
  test('accepts a report of every kind, and one without a pass', () => {
    expect(reportSchema.parse(everyKindReport)).toEqual(everyKindReport);
    const empty = assembleReport([]);
    expect(reportSchema.parse(empty)).toEqual(empty);
    expect(empty).toMatchObject({ status: 'in-sync', dryRun: true, run: '', durationMs: 0 });
  });

  test('can be written as JSON Schema', () => {
    expect(z.toJSONSchema(reportSchema)).toMatchObject({ type: 'object', properties: { schema: {} } });
  });
});

describe('the status is that of the worst part', () => {
  test.each<[string, Partial<PassResult>, Report['status']]>([
    ['one drifted', { templates: [template({}), template({ status: 'drifted' })] }, 'drifted'],
    [
      'held beats drifted',
      { templates: [template({ status: 'held' }), template({ status: 'drifted' })] },
      'held',
    ],
    [
      'failed beats held',
      { templates: [template({ status: 'failed' }), template({ status: 'held' })] },
      'failed',
    ],
    ['a warning', { templates: [template({})], problems: [warning] }, 'in-sync'],
    ['an error in a file', { templates: [template({})], problems: [warning, error] }, 'failed'],
    ['a difference that remains', { templates: [template({ differences: [addition] })] }, 'drifted'],
    [
      'a difference that is gone',
      { templates: [template({ differences: [{ ...addition, outcome: 'applied' }] })] },
      'in-sync',
    ],
    ['a subdomain behind', { templates: [template({ subdomains: [subdomain('drifted')] })] }, 'drifted'],
    [
      'a subdomain that may follow',
      { templates: [template({ subdomains: [subdomain('pending')] })] },
      'in-sync',
    ],
    ['a subdomain unread', { templates: [template({ subdomains: [subdomain('failed')] })] }, 'failed'],
  ])('%s', (_, parts, status) => {
    expect(assembleReport([pass(parts)]).status).toBe(status);
  });
});

describe('the summary', () => {
  test('counts applied differences as applied only, and the others under their action', () => {
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
});

describe('run and time of several passes', () => {
  const early = pass({ client: 'a', startedAt: '2026-11-20T20:00:00.000Z', durationMs: 700.4 });
  const late = pass({ client: 'b', startedAt: '2026-11-20T20:00:00.500Z', durationMs: 100, dryRun: false });

  test('passes of one run last from the first start to the last end', () => {
    const whole = { run: early.run, startedAt: early.startedAt, durationMs: 700, dryRun: false };
    expect(assembleReport([early, late])).toMatchObject(whole);
    expect(assembleReport([late, early])).toMatchObject(whole);
  });

  test('the newest of different runs counts', () => {
    const newest = { ...late, run: 'newest', trigger: 'schedule' as const };
    const { run, trigger, startedAt, durationMs } = newest;
    expect(assembleReport([newest, early])).toMatchObject({ run, trigger, startedAt, durationMs });
  });
});

describe('the exit code', () => {
  test.each<[string, Partial<PassResult>, plan: [number, number], apply: [number, number]]>([
    ['in sync', { templates: [template({})] }, [0, 0], [0, 0]],
    ['differences', ending(addition), [0, 2], [0, 2]],
    [
      'everything applied',
      { templates: [template({ differences: [{ ...addition, outcome: 'applied' }] })] },
      [0, 0],
      [0, 0],
    ],
    ['held back by a mode', ending({ ...addition, outcome: 'skipped' }), [0, 2], [0, 2]],
    ['a write failed', ending({ ...addition, outcome: 'failed' }), [0, 2], [1, 1]],
    ['a write stayed unknown', ending({ ...addition, outcome: 'unknown' }), [0, 2], [1, 1]],
    ['blocked by a conflict', ending({ ...blocked, reason: 'cname-conflict' }), [0, 2], [0, 2]],
    ['held', { templates: [template({ status: 'held' })] }, [0, 2], [1, 1]],
    ['suspended without a difference', { templates: [template({ status: 'suspended' })] }, [0, 0], [0, 0]],
    ['failed', { templates: [template({ status: 'failed' })] }, [1, 1], [1, 1]],
    ['an error in a file', { problems: [error] }, [1, 1], [1, 1]],
    ['a warning in a file', { problems: [warning] }, [0, 0], [0, 0]],
    ['a subdomain behind', { templates: [template({ subdomains: [subdomain('drifted')] })] }, [0, 2], [0, 2]],
  ])('%s', (_, parts, plan, apply) => {
    expect(codes(assembleReport([pass({ ...parts, dryRun: true })]))).toEqual(plan);
    expect(codes(assembleReport([pass({ ...parts, dryRun: false })]))).toEqual(apply);
  });
});
