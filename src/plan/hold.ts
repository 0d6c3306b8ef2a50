/** The scope of a hold: the whole client, one template, or only its adds. */
export type HoldScope = 'client' | 'template' | 'adds';

/** The guards. */
export type GuardCause = 'first-contact' | 'changes' | 'loss' | 'adds' | 'not-listed';

export type HoldCause =
  | GuardCause
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
  /** Ms since the epoch, if the service asked to wait until then. */
  readonly retryAt: number | null;
}

const guards: readonly HoldCause[] = [
  'first-contact',
  'changes',
  'loss',
  'adds',
  'not-listed',
] satisfies GuardCause[];

/** Whether it is a guard, which is policy, rather than an error of this pass. */
export const isGuard = ({ cause }: Hold): boolean => guards.includes(cause);
