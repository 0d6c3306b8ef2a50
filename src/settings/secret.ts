import { existsSync } from 'node:fs';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import { parseUrl } from '../lib/parse-url.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { minSecretLength } from '../secrets.ts';
import type { SecretReference } from './schema.ts';
import { quotesAdvice, standsInQuotes, type Sources } from './sources.ts';
import { variableOf, type SecretKey } from './table.ts';

/** A secret and its source. `read` goes to the source each time, so that a replaced file is noticed. */
export interface SecretSource {
  /** Throws a UserError that names the source, never the value. */
  readonly read: () => string;
  /** The source, for people. */
  readonly place?: string;
  readonly isFromEnvironment?: boolean;
}

/** The secrets of one run of the program. Remembers every value read, so that none of them reaches an output. */
export class Secrets {
  readonly #env: NodeJS.ProcessEnv;
  readonly #seen = new Set<string>();
  #seenInOrder: readonly string[] = [];
  readonly #sources: SecretSource[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** Every value read so far, replaced ones too; the same array as long as there are no more. */
  seen(): readonly string[] {
    if (this.#seenInOrder.length < this.#seen.size) this.#seenInOrder = [...this.#seen];
    return this.#seenInOrder;
  }

  /** Adds a part of a secret that may occur by itself. */
  note(value: string): void {
    this.#seen.add(value);
  }

  /** The same, and all other secrets of the settings that can be read. */
  all(): readonly string[] {
    for (const source of this.#sources) {
      try {
        source.read();
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
      }
    }
    return this.seen();
  }

  /** `folder` is what a relative path starts from; `minLength` is in characters. */
  from(reference: SecretReference, folder: string, place: string, minLength = 0): SecretSource {
    const isFromEnvironment = typeof reference === 'object' && 'env' in reference;
    const value = (): string => {
      if (typeof reference === 'string') return reference;
      return 'env' in reference
        ? this.#variable(reference.env, place)
        : textOfFile(path.resolve(folder, reference.file), reference.file, folder, place);
    };
    const source = {
      place,
      isFromEnvironment,
      read: (): string => {
        // Editors and `echo` add a line break at the end.
        const secret = value()
          .replace(/^\ufeff/, '')
          .replace(/[\r\n]+$/, '');
        const fault = faultOf(secret);
        if (fault !== null) throw new UserError(`${place}: ${fault}`);
        this.#seen.add(secret);
        if (secret.length < minLength)
          throw new UserError(
            `${place}: the token has fewer than ${minLength} characters, which is too easy to guess: use one such as \`openssl rand -hex 16\` gives`,
          );
        return secret;
      },
    };
    this.#sources.push(source);
    return source;
  }

  #variable(name: string, place: string): string {
    const value = this.#env[name];
    if (value === undefined) {
      // Somebody may have written the token itself.
      const which = variableName.test(name) ? `the environment variable ${name}` : 'the environment variable';
      throw new UserError(`${place}: ${which} is not set`);
    }
    if (standsInQuotes(value)) throw new UserError(`${place}: ${quotesAdvice}`);
    return value;
  }
}

/** As people name them; hardly any token looks so. */
const variableName = /^(?:[A-Z]{1,16}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$/;

const textOfFile = (absolute: string, given: string, folder: string, place: string): string => {
  try {
    return readRegularFileSync(absolute, largestFile).toString('utf8');
  } catch (error) {
    // Instead of a path, somebody may have given the token itself.
    const [first = '', ...rest] = given.split(/(?<=.)\//);
    const isPath = rest.length > 0 && existsSync(path.resolve(folder, first));
    throw new UserError(
      `${place}: cannot read ${isPath ? absolute : 'the file that it names'} (${codeOf(error)})`,
      { cause: error },
    );
  }
};

/** Bytes; larger than any token or certificate. */
const largestFile = 64 * 1024;

const faultOf = (secret: string): string | null => {
  if (secret.trim() === '') return 'the secret is empty';
  // A service may repeat it without the blanks, and then it would not be redacted.
  if (secret.trim() !== secret) return 'the secret has blanks at the beginning or end: remove them';
  if (neverInSecrets.test(secret))
    return 'the secret is not one line of text: it has line breaks, control characters or invalid UTF-8';
  return secret.length < minSecretLength
    ? `the secret has fewer than ${minSecretLength} characters, which is too short to redact from output: check that all of it was given`
    : null;
};

// oxlint-disable-next-line no-control-regex
const neverInSecrets = /[\x00-\x1f\x7f\ufffd]/;

/** The variables that a secret may come from. */
export const variablesOf = (key: SecretKey): readonly [value: string, path: string] => [
  variableOf(key),
  `${variableOf(key)}_FILE`,
];

/**
 * A secret from its variable, from the file that a second variable names, or from the settings file; null if there is
 * none. `minLength` is in characters.
 */
export const secretOf = (
  key: SecretKey,
  { env, cwd, sections, problems }: Sources,
  secrets: Secrets,
  minLength?: number,
): SecretSource | null => {
  const [variable, fileVariable] = variablesOf(key);
  const file = env[fileVariable];
  if (env[variable] !== undefined && file !== undefined) {
    problems.add(variable, `set together with ${fileVariable}: keep one of them`, key);
    return null;
  }
  if (file !== undefined)
    return { ...secrets.from({ file }, cwd, fileVariable, minLength), isFromEnvironment: true };
  if (env[variable] !== undefined) return secrets.from({ env: variable }, cwd, variable, minLength);
  for (const section of sections) {
    const reference = section.value(key);
    if (reference !== undefined)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema of the file has checked it
      return secrets.from(reference as SecretReference, section.folder, section.place(key), minLength);
  }
  return null;
};

/** Where several machines share what is remembered; null where nothing says that they do. */
export const storeOf = (sources: Sources, secrets: Secrets): SecretSource | null => {
  const source = secretOf('store', sources, secrets);
  if (source === null) return null;
  const read = (): string => {
    const text = source.read();
    const url = parseUrl(text);
    if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
      throw new UserError(`${source.place}: expected postgres://USER:PASSWORD@HOST/DATABASE`);
    if (url.password !== '') secrets.note(decoded(url.password));
    return text;
  };
  sources.problems.attempt('store', read);
  return { ...source, read };
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
