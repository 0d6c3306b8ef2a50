import { Resolver } from 'node:dns/promises';
import { canonicalContent } from '../model/canonical.ts';
import { hasPriority, type RecordData } from '../model/record.ts';
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
export type AskedType = keyof typeof questions;

export const isAskedType = (type: string): type is AskedType => Object.hasOwn(questions, type);

/** The records that it has of a name and type; none too where the name does not exist. Rejects without an answer. */
export const ask = async (
  resolver: Resolver,
  name: string,
  type: AskedType,
): Promise<readonly RecordData[]> => {
  const found = await unlessAbsent(questions[type](resolver, name), []);
  return found.map(([content, priority = null]) => ({
    type,
    name,
    content: canonicalContent(type, content),
    priority: hasPriority(type) ? priority : null,
    ttl: null,
  }));
};

type Data = readonly [content: string, priority?: number];

const only = (texts: readonly string[]): readonly Data[] => texts.map((text) => [text]);

const questions = {
  A: async (resolver: Resolver, name: string) => only(await resolver.resolve4(name)),
  AAAA: async (resolver: Resolver, name: string) => only(await resolver.resolve6(name)),
  CNAME: async (resolver: Resolver, name: string) => only(await resolver.resolveCname(name)),
  PTR: async (resolver: Resolver, name: string) => only(await resolver.resolvePtr(name)),
  TXT: async (resolver: Resolver, name: string) => only((await resolver.resolveTxt(name)).map(textOf)),
  MX: async (resolver: Resolver, name: string): Promise<readonly Data[]> =>
    (await resolver.resolveMx(name)).map(({ exchange, priority }) => [exchange || '.', priority]),
  SRV: async (resolver: Resolver, name: string): Promise<readonly Data[]> =>
    (await resolver.resolveSrv(name)).map((one) => [
      `${one.weight} ${one.port} ${one.name || '.'}`,
      one.priority,
    ]),
} as const;

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
    if (isAbsence(error)) return absent;
    throw error;
  }
};

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const isAbsence = (error: unknown): boolean => ['ENOTFOUND', 'ENODATA'].includes(codeOf(error));

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
