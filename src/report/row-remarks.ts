import type { Cause, Difference } from '../plan/difference.ts';

/** An unknown cause is not said of each: the report says it once. */
export const causeWordsOf = (difference: Difference): string[] => [
  ...('reason' in difference ? [difference.reason] : []),
  ...('cause' in difference && difference.cause !== 'unknown' ? [causeWords[difference.cause]] : []),
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

/** Why, unless that is among what is said already. */
export const remarksOf = (difference: Difference, said: readonly string[]): string[] => {
  const { retryAt } = difference;
  const error = said.includes(difference.error ?? '') ? undefined : difference.error;
  const reasons = [
    ...(difference.action === 'blocked' ? [sentence(difference.message), ...inTheWay(difference)] : []),
    ...(error === undefined ? [] : [sentence(error)]),
  ];
  const isSaid = retryAt === undefined || [...said, ...reasons].some((text) => text.includes(retryAt));
  const why = [...reasons, ...(isSaid ? [] : [`Next try at ${retryAt}.`])];
  return why.length === 0 ? [] : [why.join(' ')];
};

/** Messages have no full stop, since most of them are shown alone. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const inTheWay = ({ conflicts = [] }: Extract<Difference, { action: 'blocked' }>): string[] =>
  conflicts.length === 0
    ? []
    : [`In the way: record${conflicts.length === 1 ? '' : 's'} ${conflicts.join(', ')}.`];
