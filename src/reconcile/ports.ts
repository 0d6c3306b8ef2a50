import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import type { RecordAddition, RecordChange } from '../plan/step.ts';
import type { Change } from '../result.ts';
import type { Memory, MemoryReader, Uptime } from '../state/memory.ts';

/** What a pass needs of the service. The operations throw `HostingError`. */
export interface TemplateService {
  listDnsTemplates(): Promise<readonly ActualTemplate[]>;
  addDnsTemplateRecord(templateId: number, record: RecordAddition): Promise<ActualTemplate>;
  updateDnsTemplateRecord(templateId: number, change: RecordChange): Promise<ActualTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The monotonic clock. */
  uptime(): Uptime;
  /** Ends early, without an error, when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<unknown>;
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
  /** Whether a file differs from that commit; none does where this is missing. */
  readonly isUncommitted?: (file: string) => boolean;
}
