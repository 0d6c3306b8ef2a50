import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import { pushTo } from '../plan/group.ts';
import type { PassResult, TemplateResult } from '../result.ts';

/**
 * What is known of one client's templates, put together from passes over everything and passes over a part. It
 * remembers which description of each template was last compared with the service, and so tells what has changed.
 */
export class LatestResults {
  #result: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  #compared: Descriptions = new Map();
  /** What the pass that runs has to do with. */
  #all: DesiredState = nothing;
  #part: DesiredState = nothing;
  /** What is in all of that. */
  #described: Descriptions = new Map();

  /** Null before the first pass. */
  get result(): PassResult | null {
    return this.#result;
  }

  /** What the files say of the templates of this name. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#all.templates.filter((one) => one.template === template);
  }

  /** A pass begins. Gives what it is to look at: everything, or what has changed since it was last compared. */
  begin(desired: DesiredState, isFull: boolean): DesiredState {
    if (desired !== this.#all) this.#described = descriptionsIn(desired);
    this.#all = desired;
    this.#part = isFull ? desired : this.#touched(desired);
    return this.#part;
  }

  /** Takes over what the pass found. Gives the templates that no file describes any more. */
  add(found: PassResult): readonly string[] {
    const before = this.#result?.templates ?? [];
    const result = withLastKnown(found, before, this.#readAt);
    if (result.halted === null) this.#compared = this.#comparedNow();
    if (result.wasRead === true && this.#part === this.#all) this.#readAt = result.startedAt;
    // Where nothing has changed, the list is the same too.
    this.#result = result;
    if (result.templates === before) return [];
    const names = new Set(result.templates.map(({ template }) => template));
    const untouched = before.filter(({ template }) => this.#described.has(template) && !names.has(template));
    if (untouched.length > 0) this.#result = { ...result, templates: [...untouched, ...result.templates] };
    // A file that is too broken to tell may be the one that describes it.
    if (this.#all.unusable.some(({ template }) => template === null)) return [];
    const known = new Set(this.#result.templates.map(({ template }) => template));
    return before.flatMap(({ template, file }) => (known.has(template) || template === file ? [] : template));
  }

  #comparedNow(): Descriptions {
    if (this.#part === this.#all) return this.#described;
    const kept = [...this.#compared].filter(([name]) => this.#described.has(name));
    return new Map([...kept, ...descriptionsIn(this.#part)]);
  }

  /** What is not settled yet belongs to it. Without any files all templates hold, which is a matter of the whole. */
  #touched(desired: DesiredState): DesiredState {
    if (this.#result === null || desired.files === 0) return desired;
    const unsettled = new Set(this.#result.templates.filter(isUnsettled).map(({ template }) => template));
    const isTouched = (name: string): boolean =>
      unsettled.has(name) || !areSame(this.#described.get(name) ?? [], this.#compared.get(name) ?? []);
    return {
      ...desired,
      templates: desired.templates.filter(({ template }) => isTouched(template)),
      unusable: desired.unusable.filter((one) => isTouched(nameOf(one))),
    };
  }
}

/** Where the service could not be read, each template as it was when it last could. */
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
      const differences = last.differences.filter(({ outcome }) => outcome !== 'applied');
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

/** Templates of one name are told apart by their files. */
const keyOf = ({ template, file }: TemplateResult): string => `${template}\n${file}`;

const nothing: DesiredState = { templates: [], unusable: [], problems: [], files: 0 };

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);

/**
 * What the files say of the templates of each name, which their ids tell apart. The same text makes the same object
 * of a template as long as it is loaded by one loader; a template that cannot be used is told by what is wrong with it.
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

/** A write of unknown outcome is settled by the passes that follow, whatever they are about. */
const isUnsettled = ({ differences }: TemplateResult): boolean =>
  differences.some(
    (difference) =>
      difference.outcome === 'unknown' ||
      (difference.action === 'blocked' && difference.reason === 'pending-write'),
  );
