import { Argument, Command, CommanderError, Option, type OutputConfiguration } from 'commander';
import type { Options } from './app/options.ts';
import type { Io, Output } from './io.ts';
import { readVersion } from './version.ts';

/** Runs one command and returns its exit code. A command's code is loaded when it is called. */
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
  for (const add of commands) add(program, (code) => void (exitCode = code), io);
  for (const command of program.commands)
    for (const one of [command, ...command.commands])
      one.showHelpAfterError(`(see dns-template-sync ${command.name()} --help)`);
  if (argv.some((word) => ['help', '--help', '-h'].includes(word)))
    (await import('./commands/help.ts')).addManuals(program, io);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      const meant =
        error.code === 'commander.unknownCommand' ? otherTools[argv.find(isWord) ?? ''] : undefined;
      const below = argv[0] === 'get' ? otherTools[`get ${argv[1] ?? ''}`] : undefined;
      const hint = below ?? meant;
      if (hint !== undefined) io.stderr.write(`did you mean \`dns-template-sync ${hint}\`?\n`);
      return error.exitCode === 0 ? 0 : 1;
    }
    throw error;
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

const isWord = (word: string): boolean => !word.startsWith('-');

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

const epilogue = `
The service's address and tokens come from DNS_SYNC_BASE_URL,
DNS_SYNC_USER_TOKEN and DNS_SYNC_CLIENT_TOKEN, or from a settings file.
To try things without an account: dns-template-sync import --sandbox makes
example files, and dns-template-sync plan --sandbox compares them.

Exit codes: 0 done; 1 error; 2 differences remain (with --detailed-exitcode)`;

/** Options that are settings have no description here: `help.ts` takes it from the table of settings. */
type AddCommand = (program: Command, end: (exitCode: number) => void, io: Io) => void;

