import { Option } from 'commander';
import type { Options } from '../app/options.ts';
import type { Io } from '../io.ts';
import type { Setting } from '../settings/kinds.ts';
import { clientTable, programTable, runTable } from '../settings/table.ts';

/** A command, and what `--help` shows of it. */
export interface CommandEntry {
  /** How it is called, in the notation of the parser. */
  readonly usage: string;
  /** Its first sentence is for the list of commands. */
  readonly about: string;
  readonly options?: readonly Option[];
  /** Options that it shares with others; only `run` lists them. */
  readonly common?: readonly Option[];
  /** Beside, or instead of, the usual ones. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  /** Command lines that work as they are. */
  readonly examples: readonly string[];
  /** Returns the exit code. Absent for a command that only has others below it. `args`: without those that were left out. */
  readonly run?: (args: readonly string[], options: Options, io: Io) => Promise<number>;
}

const option = (flags: string, about: string): Option => new Option(flags, about);

const repeatable = (flags: string, about: string): Option =>
  option(flags, `${about}; repeatable`).argParser((value: string, before?: string[]) => [
    ...(before ?? []),
    value,
  ]);

const choice = (flags: string, about: string, ...choices: readonly string[]): Option =>
  option(flags, about).choices(choices);

/** The first form is the default. */
const format = (...forms: readonly string[]): Option =>
  choice('--format <form>', 'form of the result', ...forms).default(forms[0]);

/** An option that is a setting: the table of settings says what it does. */
const setting = (flags: string, shownDefault?: string): Option => {
  const plain = option(flags, '');
  const all: Readonly<Record<string, Setting<unknown>>> = { ...clientTable, ...programTable, ...runTable };
  const { about, kind, fallback } = all[plain.attributeName()]!;
  const own = typeof fallback === 'string' ? fallback : '';
  const value = plain.isBoolean() ? '' : (shownDefault ?? own);
  const words = about.replace(/\.( .*)?$/, '').replace(/^./, (letter) => letter.toLowerCase());
  const shown = `${words}${value === '' ? '' : ` (default: ${value})`}`;
  return kind.divider === undefined ? option(flags, shown) : repeatable(flags, shown);
};

const settings: readonly Option[] = [
  option('--config <file>', 'settings file (default: ./dns-template-sync.yaml or .yml, if it exists)'),
  option('--no-config', 'read no settings file, for directories that others can write to'),
  repeatable('--client <name>', "only this client of the settings file, or a pattern such as 'c0*'"),
  setting('--log-level <level>'),
];
const files: readonly Option[] = [
  setting('--templates <path>', './templates'),
  repeatable('--var <name=value>', 'a variable of the template files'),
  option('--strict', 'warnings count as errors'),
  option('--allow-empty', 'having no template files is not an error'),
];
const service: readonly Option[] = [
  setting('--base-url <url>'),
  setting('--state-dir <dir>', '~/.local/state/dns-template-sync'),
  option('--sandbox', 'use an embedded service; its data lives in the state directory'),
  option('--reset', 'with --sandbox: start again with the example data'),
];
const settingsOfReads = [...settings, ...service];
const passes = [...settings, ...files, ...service];

const detailed = option('--detailed-exitcode', 'exit with 2 if differences remain');
const only = repeatable('--only <pattern>', "only these records, by name and type: 'www A', '@ MX', '* TXT'");
const report: readonly Option[] = [
  only,
  format('text', 'json', 'markdown', 'html'),
  option('--all', 'list the templates in sync too'),
  option('--out <file>', 'write the report to a file instead of stdout'),
  detailed,
  option('--ignore-subdomains', 'leave subdomains out of the report'),
];
const asTable = format('table', 'json');
const ofTemplate = [
  format('table', 'json', 'zone'),
  option('--origin <name>', 'with --format zone: the name of the zone; without it, names are relative'),
];

/** The read operations, each with an example. */
const reads: readonly CommandEntry[] = (
  [
    ['accounts', 'All accounts of the client.', 'accounts --format json'],
    ['account <id>', 'One account.', 'account 301'],
    ['databases', 'The databases of an account.', 'databases --account 301'],
    [
      'dns-templates [name]',
      'All DNS templates, public ones too; with a name or id, its records, also as a zone file.',
      'dns-templates voice --format zone --origin example.net',
    ],
    ['dns-template <name>', 'The records of one DNS template, by its name or id.', 'dns-template voice'],
    [
      'dns-records <subdomain>',
      'The DNS records of a subdomain, and which template record each comes from.',
      'dns-records team.example.org',
    ],
  ] as const
).map(([usage, about, example]) => {
  const [what = ''] = usage.split(' ');
  return {
    usage: `get ${usage}`,
    about,
    options: [
      ...(what === 'databases' ? [option('--account <id>', 'the account').makeOptionMandatory()] : []),
      ...(what.startsWith('dns-template') ? ofTemplate : [asTable]),
    ],
    common: settingsOfReads,
    examples: [`dns-template-sync get ${example}`],
    run: async ([of], given, io) => (await import('./get.ts')).get(what, of, given, io),
  };
});

