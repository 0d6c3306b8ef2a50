import { withAnswers } from '../report/with-answers.ts';
import type { PassResult } from '../result.ts';
import type { Client } from './client.ts';

/** Asks the name servers of the subdomains and adds their answers to the passes. */
export const addAnswers = async (
  clients: readonly Client[],
  passes: readonly PassResult[],
  templates: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<PassResult[]> => {
  const found = await Promise.all(
    clients.map((client) =>
      client.askNameServers({ templates, isCommand: true, signal, previous: new Map() }),
    ),
  );
  return passes.map((pass, index) => withAnswers(pass, found[index] ?? new Map()));
};
