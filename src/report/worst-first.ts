import { groupBy } from '../model/group.ts';
import { recordTypes, type RecordData } from '../model/record.ts';
import type { Difference } from '../plan/difference.ts';
import { statuses, type TemplateResult } from '../result.ts';

/**
 * Sorts by urgency: failed templates, then those with failed or blocked records, then held ones. Records of the same
 * urgency are sorted as people would: by name, where `host10` comes after `host2`, by type, and by priority.
 */
export const worstFirst = (templates: readonly TemplateResult[]): TemplateResult[] =>
  templates
    .map((template) => ({
      ...template,
      differences: template.differences.toSorted(
        (one, other) => rankOf(one) - rankOf(other) || byName(recordOf(one), recordOf(other)),
      ),
    }))
    .toSorted((one, other) => rankOfTemplate(one) - rankOfTemplate(other));

const rankOfTemplate = ({ status, differences: [first] }: TemplateResult): number => {
  const hasTrouble = status !== 'failed' && first !== undefined && rankOf(first) <= 1;
  return hasTrouble ? 0.5 : statuses.length - 1 - statuses.indexOf(status);
};

const rankOf = ({ action, outcome }: Difference): number => {
  if (outcome === 'applied') return 4;
  if (outcome === 'failed' || outcome === 'unknown') return 0;
  if (action === 'blocked') return 1;
  return action === 'surplus' ? 3 : 2;
};

const recordOf = (one: Difference): RecordData =>
  one.action === 'surplus' || one.action === 'park' ? one.current : one.desired;

const byName = (one: RecordData, other: RecordData): number =>
  compare(one.name ?? '', other.name ?? '') ||
  types.indexOf(one.type) - types.indexOf(other.type) ||
  (one.priority ?? 0) - (other.priority ?? 0) ||
  compare(one.content, other.content);

const types: readonly string[] = recordTypes;
const { compare } = new Intl.Collator('en', { numeric: true });

/** Groups items with the same words, each group at the position of its first item. Null keeps an item by itself. */
export const groupAlike = <Item>(
  items: readonly Item[],
  wordsOf: (item: Item) => string | null,
): readonly (readonly Item[])[] => [...groupBy(items, (item): unknown => wordsOf(item) ?? item).values()];
