import { Command, CommanderError, Help } from 'commander';
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
  for (const entry of commands) addCommand(entry, program, io, (code) => void (exitCode = code));
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

const addCommand = (entry: CommandEntry, program: Command, io: Io, end: (code: number) => void): void => {
  const { usage, about, options = [], common = [], run } = entry;
  const above = program.commands.find((one) => usage.startsWith(`${one.name()} `)) ?? program;
  const command: Command = above
    .command(above === program ? usage : usage.replace(/^\S+ /, ''))
    .summary(about.replace(/\.( .*)?$/, ''))
    .description(about)
    .showHelpAfterError(`(see dns-template-sync ${usage.split(' ')[0]} --help)`)
    .configureHelp({
      visibleOptions: (one) => new Help().visibleOptions(one).filter((option) => !common.includes(option)),
    })
    .addHelpText('after', () => `\n${sectionsOf(entry, command, io).join('\n\n')}`);
  for (const argument of command.registeredArguments) {
    const { text, choices } = argumentTexts[argument.name()] ?? {};
    if (text !== undefined) argument.description = `${text}${argument.required ? '' : '; default: all'}`;
    if (choices !== undefined) argument.choices(choices);
  }
  for (const one of [...options, ...common]) command.addOption(one);
  if (run !== undefined)
    command.action(async (...given: unknown[]) => {
      const args = given.slice(0, command.registeredArguments.length).flat();
      const texts = args.filter((one) => typeof one === 'string');
      end(await run(texts, command.opts<Options>(), io));
    });
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

/** What the help has beside arguments and options. */
const sectionsOf = (
  { options = [], common = [], exitCodes, examples }: CommandEntry,
  command: Command,
  { stdout }: Io,
): string[] => {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: widthOf(stdout) });
  const section = (title: string, items: readonly (readonly [term: string, about: string])[]): string => {
    const width = Math.max(...items.map(([term]) => term.length));
    return [title, ...items.map(([term, about]) => help.formatItem(term, width, about, help))].join('\n');
  };
  const names = new Set([...options, ...common].map(({ long }) => long));
  const shared = common.map(({ long }) => long).join(', ');
  const settings: [string, string][] = [
    ['options', `${shared}: run --help describes them`],
    ['variables', 'and the settings file: .github/docs/settings.md'],
  ];
  const detailed = names.has('--detailed-exitcode') ? { 2: 'something is not in sync; 1 wins over 2' } : {};
  const codes = { 0: 'done', 1: 'an error, or what it prints as a problem', ...detailed, ...exitCodes };
  return [
    ...(names.has('--config') ? [section('Settings:', settings.slice(shared === '' ? 1 : 0))] : []),
    section('Exit codes:', Object.entries(codes)),
    ['Examples:', ...examples.map((line) => `  ${line}`)].join('\n'),
  ];
};
