import { loadTemplates } from '../app/load-templates.ts';
import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import { readSettings, type Settings } from '../settings.ts';

/** Prints names for the completion of a shell, from the files alone. A shell cannot show errors there. */
export const complete = async (what: string, options: Options): Promise<number> => {
  try {
    const needs = { baseUrl: false, tokens: false };
    // A client may be what is completed.
    const flags = what === 'clients' ? { ...options, client: undefined } : options;
    const settings = readSettings({ flags, needs, mayLeaveOut: true });
    const names = what === 'clients' ? settings.clients.map(({ name }) => name) : await templatesOf(settings);
    const offered = [...new Set(names)].filter((name) => harmless.test(name)).sort();
    process.stdout.write(offered.map((name) => `${name}\n`).join(''));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
  return 0;
};

const templatesOf = async ({ clients }: Settings): Promise<string[]> => {
  const states = await Promise.all(clients.map((client) => loadTemplates(client, {})));
  return states.flatMap(({ templates, unusable }) =>
    [...templates, ...unusable].flatMap(({ template }) => template ?? []),
  );
};

/** Shells expand what they are offered, and template files may come from anybody. */
const harmless = /^[\p{L}\p{N}_@%+=:,./-]+$/u;
