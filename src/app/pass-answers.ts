import { withAnswers } from '../report/with-answers.ts';
import type { PassResult } from '../result.ts';
import type { Client } from './client.ts';
import { whileShown } from './progress.ts';

/** Asks the name servers of the subdomains and adds their answers to the passes. */
export const addAnswers = async (
  clients: readonly Client[],
  passes: readonly PassResult[],
  templates: readonly string[],
): Promise<PassResult[]> => {
  const { signal } = new AbortController();
  const found = await whileShown('asking name servers', () =>
    Promise.all(
      clients.map((client) =>
        client.askNameServers({ templates, isCommand: true, signal, previous: new Map() }),
      ),
    ),
  );
  return passes.map((pass, index) => withAnswers(pass, found[index] ?? new Map()));
};