const commands: readonly AddCommand[] = [
  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(program.command('run'))))
      .description('the daemon: a pass at start, on file change and on schedule')
      .option('--dry-run')
      .option('--schedule <cron>')
      .option('--timezone <zone>')
      .option('--listen <host:port>')
      .addOption(
        new Option(
          '--log-format <form>',
          'form of the log (default: text on a terminal, json elsewhere)',
        ).choices(['json', 'text']),
      )
      .action(async (options: Options) => end(await (await import('./commands/run.ts')).run(options, io))),

  (program, end, io) =>
    withReport(withWriteOptions(withConnection(withTemplates(withNames(program.command('plan'))))))
      .description('what differs, and what a pass would do about it; writes nothing')
      .option('--only <pattern>', onlyAbout, collect)
      .option(
        '--base <dir>',
        'compare as if the files in this directory had been applied; reads no saved state',
      )
      .option('--answers', 'ask the name servers of the subdomains too')
      .action(async (templates: string[], options: Options) =>
        end(await (await import('./commands/plan.ts')).plan(templates, options, io)),
      ),

  (program, end, io) =>
    withReport(withWriteOptions(withConnection(withTemplates(withNames(program.command('apply'))))))
      .description('one pass, then exit; shows the plan and asks; without a terminal it needs --yes')
      .option('--yes', 'write without asking')
      .option('--only <pattern>', onlyAbout, collect)
      .option('--plan <file>', 'write only if the plan is still the one in this file')
      .option('--force', 'write what a guard holds, for the named templates')
      .option('--retry', 'retry what waits for a person, for the named templates')
      .option('--accept-loss', 'accept that records are gone, for the named templates')
      .option('--lock-timeout <duration>', 'how long to wait for another pass', '60s')
      .action(async (templates: string[], options: Options) =>
        end(await (await import('./commands/apply.ts')).apply(templates, options, io)),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(program.command('accept'))))
      .description('writes into the template files what the service has; shows the diff and asks')
      .argument('<template>', 'the name of a template')
      .argument(
        '[record...]',
        "only these records, such as 'www A', '@ MX' or '* TXT'; default: all that differ",
      )
      .option('--yes', 'change the files without asking')
      .option('--out <file>', 'write a patch for `git apply` instead of changing files; - is stdout')
      .action(async (template: string, records: string[], options: Options) =>
        end(await (await import('./commands/accept.ts')).acceptTemplate(template, records, options, io)),
      ),

  (program, end, io) =>
    withTemplates(program.command('validate').argument('[file...]', 'only these; default: all'))
      .description('checks the template files; needs no network and no tokens')
      .addOption(formatOption('result', ['text', 'json', 'github']))
      .action(async (files: string[], options: Options) =>
        end(await (await import('./commands/validate.ts')).validate(files, options, io)),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withNames(program.command('import'))))
      .description("writes template files from the client's own templates at the service")
      .option('--out <dir>', 'the directory (default: the first of the template directories)')
      .option('--no-schema', 'write no schema for editors, nor its name into new files')
      .option('--var <name=value>', 'a variable of the existing files; repeatable', collect)
      .option('--zone <file>', 'write one from this zone file or transfer instead; - is stdin')
      .option('--origin <name>', 'with --zone: the name of the zone, such as example.net')
      .action(async (templates: string[], options: Options) =>
        end(
          options['zone'] === undefined && options['origin'] === undefined
            ? await (await import('./commands/import.ts')).importTemplates(templates, options, io)
            : await (await import('./commands/import-zone.ts')).importZone(templates, options, io),
        ),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(program.command('check'))))
      .description('compares a name in file, template, service and each name server')
      .argument('<name...>', 'subdomains, or names below them')
      .addOption(formatOption('result', ['table', 'json']))
      .option('--detailed-exitcode', 'exit with 2 if differences remain')
      .action(async (names: string[], options: Options) =>
        end(await (await import('./commands/check.ts')).check(names, options, io)),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(program.command('doctor'))))
      .description('checks the settings, the service and this machine, and says what to set')
      .addOption(formatOption('result', ['text', 'json']))
      .action(async (options: Options) =>
        end(await (await import('./commands/doctor.ts')).doctor(options, io)),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(withPausedNames(program.command('suspend')))))
      .description('keeps every pass from writing to these templates, or to a whole --client, until resumed')
      .option('--reason <text>', 'why, for those who see the report; required')
      .option('--for <duration>', 'end by itself after this time, such as 2h')
      .action(async (templates: string[], options: Options) =>
        end(await (await import('./commands/suspend.ts')).suspend(templates, options, io)),
      ),

  (program, end, io) =>
    withWriteOptions(withConnection(withTemplates(withPausedNames(program.command('resume')))))
      .description('ends the suspension of these templates, or of a whole --client')
      .action(async (templates: string[], options: Options) =>
        end(await (await import('./commands/suspend.ts')).resume(templates, options, io)),
      ),

  (program, end, io) => {
    const get = program
      .command('get')
      .description('reads from the service: accounts, databases, templates, records');
    const read = (name: string, about: string, more: readonly string[] = []): Command =>
      withWriteOptions(withConnection(get.command(name).description(about))).addOption(
        formatOption('result', ['table', 'json', ...more]),
      );
    const show = async (what: string, argument: string | null, options: Options): Promise<void> =>
      end(await (await import('./commands/get.ts')).get(what, argument, options, io));
    read('accounts', 'all accounts').action((options: Options) => show('accounts', null, options));
    read('account <id>', 'one account').action((id: string, options: Options) =>
      show('account', id, options),
    );
    read('databases', 'the databases of an account')
      .requiredOption('--account <id>', 'the account')
      .action((options: Options & { account: string }) => show('databases', options.account, options));
    const readTemplate = (name: string, about: string): Command =>
      read(name, about, ['zone']).option(
        '--origin <name>',
        'with --format zone: the name of the zone, such as example.net; without it, names are relative',
      );
    readTemplate(
      'dns-templates [name]',
      'all DNS templates, public ones too; with a name or id, its records',
    ).action((name: string | undefined, options: Options) =>
      show(name === undefined ? 'dns-templates' : 'dns-template', name ?? null, options),
    );
    readTemplate('dns-template <name>', 'the records of one DNS template, by its name or id').action(
      (name: string, options: Options) => show('dns-template', name, options),
    );
    read('dns-records <subdomain>', 'the DNS records of a subdomain').action(
      (subdomain: string, options: Options) => show('dns-records', subdomain, options),
    );
  },

  (program, end, io) =>
    withConnection(withNames(program.command('history')))
      .description('what was written: when, which pass, before, after, outcome')
      .option('--state-dir <dir>')
      .option('--sandbox', 'what was written to the embedded service')
      .option('--since <when>', 'a duration ago (2d) or a time (2026-11-20T20:00:00Z)')
      .addOption(
        new Option('--outcome <outcome>', 'only writes with this outcome').choices([
          'applied',
          'failed',
          'unknown',
          'duplicate',
        ]),
      )
      .addOption(formatOption('result', ['text', 'json']))
      .action(async (templates: string[], options: Options) =>
        end(await (await import('./commands/history.ts')).history(templates, options, io)),
      ),

  (program, end, io) =>
    withSettings(program.command('schema'))
      .description('JSON Schema, for completion and help in editors')
      .addArgument(
        new Argument(
          '[what]',
          "template files (the default), fragments, the settings file, clients' files, reports, or notifications",
        ).choices(['template', 'fragment', 'config', 'client', 'report', 'notification']),
      )
      .option(
        '--write [dir]',
        'write those of template files and fragments to this directory of templates (default: those of all clients)',
      )
      .action(async (what: string | undefined, options: Options) =>
        end(await (await import('./commands/schema.ts')).schema(what, options, io)),
      ),

  (program, end, io) =>
    withSettings(program.command('notify').argument('[receiver...]', 'their names; default: all'))
      .description('with --test: sends the receivers of the settings file a test message')
      .option('--test', 'send a test message')
      .action(async (receivers: string[], options: Options) =>
        end(await (await import('./commands/notify.ts')).notify(receivers, options, io)),
      ),

  (program, end, io) =>
    program
      .command('completion')
      .description(
        'script with which a shell completes commands, options, and names of templates and clients',
      )
      .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
      .action(async (shell: string) => {
        const { completion } = await import('./commands/completion.ts');
        io.stdout.write(completion(shell, program));
        end(0);
      }),

  (program, end, io) =>
    withSettings(program.command('complete', { hidden: true }))
      .description('names for the completion of a shell; silent about errors')
      .addArgument(new Argument('<what>').choices(['templates', 'clients']))
      .argument('[words...]', 'the words before, which may name settings and templates')
      .option('--templates <path>', 'as for the command that is completed', collect)
      .helpOption(false)
      .allowUnknownOption()
      .action(async (what: string, _: string[], options: Options) =>
        end(await (await import('./commands/completion.ts')).complete(what, options, io)),
      ),

  (program, end, io) =>
    program
      .command('sandbox')
      .description('an embedded hosting service with all seven operations')
      .option('--listen <host:port>', 'address to listen on', '127.0.0.1:8080')
      .option('--data <file>', 'file for its data (default: in memory)')
      .option('--latency <ms>', 'milliseconds before each answer', '0')
      .option('--reset', 'start again with the example data')
      .action(async (options: Options) =>
        end(await (await import('./commands/sandbox.ts')).sandbox(options, io)),
      ),
];

