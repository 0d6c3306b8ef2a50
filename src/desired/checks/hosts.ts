import { isAddress } from '../../model/address.ts';
import type { CanonicalRecord } from '../../model/canonical.ts';
import { nameLabelsOf } from '../../model/host.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { definitionOf } from '../../model/types/table.ts';

/** The host names of a record in canonical form, computed once for all checks. */
export interface Hosts {
  /** Null if it is the subdomain itself, a placeholder, or invalid in a way that has a check of its own. */
  readonly name: Labels | null;
  /** The host that the record points at; null if there is none or the content is invalid. */
  readonly target: string | null;
  /** The target if it is meant as a host name: no placeholder, no address, no lone dot. */
  readonly host: Labels | null;
}

export interface Labels {
  readonly text: string;
  readonly labels: readonly string[];
}

export const hostsOf = ({ type, name, content }: CanonicalRecord): Hosts => {
  const target = definitionOf(type)?.target?.in(content) ?? null;
  return {
    name:
      name === '' || hasPlaceholder(name) || hasControlCharacter(name)
        ? null
        : { text: name, labels: nameLabelsOf(name) },
    target,
    host:
      target === null || target === '.' || isAddress(target) || hasPlaceholder(target)
        ? null
        : { text: target, labels: target.split('.') },
  };
};

export const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');

// oxlint-disable-next-line no-control-regex
const control = /[\x00-\x1f\x7f-\x9f]|\p{Cs}/u;

export const hasControlCharacter = (text: string): boolean => control.test(text);
