import type { MxRecord, SrvRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { canonicalContent } from '../model/canonical.ts';
import type { RecordData } from '../model/record.ts';
import { quoteOctets } from '../model/quoted-text.ts';

/**
 * A server that is asked without anybody between. node:dns repeats what gets lost, each time twice as long after, and
 * uses TCP where it has to. `timeout`: milliseconds for the first time.
 */
export const resolverAt = (place: string | null, timeout: number): Resolver => {
  const resolver = new Resolver({ timeout, tries: 3 });
  if (place !== null) resolver.setServers([place]);
  return resolver;
};

/** The types that are asked for: those that templates have. */
const askedTypes = ['A', 'AAAA', 'CNAME', 'PTR', 'TXT', 'MX', 'SRV'] as const;
export type AskedType = (typeof askedTypes)[number];

export const isAskedType = (type: string): type is AskedType => askedTypes.some((one) => one === type);

/** The records that it has of a name and type; none too where the name does not exist. Rejects without an answer. */
export const ask = async (
  resolver: Resolver,
  name: string,
  type: AskedType,
): Promise<readonly RecordData[]> => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the forms of these types
  const found = (await unlessAbsent(resolver.resolve(name, type), [])) as readonly Answer[];
  return found.map((answer) => {
    const priority = typeof answer === 'object' && 'priority' in answer ? answer.priority : null;
    return { type, name, content: canonicalContent(type, contentOf(answer)), priority, ttl: null };
  });
};

type Answer = string | readonly string[] | MxRecord | SrvRecord;

const contentOf = (answer: Answer): string => {
  if (typeof answer === 'string') return answer;
  if ('exchange' in answer) return answer.exchange || '.';
  return 'weight' in answer ? `${answer.weight} ${answer.port} ${answer.name || '.'}` : textOf(answer);
};

/** Node.js gives each octet as a character. A text that is not UTF-8 is shown in presentation format. */
const textOf = (strings: readonly string[]): string => {
  const octets = Buffer.from(strings.join(''), 'latin1');
  const text = octets.toString();
  // A text that starts with a quotation mark would be read as presentation format.
  return text.includes('\uFFFD') || text.startsWith('"') ? quoteOctets(octets) : text;
};

/** What a question gives; `absent` where the answer is that there is no such name or record. */
export const unlessAbsent = async <T>(question: Promise<T>, absent: T): Promise<T> => {
  try {
    return await question;
  } catch (error) {
    if (['ENOTFOUND', 'ENODATA'].includes(codeOf(error))) return absent;
    throw error;
  }
};

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

export const isSilence = (error: unknown): boolean => ['ETIMEOUT', 'ECONNREFUSED'].includes(codeOf(error));

/** Why there was no answer, for people. */
export const silenceWords = (error: unknown): string => {
  const code = codeOf(error);
  return (
    {
      ETIMEOUT: 'no answer',
      ECONNREFUSED: 'no answer: connection refused',
      EREFUSED: 'it refuses to answer',
    }[code] ?? `it answers with an error (${code})`
  );
};
