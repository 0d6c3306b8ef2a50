import { Argument, Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import type { Options } from './app/options.ts';
import { aboutSetting } from './commands/setting-option.ts';
import { commands, type ArgumentEntry, type CommandEntry, type OptionEntry } from './commands/table.ts';
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
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const hint = hintFor(argv, error);
    if (hint !== undefined) io.stderr.write(`did you mean \`dns-template-sync ${hint}\`?\n`);
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
  const [first = '', below] = entry.words.split(' ');
  const above = below === undefined ? program : program.commands.find((one) => one.name() === first)!;
  const { options = [], common = [], isHidden = false, run } = entry;
  const command = above
    .command(below ?? first, { hidden: isHidden })
    .summary(entry.summary)
    .description(entry.about)
    .showHelpAfterError(`(see dns-template-sync ${first} --help)`);
  for (const one of entry.arguments ?? []) command.addArgument(argumentOf(one));
  for (const one of options) command.addOption(optionOf(one));
  for (const one of common) command.addOption(optionOf(one).hideHelp());
  if (isHidden) command.helpOption(false).allowUnknownOption();
  else command.addHelpText('after', () => `\n${sectionsOf(entry, command, io).join('\n\n')}`);
  if (run !== undefined)
    command.action(async (...given: unknown[]) => {
      const args = given.slice(0, command.registeredArguments.length).flat();
      const texts = args.filter((one) => typeof one === 'string');
      end(await run(texts, command.opts<Options>(), io, program));
    });
};

const argumentOf = ({ words, about, choices }: ArgumentEntry): Argument => {
  const argument = new Argument(words, about);
  return choices === undefined ? argument : argument.choices(choices);
};

const optionOf = ({ flags, about, choices, fallback, isRepeatable, isRequired }: OptionEntry): Option => {
  const option = new Option(flags, about);
  option.description ||= aboutSetting(option.attributeName(), option.isBoolean());
  if (choices !== undefined) option.choices(choices);
  if (fallback !== undefined) option.default(fallback);
  if (isRepeatable) option.argParser((value: string, before?: string[]) => [...(before ?? []), value]);
  return option.makeOptionMandatory(isRequired === true);
};

/** What the help has beside arguments and options. */
const sectionsOf = (
  { options = [], common = [], exitCodes = usualCodes, examples = {} }: CommandEntry,
  command: Command,
  { stdout }: Io,
): string[] => {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: widthOf(stdout) });
  const section = (title: string, items: readonly (readonly [term: string, about: string])[]): string => {
    const width = Math.max(...items.map(([term]) => term.length));
    return [title, ...items.map(([term, about]) => help.formatItem(term, width, about, help))].join('\n');
  };
  const shared = common.map(({ flags }) => flags.split(' ')[0]).join(', ');
  const hasSettings = [...options, ...common].some(({ flags }) => flags.startsWith('--config'));
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

const usualCodes: NonNullable<CommandEntry['exitCodes']> = { 0: 'done', 1: 'an error; stderr says which' };

const hintFor = (argv: readonly string[], { code }: CommanderError): string | undefined => {
  const below = argv[0] === 'get' ? otherTools[`get ${argv[1] ?? ''}`] : undefined;
  const isUnknown = code === 'commander.unknownCommand';
  return below ?? (isUnknown ? otherTools[argv.find((word) => !word.startsWith('-')) ?? ''] : undefined);
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
