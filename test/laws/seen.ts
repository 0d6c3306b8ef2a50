import type { ActualRecord, RecordData } from '../../src/model/record.ts';
import type { RecordAddition, RecordChange } from '../../src/plan/step.ts';

/* What the judge has seen: what left, what passes were shown, and what is true. */

/** What a file in force says of a template. */
export interface FileFacts {
  readonly template: string;
  readonly mode: 'enforce' | 'edits' | 'report';
  readonly surplus: 'report' | 'park';
  readonly adopt: boolean;
  readonly limits: {
    readonly maxAdds: number;
    readonly maxChangePercent: number;
    readonly minRecords: number;
  };
  readonly records: readonly RecordData[];
  isIgnored(record: RecordData): boolean;
}

/** What a pass may do, known to the one who started it. */
export interface PassFacts {
  readonly isDryRun: boolean;
  /** A person's: what waits only for time does not wait for it. */
  readonly isCommand: boolean;
  readonly force: boolean;
  readonly retry: boolean;
  readonly acceptLoss: boolean;
  /** By template id: the files in force that it is about, without those of suspended templates. */
  readonly files: ReadonlyMap<number, FileFacts>;
  readonly maxAddsPerPass: number;
  /** How far its clock is ahead of the true time, in ms. */
  readonly skew: number;
}

export type Write =
  | { readonly action: 'add'; readonly record: RecordAddition }
  | { readonly action: 'update'; readonly change: RecordChange };

/** A write that left, and what became of it. Times are true times in ms. */
export interface Sent {
  readonly templateId: number;
  readonly write: Write;
  readonly at: number;
  /** `coming`: it takes effect later. */
  landed: 'no' | 'coming' | 'yes';
  /** The record that it made or changed. */
  recordId: number | null;
  /** What the client learnt of it. */
  told: 'nothing' | 'refused' | 'not-sent' | 'an answer';
}

/** Records of one template as a listing or an answer showed them. */
export interface View {
  readonly at: number;
  readonly isListing: boolean;
  readonly records: readonly ActualRecord[];
}

/** One write in the eyes of the judge. */
export interface Attempt {
  readonly sent: Sent;
  readonly pass: Pass;
  /** The record as the pass was shown it, in each way; and what it would be, stored as sent. */
  readonly before: readonly ActualRecord[];
  readonly after: readonly RecordData[];
  /** The client has lost its memory of it, or of what became of it. */
  isForgotten: boolean;
  /** A person has said since that what listings show is so. */
  isWaived: boolean;
  /** What the service made of it. */
  stored: ActualRecord | null;
  /** What it replaced. */
  replaced: ActualRecord | null;
  /** Some pass was shown what it made. */
  isShown: boolean;
  /** A pass that wrote down what it saw was shown that: nothing else is taken for what it made. */
  isBound: boolean;
  /** A pass saw a file without what it wrote since. */
  isWithdrawn: boolean;
  /** Somebody made the same before it took effect: nothing tells them apart. */
  isRivalled: boolean;
  /** Its answer showed its record as it was before. */
  isMisled: boolean;
  /** Its answer was not whole, and does not say what its add has made. */
  isDoubted: boolean;
}

/** A record at the service: since when it is so, and by whose write; null for other people's. */
export interface Standing {
  readonly record: ActualRecord;
  readonly since: number;
  readonly by: Attempt | null;
}

export interface TemplateCase {
  readonly templateId: number;
  standing: ReadonlyMap<number, Standing>;
  attempts: Attempt[];
  /** Ids that a file has wanted, or a write of ours has made or changed, since the memory began. */
  readonly ours: Set<number>;
  /** Adds that are on disk as begun and have not left: a process that died in between leaves them so. */
  begun: { readonly pass: Pass; readonly record: RecordData }[];
  /** Ids of other people's records that are exactly such an add: nothing tells them from what it would have made. */
  readonly taken: Set<number>;
  /** Versions of its file that passes have seen since the memory began, each once. */
  files: FileFacts[];
  /** The last listing of a writing pass before this one, and the last that a pass with an end was shown. */
  lastListed: View | null;
  lastKept: View | null;
  /** The file that went with that. */
  keptFile: FileFacts | null;
  /** Ids that each listing of the pass before this one showed. */
  lastShown: ReadonlySet<number>;
}

export interface Pass extends PassFacts {
  /** By template id. */
  readonly views: Map<number, View[]>;
  readonly attempts: Attempt[];
  /** Why nothing may leave any more, and since when. */
  writesEnded: { readonly why: string; readonly at: number } | null;
  readsEnded: { readonly why: string; readonly at: number } | null;
  isOver: boolean;
  /** Somebody has suspended all that it writes. */
  isSuspended: boolean;
  /** Its process died: what it was told last may not be on disk. */
  hasDied: boolean;
}

/** How the service is, as far as laws go by it; times in ms. */
export interface ServiceFacts {
  /** Within the fault model: no write takes effect too late, and no two readings in a row are wrong alike. */
  readonly isKind: boolean;
  readonly lag: number;
  readonly ownLag: number;
  /** How long after it was sent a write may take effect. */
  readonly delay: number;
}

export interface LawContext {
  readonly one: TemplateCase;
  readonly pass: Pass;
  readonly file: FileFacts | undefined;
  /** What this pass was shown of the template. */
  readonly views: readonly View[];
  readonly service: ServiceFacts;
  readonly isOwn: boolean;
  readonly now: number;
}

export const emptyCase = (templateId: number): TemplateCase => ({
  templateId,
  standing: new Map(),
  attempts: [],
  ours: new Set(),
  begun: [],
  taken: new Set(),
  files: [],
  lastListed: null,
  lastKept: null,
  keptFile: null,
  lastShown: new Set(),
});
