import { shellWord } from '../model/shell-word.ts';
import type { BlockReason, Cause, Difference } from '../plan/difference.ts';

type SurplusReason = Extract<Difference, { action: 'surplus' }>['reason'];

export const causeWordsOf = (difference: Difference): string[] => [
  ...('reason' in difference ? [difference.reason] : []),
  ...('cause' in difference ? [causeWords[difference.cause]] : []),
];

export const placesOf = (difference: Difference): string[] => [
  ...('source' in difference ? [`${difference.source.file}:${difference.source.line}`] : []),
  ...('recordId' in difference ? [`record ${difference.recordId}`] : []),
];

/** Why a difference exists, in words. */
export const causeWords: Record<Cause, string> = {
  edited: 'edited',
  drifted: 'drifted',
  both: 'edited and drifted',
  unknown: 'cause unknown',
};

export const remarksOf = (difference: Difference, template: string, said: readonly string[]): string[] => {
  const { retryAt } = difference;
  const error = said.includes(difference.error ?? '') ? undefined : difference.error;
  const reasons = [
    ...(difference.action === 'blocked' ? [sentence(difference.message), ...inTheWay(difference)] : []),
    ...(error === undefined ? [] : [sentence(error)]),
  ];
  const isSaid = retryAt === undefined || [...said, ...reasons].some((text) => text.includes(retryAt));
  const why = [...reasons, ...(isSaid ? [] : [`Next try at ${retryAt}.`])];
  return [
    ...(why.length === 0 ? [] : [why.join(' ')]),
    ...('reason' in difference
      ? [`${toDo}${advice[difference.reason](shellWord(template), policyFor(difference))}`]
      : []),
  ];
};

/** The beginning of the remark that says what a person can do. */
export const toDo = 'To do: ';

/** Messages have no full stop, since most of them are shown alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const inTheWay = ({ conflicts = [] }: Extract<Difference, { action: 'blocked' }>): string[] =>
  conflicts.length === 0
    ? []
    : [`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}.`];

/** The file listed a record that an edit dropped, so that it needs no more. */
const policyFor = (difference: Difference): string =>
  'cause' in difference && difference.cause === 'edited'
    ? '`surplus: park`'
    : '`surplus: park` with `adopt: true`';

/** What a person can do; `name` is the template's, quoted for a shell, and `policy` what moves the record aside. */
const advice: Record<BlockReason | SurplusReason, (name: string, policy: string) => string> = {
  'cname-conflict': () => clearTheWay,
  'null-mx-conflict': () => clearTheWay,
  'not-converging': () => 'write what the service stores into the file, or change the record at the service.',
  refused: () => 'change the record in the file to one that the service accepts. An apply retries at once.',
  vanished: (name) =>
    `find out who removes it. Then \`dns-template-sync apply --retry ${name}\` adds it again.`,
  unlisted: (_, policy) =>
    `add it to the file, name it under \`ignore\`, or remove it at the service by hand. ${policy} moves it aside.`,
  duplicate: (_, policy) => `remove one of the two at the service by hand. ${policy} moves this one aside.`,
};

const clearTheWay =
  'remove what is in the way at the service, or change the file, or let `surplus: park` move aside what has a name.';
