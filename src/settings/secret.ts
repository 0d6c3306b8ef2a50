import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { minSecretLength } from '../secrets.ts';

/** A secret and its source. `read` goes to the source each time, so that a replaced file is noticed. */
export interface SecretSource {
  /** Throws a UserError that names the source, never the value. */
  readonly read: () => string;
  /** The source, for people. */
  readonly place?: string;
}

/** How the config file names a secret: never by its value. */
export type SecretReference = { readonly env: string } | { readonly file: string };

/** The secrets of one run of the program. Remembers every value read, so that none of them reaches an output. */
export class Secrets {
  readonly #env: NodeJS.ProcessEnv;
  readonly #literals: Readonly<Record<string, string>>;
  readonly #seen = new Set<string>();
  #seenInOrder: readonly string[] = [];
  readonly #sources: SecretSource[] = [];

  /** `literals`: secrets that were given as texts, by the names that stand for them. */
  constructor(env: NodeJS.ProcessEnv, literals: Readonly<Record<string, string>> = {}) {
    this.#env = env;
    this.#literals = literals;
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

  /** `minLength` is in characters. */
  fromEnv(name: string, label = name, minLength = minSecretLength): SecretSource {
    return this.#source(label, minLength, () => {
      const value = this.#literals[name] ?? this.#env[name];
      if (value === undefined) throw new UserError(`${label}: the environment variable ${name} is not set`);
      return value;
    });
  }

  fromFile(file: string, folder: string, label: string, minLength = minSecretLength): SecretSource {
    const absolute = path.resolve(folder, file);
    return this.#source(label, minLength, () => {
      try {
        return readRegularFileSync(absolute, largestFile).toString('utf8');
      } catch (error) {
        throw new UserError(`${label}: cannot read ${absolute} (${codeOf(error)})`, { cause: error });
      }
    });
  }

  #source(label: string, minLength: number, value: () => string): SecretSource {
    const source = {
      place: label,
      read: (): string => {
        // Editors and `echo` add a line break at the end.
        const secret = value()
          .replace(/^\ufeff/, '')
          .replace(/[\r\n]+$/, '');
        if (secret.trim() === '') throw new UserError(`${label}: the secret is empty`);
        // A service may repeat it without the blanks, and then it would not be redacted.
        if (secret.trim() !== secret)
          throw new UserError(`${label}: the secret has blanks at the beginning or end: remove them`);
        if (neverInSecrets.test(secret))
          throw new UserError(
            `${label}: the secret is not one line of text: it has line breaks, control characters or invalid UTF-8`,
          );
        if (secret.length < minSecretLength)
          throw new UserError(
            `${label}: the secret has fewer than ${minSecretLength} characters, which is too short to redact from output`,
          );
        this.#seen.add(secret);
        if (secret.length < minLength)
          throw new UserError(
            `${label}: the token has fewer than ${minLength} characters, which is too easy to guess: use one such as \`openssl rand -hex 16\` gives`,
          );
        return secret;
      },
    };
    this.#sources.push(source);
    return source;
  }
}

/** Bytes; larger than any token or certificate. */
const largestFile = 64 * 1024;

// oxlint-disable-next-line no-control-regex
const neverInSecrets = /[\x00-\x1f\x7f\ufffd]/;
