import { createHash } from 'node:crypto';
import path from 'node:path';

/** Where what is remembered of one client lies. */
export interface MemoryPlace {
  readonly file: string;
  readonly lock: string;
  /** Tells clients apart; of the token only a digest is kept. */
  readonly scope: string;
  /** The embedded service begins with nothing to remember, and nobody need hear of it. */
  readonly isSandbox: boolean;
}

/** Whose memory it is. */
interface Owner {
  readonly stateDir: string;
  readonly baseUrl: string;
  readonly name: string;
}

export const memoryPlace = (
  { stateDir, baseUrl, name }: Owner,
  clientToken: string,
  isSandbox: boolean,
): MemoryPlace => {
  const identity = isSandbox ? `sandbox ${name}` : `${baseUrl} ${clientToken}`;
  const scope = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  return {
    file: path.join(stateDir, isSandbox ? 'sandbox-memory.db' : 'memory.db'),
    lock: path.join(stateDir, `lock-${scope}.db`),
    scope,
    isSandbox,
  };
};
