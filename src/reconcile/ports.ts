import type { PresentTemplate, SubdomainRecord } from '../model/template.ts';
import type { RecordAddition, RecordChange } from '../plan/step.ts';
import type { Change } from '../result.ts';
import type { Memory, MemoryReader, Uptime } from '../state/memory.ts';

/** What a pass needs of the service. The operations throw `HostingError`. */
export interface TemplateService {
  listDnsTemplates(): Promise<readonly PresentTemplate[]>;
  addDnsTemplateRecord(templateId: number, record: RecordAddition): Promise<PresentTemplate>;
  updateDnsTemplateRecord(templateId: number, change: RecordChange): Promise<PresentTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs on steadily, whatever happens to the clock. */
  uptime(): Uptime;
  /** Ends early, without an error, when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<unknown>;
}

/** What a pass reaches of the world. */
export interface Ports {
  readonly service: TemplateService;
  readonly memory: MemoryReader;
  /** Null where nothing may be written, neither to the service nor to memory. */
  readonly writer: Memory | null;
  readonly clock: Clock;
  /** Aborted when the program is to end: no new write starts. */
  readonly signal: AbortSignal;
  readonly onChange: (change: Change) => void;
  /** Told what a person should know that is no part of a report. */
  readonly warn: (message: string) => void;
  /** The git commit of a file's checkout. */
  readonly revisionOf: (file: string) => string | null;
}
