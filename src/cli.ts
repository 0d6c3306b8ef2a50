import { Command, CommanderError, Option } from 'commander';
import type { Options } from './app/options.ts';
import { commands, type CommandEntry } from './commands/table.ts';
import { messageOf, UserError } from './errors.ts';
import type { Io, Output } from './io.ts';
import { escapeControl } from './lib/escape-control.ts';
import { readVersion } from './version.ts';

/** Runs one command, and returns its exit code. */
export const main = async (argv: readonly string[], io: Io): Promise<number> => {
  try {
    return await runCommand(argv, io);
  } catch (error) {
    const message = error instanceof UserError ? messageOf(error) : `defect: ${messageOf(error)}`;
    const escaped = (line: string): string => (/^ */.exec(line)?.[0] ?? '') + escapeControl(line.trimStart());
    io.stderr.write(`dns-template-sync: ${message.split('\n').map(escaped).join('\n')}\n`);
    return 1;
  }
};

const runCommand = async (argv: readonly string[], io: Io): Promise<number> => {
  let exitCode = 0;
  const program = new Command('dns-template-sync')
    .description('Keeps the DNS templates of a hosting service in line with YAML files.')
    .version(readVersion())
    .helpCommand(true)
    .showHelpAfterError('(see dns-template-sync help; options come after the command: plan --sandbox)')
    .addHelpText('after', epilogue)
    .configureHelp({ optionDescription: ({ description }) => description })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHelpWidth: () => widthOf(io.stdout),
      getErrHelpWidth: () => widthOf(io.stderr),
      // They have none.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  for (const entry of commands) {
    const command = addCommand(entry, program);
    // The others are only listed.
    if (argv.includes(command.name())) addDetails(entry, command);
    const { load } = entry;
    if (load === undefined) continue;
    command.action(async (...given: unknown[]) => {
      const args = given.slice(0, command.registeredArguments.length).flat();
      const texts = args.filter((one) => typeof one === 'string');
      exitCode = await (await load())(texts, command.opts<Options>(), io);
    });
  }
  // By the script of a shell, which no help lists.
  if (argv[0] === 'complete')
    return (await import('./commands/completion.ts')).complete(argv.slice(1), program, io);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 1;
  }
};

const widthOf = ({ isTTY, columns }: Output): number => (isTTY === true && columns) || 80;

const epilogue = `
The service's address and tokens come from DNS_SYNC_BASE_URL,
DNS_SYNC_USER_TOKEN and DNS_SYNC_CLIENT_TOKEN, or from a settings file.
To try things without an account: dns-template-sync import --sandbox makes
example files, and dns-template-sync plan --sandbox compares them.

Exit codes: 0 done; 1 error; 2 differences remain (with --detailed-exitcode)`;

const addCommand = ({ usage, about }: CommandEntry, program: Command): Command => {
  const above = program.commands.find((one) => usage.startsWith(`${one.name()} `));
  return (above ?? program)
    .command(above ? usage.replace(/^\S+ /, '') : usage)
    .summary(about.replace(/\.( .*)?$/, ''))
    .description(about)
    .showHelpAfterError(`(see dns-template-sync ${usage.split(' ')[0]} --help)`);
};

const addDetails = ({ options = {}, common = {}, examples }: CommandEntry, command: Command): void => {
  for (const argument of command.registeredArguments) {
    const { text, choices } = argumentTexts[argument.name()] ?? {};
    if (text !== undefined) argument.description = `${text}${argument.required ? '' : '; default: all'}`;
    if (choices !== undefined) argument.choices(choices);
  }
  for (const [flags, about] of Object.entries({ ...common, ...options })) {
    const [, choices] = /<(.*\|.*)>/.exec(flags) ?? [];
    const option = new Option(flags.replace(/\.\.\.$/, ''), about).hideHelp(!(flags in options));
    if (flags.endsWith('...')) {
      option.description += '; repeatable';
      option.argParser((value: string, before?: string[]) => [...(before ?? []), value]);
    }
    command.addOption(choices === undefined ? option : option.choices(choices.split('|')));
  }
  const shared = Object.keys(common).map((flags) => flags.replace(/ .*/, ''));
  const settings = `Settings: ${shared.map((one) => `${one}, `).join('')}variables and a settings file: see run --help and .github/docs/settings.md`;
  const lines = [
    ...('--config <file>' in { ...common, ...options }
      ? ['', command.createHelp().boxWrap(settings, 80)]
      : []),
    '',
    'Examples:',
    ...examples.map((line) => `  ${line}`),
  ];
  command.addHelpText('after', lines.join('\n'));
};

/** What arguments of these names are. */
const argumentTexts: Readonly<
  Record<string, { readonly text?: string; readonly choices?: readonly string[] } | undefined>
> = {
  template: { text: "a name, an id, or a pattern such as 'acme-*'" },
  record: { text: "only these records, such as 'www A', '@ MX' or '* TXT'" },
  file: { text: 'only these files' },
  receiver: { text: 'only these receivers' },
  what: { choices: ['template', 'fragment', 'config', 'client', 'report', 'notification'] },
  shell: { choices: ['bash', 'zsh', 'fish'] },
};
