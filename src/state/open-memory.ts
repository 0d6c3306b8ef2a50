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

  /** The same as before, unless somebody has touched its file since. */
  async open(where: Where, open: Open): Promise<FileMemory> {
    const { file, digest } = where;
    const kept = this.#kept;
    if (kept?.where.file === file && kept.where.digest === digest && kept.print === printOf(file))
      return kept.memory;
    await this.#drop();
    const memory = await open(file, digest);
    this.#kept = { memory, where, print: printOf(file) };
    return memory;
  }

  /** After an error it is not kept: who opens it anew looks whether it is whole. */
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
      else if (this.#kept) this.#kept.print = printOf(this.#kept.where.file);
    }
  }

  /** It is not kept after this use. */
  distrust(): void {
    this.#isDistrusted = true;
  }

  /** Whether anything is remembered: once that is so, it stays so. */
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

/** What the file is like; what SQLite has not moved there yet is beside it, and it notices changes of that itself. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ') : 'none';
};
