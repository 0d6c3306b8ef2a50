import { sameElements } from '../../lib/same-elements.ts';
import type { DesiredState, DesiredTemplate } from '../../model/template.ts';
import { pushTo } from '../../plan/group.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../../result.ts';

/**
 * The latest results of one client's templates, merged from full and partial passes. It remembers which
 * version of each description was last compared with the service, and so knows what has changed.
 */
export class LatestResults {
  #result: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  #compared: Descriptions = new Map();
  /** The files of the running pass, and the part of them that it compares. */
  #all: DesiredState = nothing;
  #part: DesiredState = nothing;
  /** The descriptions in `#all`. */
  #described: Descriptions = new Map();

  /** Null before the first pass. */
  get result(): PassResult | null {
    return this.#result;
  }

  /** The templates of this name, as the files describe them. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#all.templates.filter((one) => one.template === template);
  }

  /** A pass begins. Returns the part to compare: everything, or what has changed since the last comparison. */
  begin(desired: DesiredState, isFull: boolean): DesiredState {
    if (desired !== this.#all) this.#described = descriptionsIn(desired);
    this.#all = desired;
    this.#part = isFull ? desired : this.#touched(desired);
    return this.#part;
  }

  /** Merges the result of the pass. Returns the templates that no file describes any more. */
  add(found: PassResult): readonly string[] {
    const before = this.#result?.templates ?? [];
    const result = withLastKnown(withOthers(found, this.#result), before, this.#readAt);
    if (result.holdReason === null) this.#compared = this.#comparedNow();
    if (result.wasRead === true && this.#part === this.#all) this.#readAt = result.startedAt;
    // If nothing has changed, the list is the same object.
    this.#result = result;
    if (result.templates === before) return [];
    const names = new Set(result.templates.map(({ template }) => template));
    const untouched = before.filter(({ template }) => this.#described.has(template) && !names.has(template));
    if (untouched.length > 0) this.#result = { ...result, templates: [...untouched, ...result.templates] };
    // An invalid file without a readable name may be the one that describes it.
    if (this.#all.unusable.some(({ template }) => template === null)) return [];
    const known = new Set(this.#result.templates.map(({ template }) => template));
    return before.flatMap(({ template, file }) => (known.has(template) || template === file ? [] : template));
  }

  /** What a full pass elsewhere has left. */
  adopt(result: PassResult): void {
    this.#result = result;
    if (result.wasRead === true) this.#readAt = result.startedAt;
  }

  #comparedNow(): Descriptions {
    if (this.#part === this.#all) return this.#described;
    const kept = [...this.#compared].filter(([name]) => this.#described.has(name));
    return new Map([...kept, ...descriptionsIn(this.#part)]);
  }

  /**
   * Includes templates with an unresolved write. Without any files all templates are held, so the pass is a
   * full one.
   */
  #touched(desired: DesiredState): DesiredState {
    if (this.#result === null || desired.files === 0) return desired;
    const unsettled = new Set(this.#result.templates.filter(isUnsettled).map(({ template }) => template));
    const isTouched = (name: string): boolean =>
      unsettled.has(name) || !sameElements(this.#described.get(name) ?? [], this.#compared.get(name) ?? []);
    return {
      ...desired,
      templates: desired.templates.filter(({ template }) => isTouched(template)),
      unusable: desired.unusable.filter((one) => isTouched(nameOf(one))),
    };
  }
}

/** Keeps what a partial pass, or one that could not read the service, says nothing about. */
const withOthers = (found: PassResult, last: PassResult | null): PassResult => {
  const { unmanaged = last?.unmanaged, withInvalidFile = last?.withInvalidFile, commits = [] } = found;
  const ids = new Set(commits.map(({ revision }) => revision));
  const others = (last?.commits ?? []).filter(({ revision }) => !ids.has(revision));
  return {
    ...found,
    ...(unmanaged === undefined ? {} : { unmanaged }),
    ...(withInvalidFile === undefined ? {} : { withInvalidFile }),
    commits: [...commits, ...others].slice(0, maxCommits),
  };
};

/** A template that no newer pass has compared may still be of an older one. */
const maxCommits = 20;

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
      const { status, message, file, revision, uncommitted } = unread;
      const { differences } = withoutApplied(last);
      const asOf = last.asOf === undefined ? readAt : last.asOf;
      return {
        ...last,
        status,
        message,
        file,
        revision,
        ...(uncommitted ? { uncommitted } : {}),
        differences,
        asOf,
      };
    }),
  };
};

/** Templates of one name are distinguished by their files. */
const keyOf = ({ template, file }: TemplateResult): string => `${template}\n${file}`;

const nothing: DesiredState = { templates: [], unusable: [], problems: [], files: 0 };

/**
 * The descriptions of each name; several templates of one name differ in their ids. A loader returns the same
 * object for the same text, so descriptions are compared by identity; an unusable one is identified by its
 * error.
 */
type Descriptions = ReadonlyMap<string, readonly unknown[]>;

const descriptionsIn = ({ templates, unusable }: DesiredState): Descriptions => {
  const descriptions = new Map<string, unknown[]>();
  for (const one of templates) pushTo(descriptions, one.template, one);
  for (const one of unusable) pushTo(descriptions, nameOf(one), `${one.file}: ${one.message}`);
  return descriptions;
};

/** The name under which a report lists it. */
const nameOf = ({ template, file }: DesiredState['unusable'][number]): string => template ?? file;

/** A write of unknown outcome is resolved by the next pass, also by a partial one. */
const isUnsettled = ({ differences }: TemplateResult): boolean =>
  differences.some(
    (difference) =>
      difference.outcome === 'unknown' ||
      (difference.action === 'blocked' && difference.reason === 'pending-write'),
  );
