import { configOf, schemaOf, type ConfigFile } from './config-file.ts';
import { checkedDocument, isObject } from './document.ts';
import type { Problems } from './problems.ts';

/** Settings that a program gives as an object, with the keys of the config file. */
export interface ConfigObject {
  readonly config: ConfigFile;
  /** The secrets that it holds as texts, by the variables that now stand in their place. */
  readonly literals: Readonly<Record<string, string>>;
}

/** Checks them as a file would be checked, but that a secret may also be a text. */
export const readConfigObject = (given: unknown, folder: string, problems: Problems): ConfigObject => {
  const literals: Record<string, string> = {};
  const withoutLiterals = (settings: unknown, at: readonly string[]): unknown =>
    isObject(settings)
      ? Object.fromEntries(
          Object.entries(settings)
            .filter(([, value]) => value !== undefined)
            .map(([key, value]) => {
              if (typeof value !== 'string' || !secretKeys.has(key)) return [key, value];
              // No variable of the environment has such a name.
              const env = `=${[...at, key].join('.')}`;
              literals[env] = value;
              return [key, { env }];
            }),
        )
      : settings;
  const top = withoutLiterals(given, []);
  const values =
    isObject(top) && isObject(top['clients'])
      ? {
          ...top,
          clients: Object.fromEntries(
            Object.entries(top['clients']).map(([name, own]) => [
              name,
              withoutLiterals(own, ['clients', name]),
            ]),
          ),
        }
      : top;
  const document = checkedDocument(values, {
    file: 'settings',
    what: 'config file',
    schema: schemaOf,
    problems,
    folder,
    place: (keys) => keys.join('.') || 'settings',
    textsAt: (keys) => textsAt(values, keys),
  });
  return { config: configOf(null, document), literals };
};

const secretKeys: ReadonlySet<string> = new Set([
  'userToken',
  'clientToken',
  'store',
  'triggerToken',
  'pageToken',
]);

const textsAt = (values: unknown, keys: readonly string[]): Record<string, string> => {
  let value = values;
  for (const key of keys) value = isObject(value) ? value[key] : undefined;
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {};
};
