import { existsSync } from 'node:fs';
import path from 'node:path';
import { configSchema, type ClientsForm } from './config-schema.ts';
import { isObject, parseSettings, readText, type Section, type SettingsDocument } from './document.ts';
import type { Problems } from './problems.ts';

export interface ConfigFile {
  /** As it was given; null for settings that are no file. */
  readonly file: string | null;
  readonly top: Section;
  /** Null if there is no map of clients. */
  readonly clients: ReadonlyMap<string, Section> | null;
  /** Where clients have files of their own; null if they have none. */
  readonly clientPaths: readonly string[] | null;
}

const usualName = 'dns-template-sync.yaml';

/**
 * Reads the config file; null if there is none or none shall be read. Errors go to `problems`, and invalid
 * values are left out.
 */
export const readConfigFile = (
  given: string | false | undefined,
  cwd: string,
  problems: Problems,
): ConfigFile | null => {
  if (given === false) return null;
  const file = given ?? usualName;
  const absolute = path.resolve(cwd, file);
  if (given === undefined && !existsSync(absolute)) return null;

  const request = { absolute, file, what: 'config file', schema: schemaOf, problems } as const;
  const text = readText(request);
  return text === null ? null : configOf(file, parseSettings(text, request));
};

/** The schema of settings by what they hold. */
export const schemaOf = (values: unknown): ReturnType<typeof configSchema> =>
  configSchema(formOf(isObject(values) ? values['clients'] : undefined));

export const configOf = (file: string | null, document: SettingsDocument): ConfigFile => {
  const { clients } = document.values;
  return {
    file,
    top: document.section([]),
    clients: isObject(clients)
      ? new Map(Object.keys(clients).map((name) => [name, document.section(['clients', name])]))
      : null,
    clientPaths:
      typeof clients === 'string' ? [clients] : Array.isArray(clients) ? clients.map(String) : null,
  };
};

const formOf = (clients: unknown): ClientsForm =>
  typeof clients === 'string' || Array.isArray(clients) ? 'files' : 'map';
