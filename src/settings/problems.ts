import { UserError } from '../errors.ts';

/** Settings that cannot be used. */
export class SettingsError extends UserError {
  /** What is wrong, each with its place. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems.join('')
        : [`${problems.length} problems in the settings:`, ...problems].join('\n- '),
    );
    this.problems = problems;
  }
}

/** Collects all problems of the settings, so that one run shows them all. */
export class Problems {
  readonly #lines = new Set<string>();
  readonly #keys = new Set<string>();
  #isFileUnread = false;

  /** Begins with those of `other`. */
  constructor(other?: Problems) {
    if (other === undefined) return;
    for (const line of other.#lines) this.#lines.add(line);
    for (const key of other.#keys) this.#keys.add(key);
    this.#isFileUnread = other.#isFileUnread;
  }

  /** May hold secrets. */
  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** `place` is the flag, variable or key to look for, null if the message names it; `key` is the setting. */
  add(place: string | null, message: string, key: string = place ?? ''): void {
    this.#lines.add(place === null ? message : `${place}: ${message}`);
    this.#keys.add(key);
  }

  /** Adds an error of a file that cannot be read: it may concern any setting. */
  addUnread(place: string, message: string): void {
    this.add(place, message);
    this.#isFileUnread = true;
  }

  /** Adds what is wrong with a setting, if anything is; its message names the place. */
  attempt(key: string, task: () => unknown): void {
    try {
      task();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.add(null, error.message, key);
    }
  }

  /** Whether the setting has a problem already, so that a missing value is not a second one. */
  concern(key: string): boolean {
    return this.#isFileUnread || this.#keys.has(key);
  }

  /** Throws one error with every problem, if there is any. */
  settle(redact: (text: string) => string = (text) => text): void {
    if (this.#lines.size > 0) throw new SettingsError(this.lines.map((line) => redact(line)));
  }
}
