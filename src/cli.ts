import { Command, CommanderError, Help, type OutputConfiguration } from 'commander';
import type { Options } from './app/options.ts';
import { commands, type CommandEntry } from './commands/table.ts';
import type { Io, Output } from './io.ts';
import { readVersion } from './version.ts';

/** Runs one command and returns its exit code. */
export const runCli = async (argv: readonly string[], io: Io): Promise<number> => {
  let exitCode = 0;
  const program = new Command('dns-template-sync')
    .description('Keeps the DNS templates of a hosting service in line with YAML files.')
    .version(readVersion())
    .helpCommand(true)
    .showHelpAfterError('(see dns-template-sync help; options come after the command: plan --sandbox)')
    .addHelpText('after', epilogue)
    .configureOutput(outputTo(io))
    .exitOverride();
  for (const entry of commands) addCommand(entry, program, io, (code) => void (exitCode = code));
  // By the script of a shell, which no help lists.
  if (argv[0] === 'complete')
    return (await import('./commands/completion.ts')).complete(argv.slice(1), program, io);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const meant = otherTools[argv.slice(0, argv[0] === 'get' ? 2 : 1).join(' ')];
    if (error.code !== 'commander.helpDisplayed' && meant !== undefined)
      io.stderr.write(`did you mean \`dns-template-sync ${meant}\`?\n`);
    return error.exitCode === 0 ? 0 : 1;
  }
  return exitCode;
};

/** Texts that the parser itself writes. */
const outputTo = ({ stdout, stderr }: Io): OutputConfiguration => ({
  writeOut: (text) => void stdout.write(text),
  writeErr: (text) => void stderr.write(text),
  getOutHelpWidth: () => widthOf(stdout),
  getErrHelpWidth: () => widthOf(stderr),
  // They have none.
  getOutHasColors: () => false,
  getErrHasColors: () => false,
});

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
    const text = argumentTexts[argument.name()];
    if (text !== undefined) argument.description = `${text}${argument.required ? '' : '; default: all'}`;
    const choices = argumentChoices[argument.name()];
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
const argumentTexts: Readonly<Record<string, string | undefined>> = {
  template: "a name, an id, or a pattern such as 'acme-*'",
  record: "only these records, such as 'www A', '@ MX' or '* TXT'",
  file: 'only these files',
  receiver: 'only these receivers',
};
const argumentChoices: Readonly<Record<string, readonly string[] | undefined>> = {
  what: ['template', 'fragment', 'config', 'client', 'report', 'notification'],
  shell: ['bash', 'zsh', 'fish'],
};

/** What the help has beside arguments and options. */
const sectionsOf = (
  { options = [], common = [], exitCodes = usualCodes, examples }: CommandEntry,
  command: Command,
  { stdout }: Io,
): string[] => {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: widthOf(stdout) });
  const section = (title: string, items: readonly (readonly [term: string, about: string])[]): string => {
    const width = Math.max(...items.map(([term]) => term.length));
    return [title, ...items.map(([term, about]) => help.formatItem(term, width, about, help))].join('\n');
  };
  const shared = common.map(({ long }) => long).join(', ');
  const hasSettings = [...options, ...common].some(({ long }) => long === '--config');
  return [
    ...(hasSettings
      ? [
          section('Settings:', [
            ...(shared === '' ? [] : [['options', `${shared}: run --help describes them`] as const]),
            ['variables', 'and the settings file: .github/docs/settings.md'],
          ]),
        ]
      : []),
    section('Exit codes:', Object.entries(exitCodes)),
    `Examples:\n${Object.entries(examples)
      .map(([line, purpose]) => `  # ${purpose}\n  ${line}`)
      .join('\n')}`,
  ];
};

const usualCodes: NonNullable<CommandEntry['exitCodes']> = {
  0: 'done, and nothing is wrong',
  1: 'an error, or what it prints as a problem',
};

/** What other programs call these commands. */
const otherTools: Readonly<Record<string, string | undefined>> = {
  diff: 'plan',
  preview: 'plan',
  push: 'apply',
  sync: 'apply',
  lint: 'validate',
  daemon: 'run',
  serve: 'run',
  'get templates': 'get dns-templates',
  'get template': 'get dns-template',
  'get records': 'get dns-records',
};