/** All commands, in the order of the help; those below another one after it. A command's code is loaded when it is called. */
export const commands: readonly CommandEntry[] = [
  {
    usage: 'run',
    about:
      'The daemon: makes a pass at start, when a file changes, on a schedule and on request. Keeps the templates at the service as the files describe them. Shows a status page, probes and metrics over HTTP.',
    options: [
      ...passes,
      setting('--dry-run'),
      setting('--schedule <cron>'),
      setting('--timezone <zone>'),
      setting('--listen <host:port>', '127.0.0.1:8053'),
      choice('--log-format <form>', 'default: text on a terminal, json elsewhere', 'json', 'text'),
    ],
    exitCodes: {
      0: 'ended by SIGTERM or SIGINT, after the write in progress',
      130: 'ended by a second signal, at once',
    },
    examples: [
      'dns-template-sync run --sandbox --reset   # without an account, on an embedded service',
      'dns-template-sync run --dry-run --listen off',
    ],
    run: async (_, options, io) => (await import('./run.ts')).run(options, io),
  },
  {
    usage: 'plan [template...]',
    about:
      'Shows what differs, and what a pass would do about it. Compares the template files with the service, and writes nothing.',
    options: [
      option('--base <dir>', 'as if the files in this directory had been applied, without saved state'),
      option('--answers', 'ask the name servers of the subdomains too'),
      ...report,
    ],
    common: passes,
    examples: [
      "dns-template-sync plan 'acme-*' --detailed-exitcode",
      'dns-template-sync plan --format json --out plan.json   # for apply --plan',
    ],
    run: async (args, options, io) => (await import('./plan.ts')).plan(args, options, io),
  },
  {
    usage: 'apply [template...]',
    about:
      'Makes one pass, then exits; without a terminal it needs --yes. Shows the plan, asks on a terminal, writes, and shows the outcome of each write. A template held by a guard is written only with --force and its name.',
    options: [
      option('--yes', 'write without asking'),
      option('--plan <file>', 'write only if the plan is still the one in this file'),
      option('--force', 'write what a guard holds, for the named templates'),
      option('--retry', 'retry what waits for a person, for the named templates'),
      option('--accept-loss', 'accept that records are gone, for the named templates'),
      option('--lock-timeout <duration>', 'how long to wait for another pass').default('60s'),
      ...report,
    ],
    common: passes,
    exitCodes: {
      1: 'an error; a write failed, stayed unknown or was not sent; a template is held; the plan has changed',
    },
    examples: ['dns-template-sync apply --yes --plan plan.json', 'dns-template-sync apply mail-only --yes'],
    run: async (args, options, io) => (await import('./apply.ts')).apply(args, options, io),
  },
  {
    usage: 'accept <template> [record...]',
    about:
      'Writes into the template files what the service has. Shows the diff and asks. A value behind a variable or an alias, and a fragment that other templates include, are refused with their place. Reads from the service only.',
    options: [
      option('--yes', 'change the files without asking'),
      option('--out <file>', 'write a patch for `git apply` instead of changing files; - is stdout'),
    ],
    common: passes,
    examples: [
      "dns-template-sync accept mail-only '@ MX' --yes",
      'dns-template-sync accept mail-only --out drift.patch',
    ],
    run: async ([template = '', ...records], options, io) =>
      (await import('./accept.ts')).acceptTemplate(template, records, options, io),
  },
  {
    usage: 'validate [file...]',
    about: 'Checks the template files, without network and tokens. With --strict, warnings are errors.',
    options: [format('text', 'json', 'github')],
    common: [...settings, ...files],
    examples: ['dns-template-sync validate --strict', 'dns-template-sync validate templates/voice.yaml'],
    run: async (args, options, io) => (await import('./validate.ts')).validate(args, options, io),
  },
  {
    usage: 'import [template...]',
    about:
      "Writes template files from the client's own templates at the service. A pass over them changes nothing. A file that exists is left alone: accept changes it. With --zone, writes one file from a zone file or from what dig prints of a transfer, without the service; what no template can hold becomes a comment in it.",
    options: [
      option('--out <dir>', 'the directory (default: the first of the template directories)'),
      repeatable('--var <name=value>', 'a variable of the existing files'),
      option('--zone <file>', 'write one from this zone file or transfer instead; - is stdin'),
      option('--origin <name>', 'with --zone: the name of the zone, such as example.net'),
      option('--no-schema', 'do not name the schema for editors where it is there'),
    ],
    common: settingsOfReads,
    exitCodes: { 1: 'an error, or a template was skipped, so no file describes it' },
    examples: [
      'dns-template-sync import --out imported',
      'dns-template-sync import shop --zone example.net.zone --origin example.net',
    ],
    run: async (args, options, io) => (await import('./import.ts')).importFiles(args, options, io),
  },
  {
    usage: 'check <name...>',
    about: 'Compares a name, side by side, in file, template, service and each name server.',
    options: [asTable, detailed],
    common: passes,
    examples: ['dns-template-sync check team.example.org --sandbox'],
    run: async (args, options, io) => (await import('./check.ts')).check(args, options, io),
  },
  {
    usage: 'doctor',
    about:
      'Checks the settings, the service and this machine, and says what to set. Whether the service can be reached and answers as specified, whether two listings agree, and where settings, tokens, template files and state come from. Reads only.',
    options: [format('text', 'json')],
    common: passes,
    examples: ['dns-template-sync doctor'],
    run: async (_, options, io) => (await import('./doctor.ts')).doctor(options, io),
  },
  {
    usage: 'suspend [template...]',
    about:
      'Keeps every pass from writing to these templates, or to a whole --client, until resumed. That holds in every process that shares the saved state. Reports show who suspended them and why. apply --force does not override it.',
    options: [
      option('--reason <text>', 'why, for those who see the report; required'),
      option('--for <duration>', 'end by itself after this time, such as 2h'),
    ],
    common: passes,
    examples: ["dns-template-sync suspend mail-only --for 2h --reason 'moving the mail by hand'"],
    run: async (args, options, io) => (await import('./suspend.ts')).suspend(args, options, io),
  },
  {
    usage: 'resume [template...]',
    about: 'Ends the suspension of these templates, or of a whole --client, whoever made it.',
    common: passes,
    examples: ['dns-template-sync resume mail-only'],
    run: async (args, options, io) => (await import('./suspend.ts')).resume(args, options, io),
  },
  {
    usage: 'get',
    about: 'Reads accounts, databases, templates and records from the service.',
    examples: ['dns-template-sync get dns-templates'],
  },
  ...reads,
  {
    usage: 'history [template...]',
    about:
      'What was written: when, by which pass, before, after, and what became of it. Lists the newest 1,000 writes of the last 90 days, the oldest first. Reads the saved state.',
    options: [
      option('--since <when>', 'a duration ago (2d) or a time (2026-11-20T20:00:00Z)'),
      choice('--outcome <outcome>', 'only writes with it', 'applied', 'failed', 'unknown', 'duplicate'),
      format('text', 'json'),
    ],
    common: settingsOfReads,
    examples: [
      'dns-template-sync history mail-only --since 2d',
      'dns-template-sync history --outcome failed --format json',
    ],
    run: async (args, options, io) => (await import('./history.ts')).history(args, options, io),
  },
  {
    usage: 'schema [what]',
    about:
      "JSON Schema, for completion and checks in editors. Prints that of template files, fragments, the settings file, clients' files, reports or notifications. With --write it puts those of template files and fragments beside the templates, as .template.schema.json and .fragment.schema.json.",
    options: [option('--write [dir]', 'write them to this directory (default: those of all clients)')],
    common: settings,
    examples: [
      'dns-template-sync schema template',
      'dns-template-sync schema --write   # for the editor; again after an upgrade',
    ],
    run: async ([what], options, io) => (await import('./schema.ts')).schema(what, options, io),
  },
  {
    usage: 'notify [receiver...]',
    about: 'Sends the receivers of the settings file a test message, with --test.',
    options: [option('--test', 'send a test message')],
    common: settings,
    examples: ['dns-template-sync notify --test', 'dns-template-sync notify --test ops'],
    run: async (args, options, io) => (await import('./notify.ts')).notify(args, options, io),
  },
  {
    usage: 'completion <shell>',
    about: 'Prints the script with which a shell completes commands and options.',
    examples: [
      'source <(dns-template-sync completion bash)   # in ~/.bashrc',
      'source <(dns-template-sync completion zsh)    # in ~/.zshrc, after compinit',
      'dns-template-sync completion fish > ~/.config/fish/completions/dns-template-sync.fish',
    ],
    run: async ([shell = ''], _, io) => (await import('./completion.ts')).completion(shell, io),
  },
  {
    usage: 'sandbox',
    about: 'An embedded hosting service with example data, which accepts any tokens.',
    options: [
      option('--listen <host:port>', 'address to listen on').default('127.0.0.1:8080'),
      option('--data <file>', 'file for its data (default: in memory)'),
      option('--latency <ms>', 'milliseconds before each answer').default('0'),
      option('--reset', 'start again with the example data'),
    ],
    exitCodes: { 0: 'ended by SIGTERM or SIGINT' },
    examples: ['dns-template-sync sandbox', 'dns-template-sync sandbox --data service.json --latency 200'],
    run: async (_, options, io) => (await import('./sandbox.ts')).sandbox(options, io),
  },
];
