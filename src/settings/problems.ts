import { UserError } from '../errors.ts';

/** Collects all problems of the settings, so that one run shows them all. */
export class Problems {
  #lines = new Set<string>();
  #keys = new Set<string>();
  #isFileUnread = false;

  /** Begins with those of `other`. */
  constructor(other?: Problems) {
    if (other === undefined) return;
    this.#lines = new Set(other.#lines);
    this.#keys = new Set(other.#keys);
    this.#isFileUnread = other.#isFileUnread;
  }

  /** May hold secrets. */
  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** Adds a line that already names its place. */
  addLine(line: string): void {
    this.#lines.add(line);
  }

  /** `place` is the flag, variable or key to look for; `key` is the setting. */
  add(place: string, message: string, key: string = place): void {
    this.#lines.add(`${place}: ${message}`);
    this.#keys.add(key);
  }

  /** Adds an error whose message already names its place. */
  note(error: UserError, key: string): void {
    this.#lines.add(error.message);
    this.#keys.add(key);
  }

  /** Adds an error of a file that cannot be read: it may concern any setting. */
  addUnread(place: string, message: string): void {
    this.add(place, message);
    this.#isFileUnread = true;
  }

  /** Whether the setting has a problem already, so that a missing value is not a second one. */
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
