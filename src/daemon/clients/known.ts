import type { PassReport } from '../../cluster/membership.ts';
import { unknownPlace, type DesiredState, type DesiredTemplate } from '../../model/template.ts';
import { answersIn, withAnswers, type KnownAnswers } from '../../report/answers.ts';
import { problemText } from '../../report/view.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../../result.ts';
import type { ClientFacts, PassEntry } from '../../status-page/facts.ts';

/** What is known of one client, by the passes of this process or of others. */
export class KnownState {
  answers: KnownAnswers = new Map();
  lastPass: PassEntry | null = null;
  /** When the last pass without a failure ended, in ms since the epoch; 0: none has. */
  lastSuccess = 0;
  /** The same of the last one that read everything and did not stop early. */
  lastComplete = 0;
  /** Why the last pass could not be made, or ended early; null if it completed. */
  lastError: string | null = null;
  /** Whether its templates and the service were ever read with tokens that it takes, and passes can be made. */
  isReady = false;
  #latest: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  /** The files of the last pass. */
  #files: DesiredState | null = null;
  /** Templates of earlier passes that are gone, or that something describes which could not be read since. */
  #missing: readonly string[] = [];

  /** The newest results of its templates, with the answers of name servers; null before the first pass. */
  get newest(): PassResult | null {
    return this.#latest && withAnswers(this.#latest, this.answers);
  }

  /** `unknownPlace` of the files of the last pass. */
  get unknownPlace(): string | null {
    return this.#files && unknownPlace(this.#files);
  }

  /** The templates of this name, as the files describe them. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#files?.templates.filter((one) => one.template === template) ?? [];
  }

  /**
   * How it is, and why it is not healthy. `trouble`: why it can have no passes now; null if it can. `uncompared`: why nobody
   * knows whether it is in sync; null if the last pass has compared it.
   */
  health(trouble: string | null) {
    const [latest, lastError] = [this.#latest, trouble ?? this.lastError];
    const [health, why] = healthOf(lastError, latest);
    const hasCompared = latest !== null && (lastError === null || latest.holdReason === lastError);
    return { health, why, lastError, uncompared: hasCompared ? null : why };
  }

  /** A pass begins with these files. */
  begin(files: DesiredState): void {
    this.#files = files;
  }

  /** Takes what the pass has found; null: it could not be made. Returns the templates that no file describes any more. */
  add(found: PassResult | null, lastError: string | null): readonly string[] {
    this.lastError = lastError;
    this.isReady = found !== null && (this.isReady || isReadWell(found));
    if (found === null) return [];
    const before = (this.#latest?.templates ?? []).filter(({ template, file }) => template !== file);
    const known = new Set(found.templates.map(({ template }) => template));
    const missing = [...this.#missing, ...before.map(({ template }) => template)];
    const gone = [...new Set(missing)].filter((template) => !known.has(template));
    const mayBeAny = this.unknownPlace !== null;
    this.#missing = mayBeAny ? gone : [];
    this.#take(withLastKnown(found, this.#latest, this.#readAt));
    return mayBeAny ? [] : gone;
  }

  /** A pass that another process has made. */
  adopt({ latest, lastError, isReady, entry }: PassReport): void {
    if (latest !== null) {
      this.#take(latest);
      this.answers = answersIn(latest);
    }
    this.lastError = lastError;
    this.isReady = isReady;
    this.end(entry);
  }

  /** The pass has ended, here or in another process. */
  end(entry: PassEntry): void {
    const endedAt = entry.startedAt + entry.durationMs;
    this.lastPass = entry;
    if (entry.status !== 'failed') this.lastSuccess = endedAt;
    if (entry.error === null) this.lastComplete = endedAt;
  }

  #take(result: PassResult): void {
    this.#latest = result;
    if (result.wasRead === true) this.#readAt = result.startedAt;
  }
}

/** Whether service and templates were read, or there are none and that is no error. */
const isReadWell = ({ wasRead, areTokensRejected, templates, problems }: PassResult): boolean => {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const isLoaded = errors.every(({ check }) => templates.length > 0 && check !== 'no-templates');
  return wasRead === true && areTokensRejected !== true && isLoaded;
};

/**
 * | health     | the last pass                                                       |
 * |------------|---------------------------------------------------------------------|
 * | `starting` | has not ended yet, and is the first                                 |
 * | `healthy`  | went well; nothing waits for a person                               |
 * | `held`     | went well, and a template waits for a person                        |
 * | `denied`   | ended early, since the service rejects the tokens                   |
 * | `failing`  | could not run, or something in it failed                            |
 */
const healthOf = (
  lastError: string | null,
  latest: PassResult | null,
): [ClientFacts['health'], why: string | null] => {
  if (lastError !== null) {
    const isDenied = latest?.isDenied === true && latest.holdReason === lastError;
    return [isDenied ? 'denied' : 'failing', lastError];
  }
  if (latest === null) return ['starting', 'no pass has ended yet'];
  const reasonOf = (status: string): string | null => {
    const found = latest.templates.find((one) => one.status === status);
    return found ? `${found.template}: ${found.message ?? status}` : null;
  };
  const problem = latest.problems.find(({ severity }) => severity === 'error');
  const failure = reasonOf('failed') ?? (problem ? problemText(problem) : null);
  if (failure !== null) return ['failing', failure];
  const held = reasonOf('held');
  return held === null ? ['healthy', null] : ['held', held];
};

/** A pass that could not read the service keeps what earlier ones know: what it does not say, and of each template the last state. */
const withLastKnown = (found: PassResult, last: PassResult | null, readAt: string | null): PassResult => {
  const { unmanaged = last?.unmanaged, withInvalidFile = last?.withInvalidFile } = found;
  const known = new Map(last?.templates.map((one) => [keyOf(one), one]));
  const templates = found.templates.map((unread) => {
    const before = known.get(keyOf(unread));
    if (unread.asOf === undefined || before === undefined) return unread;
    const { status, message, file, revision, suspension } = unread;
    const asOf = before.asOf === undefined ? readAt : before.asOf;
    const then = before.asOf === undefined ? { status: before.status, message: before.message } : before.was;
    // That it is suspended is known without the service.
    const was = unread.was ?? then;
    return {
      ...withoutApplied(before),
      status,
      message,
      file,
      revision,
      asOf,
      ...(was && { was }),
      ...(suspension && { suspension }),
    };
  });
  return {
    ...found,
    ...(unmanaged && { unmanaged }),
    ...(withInvalidFile && { withInvalidFile }),
    templates,
  };
};

/** Templates of one name are distinguished by their files. */
const keyOf = ({ template, file }: TemplateResult): string => `${template}\n${file}`;
