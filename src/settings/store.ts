import { UserError } from '../errors.ts';
import { secretOf } from './client.ts';
import type { Sources } from './resolve.ts';
import type { Secrets, SecretSource } from './secret.ts';
import { parseUrl } from '../lib/parse-url.ts';

/** The variables that a store may come from. */
export const storeVariables = ['DNS_SYNC_STORE', 'DNS_SYNC_STORE_FILE'] as const;

/** Where several machines share what is remembered; null where nothing says that they do. */
export const storeOf = (sources: Sources, secrets: Secrets): SecretSource | null => {
  const source = secretOf('store', storeVariables[0], sources, secrets);
  if (source === null) return null;
  const { place = 'store' } = source;
  const read = (): string => {
    const text = source.read();
    const url = parseUrl(text);
    if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
      throw new UserError(`${place}: expected postgres://USER:PASSWORD@HOST/DATABASE`);
    if (url.password !== '') secrets.note(decoded(url.password));
    return text;
  };
  try {
    read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    sources.problems.note(error, 'store');
  }
  return { ...source, read };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
