import type { Tokens } from '../hosting/call.ts';
import { listOfAnswer } from '../hosting/list-of-answer.ts';
import { pageFormOf } from '../hosting/pages.ts';
import type { Probe, ProbeAnswer } from '../hosting/probe.ts';
import { plural } from '../lib/plural.ts';
import { getParameterForms, specifiedDialect, type Dialect } from '../model/dialect.ts';
import { sizeText } from '../model/size.ts';
import { findingsAbout, type Found } from './finding.ts';

const call = { operation: 'list-dns-templates', method: 'GET', path: '/dns_templates' } as const;

interface FoundListing extends Found {
  /** The answer that gave a list; null if none did. */
  readonly answer: ProbeAnswer | null;
}

/** Asks for the templates in each way until one gives a list, and says what is to set for that. */
export const examineListing = async (probe: Probe, tokens: Tokens, given: Dialect): Promise<FoundListing> => {
  const { all, ok, note, problem } = findingsAbout('GET /dns_templates');
  const forms = [given.getParameters, ...getParameterForms.filter((form) => form !== given.getParameters)];
  for (const getParameters of forms) {
    const answer = await probe.ask(call, { ...specifiedDialect, getParameters }, tokens);
    const how = `parameters in the ${placeNames[getParameters]}: ${shownAnswer(answer)}`;
    if (answer.status === null) {
      problem(`${how} (nothing else was tried)`);
      break;
    }
    const list = answer.isSuccess ? listIn(answer.json, given.listKey) : null;
    if (list === null) {
      note(`${how}: ${answer.words || 'nothing'}`);
      continue;
    }
    ok(`${how}: ${plural(list.length, 'template')}${list.key === null ? '' : ` under ${list.key}`}`);
    const page = { headers: answer.headers, wrapper: list.wrapper, length: list.length, number: 1 };
    const pages = pageFormOf({ ...page, total: list.length, path: call.path });
    if (pages !== null) note(`it lists in pages: set pages: ${pages}`);
    else if (roundCounts.has(list.length))
      note(`${list.length} templates are a round number: is this one page of several?`);
    return {
      findings: all,
      set: {
        getParameters,
        ...(list.mustBeNamed ? { listKey: list.key } : {}),
        ...(pages === null ? {} : { pages }),
      },
      answer,
    };
  }
  if (!all.some(({ state }) => state === 'problem'))
    problem('no way of asking gave a list: check the base URL and the tokens');
  return { findings: all, answer: null };
};

/** How a rejection looks: whether it can be told from success. */
export const examineRejection = async (
  probe: Probe,
  right: ProbeAnswer,
  dialect: Dialect,
): Promise<Found> => {
  const { all, ok, note } = findingsAbout('a wrong token');
  const wrong = { userToken: 'not-a-token-of-this-service', clientToken: 'nor-is-this-one' };
  const answer = await probe.ask(call, dialect, wrong);
  const shown = `${shownAnswer(answer)}${answer.isSuccess ? '' : `: ${answer.words}`}`;
  if (!answer.isSuccess) ok(shown);
  else if (JSON.stringify(answer.json) === JSON.stringify(right.json))
    note(`${shown}: the same list as with the right ones, so wrong tokens cannot be noticed here`);
  else note(`${shown}, which looks like success: wrong tokens may look like an empty service`);
  return { findings: all };
};

const placeNames = { query: 'query', body: 'form body', json: 'JSON body' } as const;

export const shownAnswer = ({ status, durationMs, bytes, headers, words }: ProbeAnswer): string => {
  if (status === null) return words;
  const type = String(headers['content-type'] ?? 'no type').replace(/;.*/, '');
  return `${status}, ${type}, ${sizeText(bytes)}, ${Math.round(durationMs)} ms`;
};

/** The list of templates of an answer; `mustBeNamed`: only with `listKey` is it clear which it is. */
const listIn = (json: unknown, listKey: string | null) => {
  const found = listOfAnswer(json, listKey);
  if ('list' in found) {
    const { list, wrapper } = found;
    const key = wrapper && (Object.keys(wrapper).find((one) => wrapper[one] === list) ?? null);
    return { length: list.length, wrapper, key, mustBeNamed: listKey !== null };
  }
  if (typeof json !== 'object' || json === null) return null;
  for (const [key, value] of Object.entries(json)) {
    const holdsTemplates =
      Array.isArray(value) && value.length > 0 && value.every((one) => Object(one).dns_template_records);
    if (holdsTemplates)
      return {
        length: value.length,
        wrapper: Object.fromEntries(Object.entries(json)),
        key,
        mustBeNamed: true,
      };
  }
  return null;
};

const roundCounts: ReadonlySet<number> = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000]);
