import { UserError } from '../errors.ts';
import { MemoryError } from './memory.ts';
import { memoryIn, type FileMemory } from './sqlite.ts';
import type { StateFile } from './state-file.ts';

/** The state of one client, which stays open from one pass to the next. */
export class CachedConnection {
  readonly #now: () => number;
  #kept: { readonly state: StateFile; readonly digest: string; readonly memory: FileMemory } | null = null;
  #isFilled = false;
  #isClosing = false;
  #uses = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Uses a borrowed state, and gives it back. */
  async use<T>(digest: string, state: StateFile, task: (memory: FileMemory) => Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      return await task(await this.#memoryIn(state, digest));
    } catch (error) {
      if (!(error instanceof UserError) || error instanceof MemoryError) state.distrust();
      throw error;
    } finally {
      this.#uses -= 1;
      await state.giveBack();
      if (this.#isClosing && this.#uses === 0) await this.#drop();
    }
  }

  /** After this use it is opened again, and checked. */
  distrust(): void {
    this.#kept?.state.distrust();
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

  async #memoryIn(state: StateFile, digest: string): Promise<FileMemory> {
    if (this.#kept?.state === state && this.#kept.digest === digest) return this.#kept.memory;
    await this.#drop();
    const memory = await memoryIn(state, digest, this.#now);
    state.keep();
    this.#kept = { state, digest, memory };
    return memory;
  }

  async #drop(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    this.#isFilled = false;
    await kept?.state.letGo();
  }
}
