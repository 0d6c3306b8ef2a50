import { expect, test } from 'vitest';
import { rememberWork } from '../../src/apply/remember.ts';
import { planWork } from '../../src/apply/template.ts';
import { presentTemplate } from '../plan/records.ts';
import { contextWith, newWork } from './work.ts';

/** What is suspected to be lost after a pass in which the template's own reading lacks all that memory knows. */
const suspectsAfter = async (shownElsewhere: readonly string[]) => {
  const all = ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'];
  const { work, memory } = await newWork(['@ A 192.0.2.1', 'www A 192.0.2.2'], all);
  const { id } = work.present;
  for (const { wanted, present } of planWork(work, 0).pairs) work.ledger.bind(wanted, present);
  work.present = presentTemplate([]);
  const latest = { listing: new Map([[id, presentTemplate(shownElsewhere)]]) };
  await rememberWork(work, undefined, contextWith({ memory, latest }));
  return work.ledger.facts.suspectIds;
};

test.each<[string, readonly string[], readonly number[] | null]>([
  ['both', ['#1 @ A 192.0.2.1', '#2 www A 192.0.2.2'], null],
  ['one of them', ['#2 www A 192.0.2.2'], null],
  ['none of them', [], [1, 2]],
])(
  'of two known records that its own reading lacks, those are not lost that another one shows: %s: %j: %j',
  async (_, shown, lost) => {
    expect(await suspectsAfter(shown)).toEqual(lost);
  },
);
