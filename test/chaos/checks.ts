import type { Report } from '../../src/report/report.ts';
import { dataKey } from './wire.ts';
import { endOf, type Run, type World } from './world.ts';

type Difference = Report['templates'][number]['differences'][number];

/** Compares the report of a process with what it did; null if it was killed. */
export const checkedReport = async (world: World, run: Run): Promise<Report | null> => {
  const { code, stdout, stderr } = await endOf(world, run);
  if (run.isKilled) return null;
  if (stdout === '') {
    world.problems.push(`${run.caller} ended with ${code ?? 'a signal'} and no report: ${stderr}`);
    return null;
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another test checks its form
  const report = JSON.parse(stdout) as Report;
  for (const { template, differences } of report.templates)
    for (const one of differences)
      if (one.outcome === 'applied' && one.action !== 'surplus' && !isStored(world, one, differences))
        world.problems.push(`${run.caller} says it applied to ${template}: ${JSON.stringify(one)}`);
  return report;
};

/** By this process, or by another one if the write was done already; or it reports another outcome. */
const isStored = (
  { service }: World,
  difference: Extract<Difference, { desired: unknown }>,
  differences: readonly Difference[],
): boolean => {
  const key = dataKey(difference.desired);
  const saysMore = (other: Difference): boolean =>
    (other.action === 'blocked' && dataKey(other.desired) === key) ||
    (other.action === 'surplus' && difference.action === 'park' && other.recordId === difference.recordId);
  const { writes } = service.witness;
  return (
    writes.some(({ result }) => result !== null && dataKey(result) === key) || differences.some(saysMore)
  );
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

/** The last report is true: no change is lost, and no copy is missing from it. */
export const checkTruth = async (
  { service, files, templateIds, problems }: World,
  report: Report,
): Promise<void> => {
  const all = await service.templates();
  for (const file of files) {
    const records = all.find(({ id }) => id === templateIds.get(file.template))?.dns_template_records ?? [];
    const differences =
      report.templates.find(({ template }) => template === file.template)?.differences ?? [];
    for (const desired of file.records) {
      const key = dataKey(desired);
      const found = records.filter((record) => dataKey(record) === key);
      const isRight = found.some(({ ttl }) => desired.ttl === null || desired.ttl === ttl);
      const isSaid = differences.some(
        (one) => one.action !== 'surplus' && isOpen(one) && dataKey(one.desired) === key,
      );
      if (!isRight && !isSaid)
        problems.push(`lost change: ${file.template} has no ${key}, and nothing says so`);
      const copies = differences.filter((one) => one.action === 'surplus' && dataKey(one.current) === key);
      const duplicates = copies.filter((one) => one.action === 'surplus' && one.reason === 'duplicate');
      if (found.length - 1 > duplicates.length)
        problems.push(
          `${found.length} of ${key} in ${file.template}, and ${duplicates.length} said to be duplicates`,
        );
    }
  }
};

/** Every sent write is in the history, unless the state was removed. */
export const checkHistory = async ({ store, service, hasLostMemory, problems }: World): Promise<void> => {
  if (hasLostMemory) return;
  const { history, open } = await store.count();
  const left = service.witness.writes.length;
  if (history < left) problems.push(`${left} writes left, and the history knows of ${history}`);
  if (open > 0) problems.push(`${open} writes are still open at the end`);
};
