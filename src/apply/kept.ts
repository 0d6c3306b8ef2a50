import { MemoryError, type LedgerChanges } from '../state/memory.ts';
import type { ApplyContext } from './context.ts';
import type { Ledger } from './ledger.ts';

/** Saves what has changed in a ledger; what could not be saved goes with the next attempt, never in parts. */
export const keptChanges = async (
  ledger: Ledger,
  context: Pick<ApplyContext, 'halt'>,
  save: (changes: LedgerChanges) => Promise<void>,
): Promise<void> => {
  const changes = ledger.takeChanges() ?? { facts: ledger.facts, records: [], forgotten: [] };
  if ((await kept(save(changes), context)) === null) ledger.putBack(changes);
};

/**
 * What cannot be remembered ends the writes of the client, and no more than that: what has been sent by then is told
 * all the same. Gives null where it could not be kept.
 */
export const kept = async <T>(task: Promise<T>, { halt }: Pick<ApplyContext, 'halt'>): Promise<T | null> => {
  try {
    return await task;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    halt.reason ??= error.message;
    halt.isForgetful = true;
    return null;
  }
};
