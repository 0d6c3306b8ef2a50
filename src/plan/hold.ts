/** The scope of a hold: the whole client, one template, or only its adds. */
export type HoldScope = 'client' | 'template' | 'adds';

/** The guards. */
export type GuardCause = 'first-contact' | 'changes' | 'loss' | 'adds' | 'not-listed';

export type HoldCause =
  | GuardCause
  /** A person, or a time of the week, lets nothing be written. */
  | 'suspended'
  /** The newest saved state may be lost. */
  | 'forgotten'
  /** The service rejects the tokens. */
  | 'denied'
  /** The service asked to wait, since there were too many requests, or for another reason. */
  | 'rate-limited'
  | 'asked-to-wait'
  /** A request failed, and so may every other one of the client. */
  | 'unreachable'
  /** The state cannot be saved. */
  | 'unsaved'
  /** Another template failed. */
  | 'broken'
  /** A write has an unknown outcome. */
  | 'unknown-outcome'
  /** A listing after a write shows what the pass does not know. */
  | 'changed-meanwhile';

/** A reason to write nothing more within a scope in this pass. */
export interface Hold {
  readonly scope: HoldScope;
  readonly cause: HoldCause;
  /** For a person. */
  readonly reason: string;
  /** Ms since the epoch, if it is known when there may be writes again. */
  readonly retryAt: number | null;
}

const errors: ReadonlySet<HoldCause> = new Set([
  'denied',
  'rate-limited',
  'asked-to-wait',
  'unreachable',
  'unsaved',
  'broken',
  'unknown-outcome',
  'changed-meanwhile',
]);

/** Whether it waits for a person, a time or a reading, rather than for the end of an error. */
export const isPolicy = ({ cause }: Hold): boolean => !errors.has(cause);
