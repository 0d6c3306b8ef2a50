import type { DesiredState, DesiredTemplate } from '../../model/template.ts';
import { wasCorrected } from '../../notify/health.ts';
import { withoutApplied, type PassResult, type Status, type TemplateResult } from '../../result.ts';

/** A template that is in sync again. */
export interface EndedTrouble {
  readonly template: string;
  readonly templateId: number | null;
  /** Its status before; `drifted` if a pass corrected what it found. */
  readonly was: Exclude<Status, 'in-sync'>;
  /** ISO 8601: the start of the pass that saw it first. */
  readonly since: string;
}

/** The latest results of one client's templates, and since when they are not in sync. */
export class Results {
  /** Null before the first pass. */
  latest: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  /** The files of the last pass. */
  #files: DesiredState | null = null;
  /** By name and id. */
  readonly #troubles = new Map<string, Pick<EndedTrouble, 'was' | 'since'>>();

  /** The templates of this name, as the files describe them. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#files?.templates.filter((one) => one.template === template) ?? [];
  }

  /** A pass begins. */
  begin(files: DesiredState): void {
    this.#files = files;
  }

  /** Takes the result of the pass. Returns the templates that no file describes any more, and those that are in sync again. */
  add(found: PassResult): { removed: readonly string[]; ended: readonly EndedTrouble[] } {
    const before = this.latest?.templates ?? [];
    const known = new Set(found.templates.map(({ template }) => template));
    // An invalid file without a readable name may be the one that describes it.
    const mayBeAny = this.#files?.unusable.some(({ template }) => template === null) === true;
    const removed = before.flatMap(({ template, file }) =>
      mayBeAny || known.has(template) || template === file ? [] : template,
    );
    for (const key of this.#troubles.keys())
      if (removed.some((template) => key.startsWith(`${template}\n`))) this.#troubles.delete(key);
    return { removed, ended: this.adopt(withLastKnown(found, this.latest, this.#readAt)) };
  }

  /** What a pass, also of another process, has left. Returns what is in sync again. */
  adopt(result: PassResult): readonly EndedTrouble[] {
    this.latest = result;
    if (result.wasRead === true) this.#readAt = result.startedAt;
    return this.#ended(result);
  }

  /** Which troubles end with this pass. What it could not read stays as it was. */
  #ended({ templates, startedAt }: PassResult): EndedTrouble[] {
    return templates.flatMap((result) => {
      const { template, id, status, asOf } = result;
      if (asOf !== undefined) return [];
      const key = `${template}\n${id}`;
      const open = this.#troubles.get(key);
      const isCorrected = result.differences.some(wasCorrected);
      if (status === 'in-sync') this.#troubles.delete(key);
      else this.#troubles.set(key, { was: status, since: open?.since ?? startedAt });
      if (status !== 'in-sync' || (open === undefined && !isCorrected)) return [];
      return [{ template, templateId: id, was: 'drifted', since: startedAt, ...open } as const];
    });
  }
}

/** A pass that could not read the service keeps what earlier ones know: what it does not say, and of each template the last state. */
const withLastKnown = (found: PassResult, last: PassResult | null, readAt: string | null): PassResult => {
  const { unmanaged = last?.unmanaged, withInvalidFile = last?.withInvalidFile } = found;
  const result = {
    ...found,
    ...(unmanaged === undefined ? {} : { unmanaged }),
    ...(withInvalidFile === undefined ? {} : { withInvalidFile }),
  };
  // If nothing has changed, the list is the same object.
  if (found.templates.every(({ asOf }) => asOf === undefined)) return result;
  const known = new Map(last?.templates.map((one) => [keyOf(one), one]));
  const templates = found.templates.map((unread) => {
    const before = known.get(keyOf(unread));
    if (unread.asOf === undefined || before === undefined) return unread;
    const { status, message, file, revision } = unread;
    const asOf = before.asOf === undefined ? readAt : before.asOf;
    return { ...withoutApplied(before), status, message, file, revision, asOf };
  });
  return { ...result, templates };
};

/** Templates of one name are distinguished by their files. */
const keyOf = ({ template, file }: TemplateResult): string => `${template}\n${file}`;
