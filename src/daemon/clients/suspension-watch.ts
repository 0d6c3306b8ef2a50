import type { Suspension } from '../../model/suspension.ts';
import type { TemplateResult } from '../../result.ts';

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
  /** The suspensions of each client that has any, as the last look found them. */
  #known: ReadonlyMap<string, KnownSuspensions> = new Map();
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

  /** A pass obeyed suspensions. They may end before the next look, and what they held would wait for the schedule. */
  obeyed(client: string, templates: readonly Pick<TemplateResult, 'suspension'>[]): void {
    const times = this.#known.get(client)?.times;
    const isUnseen = ({ suspension }: Pick<TemplateResult, 'suspension'>): boolean =>
      suspension !== undefined && times?.has(Date.parse(suspension.since)) !== true;
    if (templates.some(isUnseen)) this.#unseen.add(client);
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
      const known = new Map([...found].filter(([, one]) => one.length > 0).map(asKnown));
      for (const client of found.keys())
        if (unseen.has(client) || known.get(client)?.text !== this.#known.get(client)?.text) onChange(client);
      this.#known = known;
    }
    this.#timer = setTimeout(() => {
      this.#round = this.#look(this.#options.onChange);
    }, interval).unref();
  }
}

interface KnownSuspensions {
  readonly text: string;
  /** When they began, in ms since the epoch: the other texts of a result may be redacted. */
  readonly times: ReadonlySet<number>;
}

const asKnown = ([client, suspensions]: readonly [string, readonly Suspension[]]): [
  string,
  KnownSuspensions,
] => [client, { text: JSON.stringify(suspensions), times: new Set(suspensions.map(({ since }) => since)) }];

/** Milliseconds between two looks. */
const interval = 2_000;
