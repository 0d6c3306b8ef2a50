import type { ActualTemplate } from '../model/template.ts';
import type { Memory, PagedHistory } from './memory.ts';
import type { Suspensions } from '../model/suspension.ts';

/** A client with state in a store. */
export interface KnownClient {
  /** The key of all its state: the digest of the first token that it was seen with. */
  readonly scope: string;
  /** Null if an earlier version of this program wrote it, which saved no address. */
  readonly baseUrl: string | null;
  readonly name: string | null;
}

/** The state of one client, in a store that also has the state of others. */
export interface ClientMemory extends Memory, PagedHistory, Suspensions {
  /** The client of the state, looked up again; null while it is unknown. */
  identify(): Promise<KnownClient | null>;
  /** From now on it reads the state of this client. Changes nothing. */
  actAs(client: KnownClient): void;
  readonly clients: {
    /** The clients at this base URL whose templates and records a listing shows. */
    fitting(baseUrl: string, listing: readonly ActualTemplate[]): Promise<readonly KnownClient[]>;
    /** Other clients of its base URL that know one of its templates or one of these, so they may be the same client. */
    rivalsOf(client: KnownClient, templateIds: readonly number[]): Promise<readonly string[]>;
    /** From now on the token and this state belong to this client. */
    learn(client: KnownClient, templateIds: readonly number[]): Promise<void>;
  };
}
