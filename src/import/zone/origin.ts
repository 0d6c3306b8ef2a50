import { quote } from '../../desired/problem.ts';
import { ArgumentError } from '../../errors.ts';
import { canonicalHost, isReverseLabel, nameLabelsOf } from '../../model/host.ts';

/**
 * The name of a zone as `--origin` states it, in lower case and without a final dot; `reason` is the option that needs
 * it. Throws an ArgumentError if it is missing or no name.
 */
export const originFrom = (origin: unknown, reason: string): string => {
  if (typeof origin !== 'string')
    throw new ArgumentError(`${reason} needs --origin, the name of the zone, such as example.net`);
  const name = canonicalHost(origin);
  if (!nameLabelsOf(name).every(isReverseLabel))
    throw new ArgumentError(`--origin: ${quote(origin)} is not the name of a zone, such as example.net`);
  return name;
};
