import { backoff } from '../lib/backoff.ts';
import type { Query } from './database.ts';

/** An intent whose answer was lost: it may be stored, and its process knows that nothing was sent. */
export interface UnsentIntent {
  readonly scope: string;
  readonly templateId: number;
  readonly body: string;
}

/** Whether this intent was begun in vain by this process. Its body names its pass, so it is like no other. */
export const isUnsent = (body: string): boolean => unsent.has(body);

/** Resolves after the first try. While that fails, or the intent is not there yet, it tries again for a while. */
export const removeUnsent = async (query: Query, intent: UnsentIntent): Promise<void> => {
  unsent.add(intent.body);
  await removeOnce(query, intent, 1);
};

const unsent = new Set<string>();

const removeOnce = async (query: Query, intent: UnsentIntent, tries: number): Promise<void> => {
  const { scope, templateId, body } = intent;
  const isRemoved = await query(remove, [scope, templateId, body], patience).then(
    ({ length }) => length > 0,
    () => false,
  );
  if (isRemoved || tries === mostTries) unsent.delete(body);
  else setTimeout(() => void removeOnce(query, intent, tries + 1), backoff(tries, growth)).unref();
};

/** Milliseconds; five minutes in all, after which no statement arrives any more. */
const patience = 2_000;
const growth = { first: 250, max: 10_000, jitter: 0.2 };
const mostTries = 35;

const remove =
  'DELETE FROM dns_sync.journal WHERE scope = $1 AND template_id = $2 AND body = $3 RETURNING id';
