import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { assembleReport } from '../report/assemble.ts';
import type { Report } from '../report/report.ts';
import { settingsProblem } from '../settings/client-files.ts';
import { SettingsError } from '../settings/problems.ts';
import { exitCodeOf } from '../report/exit-code.ts';
import { showReport } from '../app/report-output.ts';
import { reportOn, resolveNames, addAnswers } from '../app/passes.ts';
import { whileShown } from '../app/progress.ts';
import { passClients } from '../app/shown-passes.ts';
import { baseFiles } from '../app/base-files.ts';
import { readOnly } from '../app/only-records.ts';
import { inAppContext } from '../app/app-context.ts';
import type { TemplateResult } from '../result.ts';

/** Name servers were asked for, and none could be asked. */
const isUnasked = ({ subdomains }: TemplateResult): boolean =>
  subdomains.some(({ answers }) => answers.status === 'failed');

/** What differs, and what a pass would do about it. Writes nothing. */
export const plan = async (templates: readonly string[], options: Options, io: Io): Promise<number> => {
  try {
    return await planned(templates, options, io);
  } catch (error) {
    // A comment on a pull request is made of this report.
    if (error instanceof UserError && options['format'] !== 'text')
      await showReport(failedBy(error), options, io);
    throw error;
  }
};

const failedBy = (error: UserError): Report => {
  const problems = error instanceof SettingsError ? error.problems : [error.message];
  return assembleReport(
    [],
    problems.map((line) => settingsProblem('', null, line)),
  );
};

const planned = async (templates: readonly string[], options: Options, io: Io): Promise<number> => {
  if (options['answers'] === true && options['ignoreSubdomains'] === true)
    throw new UserError('--answers is about subdomains: leave out --ignore-subdomains');
  return inAppContext(
    options,
    io,
    async (context) => {
      const { clients } = context;
      const names = await whileShown(io, 'reading template files', () => resolveNames(clients, templates));
      const only = await readOnly(io, options, clients, names);
      const ignoreSubdomains = options['ignoreSubdomains'] === true;
      const base = typeof options['base'] === 'string' ? options['base'] : null;
      const passes = await passClients(
        io,
        context,
        {
          dryRun: true,
          lockTimeout: 0,
          ignoreSubdomains,
          only,
          ...(base === null ? {} : baseFiles(base, clients, io)),
        },
        names,
      );
      const found =
        options['answers'] === true
          ? await whileShown(io, 'asking name servers', () => addAnswers(clients, passes, names))
          : passes;
      const report = { ...reportOn(found, context), ...(base === null ? {} : { base }) };
      await showReport(report, options, io);
      if (found.some(({ templates: all }) => all.some(isUnasked))) return 1;
      return exitCodeOf(report, { detailed: options['detailedExitcode'] === true });
    },
    { mayLeaveOut: true },
  );
};
