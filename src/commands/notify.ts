import { randomUUID } from 'node:crypto';
import { readOffline } from '../app/options.ts';
import { whileShown } from '../app/progress.ts';
import { UserError } from '../errors.ts';
import { suggestionOr } from '../lib/nearest.ts';
import { sendTest } from '../notify/delivery.ts';
import type { Run } from './table.ts';

/** Sends a test message to each receiver, or to these. Exits with 1 if one was not accepted. */
export const notify: Run = async (names, options, io) => {
  if (options['test'] !== true)
    throw new UserError('notify --test sends a test message; it does nothing else');
  const receivers = readOffline(options, io).notify;
  if (receivers.length === 0)
    throw new UserError(
      'the settings file names no receivers: add one, as in notify: {ops: {type: slack, url: {env: SLACK_URL}}}',
    );
  const known = receivers.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UserError(
      `there is no receiver ${unknown.map((name) => `${name}${suggestionOr(name, known)}`).join(', ')}`,
    );
  const chosen = receivers.filter(({ name }) => names.length === 0 || names.includes(name));
  const reasons = await whileShown(io, 'sending', () =>
    Promise.all(chosen.map((receiver) => sendTest(receiver, randomUUID()))),
  );
  for (const [index, reason] of reasons.entries())
    io.stdout.write(
      `${chosen[index]?.name}: ${reason === null ? 'delivered' : `not delivered: ${reason}`}\n`,
    );
  return reasons.some((reason) => reason !== null) ? 1 : 0;
};
