import { pairing } from './rules/pairing.mjs';
import { conflicts } from './rules/conflicts.mjs';
import { wire } from './rules/wire.mjs';
import { binding } from './rules/binding.mjs';
import { readings } from './rules/readings.mjs';
import { trust } from './rules/trust.mjs';
import { permits } from './rules/permit.mjs';
import { answers } from './rules/answers.mjs';
import { order } from './rules/order.mjs';
import { retries } from './rules/retries.mjs';
import { waits } from './rules/waits.mjs';
import { suspicion } from './rules/suspicion.mjs';
import { unknown } from './rules/unknown.mjs';
import { convergence } from './rules/convergence.mjs';
import { refusals } from './rules/refusals.mjs';
import { lockAndEnd } from './rules/lock-and-end.mjs';
import { surplus } from './rules/surplus.mjs';
import { guards } from './rules/guards.mjs';
import { identity } from './rules/identity.mjs';
import { pausing } from './rules/pauses.mjs';
import { requests } from './rules/requests.mjs';

/**
 * @typedef {object} Mutation
 * @property {string} rule The paragraph, and what it asks for.
 * @property {string} file
 * @property {string} from Stands in the file exactly once.
 * @property {string} to
 * @property {readonly string[]} tests Those that find it within seconds: below `test`, without the ending.
 * @property {string} [unseen] Why no schedule of a small world shows it.
 * @property {boolean} [isOfBuild] Whether some of them start the built program, which is made anew for them.
 */

/**
 * One way or more to break each rule of writing.
 *
 * @type {readonly Mutation[]}
 */
export const mutations = [
  ...pairing,
  ...conflicts,
  ...wire,
  ...binding,
  ...readings,
  ...trust,
  ...permits,
  ...answers,
  ...order,
  ...retries,
  ...unknown,
  ...waits,
  ...suspicion,
  ...convergence,
  ...refusals,
  ...lockAndEnd,
  ...identity,
  ...requests,
  ...surplus,
  ...guards,
  ...pausing,
];
