import { oneLine } from './excerpt.ts';
import { errorWords, isObject, namesError } from './error-words.ts';

/** The list in an answer, and the object around it, if any; or why there is none. */
type FoundList =
  | { readonly list: readonly unknown[]; readonly wrapper: Readonly<Record<string, unknown>> | null }
  | { readonly problem: string };

/** Finds the list of an answer that should be one: bare, under `listKey`, or the only one of an object. */
export const listOfAnswer = (answer: unknown, listKey: string | null): FoundList => {
  if (Array.isArray(answer)) return { list: answer, wrapper: null };
  if (!isObject(answer)) return { problem: 'the answer is not a list' };
  if (namesError(answer)) return { problem: 'the answer is an error' };
  if (listKey !== null) {
    const list = answer[listKey];
    if (Array.isArray(list)) return { list, wrapper: answer };
    return { problem: `the answer has no list under ${listKey}, which listKey names${keysOf(answer)}` };
  }
  const lists = Object.values(answer).filter((value) => Array.isArray(value));
  const [only] = lists;
  // An empty list may be of something else, as in {"warnings": []}.
  if (only && lists.length === 1 && only.length > 0 && only.every((one) => isObject(one) && 'id' in one))
    return { list: only, wrapper: answer };
  const said = errorWords(answer) === null ? 'an object' : 'an object with a message';
  return {
    problem: `the answer is ${said}, not a list: if one of its keys holds the list, name it with listKey${keysOf(answer)}`,
  };
};

const keysOf = (answer: object): string => {
  const keys = Object.keys(answer).slice(0, 8).join(', ');
  return keys === '' ? '' : ` (it has ${oneLine(keys)})`;
};
