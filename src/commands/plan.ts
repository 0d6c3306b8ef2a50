import { inAppContext, type AppContext } from '../app/app-context.ts';
import { baseFiles } from '../app/template-files.ts';
import { readOnly, resolveNames } from '../app/names.ts';
import type { Options } from '../app/options.ts';
import { addAnswers, passClients, reportOn } from '../app/passes.ts';
import { whileShown } from '../app/progress.ts';
import { showReport } from '../app/report-output.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { assembleReport, exitCodeOf } from '../report/assemble.ts';
import { SettingsError, settingsProblem } from '../settings/problems.ts';
import type { Run } from './table.ts';

/** What differs, and what a pass would do about it. Writes nothing. */
export const plan: Run = async (patterns, options, io) => {
  try {
    if (options['answers'] === true && options['ignoreSubdomains'] === true)
      throw new UserError('--answers is about subdomains: leave out --ignore-subdomains');
    const task = (context: AppContext): Promise<number> => planned(patterns, context, options, io);
    return await inAppContext(options, io, task, { mayLeaveOut: true });
  } catch (error) {
    // A comment on a pull request is made of this report.
    if (error instanceof UserError && (options['format'] ?? 'text') !== 'text') {
      const lines = error instanceof SettingsError ? error.problems : [error.message];
      const problems = lines.map((line) => settingsProblem('', null, line));
      await showReport(assembleReport([], problems), options, io);
    }
    throw error;
  }
};

const planned = async (
  patterns: readonly string[],
  context: AppContext,
  options: Options,
  io: Io,
): Promise<number> => {
  const { clients } = context;
  const names = await whileShown(io, 'reading template files', () => resolveNames(clients, patterns));
  const base = typeof options['base'] === 'string' ? options['base'] : null;
  const how = {
    dryRun: true,
    lockTimeout: 0,
    only: await readOnly(io, options['only'], clients, names),
    ignoreSubdomains: options['ignoreSubdomains'] === true,
    ...(base === null ? {} : { base: baseFiles(base, clients, io) }),
  };
  const passes = await passClients(io, context, how, names);
  const ask = (): ReturnType<typeof addAnswers> => addAnswers(clients, passes, names);
  const found = options['answers'] === true ? await whileShown(io, 'asking name servers', ask) : passes;
  const report = { ...reportOn(found, context), ...(base === null ? {} : { base }) };
  await showReport(report, options, io);
  const subdomains = found.flatMap(({ templates }) => templates.flatMap((one) => one.subdomains));
  // They were asked for, and none could be asked.
  if (subdomains.some(({ answers }) => answers.status === 'failed')) return 1;
  return exitCodeOf(report, { detailed: options['detailedExitcode'] === true });
};
