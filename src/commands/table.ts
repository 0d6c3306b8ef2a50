import type { Command } from 'commander';
import type { Options } from '../app/options.ts';
import type { Io } from '../io.ts';

/** A command, and what `--help` shows of it. */
export interface CommandEntry {
  /** What calls it, such as `get accounts`. */
  readonly words: string;
  /** For the list of commands. */
  readonly summary: string;
  /** What it does, in two lines or so. */
  readonly about: string;
  /** In the notation of the parser, each with what it is. */
  readonly arguments?: readonly ArgumentEntry[];
  readonly options?: readonly OptionEntry[];
  /** Options that it shares with others; only `run` lists them. */
  readonly common?: readonly OptionEntry[];
  /** What its exit codes mean; without it, 0 is done and 1 an error. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** Command lines that work as they are, and what each is for. */
  readonly examples?: Readonly<Record<string, string>>;
  /** A call by a script, which no help lists. */
  readonly isHidden?: boolean;
  /** Returns the exit code. Absent for a command that only has others below it. `args`: without those that were left out. */
  readonly run?: (args: readonly string[], options: Options, io: Io, program: Command) => Promise<number>;
}

export interface ArgumentEntry {
  readonly words: string;
  readonly about?: string;
  readonly choices?: readonly string[];
}

export interface OptionEntry {
  readonly flags: string;
  /** Absent for a setting: the table of settings says it. */
  readonly about?: string;
  readonly choices?: readonly string[];
  readonly fallback?: string;
  readonly isRepeatable?: true;
  readonly isRequired?: true;
}

const option = (flags: string, about: string, more: Partial<OptionEntry> = {}): OptionEntry => ({
  flags,
  about,
  ...more,
});

const repeatable = { isRepeatable: true } as const;

/** The first form is the default. */
const format = (what: string, ...forms: readonly string[]): OptionEntry =>
  option('--format <form>', `form of the ${what}`, { choices: forms, fallback: forms[0] ?? '' });

const settings: readonly OptionEntry[] = [
  option('--config <file>', 'settings file (default: ./dns-template-sync.yaml or .yml, if it exists)'),
  option('--no-config', 'read no settings file, for directories that others can write to'),
  option(
    '--client <name>',
    "only this client of the settings file, or a pattern such as 'c0*'; repeatable",
    repeatable,
  ),
  { flags: '--log-level <level>' },
];
const files: readonly OptionEntry[] = [
  { flags: '--templates <path>', isRepeatable: true },
  option('--var <name=value>', 'a variable of the template files; repeatable', repeatable),
  option('--strict', 'warnings count as errors'),
  option('--allow-empty', 'having no template files is not an error'),
];
const service: readonly OptionEntry[] = [{ flags: '--base-url <url>' }];
const state: readonly OptionEntry[] = [
  { flags: '--state-dir <dir>' },
  option('--sandbox', 'use an embedded service; its data lives in the state directory'),
  option('--reset', 'with --sandbox: start again with the example data'),
];
const passes = [...settings, ...files, ...service, ...state];
const reads = [...settings, ...service, ...state];

const only = option(
  '--only <pattern>',
  "only these records, by name and type: 'www A', '@ MX', '* TXT'; repeatable",
  repeatable,
);
const detailed = option('--detailed-exitcode', 'exit with 2 if differences remain');
const report: readonly OptionEntry[] = [
  format('report', 'text', 'json', 'markdown', 'html'),
  option('--all', 'list the templates in sync too'),
  option('--out <file>', 'write the report to a file instead of stdout'),
  detailed,
  option('--ignore-subdomains', 'leave subdomains out of the report'),
];
const origin = option(
  '--origin <name>',
  'with --format zone: the name of the zone, such as example.net; without it, names are relative',
);

const templates: ArgumentEntry = {
  words: '[template...]',
  about: "names of templates, or patterns such as 'acme-*'; default: all",
};
const paused: ArgumentEntry = {
  words: '[template...]',
  about: 'names of templates, or patterns; none with --client: all of that client',
};

const unusable = 'bad settings, an invalid template file, no template files, or the service cannot be used';

