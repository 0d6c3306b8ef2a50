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
  /** What is suspended of each client, as the last look found it; null: a pass has obeyed something else since. */
  readonly #known = new Map<string, readonly Suspension[] | null>();
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
    // By their times: the other texts of a result may be redacted.
    const known = this.#known.get(client) ?? [];
    const isUnseen = ({ suspension }: Pick<TemplateResult, 'suspension'>): boolean =>
      suspension !== undefined && known.every(({ since }) => since !== Date.parse(suspension.since));
    if (templates.some(isUnseen)) this.#known.set(client, null);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #look(onChange: SuspensionWatchOptions['onChange']): Promise<void> {
    // While the store cannot be read, passes fail and say so.
    const found = await this.#options.look().catch(() => new Map<string, readonly Suspension[]>());
    if (this.#isClosed) return;
    for (const [client, suspensions] of found) {
      const known = this.#known.has(client) ? this.#known.get(client) : [];
      if (JSON.stringify(known) !== JSON.stringify(suspensions)) onChange(client);
      this.#known.set(client, suspensions);
    }
    this.#timer = setTimeout(() => {
      this.#round = this.#look(this.#options.onChange);
    }, interval).unref();
  }
}

/** Milliseconds between two looks. */
const interval = 2_000;
