import { describe, expect, test } from 'vitest';
import { checkIds } from '../../src/desired/check-id.ts';
import { groupBy } from '../../src/model/group.ts';
import { loadFiles, type LoadedFiles } from '../desired/load-files.ts';
import { badFiles, textOf, type BadFile } from './bad-files.ts';

const cases = badFiles();

const loaded = new Map<BadFile, Promise<LoadedFiles>>();

/** Loads a case once, for its own test and for the messages. */
const load = (one: BadFile): Promise<LoadedFiles> => {
  const known = loaded.get(one) ?? loadFiles(one.files);
  loaded.set(one, known);
  return known;
};

describe('a bad file has exactly its problems', () => {
  test.for(cases.map((one) => [one.name, one] as const))('%s', async ([, one]) => {
    const state = await load(one);
    expect(state.found).toEqual(one.found);
    const hasError = state.problems.some(
      ({ severity, check }) => severity === 'error' && check !== 'no-templates',
    );
    expect(state.unusable.length > 0).toBe(hasError);
  });
});

test('each check has a bad file', () => {
  const found = new Set(cases.flatMap((one) => one.found.map((line) => line.split(' ').at(-1))));
  expect(checkIds.filter((check) => !found.has(check))).toEqual([]);
});

test('bad files have names of their own, and something to find', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  expect(cases.filter(({ found }) => found.length === 0)).toEqual([]);
});

test('the messages are those of messages.txt', async () => {
  const messages = (await Promise.all(cases.map(messagesOf))).flat();
  const byCheck = [...groupBy(messages, ({ check }) => check)].sort();
  const sections = byCheck.map(([check, ofCheck]) => {
    const wordings = groupBy(ofCheck, ({ wording }) => wording);
    const first = new Set([...wordings.values()].map(([one]) => `  ${one!.message}\n`));
    return `${check}\n${[...first].join('')}`;
  });
  await expect(sections.join('\n')).toMatchFileSnapshot('messages.txt');
});

const messagesOf = async (one: BadFile) => {
  const { problems } = await load(one);
  return problems.map(({ check, message, file, line }) => {
    const lines = textOf(one, file?.replace('templates/', '') ?? '').split('\n');
    return { check, message, wording: wordingOf(message, lines[Number(line) - 1] ?? '') };
  });
};

/** A message without what it quotes of its line, without places and numbers; what it suggests stays. */
const wordingOf = (message: string, line: string): string =>
  message
    .replaceAll(/`[^`]*`|"[^"]*"/g, (quoted) =>
      line.includes(quoted.slice(1, -1).replaceAll(/^&|\.{3}$/g, '')) ? '``' : quoted,
    )
    .replace(/ \(included by .*\)$/, '')
    .replaceAll(/templates\/[\w.]+|\d+/g, '');
