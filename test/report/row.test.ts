import { describe, expect, test } from 'vitest';
import type { RecordData } from '../../src/model/record.ts';
import { rowOf, rowOfWrite } from '../../src/report/row.ts';

const record = (more: Partial<RecordData>): RecordData => ({
  type: 'A',
  name: 'www',
  content: '192.0.2.1',
  priority: null,
  ttl: null,
  ...more,
});

describe('a write of the history', () => {
  test('shows no change of a TTL or a priority that was not sent', () => {
    const row = rowOfWrite({
      action: 'update',
      before: record({ ttl: 3600, priority: 0 }),
      after: record({ content: '192.0.2.2' }),
    });
    expect(row.values).toEqual([
      { label: '', isChanged: true, actual: '192.0.2.1', desired: '192.0.2.2' },
      { label: 'priority ', isChanged: false, text: '0' },
      { label: 'ttl ', isChanged: false, text: '3600' },
    ]);
  });

  test('shows no change between two spellings of a name', () => {
    const row = rowOfWrite({
      action: 'update',
      before: record({ name: '', ttl: 60 }),
      after: record({ name: null, ttl: 300 }),
    });
    expect(row.values.filter((value) => value.isChanged)).toEqual([
      { label: 'ttl ', isChanged: true, actual: '60', desired: '300' },
    ]);
  });
});

test('long texts show where they differ', () => {
  const [same, end] = ['x'.repeat(60_000), 'y'.repeat(60_000)];
  const row = rowOf({
    action: 'update',
    recordId: 5,
    current: record({ content: `${same}old${end}` }),
    desired: record({ content: `${same}new${end}` }),
    fields: ['content'],
    cause: 'edited',
    source: { file: 'web.yaml', line: 9, column: 5 },
  });
  const shown = (text: string) =>
    expect.stringMatching(new RegExp(`^…x{60}${text}y{1,1500}… \\(\\d+ characters more\\)$`));
  expect(row.values).toEqual([{ label: '', isChanged: true, actual: shown('old'), desired: shown('new') }]);
});

test('a time that a reason says is not said again', () => {
  const retryAt = '2026-11-20T20:05:00.000Z';
  const update = {
    action: 'update',
    recordId: 5,
    current: record({}),
    desired: record({ content: '192.0.2.2' }),
    fields: ['content'],
    cause: 'edited',
    source: { file: 'site.yaml', line: 1, column: 1 },
    outcome: 'skipped',
    retryAt,
  } as const;
  const waits = `the service asked to wait until ${retryAt}`;
  expect(rowOf({ ...update, error: waits }).remarks).toEqual([`${waits}.`]);
  expect(rowOf(update, null, [waits]).remarks).toEqual([]);
  expect(rowOf({ ...update, error: 'later' }).remarks).toEqual([`later. Next try at ${retryAt}.`]);
});
