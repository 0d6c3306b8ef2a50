import type { Suspension } from '../../model/suspension.ts';
import type { ShownSuspension } from '../../result.ts';

export interface SuspensionWatchOptions {
  /** What is suspended at the moment, by client. */
  readonly look: () => Promise<ReadonlyMap<string, readonly Suspension[]>>;
  /** Called for each client of which something was suspended or resumed, or whose suspension has expired. */
  readonly onChange: (client: string) => void;
}

/**
 * Notices when a suspension begins or ends, whichever process is behind it: nothing else would ask for a pass before the
 * schedule does.
 */
export class SuspensionWatch {
  readonly #options: SuspensionWatchOptions;
  /** By client, as the last look found them. */
  #known: ReadonlyMap<string, readonly Suspension[]> = new Map();
  /** Clients of which a pass has obeyed a suspension that no look had found. */
  #unseen = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: SuspensionWatchOptions) {
    this.#options = options;
  }

  /** Resolves when the current suspensions are known, or cannot be read. */
  async start(): Promise<void> {
    await this.#look(() => undefined);
  }

  /** A pass obeyed them. They may end before the next look, and what they held would wait for the schedule. */
  obeyed(client: string, suspensions: readonly ShownSuspension[]): void {
    const known = this.#known.get(client) ?? [];
    if (suspensions.some((one) => !known.some((other) => isSame(one, other)))) this.#unseen.add(client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #look(onChange: SuspensionWatchOptions['onChange']): Promise<void> {
    const unseen = this.#unseen;
    this.#unseen = new Set();
    // While the store cannot be read, passes fail and say so.
    const found = await this.#options.look().catch(() => null);
    if (this.#isClosed) return;
    if (found === null) this.#unseen = new Set([...unseen, ...this.#unseen]);
    else {
      const known = this.#known;
      this.#known = found;
      for (const [client, suspensions] of found)
        if (unseen.has(client) || textOf(known.get(client)) !== textOf(suspensions)) onChange(client);
    }
    this.#timer = setTimeout(() => {
      this.#round = this.#look(this.#options.onChange);
    }, interval).unref();
  }
}

const textOf = (suspensions: readonly Suspension[] = []): string => JSON.stringify(suspensions);

/** By its time alone, since the texts of a result may be redacted. */
const isSame = (shown: ShownSuspension, { since }: Suspension): boolean => Date.parse(shown.since) === since;

/** Milliseconds between two looks. */
const interval = 2_000;
