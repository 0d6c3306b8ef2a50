import type { Label } from '../../src/import/label.ts';
import type { Existing } from '../../src/import/existing.ts';
import { writeTemplate, type WrittenFiles } from '../../src/import/write.ts';
import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { options } from '../desired/load-files.ts';

/** The text of a template's file; throws where there can be none, or where it has fragments. */
export const textFor = async (
  template: ActualTemplate,
  existing: Existing,
  label?: Pick<Label, 'name' | 'id'>,
): Promise<string> => {
  const { text, fragments } = await filesFor(template, existing, label);
  if (fragments.size > 0) throw new Error('there are fragments');
  return text;
};

export const filesFor = async (
  template: ActualTemplate,
  existing: Existing,
  { name, id }: Pick<Label, 'name' | 'id'> = { name: template.name, id: null },
): Promise<WrittenFiles> => {
  const fragmentName = (number: number): string => `_web-${number}.yaml`;
  const written = await writeTemplate({ template, name, id, fragmentName, existing, settings: options });
  if ('refusal' in written) throw new Error(written.refusal);
  return written;
};

export type Stated = Pick<ActualRecord, 'type' | 'content'> & Partial<ActualRecord>;

/** A template called `web` whose records have the ids 1, 2, … and a TTL of an hour where they do not say another. */
export const templateOf = (...records: readonly Stated[]): ActualTemplate => ({
  id: 17,
  name: 'web',
  publiclyAvailable: false,
  subdomains: 0,
  records: records.map((record, index) => ({
    id: index + 1,
    name: null,
    priority: null,
    ttl: 3_600,
    ...record,
  })),
});
