import { redactor } from './secrets.ts';
import type { SettingsRequest } from './settings/file.ts';
import { readClients, type ClientFiles } from './settings/clients.ts';
import { attempt, SettingsError, type Problems } from './settings/problems.ts';
import { readReceivers } from './settings/receivers.ts';
import { ownTokenFault, storeFault, type SecretSource } from './settings/secrets.ts';
import { readSources, resolve } from './settings/sources.ts';
import { programTable, runTable } from './settings/table.ts';

export type Settings = ReturnType<typeof readSettings>;

interface Request extends SettingsRequest {
  /** Clients whose files cannot be used are left out while there are others, rather than an error. */
  readonly mayLeaveOut?: boolean;
  /** What was read before: a client whose file cannot be used keeps its settings. */
  readonly previous?: { readonly clientFiles: ClientFiles | null };
  /** Told, in a line, of a settings file that is read though nobody has named it. */
  readonly say?: (line: string) => void;
}

/**
 * Reads the settings from flags, environment, settings file and defaults, in this order. Durations are milliseconds. Throws
 * a SettingsError that has all problems.
 */
export const readSettings = (request: Request) => {
  const { flags, mayLeaveOut = false, previous } = request;
  const problems: Problems = new Set();
  const reading = readSources(request, problems);
  const { file, top } = reading;
  if (file !== null && !reading.isNamed && previous === undefined)
    request.say?.(`settings from ${file}, since it is there; --no-config reads none`);
  const { secrets } = reading;
  const chosen = [flags['client'] ?? []].flat().flatMap((text) => String(text).split(','));
  const read = readClients(reading, chosen, previous?.clientFiles ?? null);
  const isLeftOut = mayLeaveOut && read.clients.length > 0;
  for (const line of isLeftOut ? [] : read.lines) problems.add(line);
  const given = { ...top, ...reading.environment, ...reading.flags };
  const program = resolve({ ...programTable, ...runTable }, given);
  const secretOf = (key: string, faultOf: (secret: string) => string | null): SecretSource | null => {
    const { [key]: found } = given;
    return found?.value === undefined ? null : secrets.source(found, faultOf);
  };
  const store = secretOf('store', storeFault);
  if (store !== null) attempt(problems, store.read);
  const settings = {
    ...program,
    clients: read.clients,
    /** Where clients have files of their own; null where they have none. */
    clientFiles: read.files,
    /** Why clients are left out, or keep the settings that they had. May hold secrets. */
    leftOut: isLeftOut ? read.problems : [],
    /** Null: passes cannot be requested over HTTP. */
    triggerToken: secretOf('triggerToken', ownTokenFault),
    /** Null: page and API need no token. */
    pageToken: secretOf('pageToken', ownTokenFault),
    /** Where several machines share the state: `postgres://…`; null: each client's state directory. */
    store,
    // What a client's file is that cannot be read is not known.
    notify: readReceivers(reading, program.publicUrl, read.lines.length === 0 ? read.names : null),
    /** The settings file that was read, as it was given. */
    configFile: file,
    sandbox: flags['sandbox'] === true,
    /** Every secret read so far, also replaced ones: none of them may reach an output. */
    secrets: () => secrets.seen(),
    /** The same, and all others that the settings name and that can be read, for commands that need no tokens. */
    allSecrets: () => secrets.all(),
  };
  if (problems.size === 0) return settings;
  const redact = redactor(secrets.seen());
  throw new SettingsError([...problems].map((line) => redact(line)));
};
