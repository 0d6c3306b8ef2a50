import type { Label } from '../../src/import/label.ts';
import { writeTemplate, type WrittenFile } from '../../src/import/write.ts';
import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { loadTexts } from '../../src/source/load.ts';
import { options } from '../desired/load-files.ts';
import { data } from '../plan/records.ts';

/** A template's file, without a header; throws where there can be none. */
export const fileFor = async (
  template: ActualTemplate,
  { name, id }: Pick<Label, 'name' | 'id'> = { name: template.name, id: null },
): Promise<WrittenFile> => {
  const { records } = template;
  const contents = { name, id, records, header: '' };
  return writeTemplate(contents, (text) => loadTexts(options, new Map([['web.yaml', text]])));
};

export const textFor = async (...given: Parameters<typeof fileFor>): Promise<string> =>
  (await fileFor(...given)).text;

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

/** The same of records such as `www 300 A 192.0.2.1`, which have no TTL where they do not say one. */
export const served = (...lines: readonly string[]): ActualTemplate => templateOf(...lines.map(data));
