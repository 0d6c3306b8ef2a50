import { CommanderError, type Command } from 'commander';
import { describedIn, loadTemplates } from '../app/load-templates.ts';
import { readOffline, type Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';

/** The script with which a shell completes command lines of this program: it asks the program about each. */
export const completion = (shell: string, { stdout }: Io): Promise<number> => {
  stdout.write(shell === 'fish' ? fish : shell === 'zsh' ? zsh : bash);
  return Promise.resolve(0);
};

/** Where nothing is offered, shells complete file names. */
const bash = `_dns_template_sync() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" complete "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2> /dev/null | cut -f1))
}
complete -o default -F _dns_template_sync dns-template-sync
`;

/** zsh runs what bash completes with. */
const zsh = `autoload -U +X bashcompinit && bashcompinit\n${bash}`;

const fish = `function __dns_template_sync
  set -l found (dns-template-sync complete (commandline -opc)[2..] (commandline -ct) 2> /dev/null)
  set -q found[1]; and printf '%s\\n' $found; or __fish_complete_path (commandline -ct)
end
complete -c dns-template-sync -f -a '(__dns_template_sync)'
`;

/** Prints what may stand in place of the last word, from the files alone. A shell cannot show errors there. */
export const complete = async (words: readonly string[], program: Command, io: Io): Promise<number> => {
  const word = words.at(-1) ?? '';
  const offered = await offersFor(words.slice(0, -1), word, program, io).catch((error: unknown) => {
    if (error instanceof UserError || error instanceof CommanderError) return [];
    throw error;
  });
  const lines = offered.filter((one) => one.startsWith(word)).map((one) => `${one}\n`);
  io.stdout.write([...new Set(lines)].join(''));
  return 0;
};

/** Each may have a description behind a tab. */
const offersFor = async (
  before: readonly string[],
  word: string,
  program: Command,
  io: Io,
): Promise<readonly string[]> => {
  const command = before.reduce(
    (above, name) => above.commands.find((one) => one.name() === name) ?? above,
    program,
  );
  const option = command.options.find((one) => one.long === before.at(-1) && one.required);
  const [argument] = command.registeredArguments;
  if (option === undefined && word.startsWith('-'))
    return [...command.options.map((one) => `${one.long}\t${one.description}`), '--help'];
  const { argChoices } = option ?? argument ?? {};
  if (argChoices !== undefined) return argChoices;
  const isClient = option?.long === '--client';
  if (isClient || (option === undefined && argument?.name() === 'template'))
    return namesFor(isClient, command, isClient ? before.slice(0, -1) : before, io);
  const below = option === undefined ? command.commands : [];
  return below.map((one) => `${one.name()}\t${one.summary()}`);
};

/** Names of clients or templates, by the options that were given before. */
const namesFor = async (
  isClient: boolean,
  command: Command,
  before: readonly string[],
  io: Io,
): Promise<readonly string[]> => {
  command.parseOptions([...before]);
  const options = command.opts<Options>();
  // A client is what is completed.
  const flags = isClient ? { ...options, client: undefined } : options;
  const { clients } = readOffline(flags, io, { mayLeaveOut: true, isSilent: true });
  const states = isClient ? [] : await Promise.all(clients.map((client) => loadTemplates(client, {})));
  const templates = states.flatMap(describedIn).map(({ template }) => template);
  const names = isClient ? clients.map(({ name }) => name) : templates;
  return names.filter((name) => harmless.test(name)).sort();
};

/** Shells expand what they are offered, and template files may come from anybody. */
const harmless = /^[\p{L}\p{N}_@%+=:,./-]+$/u;
