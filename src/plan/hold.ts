/** The scope of a hold: the whole client, one template, or only its adds. */
export type HoldScope = 'client' | 'template' | 'adds';

/** The guards. */
export type GuardCause = 'first-contact' | 'changes' | 'loss' | 'adds';

export type HoldCause =
  | GuardCause
  /** The service rejects the tokens. */
  | 'denied'
  /** The service asked to wait. */
  | 'asked-to-wait'
  /** A request failed, and so may every other one of the client. */
  | 'unreachable'
  /** What happened cannot be saved. */
  | 'unsaved'
  /** What was remembered last may be forgotten. */
  | 'forgotten'
  /** Something failed beside this template. */
  | 'broken'
  /** Nobody knows what became of a write. */
  | 'unknown-outcome'
  /** After a refusal, a reading showed something else than the one before it. */
  | 'changed-meanwhile'
  /** One reading lacks what another one showed: neither tells what is gone. */
  | 'disagreement'
  /** A record is there, or another reading shows one, that nobody can explain. */
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

const guards: readonly HoldCause[] = ['first-contact', 'changes', 'loss', 'adds'] satisfies GuardCause[];

/** Whether it is a guard, which is policy, rather than an error of this pass. */
export const isGuard = ({ cause }: Hold): boolean => guards.includes(cause);
