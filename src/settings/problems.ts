import { UserError } from '../errors.ts';

/** Gathers everything that is wrong with the settings, so that one run tells it all. */
export class Problems {
  readonly #lines = new Set<string>();
  readonly #keys = new Set<string>();
  #isFileUnread = false;

  /** `place` is the flag, variable or key as a person would look for it; `key` the setting it is about. */
  add(place: string, message: string, key: string = place): void {
    this.#lines.add(`${place}: ${message}`);
    this.#keys.add(key);
  }

  /** An error whose message names its place already. */
  note(error: UserError, key: string): void {
    this.#lines.add(error.message);
    this.#keys.add(key);
  }

  /** What a config file says that cannot be read may be any setting. */
  addUnread(place: string, message: string): void {
    this.add(place, message);
    this.#isFileUnread = true;
  }

  /** Whether something was said about that setting: what it lacks then is no second problem. */
  concern(key: string): boolean {
    return this.#isFileUnread || this.#keys.has(key);
  }

  /** Throws one UserError with every problem, if there is any. */
  settle(redact: (text: string) => string): void {
    if (this.#lines.size === 0) return;
    const lines = [...this.#lines].map((line) => redact(line));
    throw new UserError(
      lines.length === 1
        ? lines.join('')
        : [`${lines.length} problems in the settings:`, ...lines].join('\n- '),
    );
  }
}
