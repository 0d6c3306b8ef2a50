import type { LastNotified } from '../../src/notify/health-change.ts';
import type { NotifiedStore } from '../../src/notify/outbox.ts';
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
export const notifiedInMemory = (): NotifiedStore & { readonly all: ReadonlyMap<string, LastNotified> } => {
  const all = new Map<string, LastNotified>();
  const keyOf = (client: string, name: string | null): string => `${client} ${name ?? ''}`;
  return {
    all,
    get: (client, name) => all.get(keyOf(client, name)) ?? { state: 'in-sync', keys: [] },
    set: (client, name, lastNotified) => void all.set(keyOf(client, name), lastNotified),
    forget: () => all.clear(),
  };
};
