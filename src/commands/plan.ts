import type { Options } from './options.ts';
import { assembleReport } from '../report/assemble.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import { showReport } from './report-output.ts';
import { planClients, resolveNames } from './passes.ts';
import { openSession } from './session.ts';

/** What differs, and what a pass would do about it. Writes nothing. */
export const plan = async (templates: readonly string[], options: Options): Promise<number> => {
  const session = await openSession(options, 2);
  try {
    const names = await resolveNames(session.clients, templates);
    const report = assembleReport(session.clean(await planClients(session.clients, names, options)));
    await showReport(report, options);
    return exitCodeOf(report, { detailed: options['detailedExitcode'] === true });
  } finally {
    await session.close();
  }
};
