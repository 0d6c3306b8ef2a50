import { statSync } from 'node:fs';
import type { FileMemory } from './sqlite.ts';

interface Where {
  readonly file: string;
  readonly digest: string;
}

type Open = (file: string, digest: string) => Promise<FileMemory>;

/** A state that stays open from one pass to the next. */
export class OpenMemory {
  #kept: { readonly memory: FileMemory; readonly where: Where; print: string } | null = null;
  #isFilled = false;
  #isDistrusted = false;
  #isClosing = false;
  #uses = 0;

  /** The same as before, unless its file has changed. */
  async open(where: Where, open: Open): Promise<FileMemory> {
    const { file, digest } = where;
    const kept = this.#kept;
    if (kept?.where.file === file && kept.where.digest === digest && kept.print === fileIdentityOf(file))
      return kept.memory;
    await this.#drop();
    const memory = await open(file, digest);
    this.#kept = { memory, where, print: fileIdentityOf(file) };
    return memory;
  }

  /** After an error it is closed: opening it again checks it. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.#uses += 1;
    let isSound = false;
    try {
      const result = await task();
      isSound = true;
      return result;
    } finally {
      this.#uses -= 1;
      this.#isDistrusted ||= !isSound || this.#kept?.memory.isInPlace() === false;
      if (this.#uses === 0 && (this.#isClosing || this.#isDistrusted)) await this.#drop();
      else if (this.#kept) this.#kept.print = fileIdentityOf(this.#kept.where.file);
    }
  }

  /** It is closed after this use. */
  distrust(): void {
    this.#isDistrusted = true;
  }

  /** Whether there is any state; once true, it stays true. */
  async isFilled(): Promise<boolean> {
    this.#isFilled ||= ((await this.#kept?.memory.templates()) ?? []).length > 0;
    return this.#isFilled;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#uses === 0) await this.#drop();
  }

  async #drop(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    this.#isFilled = false;
    this.#isDistrusted = false;
    await kept?.memory.close();
  }
}

/** Identifies the content of the file. SQLite itself notices changes in its journal. */
const fileIdentityOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ') : 'none';
};
