import type { ActualTemplate, DesiredState, DesiredTemplate, SubdomainRecord } from '../model/template.ts';
import type { RecordPattern } from '../plan/record-pattern.ts';
import type { RecordAddition, RecordChange } from '../plan/step.ts';
import type { Change, TemplateResult, Trigger } from '../result.ts';
import type { Clock } from '../lib/clock.ts';
import type { Instant, Memory, MemoryReader } from '../state/memory.ts';

/** What a pass needs of the service. The operations throw `HostingError`. */
export interface TemplateService {
  listDnsTemplates(): Promise<readonly ActualTemplate[]>;
  addDnsTemplateRecord(templateId: number, record: RecordAddition): Promise<ActualTemplate>;
  updateDnsTemplateRecord(templateId: number, change: RecordChange): Promise<ActualTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
}

/** What a pass needs of the outside. */
export interface Ports {
  readonly service: TemplateService;
  readonly memory: MemoryReader;
  /** Null in a dry run: nothing may be written, neither to the service nor to the store. */
  readonly writer: Memory | null;
  readonly clock: Clock;
  /** Aborted at shutdown: no new write starts. */
  readonly signal: AbortSignal;
  readonly onChange: (change: Change) => void;
  /** Called with messages for people that are not part of a report. */
  readonly warn: (message: string) => void;
  /** The git commit of a file's checkout. */
  readonly revisionOf: (file: string) => string | null;
  /** What the files say by now, null where that is still these templates; absent: what they said when the pass began. */
  readonly peek?: (templates: readonly DesiredTemplate[]) => Promise<DesiredState | null>;
}

/** The scope of one pass, and its trigger. */
export interface Request {
  readonly client: string;
  readonly run: string;
  readonly trigger: Trigger;
  /** Before files were read; ms since the epoch. */
  readonly startedAt: number;
  /** Only these templates; empty: all. */
  readonly templates: readonly string[];
  /** The only records to write; empty or absent: all. */
  readonly only?: readonly RecordPattern[];
  /** The first listing, if it was requested before the pass began, under the same lock. */
  readonly listing: Promise<readonly ActualTemplate[]> | null;
  /** When that listing was asked for, if it was before the pass began. */
  readonly askedAt?: Instant;
  /** Why there may be unknown adds, so that none is sent. */
  readonly holdsAdds?: string | null;
  /** Shows what a pass would write, as for `approve`. */
  readonly isRehearsal?: boolean;
  /** Called before the first write with the plan; throws if it must not be written. */
  readonly approve?: (planned: readonly TemplateResult[]) => void;
}

/** How a pass reads and writes. */
export interface Policy {
  /** Milliseconds between the two readings that a write needs. */
  readonly settle: number;
  /** Milliseconds. */
  readonly unknownPause: number;
  readonly subdomainGrace: number;
  readonly maxAddsPerPass: number;
  /** Templates written at the same time. */
  readonly concurrency: number;
  readonly ignoreSubdomains: boolean;
}

/** A person's options for this pass. */
export interface Overrides {
  /** Lifts the guards, except that of lost records, and `mode: edits`. */
  readonly force: boolean;
  /** Retries what waits for a person, and takes the listing's word: what it does not show did not happen. */
  readonly retry: boolean;
  /** Missing records are gone. */
  readonly acceptLoss: boolean;
}
