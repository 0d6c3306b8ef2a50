import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { localNotifyStore } from '../../src/notify/local-store.ts';
import { Outbox, type NotifyStore } from '../../src/notify/outbox.ts';
import type { PassEvent } from '../../src/notify/health.ts';
import type { Difference } from '../../src/plan/difference.ts';
import type { TemplateResult } from '../../src/result.ts';
import { pass, template } from '../report/every-kind.ts';

const source = { file: 'templates/web.yaml', line: 3, column: 5 };

export const address = (content: string) => ({ type: 'A', name: 'www', content, priority: null, ttl: null });

export const update = (more: Partial<Extract<Difference, { action: 'update' }>> = {}): Difference => ({
  action: 'update',
  recordId: 5,
  current: address('192.0.2.99'),
  desired: address('192.0.2.1'),
  fields: ['content'],
  cause: 'drifted',
  source,
  ...more,
});

export const add = (
  content: string,
  more: Partial<Extract<Difference, { action: 'add' }>> = {},
): Difference => ({
  action: 'add',
  desired: address(content),
  cause: 'edited',
  source,
  ...more,
});

export const blocked = (
  reason: Extract<Difference, { action: 'blocked' }>['reason'],
  content: string,
  more: Partial<Extract<Difference, { action: 'blocked' }>> = {},
): Difference => ({ action: 'blocked', reason, desired: address(content), source, message: 'Why.', ...more });

/** A pass over one client. */
export const passEvent = (
  templates: readonly Partial<TemplateResult>[],
  more: Partial<PassEvent> & { readonly holdReason?: string } = {},
): PassEvent => {
  const { holdReason = null, ...rest } = more;
  const result = pass({
    holdReason,
    templates: templates.map((one) => template({ template: 'web', ...one })),
  });
  return {
    client: 'acme',
    run: 'run',
    at: '2026-11-20T20:00:00.000Z',
    result,
    failure: null,
    removed: [],
    isEnding: false,
    ...rest,
  };
};

export const inSync = passEvent([{}]);
export const drifted = passEvent([{ status: 'drifted', differences: [update()] }]);

/** What was told, for as long as the test runs. */
export const newStore = (): NotifyStore => {
  const folder = mkdtempSync(path.join(tmpdir(), 'notified-'));
  const store = localNotifyStore({
    file: path.join(folder, 'notified.db'),
    hasClient: () => true,
    log: pino({ level: 'silent' }),
  });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
};

export const newOutbox = (store = newStore()): Outbox => new Outbox(store, 'ops', pino({ level: 'silent' }));
