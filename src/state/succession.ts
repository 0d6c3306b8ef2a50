import type { Ancestry } from '../model/published.ts';

/** Whether the files of a process take the place of those that were published last. */
export type Succession =
  /** They are the same, at a commit that descends from theirs. */
  | 'advances'
  | 'same'
  | 'succeeds'
  /** They may be newer: nothing says that they are older. */
  | 'waits'
  | 'older';

/** What a process knows of its files and of those that were published last. */
export interface SuccessionFacts {
  readonly isSame: boolean;
  /** How the commit of its files stands to that of the published ones, where both have one. */
  readonly ancestry: Ancestry;
  /** It has had the published files itself, and then others took their place. */
  readonly hasLeft: boolean;
  /** Its files were published once, and others since. */
  readonly wasPublished: boolean;
  /** Nobody has had the published files for a while. */
  readonly isAbandoned: boolean;
}

/**
 * Files never go back to older ones, whichever process is the source, and however late its files are.
 *
 * | its files                                         | take the place of the published ones           |
 * |---------------------------------------------------|------------------------------------------------|
 * | at a commit that descends from the published one  | yes                                            |
 * | at a commit that precedes it                      | no                                             |
 * | in no order that git knows:                       |                                                |
 * | where it has had the published ones before        | yes: somebody changed them                     |
 * | published once already                            | no: it was started on old files                |
 * | all others                                        | once nobody has the published ones any more    |
 */
export const successionOf = (facts: SuccessionFacts): Succession => {
  const { isSame, ancestry, hasLeft, wasPublished, isAbandoned } = facts;
  if (isSame) return ancestry === 'descends' ? 'advances' : 'same';
  if (ancestry === 'descends') return 'succeeds';
  if (ancestry === 'precedes') return 'older';
  if (hasLeft) return 'succeeds';
  if (wasPublished) return 'older';
  return isAbandoned ? 'succeeds' : 'waits';
};
