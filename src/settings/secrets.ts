import { existsSync } from 'node:fs';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import { parseUrl } from '../lib/parse-url.ts';
import { credentialsIn } from '../model/route.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { minSecretLength } from '../secrets.ts';
import type { SecretReference } from './kinds.ts';
import { attempt } from './problems.ts';

/** A secret and its source. `read` goes to the source each time, so that a replaced file is noticed. */
export interface SecretSource {
  /** Throws a UserError that names the source, never the value. */
  readonly read: () => string;
  /** The source, for people. */
  readonly place: string;
}

/** The secrets of one run of the program. Remembers every value read, so that none of them reaches an output. */
export const openSecrets = (env: NodeJS.ProcessEnv) => {
  const known = new Set<string>();
  /** The same in one list that only grows: what is made of it is made once. */
  const seen: string[] = [];
  const sources: SecretSource[] = [];

  const note = (secret: string): void => {
    if (!known.has(secret)) seen.push(secret);
    known.add(secret);
  };

  /** The password of an address is a secret by itself. */
  const notePassword = (address: string): void => {
    const { href = '', password = '' } = parseUrl(address) ?? {};
    if (password === '') return;
    const credentials = credentialsIn(href);
    const decoded = credentials.slice(credentials.indexOf(':') + 1);
    for (const one of [password, credentials, decoded]) note(one);
  };

  const textOf = (reference: SecretReference | undefined, place: string): string => {
    if (reference === undefined) throw new UserError(`${place}: no secret`);
    if (typeof reference === 'string') return reference;
    if ('file' in reference) return textOfFile(reference.file, reference.folder, place);
    const value = env[reference.env];
    // Somebody may have written the token itself.
    const name = variableName.test(reference.env) ? ` ${reference.env}` : '';
    if (value === undefined) throw new UserError(`${place}: the environment variable${name} is not set`);
    if (standsInQuotes(value)) throw new UserError(`${place}: ${quotesAdvice}`);
    return value;
  };

  return {
    notePassword,
    /** Every value read so far, replaced ones too. */
    seen: (): readonly string[] => seen,
    /** The same, and all other secrets of the settings that can be read. */
    all: (): readonly string[] => {
      for (const { read } of sources) attempt(new Set(), read);
      return seen;
    },
    /** The source of a secret that was set. `faultOf` says what else is wrong with a value, without repeating it. */
    source: (
      { value, place }: { readonly value: unknown; readonly place: string },
      faultOf: (secret: string) => string | null = () => null,
    ): SecretSource => {
      const read = (): string => {
        // Editors and `echo` add a line break at the end.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the kind of these settings
        const text = textOf(value as SecretReference | undefined, place);
        const secret = text.replace(/^\ufeff/, '').replace(/[\r\n]+$/, '');
        if (secret.length < minSecretLength || secret.trim() !== secret || neverInSecrets.test(secret))
          throw new UserError(`${place}: ${expectedSecret}`);
        note(secret);
        notePassword(secret);
        const fault = faultOf(secret);
        if (fault !== null) throw new UserError(`${place}: ${fault}`);
        return secret;
      };
      sources.push({ place, read });
      return { place, read };
    },
  };
};

export const standsInQuotes = (text = ''): boolean => /^(["']).*\1$/s.test(text);

/** Docker and others take the lines of an `--env-file` as they are. */
export const quotesAdvice =
  'the quotes around the value are a part of it, as they are with --env-file of docker: remove them';

/** As people name them; hardly any token looks so. */
const variableName = /^(?:[A-Z]{1,16}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$/;

// oxlint-disable-next-line no-control-regex
const neverInSecrets = /[\x00-\x1f\x7f\ufffd]/;

/** A service may repeat it without the blanks, and shorter ones occur in words: they could not be redacted. */
const expectedSecret = `the secret is not one line of at least ${minSecretLength} characters, without blanks at its ends and control characters, in UTF-8: check that all of it was given`;

const textOfFile = (file: string, folder: string, place: string): string => {
  const absolute = path.resolve(folder, file);
  try {
    return readRegularFileSync(absolute, largestFile).toString('utf8');
  } catch (error) {
    // Instead of a path, somebody may have given the token itself.
    const [first = '', ...rest] = file.split(/(?<=.)\//);
    const isPath = rest.length > 0 && existsSync(path.resolve(folder, first));
    const shown = isPath ? absolute : 'the file that it names';
    throw new UserError(`${place}: cannot read ${shown} (${codeOf(error)})`, { cause: error });
  }
};

/** Bytes; larger than any token or certificate. */
const largestFile = 64 * 1024;

/** Tokens that protect this program must not be easy to guess. */
export const ownTokenFault = (token: string): string | null =>
  token.length < 16
    ? 'the token has fewer than 16 characters, which is too easy to guess: use one such as `openssl rand -hex 16` gives'
    : null;

export const storeFault = (address: string): string | null =>
  /^postgres(ql)?:$/.test(parseUrl(address)?.protocol ?? '')
    ? null
    : 'expected postgres://USER:PASSWORD@HOST/DATABASE';
