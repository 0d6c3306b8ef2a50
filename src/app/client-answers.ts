import { HostingError } from '../hosting/errors.ts';
import type { DesiredState, DesiredTemplate, SubdomainRecord } from '../model/template.ts';
import { canonicalHost } from '../model/host.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import { isFaulty } from '../report/answers-view.ts';
import { answersKey, type KnownAnswers } from '../report/with-answers.ts';
import { notAsked, type SubdomainAnswers } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { TemplateRow } from '../state/memory.ts';

export interface AnswersRequest {
  /** Only these templates; empty: all. */
  readonly templates: readonly string[];
  /** A person asks for it, so the settings do not need to. */
  readonly isCommand: boolean;
  /** Only these subdomains, even if no file names them; without it, all that the files name. */
  readonly subdomains?: readonly string[];
  readonly signal: AbortSignal;
  /** The previous answers. */
  readonly previous: KnownAnswers;
}

/** What a round over the name servers needs. */
export interface AnswersDeps {
  readonly settings: ClientSettings;
  readonly now: () => number;
  /** The subdomains of the embedded service are on no name server, unless one is set. */
  readonly isSandbox: boolean;
  readonly load: () => Promise<DesiredState>;
  readonly listDnsRecords: (subdomain: string) => Promise<SubdomainRecord[]>;
  readonly readRows: () => Promise<readonly TemplateRow[]>;
  /** Milliseconds for the first of three times that a server is asked. */
  readonly timeout?: number;
}

/** Asks the name servers of a client's subdomains, several at a time. */
export const askNameServers = async (request: AnswersRequest, deps: AnswersDeps): Promise<KnownAnswers> => {
  const { settings, timeout = 1_500 } = deps;
  const questions = questionsIn(await deps.load(), request, settings);
  const found = new Map<string, SubdomainAnswers>();
  if (questions.length === 0) return found;
  const rows = await deps.readRows();
  const { openAnswers } = await import('../answers/answers.ts');
  const { signal, previous } = request;
  const check = openAnswers({
    resolver: settings.resolver,
    grace: settings.answersGrace,
    now: deps.now,
    signal,
    timeout,
  });
  const previousOf = (question: Question): SubdomainAnswers | null => previous.get(keyOf(question)) ?? null;
  const ask = async ({ template, subdomain }: Question): Promise<SubdomainAnswers> => {
    const nameservers = template?.nameservers ?? settings.nameservers;
    if (deps.isSandbox && nameservers.length === 0) return notAsked;
    const records = await readRecords(subdomain, deps);
    if (typeof records === 'string') return unread(records);
    return check({
      subdomain,
      records,
      nameservers,
      ignores: (record) => matchesIgnore(template?.ignore ?? [], record),
      lastWriteAt: template && lastWriteOf(template, rows),
      previous: previousOf({ template, subdomain }),
    });
  };
  // The oldest answers first, so that a round that takes too long does not always leave out the same ones.
  const inOrder = questions
    .map((question) => ({ question, askedAt: previousOf(question)?.askedAt ?? '' }))
    .sort((one, other) => (one.askedAt < other.askedAt ? -1 : one.askedAt > other.askedAt ? 1 : 0));
  const rest = inOrder.values();
  const work = async (): Promise<void> => {
    for (const { question } of rest) {
      if (signal.aborted) return;
      const answer = await ask(question);
      // An aborted question has no result.
      if (!signal.aborted) found.set(keyOf(question), answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const results = withSilentAsDrift(found);
  const askedAt = new Date(deps.now()).toISOString();
  return new Map(
    questions.map((question) => {
      const answer = results.get(keyOf(question)) ?? unread('the round of questions took too long');
      return [keyOf(question), withAge(answer, previousOf(question), askedAt)];
    }),
  );
};

/** Name servers that are all silent are drift if others answered: then it is not this machine that cannot ask. */
const withSilentAsDrift = (found: KnownAnswers): KnownAnswers => {
  const hasAnswered = [...found.values()].some(({ servers }) => servers.some((server) => !isFaulty(server)));
  if (!hasAnswered) return found;
  return new Map(
    [...found].map(([key, answers]) => {
      const areSilent = answers.servers.every(({ status, address }) => status === 'silent' && address !== '');
      return [key, areSilent ? { ...answers, status: 'drifted' } : answers];
    }),
  );
};

/** If nobody could be asked, the previous answers stay, with the reason. */
const withAge = (
  answers: SubdomainAnswers,
  previous: SubdomainAnswers | null,
  askedAt: string,
): SubdomainAnswers => {
  if (answers.status === 'off') return answers;
  if (answers.status !== 'failed') return { ...answers, askedAt };
  if (previous?.askedAt === undefined) return answers;
  const [server] = answers.servers;
  return { ...previous, message: [server?.name, server?.message].filter(Boolean).join(': ') };
};

interface Question {
  /** Null if no file names the subdomain. */
  readonly template: DesiredTemplate | null;
  readonly subdomain: string;
}

const keyOf = ({ template, subdomain }: Question): string =>
  answersKey(template?.template ?? null, subdomain);

/** Subdomains. */
const atOnce = 8;

const questionsIn = (
  { templates }: DesiredState,
  { templates: names, isCommand, subdomains }: AnswersRequest,
  { answers }: ClientSettings,
): Question[] => {
  if (subdomains)
    return subdomains.map((subdomain) => ({ template: templateOf(subdomain, templates), subdomain }));
  return templates
    .filter(({ template }) => names.length === 0 || names.includes(template))
    .filter((template) => isCommand || (template.answers ?? answers) === 'on')
    .flatMap((template) => template.subdomains.map((subdomain) => ({ template, subdomain })));
};

/** The template that names the subdomain. */
export const templateOf = (
  subdomain: string,
  templates: readonly DesiredTemplate[],
): DesiredTemplate | null => {
  const name = canonicalHost(subdomain);
  return templates.find(({ subdomains }) => subdomains.some((one) => canonicalHost(one) === name)) ?? null;
};

const lastWriteOf = ({ id, template }: DesiredTemplate, rows: readonly TemplateRow[]): number | null =>
  rows.find((one) => (id === null ? one.template === template : one.templateId === id))?.lastWriteAt ?? null;

const readRecords = async (
  subdomain: string,
  { listDnsRecords }: AnswersDeps,
): Promise<SubdomainRecord[] | string> => {
  try {
    return await listDnsRecords(subdomain);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    return error.message;
  }
};

const unread = (message: string): SubdomainAnswers => ({
  status: 'failed',
  servers: [{ name: '', address: '', serial: null, status: 'failed', message }],
  differences: [],
});
