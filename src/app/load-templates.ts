import { createTemplateLoader } from '../source/load.ts';
import type { DesiredState } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';

export interface LoadHow {
  readonly strict?: boolean;
  readonly allowEmpty?: boolean;
  /** Paths besides the client's own directories. */
  readonly paths?: readonly string[];
}

/** Loads the template files of a client once. */
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
