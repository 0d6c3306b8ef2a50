import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openNotifiedFile } from '../../src/notify/notified-file.ts';

const place = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'told-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const open = (file: string, errors: unknown[] = []) =>
  openNotifiedFile({ file, onError: (error) => errors.push(error) });

const drifted = { state: 'drifted', keys: ['a', 'b'] } as const;

describe('the saved notifications', () => {
  test('are restored after a restart, by receiver and template', () => {
    const file = path.join(place(), 'new', 'told.json');
    const before = open(file);
    before.set('ops', 'web', drifted);
    before.set('ops', null, { state: 'failed', keys: [] });
    before.set('chat', 'web', { state: 'held', keys: [] });
    before.set('chat', 'web', { state: 'in-sync', keys: [] });
    const after = open(file);
    expect(after.get('ops', 'web')).toEqual(drifted);
    expect(after.get('ops', null)).toEqual({ state: 'failed', keys: [] });
    expect(after.get('chat', 'web')).toEqual({ state: 'in-sync', keys: [] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.dirname(file))).toEqual(['told.json']);
  });

  test('are written only after a change', () => {
    const file = path.join(place(), 'told.json');
    const notified = open(file);
    notified.set('ops', 'web', { state: 'in-sync', keys: [] });
    expect(readdirSync(path.dirname(file))).toEqual([]);
    notified.set('ops', 'web', drifted);
    const { ino } = statSync(file);
    notified.set('ops', 'web', { ...drifted });
    expect(statSync(file).ino).toBe(ino);
    notified.set('ops', 'web', { state: 'drifted', keys: ['a'] });
    expect(open(file).get('ops', 'web').keys).toEqual(['a']);
  });

  test.each(['', '{', '[]', '{"version":2,"receivers":{}}', '{"version":1,"receivers":{"ops":{"web":{}}}}'])(
    'are empty if the file contains %j',
    (content) => {
      const file = path.join(place(), 'told.json');
      writeFileSync(file, content);
      const notified = open(file);
      expect(notified.get('ops', 'web')).toEqual({ state: 'in-sync', keys: [] });
      notified.set('ops', 'web', drifted);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1 });
    },
  );

  test('stay in memory if they cannot be written, with one warning', () => {
    const file = path.join(place(), 'a file', 'told.json');
    writeFileSync(path.dirname(file), '');
    const errors: unknown[] = [];
    const notified = open(file, errors);
    notified.set('ops', 'web', drifted);
    notified.set('ops', 'mail', drifted);
    expect(notified.get('ops', 'mail')).toEqual(drifted);
    expect(errors).toHaveLength(1);
  });

  test('are removed with the client', () => {
    const file = path.join(place(), 'told.json');
    const notified = open(file);
    notified.remove();
    notified.set('ops', 'web', drifted);
    notified.remove();
    expect(readdirSync(path.dirname(file))).toEqual([]);
  });
});
