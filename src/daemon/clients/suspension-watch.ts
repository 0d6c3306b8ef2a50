import type { Suspension } from '../../model/suspension.ts';

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
  /** The suspensions of each client that has any, as text. */
  #known: ReadonlyMap<string, string> = new Map();
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

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #look(onChange: SuspensionWatchOptions['onChange']): Promise<void> {
    // While the store cannot be read, passes fail and say so.
    const found = await this.#options.look().catch(() => null);
    if (this.#isClosed) return;
    if (found !== null) {
      const known = new Map([...found].filter(([, one]) => one.length > 0).map(asTexts));
      for (const client of found.keys()) if (known.get(client) !== this.#known.get(client)) onChange(client);
      this.#known = known;
    }
    this.#timer = setTimeout(() => {
      this.#round = this.#look(this.#options.onChange);
    }, interval).unref();
  }
}

const asTexts = ([client, suspensions]: readonly [string, readonly Suspension[]]): [string, string] => [
  client,
  JSON.stringify(suspensions),
];

/** Milliseconds between two looks. */
const interval = 2_000;
