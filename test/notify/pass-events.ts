import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { addNews, endMessage, nextMessage, type NotifyStore } from '../../src/notify/outbox.ts';
import type { EndedPass } from '../../src/notify/news.ts';
import type { NotifyReceiver } from '../../src/settings/receivers.ts';
import { occasions } from '../../src/settings/table.ts';
import { fileStore } from '../../src/state/store.ts';
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
  more: Partial<EndedPass> & { readonly holdReason?: string } = {},
): EndedPass => {
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
    hasAll: false,
    isEnding: false,
    ...rest,
  };
};

export const inSync = passEvent([{}]);
export const drifted = passEvent([{ status: 'drifted', differences: [update()] }]);

/** A receiver of everything. */
export const receiver = (more: Partial<NotifyReceiver> = {}): NotifyReceiver => ({
  name: 'ops',
  type: 'webhook',
  url: { read: () => 'http://localhost', place: '' },
  routeTo: () => ({ proxy: null, ca: null }),
  secret: null,
  on: occasions,
  clients: null,
  timeout: 5_000,
  after: 0,
  publicUrl: null,
  ...more,
});

/** Another pass that found the same. */
export const another = (event: EndedPass): EndedPass => ({ ...event, run: randomUUID() });

/** What was told, for as long as the test runs. */
export const newStore = (): NotifyStore => {
  const folder = mkdtempSync(path.join(tmpdir(), 'notified-'));
  const store = fileStore(systemClock);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const tables = store.tables({ file: path.join(folder, 'memory.db') });
  return {
    ...tables,
    lookInterval: Infinity,
    isSender: () => true,
    clients: () => ['acme', 'bakery'],
  };
};

/** Of one receiver. */
export const newOutbox = (store: NotifyStore = newStore()) => ({
  add: (seen: EndedPass, more: Partial<NotifyReceiver> = {}) =>
    addNews(store, another(seen), [receiver(more)]),
  next: () => nextMessage(store, 'ops'),
  done: (id: string) => endMessage(store, id),
});
