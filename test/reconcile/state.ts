import { openTemplate, type TemplateState } from '../../src/reconcile/core/state.ts';
import { ClientRun, type PassOptions } from '../../src/reconcile/shell/client-run.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';

/** At which no time goes by. */
const clock = { now: () => 0, uptime: () => ({ boot: 'b', at: 0 }), sleep: () => Promise.resolve() };
export const moment = { now: 0, uptime: { boot: 'b', at: 0 } };

/** A template at first contact. */
export const newState = (desired: readonly string[], actual: readonly string[]): TemplateState =>
  openTemplate({ desired: desiredTemplate(desired), actual: actualTemplate(actual), notes: [] }, null, {
    asked: moment,
    moment,
    settle: 10_000,
    unknownPause: 300_000,
    retry: false,
  });

/** A pass without input, whose service does not answer. */
export const runWith = (given: Pick<PassOptions, 'memory' | 'writer'> & Partial<PassOptions>): ClientRun => {
  const nothing = () => Promise.reject(new Error('nobody answers'));
  return new ClientRun({
    client: 'acme',
    run: 'run-1',
    trigger: 'schedule',
    startedAt: 0,
    templates: [],
    listing: null,
    service: {
      listDnsTemplates: nothing,
      addDnsTemplateRecord: nothing,
      updateDnsTemplateRecord: nothing,
      listDnsRecords: nothing,
    },
    clock,
    signal: new AbortController().signal,
    onChange: () => undefined,
    warn: () => undefined,
    revisionOf: () => null,
    settle: 0,
    unknownPause: 0,
    subdomainGrace: 0,
    maxAddsPerPass: 300,
    concurrency: 1,
    ignoreSubdomains: false,
    force: false,
    retry: false,
    acceptLoss: false,
    ...given,
  });
};
