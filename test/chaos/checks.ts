import type { Report } from '../../src/result.ts';
import { endOf, type Run, type World } from './world.ts';

type Difference = Report['templates'][number]['differences'][number];

/** Tells the judge what a process reported; null if it was killed. */
export const checkedReport = async (world: World, run: Run): Promise<Report | null> => {
  const { judge } = world.service;
  const { code, stdout, stderr } = await endOf(world, run);
  if (run.isKilled || stdout === '') {
    judge.ended(run.judged, null);
    if (!run.isKilled)
      world.problems.push(`${run.caller} ended with ${code ?? 'a signal'} and no report: ${stderr}`);
    return null;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another test checks its form
  const report = JSON.parse(stdout) as Report;
  judge.ended(run.judged, run.hasOtherFiles ? null : report.templates);
  return report;
};

const isOpen = (difference: Difference): boolean =>
  difference.outcome !== 'applied' && difference.action !== 'surplus';

export const isDone = ({ templates }: Report): boolean =>
  templates.every(({ differences }) => !differences.some(isOpen));

/** Why not everything equals the files. */
export const reasonsIn = ({ templates }: Report): readonly string[] => {
  const open = templates.flatMap(({ differences }) => differences.filter(isOpen));
  return [...new Set(open.map((one) => (one.action === 'blocked' ? one.reason : (one.error ?? one.action))))];
};

/** The report explains everything that differs from the file. */
export const checkExplained = ({ problems }: World, { templates }: Report): void => {
  for (const { template, status, message, differences } of templates) {
    const isSaid = (difference: Difference): boolean =>
      difference.action === 'blocked' ? difference.message !== '' : (difference.error ?? '') !== '';
    const unsaid = differences.filter((difference) => isOpen(difference) && !isSaid(difference));
    if (unsaid.length > 0)
      problems.push(`${template} is ${status} without a reason: ${JSON.stringify(unsaid)}`);
    if (['failed', 'held'].includes(status) && message === null && differences.length === 0)
      problems.push(`${template} is ${status} without a message`);
  }
};

/** Every sent write is in the history, unless the state was removed. */
export const checkHistory = async ({ store, service, hasLostMemory, problems }: World): Promise<void> => {
  if (hasLostMemory) return;
  const { history, open } = await store.count();
  const left = service.sent.length;
  if (history < left) problems.push(`${left} writes left, and the history knows of ${history}`);
  if (open > 0) problems.push(`${open} writes are still open at the end`);
};
