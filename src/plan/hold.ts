/** The scope of a hold: the whole client, one template, or only its adds. */
export type HoldScope = 'client' | 'template' | 'adds';

/** The guards. */
export type GuardCause = 'first-contact' | 'changes' | 'loss' | 'adds' | 'not-listed';

/** A person, or a time of the week, lets nothing be written. */
export type PauseCause = 'suspended' | 'window';

export type HoldCause =
  | GuardCause
  | PauseCause
  /** The service rejects the tokens. */
  | 'denied'
  /** The service asked to wait. */
  | 'asked-to-wait'
  /** A request failed, and so may every other one of the client. */
  | 'unreachable'
  /** The state cannot be saved. */
  | 'unsaved'
  /** The newest saved state may be lost. */
  | 'forgotten'
  /** Another template failed. */
  | 'broken'
  /** A write has an unknown outcome. */
  | 'unknown-outcome'
  /** After a refusal, a reading differs from the previous one. */
  | 'changed-meanwhile'
  /** One reading lacks records of another one: it is unknown which are missing. */
  | 'disagreement'
  /** This or another reading shows a record of unknown origin. */
  | 'unexplained';

/** A reason to write nothing more within a scope in this pass. */
export interface Hold {
  readonly scope: HoldScope;
  readonly cause: HoldCause;
  /** For a person. */
  readonly reason: string;
  /** Ms since the epoch, if it is known when there may be writes again. */
  readonly retryAt: number | null;
}

const guards = ['first-contact', 'changes', 'loss', 'adds', 'not-listed'] satisfies GuardCause[];
const policies: ReadonlySet<HoldCause> = new Set(['suspended', 'window', ...guards]);

/** Whether it is policy, a guard or a pause, rather than an error of this pass. */
export const isPolicy = ({ cause }: Hold): boolean => policies.has(cause);

/** Whether a person, or a time of the week, lets nothing be written. */
export const isPause = ({ cause }: Hold): boolean => cause === 'suspended' || cause === 'window';
