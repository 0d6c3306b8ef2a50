import type { DesiredState, DesiredTemplate } from '../../model/template.ts';
import { problemText } from '../../report/view.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../../result.ts';
import type { PassLoopState } from '../passes/loop.ts';

/**
 * The state of one client, for the status page and readiness.
 *
 * | health     | the last pass                                                        |
 * |------------|----------------------------------------------------------------------|
 * | `starting` | has not ended yet, and was the first                                 |
 * | `healthy`  | went well; nothing waits for a person                                |
 * | `held`     | went well, and a template waits for a person                         |
 * | `denied`   | ended early, since the service rejects the tokens                    |
 * | `failing`  | could not run, or something in it failed                         |
 */
export interface ClientState extends PassLoopState, ClientBasics {
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null if it is. */
  readonly why: string | null;
  /** Why nobody knows whether it is in sync; null if the last pass has compared it. */
  readonly uncompared: string | null;
}

interface ClientBasics {
  readonly client: string;
  /** Why the last pass could not be made, or ended early; null if it completed. */
  readonly lastError: string | null;
  /** Whether its templates and the service were ever read, passes can be made, and the tokens are not rejected for long. */
  readonly isReady: boolean;
  /** The time of the next scheduled pass. */
  readonly nextScheduled: Date | null;
}

/** `latest`: the known state of its templates; null before the first pass. */
export const clientState = (
  known: ClientBasics,
  loop: PassLoopState,
  latest: PassResult | null,
): ClientState => {
  const { lastError } = known;
  const hasCompared = latest !== null && (lastError === null || latest.holdReason === lastError);
  const [health, why] = healthOf(lastError, latest);
  return { ...known, ...loop, health, why, uncompared: hasCompared ? null : why };
};

export interface Readiness {
  readonly ready: boolean;
  /** Why not; null when ready. */
  readonly reason: string | null;
}

/** Ready once every client is, and as long as passes can be made. `trouble`: why this process takes no part; null if it does. */
export const readinessOf = (clients: readonly ClientState[], trouble: string | null): Readiness => {
  const unready = clients.filter(({ isReady }) => !isReady);
  const whys = unready.map(({ client, why }) => `${client}: ${why ?? 'it was not read yet'}`);
  const reason = [trouble ?? [], whys].flat().join('; ') || null;
  return { ready: reason === null, reason };
};

const healthOf = (
  lastError: string | null,
  latest: PassResult | null,
): [ClientState['health'], why: string | null] => {
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

/** The latest results of one client's templates. */
export class Results {
  /** Null before the first pass. */
  latest: PassResult | null = null;
  /** When everything was last compared with the service; ISO 8601. */
  #readAt: string | null = null;
  /** The files of the last pass. */
  #files: DesiredState | null = null;

  /** The templates of this name, as the files describe them. */
  described(template: string): readonly DesiredTemplate[] {
    return this.#files?.templates.filter((one) => one.template === template) ?? [];
  }

  /** A pass begins. */
  begin(files: DesiredState): void {
    this.#files = files;
  }

  /** Takes the result of the pass. Returns the templates that no file describes any more. */
  add(found: PassResult): readonly string[] {
    const before = this.latest?.templates ?? [];
    const known = new Set(found.templates.map(({ template }) => template));
    // An invalid file without a readable name may be the one that describes it.
    const mayBeAny = this.#files?.unusable.some(({ template }) => template === null) === true;
    this.adopt(withLastKnown(found, this.latest, this.#readAt));
    return before.flatMap(({ template, file }) =>
      mayBeAny || known.has(template) || template === file ? [] : template,
    );
  }

  /** What a pass, also of another process, has left. */
  adopt(result: PassResult): void {
    this.latest = result;
    if (result.wasRead === true) this.#readAt = result.startedAt;
  }
}

/** A pass that could not read the service keeps what earlier ones know: what it does not say, and of each template the last state. */
const withLastKnown = (found: PassResult, last: PassResult | null, readAt: string | null): PassResult => {
  const { unmanaged = last?.unmanaged, withInvalidFile = last?.withInvalidFile } = found;
  const known = new Map(last?.templates.map((one) => [keyOf(one), one]));
  const templates = found.templates.map((unread) => {
    const before = known.get(keyOf(unread));
    if (unread.asOf === undefined || before === undefined) return unread;
    const { status, message, file, revision } = unread;
    const asOf = before.asOf === undefined ? readAt : before.asOf;
    return { ...withoutApplied(before), status, message, file, revision, asOf };
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