/** One of the read operations; its first argument, or option, says of what. */
const read = (
  name: string,
  entry: Omit<CommandEntry, 'words' | 'run' | 'common'>,
  what: (args: readonly string[], options: Options) => readonly [operation: string, of: string | null],
): CommandEntry => ({
  ...entry,
  words: `get ${name}`,
  options: entry.options ?? [format('result', 'table', 'json')],
  common: reads,
  run: async (args, options, io) => {
    const [operation, of] = what(args, options);
    return (await import('./get.ts')).get(operation, of, options, io);
  },
});

/** All commands, in the order of the help; those below another one after it. A command's code is loaded when it is called. */
export const commands: readonly CommandEntry[] = [
  {
    words: 'run',
    summary: 'the daemon: a pass at start, on file change and on schedule',
    about:
      'Keeps the templates at the service as the files describe them: makes a pass at start, when a file changes, on a schedule and on request. Shows a status page, probes and metrics over HTTP.',
    options: [
      ...passes,
      { flags: '--dry-run' },
      { flags: '--schedule <cron>' },
      { flags: '--timezone <zone>' },
      { flags: '--listen <host:port>' },
      option('--log-format <form>', 'form of the log (default: text on a terminal, json elsewhere)', {
        choices: ['json', 'text'],
      }),
    ],
    exitCodes: {
      0: 'ended by SIGTERM or SIGINT, after the write in progress',
      1: 'could not start: bad settings',
      130: 'ended by a second signal, at once',
    },
    examples: {
      'dns-template-sync run --sandbox --reset': 'try it without an account, on an embedded service',
      'dns-template-sync run --dry-run --listen off': 'only report what differs, without HTTP',
    },
    run: async (_, options, io) => (await import('./run.ts')).run(options, io),
  },
  {
    words: 'plan',
    summary: 'what differs, and what a pass would do about it; writes nothing',
    about:
      'Compares the template files with the service and shows what a pass would do about each difference. Writes nothing.',
    arguments: [templates],
    options: [
      only,
      option(
        '--base <dir>',
        'compare as if the files in this directory had been applied; reads no saved state',
      ),
      option('--answers', 'ask the name servers of the subdomains too'),
      ...report,
    ],
    common: passes,
    exitCodes: {
      0: 'done, even if differences remain',
      1: `${unusable}; wins over 2`,
      2: 'with --detailed-exitcode: anything is not in sync',
    },
    examples: {
      'dns-template-sync plan': 'all templates',
      "dns-template-sync plan 'acme-*' --detailed-exitcode": 'some of them, for a script',
      'dns-template-sync plan --format json --out plan.json': 'a plan for apply --plan',
    },
    run: async (args, options, io) => (await import('./plan.ts')).plan(args, options, io),
  },
  {
    words: 'apply',
    summary: 'one pass, then exit; shows the plan and asks; without a terminal it needs --yes',
    about:
      'Makes one pass: shows the plan, asks on a terminal, writes, and shows the outcome of each write. A template held by a guard is written only with --force and its name.',
    arguments: [templates],
    options: [
      option('--yes', 'write without asking'),
      only,
      option('--plan <file>', 'write only if the plan is still the one in this file'),
      option('--force', 'write what a guard holds, for the named templates'),
      option('--retry', 'retry what waits for a person, for the named templates'),
      option('--accept-loss', 'accept that records are gone, for the named templates'),
      option('--lock-timeout <duration>', 'how long to wait for another pass', { fallback: '60s' }),
      ...report,
    ],
    common: passes,
    exitCodes: {
      0: 'done, even if differences remain that no pass writes',
      1: `${unusable}; a write failed, stayed unknown or was not sent; a template is held; or the plan has changed; wins over 2`,
      2: 'with --detailed-exitcode: anything is not in sync afterwards',
    },
    examples: {
      'dns-template-sync apply --yes --plan plan.json': 'only if the plan is still the one that was reviewed',
      'dns-template-sync apply mail-only --yes': 'one template, without asking',
    },
    run: async (args, options, io) => (await import('./apply.ts')).apply(args, options, io),
  },
  {
    words: 'accept',
    summary: 'writes into the template files what the service has; shows the diff and asks',
    about:
      'Compares one template with the service and changes its files so that they say what the service has. Shows the diff and asks. A value behind a variable or an alias, and a fragment that other templates include, are refused with their place. Reads from the service only.',
    arguments: [
      { words: '<template>', about: 'the name of a template' },
      {
        words: '[record...]',
        about: "only these records, such as 'www A', '@ MX' or '* TXT'; default: all that differ",
      },
    ],
    options: [
      option('--yes', 'change the files without asking'),
      option('--out <file>', 'write a patch for `git apply` instead of changing files; - is stdout'),
    ],
    common: passes,
    exitCodes: {
      0: 'done, or nothing to accept',
      1: `${unusable}; a difference cannot be accepted, so no file was changed; or not confirmed`,
    },
    examples: {
      "dns-template-sync accept mail-only '@ MX' --yes": 'the records of one name and type, without asking',
      'dns-template-sync accept mail-only --out drift.patch': 'a patch for git apply',
    },
    run: async ([template = '', ...records], options, io) =>
      (await import('./accept.ts')).acceptTemplate(template, records, options, io),
  },
  {
    words: 'validate',
    summary: 'checks the template files; needs no network and no tokens',
    about:
      'Checks the template files and prints each problem as FILE:LINE:COLUMN. Needs no network and no tokens.',
    arguments: [{ words: '[file...]', about: 'only these; default: all' }],
    options: [format('result', 'text', 'json', 'github')],
    common: [...settings, ...files],
    exitCodes: {
      0: 'no errors; with --strict, no warnings either',
      1: 'a problem, or no template files',
    },
    examples: {
      'dns-template-sync validate --strict': 'all files; warnings count',
      'dns-template-sync validate templates/voice.yaml': 'one file, as in a pre-commit hook',
    },
    run: async (args, options, io) => (await import('./validate.ts')).validate(args, options, io),
  },
  {
    words: 'import',
    summary: "writes template files from the client's own templates at the service",
    about:
      "Writes a template file for each of the client's own templates at the service, so that a pass over them changes nothing. A file that exists is left alone: accept changes it. New files name their schema for editors, which is written if it is missing. With --zone, writes one file from a zone file or from what dig prints of a transfer, without the service; what no template can hold becomes a comment in it.",
    arguments: [templates],
    options: [
      option('--out <dir>', 'the directory (default: the first of the template directories)'),
      option('--no-schema', 'write no schema for editors, nor its name into new files'),
      option('--var <name=value>', 'a variable of the existing files; repeatable', repeatable),
      option('--zone <file>', 'write one from this zone file or transfer instead; - is stdin'),
      option('--origin <name>', 'with --zone: the name of the zone, such as example.net'),
    ],
    common: reads,
    exitCodes: {
      0: 'done',
      1: 'an error, or a template was skipped, so no file describes it',
    },
    examples: {
      'dns-template-sync import --out imported': 'all templates, into a new directory',
      'dns-template-sync import voice --out imported': 'one template',
      'dns-template-sync import shop --zone example.net.zone --origin example.net':
        'the template shop, from a zone file',
    },
    run: async (args, options, io) =>
      options['zone'] === undefined && options['origin'] === undefined
        ? (await import('./import.ts')).importTemplates(args, options, io)
        : (await import('./import-zone.ts')).importZone(args, options, io),
  },
  {
    words: 'check',
    summary: 'compares a name in file, template, service and each name server',
    about:
      'Shows a subdomain, or a name below it, as the template file, the template at the service, the records at the service and each name server have it, side by side.',
    arguments: [{ words: '<name...>', about: 'subdomains, or names below them' }],
    options: [format('result', 'table', 'json'), detailed],
    common: passes,
    exitCodes: {
      0: 'done, even if differences remain',
      1: unusable,
      2: 'with --detailed-exitcode: something differs',
    },
    examples: {
      'dns-template-sync check team.example.org --sandbox': 'why a name does not resolve as it should',
    },
    run: async (args, options, io) => (await import('./check.ts')).check(args, options, io),
  },
  {
    words: 'doctor',
    summary: 'checks the settings, the service and this machine, and says what to set',
    about:
      'Checks whether the service can be reached and answers as specified, whether two listings agree, and where settings, tokens, template files and state come from. Reads only.',
    options: [format('result', 'text', 'json')],
    common: passes,
    exitCodes: {
      0: 'nothing found that keeps it from working',
      1: 'a problem; or bad settings',
    },
    examples: { 'dns-template-sync doctor': 'at the first contact, and for every report of a defect' },
    run: async (_, options, io) => (await import('./doctor.ts')).doctor(options, io),
  },
  {
    words: 'suspend',
    summary: 'keeps every pass from writing to these templates, or to a whole --client, until resumed',
    about:
      'From now on no pass writes anything for these templates, in no process that shares the saved state, until they are resumed or the time is over. Reports show who suspended them and why. apply --force does not override it.',
    arguments: [paused],
    options: [
      option('--reason <text>', 'why, for those who see the report; required'),
      option('--for <duration>', 'end by itself after this time, such as 2h'),
    ],
    common: passes,
    examples: {
      "dns-template-sync suspend mail-only --for 2h --reason 'moving the mail by hand'":
        'keep off one template for two hours',
    },
    run: async (args, options, io) => (await import('./suspend.ts')).suspend(args, options, io),
  },
  {
    words: 'resume',
    summary: 'ends the suspension of these templates, or of a whole --client',
    about: 'Ends the suspension of these templates, whoever suspended them. The next pass writes again.',
    arguments: [paused],
    common: passes,
    examples: { 'dns-template-sync resume mail-only': 'write to it again' },
    run: async (args, options, io) => (await import('./suspend.ts')).resume(args, options, io),
  },
  {
    words: 'get',
    summary: 'reads from the service: accounts, databases, templates, records',
    about: 'Reads from the service and prints a table or JSON. Each kind of thing has a command of its own.',
    examples: { 'dns-template-sync get dns-templates': 'which templates there are' },
  },
  read(
    'accounts',
    {
      summary: 'all accounts',
      about: 'Lists all accounts of the client.',
      examples: { 'dns-template-sync get accounts --format json': 'for a script' },
    },
    () => ['accounts', null],
  ),
  read(
    'account',
    {
      summary: 'one account',
      about: 'Shows one account.',
      arguments: [{ words: '<id>' }],
      examples: { 'dns-template-sync get account 301': 'the account with id 301' },
    },
    ([id = '']) => ['account', id],
  ),
  read(
    'databases',
    {
      summary: 'the databases of an account',
      about: 'Lists the databases of an account.',
      options: [
        option('--account <id>', 'the account', { isRequired: true }),
        format('result', 'table', 'json'),
      ],
      examples: { 'dns-template-sync get databases --account 301': 'of the account with id 301' },
    },
    (_, options) => ['databases', String(options['account'])],
  ),
  read(
    'dns-templates',
    {
      summary: 'all DNS templates, public ones too; with a name or id, its records',
      about:
        'Lists all DNS templates, public ones too, with the number of their records and subdomains. With the name or the id of one, lists its records, or prints them as a zone file.',
      arguments: [{ words: '[name]' }],
      options: [format('result', 'table', 'json', 'zone'), origin],
      examples: {
        'dns-template-sync get dns-templates': 'names and ids for template files',
        'dns-template-sync get dns-templates voice --format zone': 'records for a zone of any name',
        'dns-template-sync get dns-templates voice --format zone --origin example.net':
          'as records of example.net, for a name server or for import --zone',
      },
    },
    ([name]) => (name === undefined ? ['dns-templates', null] : ['dns-template', name]),
  ),
  read(
    'dns-template',
    {
      summary: 'the records of one DNS template, by its name or id',
      about: 'The same as get dns-templates with the name or the id of a template.',
      arguments: [{ words: '<name>' }],
      options: [format('result', 'table', 'json', 'zone'), origin],
      examples: { 'dns-template-sync get dns-template voice': 'the template called voice' },
    },
    ([name = '']) => ['dns-template', name],
  ),
  read(
    'dns-records',
    {
      summary: 'the DNS records of a subdomain',
      about: 'Lists the DNS records of a subdomain, and which template record each comes from.',
      arguments: [{ words: '<subdomain>' }],
      examples: { 'dns-template-sync get dns-records team.example.org': 'what the service publishes' },
    },
    ([subdomain = '']) => ['dns-records', subdomain],
  ),
  {
    words: 'history',
    summary: 'what was written: when, which pass, before, after, outcome',
    about:
      'Lists the writes of the last 90 days, the oldest first, or the newest 1,000 of them: when, by which pass, before, after, and what became of them. Reads the saved state only.',
    arguments: [templates],
    options: [
      option('--since <when>', 'a duration ago (2d) or a time (2026-11-20T20:00:00Z)'),
      option('--outcome <outcome>', 'only writes with this outcome', {
        choices: ['applied', 'failed', 'unknown', 'duplicate'],
      }),
      format('result', 'text', 'json'),
    ],
    common: [
      ...settings,
      ...service,
      { flags: '--state-dir <dir>' },
      option('--sandbox', 'what was written to the embedded service'),
    ],
    examples: {
      'dns-template-sync history mail-only --since 2d': 'one template, the last two days',
      'dns-template-sync history --outcome failed --format json': 'failed writes, for a script',
    },
    run: async (args, options, io) => (await import('./history.ts')).history(args, options, io),
  },
  {
    words: 'schema',
    summary: 'JSON Schema, for completion and help in editors',
    about:
      'Prints the JSON Schema of template files, fragments, the settings file, reports or notifications, for completion and checks in an editor. With --write it puts those of template files and fragments beside the templates, as .template.schema.json and .fragment.schema.json.',
    arguments: [
      {
        words: '[what]',
        about:
          "template files (the default), fragments, the settings file, clients' files, reports, or notifications",
        choices: ['template', 'fragment', 'config', 'client', 'report', 'notification'],
      },
    ],
    options: [
      option(
        '--write [dir]',
        'write those of template files and fragments to this directory of templates (default: those of all clients)',
      ),
    ],
    common: settings,
    examples: {
      'dns-template-sync schema template': 'what a template file may say',
      'dns-template-sync schema --write': 'both schemas, for the editor, again after an upgrade',
    },
    run: async ([what], options, io) => (await import('./schema.ts')).schema(what, options, io),
  },
  {
    words: 'notify',
    summary: 'with --test: sends the receivers of the settings file a test message',
    about: 'Sends the receivers of the settings file a test message, and says whether each accepted it.',
    arguments: [{ words: '[receiver...]', about: 'their names; default: all' }],
    options: [option('--test', 'send a test message')],
    common: settings,
    exitCodes: {
      0: 'every receiver accepted it',
      1: 'bad settings, no such receiver, or one did not accept it',
    },
    examples: {
      'dns-template-sync notify --test': 'all receivers',
      'dns-template-sync notify --test ops': 'the receiver called ops',
    },
    run: async (args, options, io) => (await import('./notify.ts')).notify(args, options, io),
  },
  {
    words: 'completion',
    summary: 'script with which a shell completes commands, options, and names of templates and clients',
    about: 'Prints a script with which a shell completes commands, options and their values.',
    arguments: [{ words: '<shell>', choices: ['bash', 'zsh', 'fish'] }],
    examples: {
      'source <(dns-template-sync completion bash)': 'in ~/.bashrc',
      'source <(dns-template-sync completion zsh)': 'in ~/.zshrc, after compinit',
      'dns-template-sync completion fish > ~/.config/fish/completions/dns-template-sync.fish':
        'for fish, once',
    },
    run: async ([shell = ''], _, io, program) => {
      io.stdout.write((await import('./completion.ts')).completion(shell, program));
      return 0;
    },
  },
  {
    words: 'complete',
    summary: 'names for the completion of a shell; silent about errors',
    about: 'Prints names for the completion of a shell; silent about errors.',
    isHidden: true,
    arguments: [
      { words: '<what>', choices: ['templates', 'clients'] },
      { words: '[words...]', about: 'the words before, which may name settings and templates' },
    ],
    common: [...settings, { flags: '--templates <path>', isRepeatable: true }],
    run: async ([what = ''], options, io) => (await import('./completion.ts')).complete(what, options, io),
  },
  {
    words: 'sandbox',
    summary: 'an embedded hosting service with all seven operations',
    about:
      'Starts a hosting service with example data and all seven operations, which accepts any tokens. For trying things out, and for tests.',
    options: [
      option('--listen <host:port>', 'address to listen on', { fallback: '127.0.0.1:8080' }),
      option('--data <file>', 'file for its data (default: in memory)'),
      option('--latency <ms>', 'milliseconds before each answer', { fallback: '0' }),
      option('--reset', 'start again with the example data'),
    ],
    exitCodes: {
      0: 'ended by SIGTERM or SIGINT',
      1: 'could not start',
    },
    examples: {
      'dns-template-sync sandbox': 'on http://127.0.0.1:8080/api/v1, until Ctrl-C',
      'dns-template-sync sandbox --data service.json --latency 200': 'a slow one that keeps its data',
    },
    run: async (_, options, io) => (await import('./sandbox.ts')).sandbox(options, io),
  },
];
