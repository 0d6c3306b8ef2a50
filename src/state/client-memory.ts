import type { ActualTemplate } from '../model/template.ts';
import type { Memory, PagedHistory } from './memory.ts';

/** A client whose memory lies in a store. */
export interface KnownClient {
  /** What all that is remembered of it is kept under: the digest of the first token it was seen with. */
  readonly scope: string;
  /** Null where an earlier version of this program wrote it, which kept no address. */
  readonly baseUrl: string | null;
  readonly name: string | null;
}

/** The memory of one client, in a store that has those of others too. */
export interface ClientMemory extends Memory, PagedHistory {
  /** Whose memory it is, looked up anew; null while nobody knows. */
  identify(): Promise<KnownClient | null>;
  /** From now on it is this client's: what is remembered of it is read, and nothing is changed. */
  actAs(client: KnownClient): void;
  readonly clients: {
    /** Those at this base URL whose templates and records a listing shows. */
    fitting(baseUrl: string, listing: readonly ActualTemplate[]): Promise<readonly KnownClient[]>;
    /** Others of its base URL that know one of its templates, or of these, too: they may be the same client. */
    rivalsOf(client: KnownClient, templateIds: readonly number[]): Promise<readonly string[]>;
    /** From now on the token is this client's, and so is this memory. */
    learn(client: KnownClient, templateIds: readonly number[]): Promise<void>;
  };
}
