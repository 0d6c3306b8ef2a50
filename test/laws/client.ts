import type { ActualTemplate, DesiredState } from '../../src/model/template.ts';
import { emptyCache } from '../../src/reconcile/cache.ts';
import { simulatedDisk, type Disk } from './disk.ts';
import type { TemplateFile } from './files.ts';

/** With its own files, its own tokens and its own saved state. */
export interface Client {
  readonly name: string;
  readonly files: readonly TemplateFile[];
  readonly disk: Disk;
  /** By process. */
  readonly kept: readonly KeptBetweenPasses[];
  isSuspended: boolean;
}

export const clientOf = (
  name: string,
  files: readonly TemplateFile[],
  { disk = simulatedDisk(), processes = 1 } = {},
): Client => ({
  name,
  files,
  disk,
  kept: Array.from({ length: processes }, keptBetweenPasses),
  isSuspended: false,
});

export const suspend = (client: Client, template: string | null): void => {
  client.isSuspended = true;
  const by = { by: 'somebody', reason: 'an audit', since: 0, until: null };
  client.disk.suspend([{ template, templateId: null, ...by }]);
};

export const resume = (client: Client): void => {
  client.isSuspended = false;
  client.disk.suspend([]);
};

export const templateIdsOf = ({ files }: Client): number[] => files.map(({ templateId }) => templateId);

export type KeptBetweenPasses = ReturnType<typeof keptBetweenPasses>;

/** What a process keeps in memory from one pass to the next. */
export const keptBetweenPasses = () => {
  const cache = emptyCache();
  const seen = new Map<string, ActualTemplate>();
  let list: readonly ActualTemplate[] = [];
  let files: DesiredState | null = null;
  return {
    cache,
    /** The same objects for the same templates, and the same list of them, as long as the process lives. */
    recognise: (templates: readonly ActualTemplate[]): readonly ActualTemplate[] => {
      const known = templates.map((template) => {
        const text = JSON.stringify(template);
        const same = seen.get(text) ?? template;
        seen.set(text, same);
        return same;
      });
      if (!areSame(known, list)) list = known;
      return list;
    },
    /** The same object if the files say the same as before. */
    recogniseFiles: (desired: DesiredState): DesiredState => {
      const isSame =
        files !== null &&
        areSame(files.templates, desired.templates) &&
        JSON.stringify(files.unusable) === JSON.stringify(desired.unusable) &&
        files.files === desired.files;
      if (!isSame) files = desired;
      return files ?? desired;
    },
    /** It died. */
    forget: (): void => {
      cache.byId.clear();
      seen.clear();
      list = [];
      files = null;
    },
  };
};

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);
