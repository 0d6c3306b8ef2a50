import type { DesiredState, DesiredTemplate } from '../../model/template.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../../result.ts';

/** The latest results of one client's templates. */
export class LatestResults {
  #result: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  /** The files of the last pass. */
  #all: DesiredState | null = null;

  /** Null before the first pass. */
  get result(): PassResult | null {
    return this.#result;
  }

  /** The templates of this name, as the files describe them. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#all?.templates.filter((one) => one.template === template) ?? [];
  }

  /** A pass begins. */
  begin(desired: DesiredState): void {
    this.#all = desired;
  }

  /** Takes the result of the pass. Returns the templates that no file describes any more. */
  add(found: PassResult): readonly string[] {
    const before = this.#result?.templates ?? [];
    const result = withLastKnown(withOthers(found, this.#result), before, this.#readAt);
    if (result.wasRead === true) this.#readAt = result.startedAt;
    // If nothing has changed, the list is the same object.
    this.#result = result;
    // An invalid file without a readable name may be the one that describes it.
    if (result.templates === before || this.#all?.unusable.some(({ template }) => template === null))
      return [];
    const known = new Set(result.templates.map(({ template }) => template));
    return before.flatMap(({ template, file }) => (known.has(template) || template === file ? [] : template));
  }

  /** What a pass elsewhere has left. */
  adopt(result: PassResult): void {
    this.#result = result;
    if (result.wasRead === true) this.#readAt = result.startedAt;
  }
}

/** Keeps what a pass that could not read the service says nothing about. */
const withOthers = (found: PassResult, last: PassResult | null): PassResult => {
  const { unmanaged = last?.unmanaged, withInvalidFile = last?.withInvalidFile } = found;
  return {
    ...found,
    ...(unmanaged === undefined ? {} : { unmanaged }),
    ...(withInvalidFile === undefined ? {} : { withInvalidFile }),
  };
};

/** If the service could not be read, each template keeps its last known state. */
const withLastKnown = (
  result: PassResult,
  before: readonly TemplateResult[],
  readAt: string | null,
): PassResult => {
  if (result.templates.every(({ asOf }) => asOf === undefined)) return result;
  const known = new Map(before.map((one) => [keyOf(one), one]));
  return {
    ...result,
    templates: result.templates.map((unread) => {
      const last = known.get(keyOf(unread));
      if (unread.asOf === undefined || last === undefined) return unread;
      const { status, message, file, revision } = unread;
      const { differences } = withoutApplied(last);
      const asOf = last.asOf === undefined ? readAt : last.asOf;
      return { ...last, status, message, file, revision, differences, asOf };
    }),
  };
};

/** Templates of one name are distinguished by their files. */
const keyOf = ({ template, file }: TemplateResult): string => `${template}\n${file}`;
