import { MemoryError } from '../state/memory.ts';
import type { ApplyContext } from './context.ts';

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
