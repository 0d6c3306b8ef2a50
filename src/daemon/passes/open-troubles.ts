import { wasCorrected } from '../../notify/health.ts';
import type { Status, TemplateResult } from '../../result.ts';

/** A template that is in sync again. */
export interface EndedTrouble {
  readonly template: string;
  readonly templateId: number | null;
  /** Its status before; `drifted` if a pass corrected what it found. */
  readonly was: Exclude<Status, 'in-sync'>;
  /** ISO 8601: the start of the pass that saw it first. */
  readonly since: string;
}

/** Which templates of a client are not in sync, and since when. What a pass could not read stays as it was. */
export class OpenTroubles {
  readonly #open = new Map<string, Pick<EndedTrouble, 'was' | 'since'>>();

  /** Takes the results of a pass. Returns what ended with it. */
  take(templates: readonly TemplateResult[], startedAt: string): EndedTrouble[] {
    return templates.flatMap((result) => {
      const { template, id, status, asOf } = result;
      const key = `${template}\n${id}`;
      const open = this.#open.get(key);
      if (asOf !== undefined) return [];
      if (status !== 'in-sync') {
        this.#open.set(key, { was: status, since: open?.since ?? startedAt });
        return [];
      }
      this.#open.delete(key);
      const found =
        open ?? (result.differences.some(wasCorrected) ? { was: 'drifted', since: startedAt } : null);
      return found ? [{ template, templateId: id, ...found } as const] : [];
    });
  }

  forget(templates: readonly string[]): void {
    for (const key of this.#open.keys())
      if (templates.includes(key.split('\n')[0] ?? '')) this.#open.delete(key);
  }
}
