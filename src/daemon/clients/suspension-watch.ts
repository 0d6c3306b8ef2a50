import type { Suspension } from '../../model/suspension.ts';

/**
 * Calls `onChange` for each client of which a suspension begins or ends, whichever process is behind it: nothing else would
 * ask for a pass before the schedule does. `look`: what is suspended at the moment, by client. Resolves when that is known, or
 * cannot be read.
 */
export const watchSuspensions = async (
  look: () => Promise<ReadonlyMap<string, readonly Suspension[]>>,
  onChange: (client: string) => void,
): Promise<{ readonly close: () => Promise<void> }> => {
  const known = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const lookAgain = async (): Promise<void> => {
    // While the store cannot be read, passes fail and say so.
    const found = await look().catch(() => new Map<string, readonly Suspension[]>());
    if (isClosed) return;
    for (const [client, suspensions] of found) {
      const now = JSON.stringify(suspensions);
      if ((known.get(client) ?? '[]') !== now && hasBegun) onChange(client);
      known.set(client, now);
    }
    timer = setTimeout(() => void (round = lookAgain()), interval).unref();
  };
  let hasBegun = false;
  let round = lookAgain();
  await round;
  hasBegun = true;
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await round;
    },
  };
};

/** Milliseconds between two looks. */
const interval = 2_000;
