import { isNameLabel, nameLabelsOf } from '../host.ts';
import { hasPlaceholder } from '../placeholder.ts';
import { unquoteText } from '../quoted-text.ts';
import { foreignNotation } from '../text-notation.ts';
import { isSpf, textKind, whyTooLong } from '../text.ts';
import type { TypeDefinition } from './definition.ts';

/**
 * Text (RFC 1035 §3.3.14): in presentation format if it is quoted, else verbatim. One name may have texts of
 * several owners.
 */
export const txt = {
  canonical: (content) => canonicalText(content),
  canonicalPattern: (text) => canonicalText(text),
  ignoresCase: false,
  hasPriority: false,
  name: 'optional',
  isNameLabel,
  target: null,
  parts: null,
  checks: [
    {
      id: 'txt-length',
      at: 'content',
      find: ({ content, canonical }) => whyTooLong(content, canonical.content),
    },
    {
      id: 'text-notation',
      at: 'content',
      find: ({ content }) => foreignNotation(content),
    },
    {
      id: 'spf-open',
      at: 'content',
      find: ({ canonical: { content } }) => {
        const isOpen = isSpf(content) && !/\s(?:[+?~-]?all|redirect=\S+)(?:\s|$)/i.test(content);
        return isOpen && !hasPlaceholder(content)
          ? 'this SPF ends with neither `all` nor `redirect=`: it says nothing about other senders'
          : null;
      },
    },
    {
      id: 'dmarc-place',
      at: 'name',
      find: ({ canonical: { name, content } }) => {
        if (!/^v=DMARC1(?:[\s;]|$)/i.test(content) || hasPlaceholder(name)) return null;
        return nameLabelsOf(name).includes('_dmarc')
          ? null
          : 'a DMARC policy is looked for at `_dmarc`, nowhere else';
      },
    },
  ],
  whyNotIn: () => null,
  writePhase: 1,
  inertContent: 'parked',
  conflictKind: () => 'other',
  independent: { kindOf: textKind },
} as const satisfies TypeDefinition;

const canonicalText = (content: string): string =>
  content.startsWith('"') ? (unquoteText(content) ?? content) : content;
