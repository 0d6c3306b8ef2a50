import { withAnswers } from '../report/with-answers.ts';
import type { PassResult } from '../result.ts';
import type { Client } from './client.ts';
import { showProgress } from './progress.ts';

/** Asks the name servers of the subdomains and adds their answers to the passes. */
export const addAnswers = async (
  clients: readonly Client[],
  passes: readonly PassResult[],
  templates: readonly string[],
): Promise<PassResult[]> => {
  const progress = showProgress('asking name servers');
  const { signal } = new AbortController();
  try {
    const found = await Promise.all(
      clients.map((client) =>
        client.askNameServers({ templates, isCommand: true, signal, previous: new Map() }),
      ),
    );
    return passes.map((pass, index) => withAnswers(pass, found[index] ?? new Map()));
  } finally {
    progress.close();
  }
};
