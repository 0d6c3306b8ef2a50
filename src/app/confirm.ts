import { createInterface } from 'node:readline/promises';

/** Asks on the terminal; only yes means yes. */
export const confirm = async (question: string): Promise<boolean> => {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D mean no.
    if (error instanceof Error && error.name === 'AbortError') {
      process.stderr.write('\n');
      return false;
    }
    throw error;
  } finally {
    prompt.close();
  }
};
