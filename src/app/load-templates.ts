import { createTemplateLoader, type LoadOptions } from '../source/load.ts';
import type { DesiredState } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';

export interface LoadHow {
  readonly strict?: boolean;
  readonly allowEmpty?: boolean;
  /** Paths besides the client's own directories. */
  readonly paths?: readonly string[];
}

/** Loads the template files of a client once. */
export const loadTemplates = (client: ClientSettings, how: LoadHow): Promise<DesiredState> =>
  createTemplateLoader().load(loadOptionsOf(client, how));

/** How the template files of a client are read. */
export const loadOptionsOf = (
  client: ClientSettings,
  { strict = false, allowEmpty = false, paths = [] }: LoadHow,
): LoadOptions => {
  const { override, config, client: own } = client.vars;
  return {
    paths: [...client.templates, ...paths],
    defaults: client,
    variables: { override, defaults: { ...config, ...own } },
    strict,
    allowEmpty,
  };
};
