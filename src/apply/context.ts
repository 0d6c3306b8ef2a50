import type { DesiredTemplate, PresentTemplate } from '../model/template.ts';
import type { Outcome } from '../plan/difference.ts';
import type { TemplatePlan } from '../plan/plan.ts';
import type { RecordAddition, RecordChange, Step } from '../plan/step.ts';
import type { Change } from '../result.ts';
import type { Intent, Memory, Uptime } from '../state/memory.ts';
import type { Ledger } from './ledger.ts';

/** What a pass needs of the service to write. The operations throw `HostingError`. */
export interface TemplateService {
  listDnsTemplates(): Promise<readonly PresentTemplate[]>;
  addDnsTemplateRecord(templateId: number, record: RecordAddition): Promise<PresentTemplate>;
  updateDnsTemplateRecord(templateId: number, change: RecordChange): Promise<PresentTemplate>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs on steadily, whatever happens to the clock. */
  uptime(): Uptime;
  /** Ends early, without an error, when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<unknown>;
}

export interface ApplyContext {
  readonly service: TemplateService;
  readonly memory: Memory;
  readonly clock: Clock;
  /** Aborted when the program is to end: no new write starts. */
  readonly signal: AbortSignal;
  readonly run: string;
  /** Milliseconds. */
  readonly settle: number;
  readonly unknownPause: number;
  /** A person said to try again what waits for that word. */
  readonly retry: boolean;
  /** A person said that what is missing is truly gone. */
  readonly acceptLoss: boolean;
  readonly onChange: (change: Change) => void;
  /** Ends the writes of this client for this pass. */
  readonly halt: Halt;
  /** All that the readings since the first one showed, for whichever template they were made. */
  readonly latest: { listing: ReadonlyMap<number, PresentTemplate> | null };
}

export interface Halt {
  reason: string | null;
  /** Ms since the epoch, where the service asked to wait. */
  retryAt: number | null;
  /** Whether it is that the tokens open nothing. */
  isDenied?: boolean;
  /** Whether what became of a write, or what was read, could not be remembered. */
  isForgetful?: boolean;
}

/** One template while a pass writes it. */
export interface TemplateWork {
  readonly desired: DesiredTemplate;
  readonly notes: readonly string[];
  readonly ledger: Ledger;
  /** Ms since the epoch. */
  readonly openedAt: number;
  /** The last reading that can be believed. */
  present: PresentTemplate;
  /** Adds whose outcome is unknown. */
  pending: Intent[];
  /** By `stepKey`: what became of each write of this pass. Each wanted record is written once in a pass. */
  readonly fates: Map<string, Fate>;
  /** By the id of a record that is parked to make way: the `stepKey` of the write. */
  readonly madeWay: Map<number, string>;
  /** By `writeKey`: writes that two readings ask for. */
  readonly confirmed: Set<string>;
  /** The last plan, and what it was made of: nothing is planned twice in a pass. */
  planned: {
    readonly plan: TemplatePlan;
    readonly present: PresentTemplate;
    readonly pending: readonly Intent[];
    readonly version: number;
  } | null;
  /** What memory knows and the last reading lacks: types and names of records, ids of strangers; and what told so. */
  lacking: {
    readonly types: ReadonlySet<string>;
    readonly names: ReadonlySet<string>;
    readonly strangers: readonly number[];
    readonly present: PresentTemplate;
    readonly version: number;
  } | null;
  /** `recordKey` of all that the file wants; null until somebody asks. */
  wantedKeys: ReadonlySet<string> | null;
  /** The last reading of all templates that was held against this one. */
  heldAgainst: ReadonlyMap<number, PresentTemplate> | null;
  /** One reading lacked what another had shown: neither tells what is gone. */
  hasDisagreement: boolean;
  /** Why nothing more is written in this pass. */
  stopped: string | null;
  /** Why nothing more is added in this pass. */
  addsStopped: string | null;
}

export interface Fate {
  readonly step: Step;
  readonly outcome: Exclude<Outcome, 'skipped'>;
  readonly error: string | null;
  /** Ms since the epoch. */
  readonly retryAt: number | null;
}