const onlyAbout = "only these records, by name and type: 'www A', '@ MX', '* TXT'; repeatable";

/** The first form is the default. */
const formatOption = (what: string, forms: readonly string[]): Option =>
  new Option('--format <form>', `form of the ${what}`).choices(forms).default(forms[0]);

/** For an option that may be given several times. */
const collect = (value: string, before: string[] = []): string[] => [...before, value];

const withSettings = (command: Command): Command =>
  command
    .option('--config <file>', 'settings file (default: ./dns-template-sync.yaml, if it exists)')
    .option('--no-config', 'read no settings file, for directories that others can write to')
    .option(
      '--client <name>',
      "only this client of the settings file, or a pattern such as 'c0*'; repeatable",
      collect,
    )
    .option('--log-level <level>');

const withNames = (command: Command): Command =>
  command.argument('[template...]', "names of templates, or patterns such as 'acme-*'; default: all");

const withPausedNames = (command: Command): Command =>
  command.argument(
    '[template...]',
    'names of templates, or patterns; none with --client: all of that client',
  );

const withTemplates = (command: Command): Command =>
  withSettings(command)
    .addOption(new Option('--templates <path>').argParser(collect))
    .option('--var <name=value>', 'a variable of the template files; repeatable', collect)
    .option('--strict', 'warnings count as errors')
    .option('--allow-empty', 'having no template files is not an error');

const withConnection = (command: Command): Command =>
  (command.options.some(({ long }) => long === '--config') ? command : withSettings(command)).option(
    '--base-url <url>',
  );

const withWriteOptions = (command: Command): Command =>
  command
    .option('--state-dir <dir>')
    .option('--sandbox', 'use an embedded service; its data lives in the state directory')
    .option('--reset', 'with --sandbox: start again with the example data');

const withReport = (command: Command): Command =>
  command
    .addOption(formatOption('report', ['text', 'json', 'markdown', 'html']))
    .option('--all', 'list the templates in sync too')
    .option('--out <file>', 'write the report to a file instead of stdout')
    .option('--detailed-exitcode', 'exit with 2 if differences remain')
    .option('--ignore-subdomains', 'leave subdomains out of the report');
