import { randomUUID } from 'node:crypto';
import type { Options } from '../app/options.ts';
import { saidOn } from '../app/warnings.ts';
import { suggestionOr } from '../lib/nearest.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { sendTest } from '../notify/delivery.ts';
import { readSettings } from '../settings.ts';
import { whileShown } from '../app/progress.ts';

/** Sends a test message to each receiver, or to these. Exits with 1 if one was not accepted. */
export const notify = async (names: readonly string[], options: Options, io: Io): Promise<number> => {
  if (options['test'] !== true)
    throw new UserError('notify --test sends a test message; it does nothing else');
  const needs = { baseUrl: false, tokens: false };
  const { notify: receivers } = readSettings({
    flags: options,
    needs,
    env: io.env,
    cwd: io.cwd,
    say: saidOn(io),
  });
  if (receivers.length === 0) throw new UserError('the settings file names no receivers under notify');
  const known = receivers.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UserError(
      `there is no receiver ${unknown.map((name) => `${name}${suggestionOr(name, known)}`).join(', ')}`,
    );
  const chosen = receivers.filter(({ name }) => names.length === 0 || names.includes(name));
  const failures = await whileShown(io, 'sending', () =>
    Promise.all(
      chosen.map(async (receiver) => ({
        name: receiver.name,
        reason: await sendTest(receiver, randomUUID()),
      })),
    ),
  );
  for (const { name, reason } of failures)
    io.stdout.write(`${name}: ${reason === null ? 'delivered' : `not delivered: ${reason}`}\n`);
  return failures.some(({ reason }) => reason !== null) ? 1 : 0;
};
