import { isIPv4 } from 'node:net';
import { canonicalIPv6 } from '../../model/ipv6.ts';
import { contentGlob, nameGlob, type Glob } from '../../plan/glob.ts';
import { quote } from '../fault.ts';
import type { TemplateCheck } from './check.ts';
import { hasPlaceholder } from './hosts.ts';

/** A rule that protects nothing is worse than none: its author relies on it. */
export const ignoreMatchesNothing: TemplateCheck = {
  id: 'ignore-matches-nothing',
  find: ({ ignore }) =>
    ignore.flatMap((draft) => {
      const { type, name, content } = draft.rule;
      const faults = [
        { key: 'name', pattern: name, why: name === null ? null : whyNoName(name) },
        { key: 'content', pattern: content, why: type && content ? whyNoContent(type, content) : null },
      ] as const;
      return faults.flatMap(({ key, pattern, why }) =>
        why === null
          ? []
          : [{ draft, at: draft.at[key], message: `${quote(pattern!)} matches no record: ${why}` }],
      );
    }),
};

const whyNoName = (pattern: string): string | null => {
  if (hasPlaceholder(pattern)) return null;
  const glob = nameGlob(pattern);
  if (glob.texts.some((text) => text.includes('@')))
    return '`@` is the subdomain itself only where it stands alone';
  return /\s/.test(pattern) ? 'a name holds no blank' : whyNoLabels(glob);
};

const whyNoContent = (type: string, pattern: string): string | null => {
  const glob = contentGlob(type, pattern);
  switch (type) {
    case 'A':
      return isPartOf(glob, /^[\d.]*$/, isIPv4) ? null : 'it is no part of an IPv4 address';
    case 'AAAA':
      return isPartOf(glob, /^[\da-f:.]*$/, (text) => canonicalIPv6(text) !== null)
        ? null
        : 'it is no part of an IPv6 address';
    case 'CNAME':
    case 'MX':
    case 'PTR':
      return /\s/.test(pattern)
        ? `the content of ${type} is a host alone, without blanks`
        : whyNoLabels(glob);
    case 'SRV':
      return whyNoLabels(glob);
    default:
      return null;
  }
};

const isPartOf = ({ hasStar, texts }: Glob, part: RegExp, isWhole: (text: string) => boolean): boolean =>
  hasStar ? texts.every((text) => part.test(text)) : isWhole(texts[0]!);

const whyNoLabels = ({ hasStar, texts }: Glob): string | null =>
  hasStar && texts.some((text) => /[^\x00-\x7f]/.test(text))
    ? 'hosts and names are compared in their ASCII form (`xn--…`), and a label with a star in it has none'
    : null;
