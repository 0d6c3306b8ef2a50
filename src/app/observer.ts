import path from 'node:path';
import { UserError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { emptyCache } from '../reconcile/cache.ts';
import type { ActualTemplate, DesiredState, DesiredTemplate } from '../model/template.ts';
import { reconcile } from '../reconcile/pass.ts';
import type { PassResult } from '../result.ts';
import type { StoreLocation } from '../state/store-location.ts';
import type { Memory } from '../state/memory.ts';
import { fileStore } from '../state/store.ts';
import { observedCauses } from './observed-causes.ts';
import type { PreparedPass } from './pass-request.ts';

export interface ObserverOptions {
  readonly clock: Clock;
  /** Where it keeps its own state. */
  readonly location: () => StoreLocation;
  readonly redacted: (memory: Memory) => Memory;
}

/** Finds the causes of differences for a daemon with `dryRun`, whose passes save nothing. */
export interface Observer {
  readonly observe: (
    result: PassResult,
    desired: DesiredState,
    listing: Promise<readonly ActualTemplate[]>,
    pass: PreparedPass,
  ) => Promise<PassResult>;
  readonly close: () => Promise<void>;
}

/** Keeps state of its own, apart from the state of passes that write. */
export const openObserver = ({ clock, location, redacted }: ObserverOptions): Observer => {
  const store = fileStore(clock);
  const handle = store.handle(() => undefined);
  const cache = emptyCache();
  const withObservedCauses = observedCauses();
  return {
    observe: async (result, desired, listing, pass) => {
      const startedAt = clock.now();
      const use = {
        timeout: 0,
        signal: pass.signal,
        onWait: () => undefined,
        mayBeginAnew: true,
        lostPause: 0,
      };
      const observe = (memory: Memory): Promise<PassResult> => {
        const own = redacted(memory);
        return reconcile(withoutWrites(desired), {
          ...pass,
          cache,
          startedAt,
          settle: 0,
          ignoreSubdomains: true,
          onChange: () => undefined,
          listing,
          memory: own,
          writer: own,
          warn: () => undefined,
        });
      };
      try {
        const observed = await handle.write(location(), use, observe);
        const durationMs = result.durationMs + clock.now() - startedAt;
        return { ...withObservedCauses(result, observed), durationMs };
      } catch (error) {
        // Without that state the causes stay unknown.
        if (error instanceof UserError) return result;
        throw error;
      }
    },
    close: () => store.close(),
  };
};

/** The directory for the state of the observer. */
export const observedBelow = (stateDir: string): string => path.join(stateDir, 'observed');

/** The same templates give the same objects, so that a cache knows them again. */
export const withoutWrites = (desired: DesiredState): DesiredState => ({
  ...desired,
  templates: desired.templates.map(reported),
});

const reported = (template: DesiredTemplate): DesiredTemplate => {
  const known = reportedOnly.get(template) ?? { ...template, mode: 'report' };
  reportedOnly.set(template, known);
  return known;
};

const reportedOnly = new WeakMap<DesiredTemplate, DesiredTemplate>();
