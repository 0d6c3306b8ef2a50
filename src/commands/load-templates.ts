import { createTemplateLoader } from '../desired/load.ts';
import type { DesiredState } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';

export interface LoadHow {
  readonly strict?: boolean;
  readonly allowEmpty?: boolean;
  /** Beside the client's own directories. */
  readonly paths?: readonly string[];
}

/** What the files of a client say, read once and by themselves. */
export const loadTemplates = (
  client: ClientSettings,
  { strict = false, allowEmpty = false, paths = [] }: LoadHow,
): Promise<DesiredState> => {
  const { override, config, client: own } = client.vars;
  return createTemplateLoader().load({
    paths: [...client.templates, ...paths],
    defaults: client,
    variables: { override, defaults: { ...config, ...own } },
    strict,
    allowEmpty,
  });
};
