import { existsSync } from 'node:fs';
import path from 'node:path';
import { configSchema, type ClientsForm } from './config-schema.ts';
import { isObject, parseSettings, readText, type Section } from './document.ts';
import type { Problems } from './problems.ts';

export interface ConfigFile {
  readonly file: string;
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

  const schema = (values: unknown) => configSchema(formOf(isObject(values) ? values['clients'] : undefined));
  const request = { absolute, file, what: 'config file', schema, problems } as const;
  const text = readText(request);
  if (text === null) return null;
  const document = parseSettings(text, request);
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
