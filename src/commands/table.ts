import type { Options } from '../app/options.ts';
import type { Io } from '../io.ts';

/** Runs a command, and returns its exit code. `args`: without those that were left out. */
export type Run = (args: readonly string[], options: Options, io: Io) => Promise<number>;

/** What each option is for, by its flags: `<a|b>` is a choice, and what ends in dots can be given several times. */
export type OptionTexts = Readonly<Record<string, string>>;

/** A command, and what `--help` shows of it. */
export interface CommandEntry {
  /** How it is called, in the notation of the parser. */
  readonly usage: string;
  /** Its first sentence is for the list of commands. */
  readonly about: string;
  readonly options?: OptionTexts;
  /** Options that it shares with others; only `run` lists them. */
  readonly common?: OptionTexts;
  /** Command lines that work as they are. */
  readonly examples: readonly string[];
  /** Loads its code. Absent for a command that only has others below it. */
  readonly load?: () => Promise<Run>;
}

const settings: OptionTexts = {
  '--config <file>': 'settings file (default: ./dns-template-sync.yaml or .yml, if it exists)',
  '--no-config': 'read no settings file, for directories that others can write to',
  '--client <name>...': "only this client of the settings file, or a pattern such as 'c0*'",
  '--log-level <level>': 'lowest level that is logged: trace, debug, info, warn, error, fatal, silent',
};
const files: OptionTexts = {
  '--templates <path>...': 'directories with template files, or template files (default: ./templates)',
  '--var <name=value>...': 'a variable of the template files',
  '--strict': 'warnings count as errors',
  '--allow-empty': 'having no template files is not an error',
};
const service: OptionTexts = {
  '--base-url <url>': 'base address of the service, ending in /api/v1',
  '--state-dir <dir>': 'directory for the saved state (default: ~/.local/state/dns-template-sync)',
  '--sandbox': 'use an embedded service; its data lives in the state directory',
  '--reset': 'with --sandbox: start again with the example data',
};
const settingsOfReads = { ...settings, ...service };
const passes = { ...settings, ...files, ...service };

const report: OptionTexts = {
  '--only <pattern>...': "only these records, by name and type: 'www A', '@ MX', '* TXT'",
  '--format <text|json|markdown|html>': 'form of the report (default: text)',
  '--all': 'list the templates in sync too',
  '--out <file>': 'write the report to a file instead of stdout',
  '--detailed-exitcode': 'exit with 2 if differences remain',
  '--ignore-subdomains': 'leave subdomains out of the report',
};
const asTable: OptionTexts = { '--format <table|json>': 'form of the result (default: table)' };
const asText: OptionTexts = { '--format <text|json>': 'form of the result (default: text)' };
const asZone: OptionTexts = {
  '--format <table|json|zone>': 'form of the result (default: table)',
  '--origin <name>': 'with --format zone: the name of the zone; without it, names are relative',
};

const read = (usage: string, about: string, options: OptionTexts, example: string): CommandEntry => ({
  usage: `get ${usage}`,
  about,
  options,
  common: settingsOfReads,
  examples: [`dns-template-sync get ${example}`],
  load: async () => (await import('./get.ts')).get(usage.replace(/ .*/, '')),
});

/** All commands, in the order of the help; those below another one after it. */
export const commands: readonly CommandEntry[] = [
  {
    usage: 'run',
    about:
      'The daemon: makes a pass at start, when a file changes, on a schedule and on request. Keeps the templates at the service as the files describe them. Shows a status page, probes and metrics over HTTP.',
    options: {
      ...passes,
      '--dry-run': 'report only, write nothing',
      '--schedule <cron>':
        'when a pass starts: cron with five fields, or six with seconds first (default: */5 * * * *)',
      '--timezone <zone>': 'time zone of the schedule (default: UTC)',
      '--listen <host:port>':
        'address of the status page, probes and metrics, or off (default: 127.0.0.1:8053)',
      '--log-format <json|text>': 'default: text on a terminal, json elsewhere',
    },
    examples: [
      'dns-template-sync run --sandbox --reset   # without an account, on an embedded service',
      'dns-template-sync run --dry-run --listen off',
    ],
    load: async () => (await import('./run.ts')).run,
  },
  {
    usage: 'plan [template...]',
    about:
      'Shows what differs, and what a pass would do about it. Compares the template files with the service, and writes nothing.',
    options: {
      '--base <dir>': 'as if the files in this directory had been applied, without saved state',
      '--answers': 'ask the name servers of the subdomains too',
      ...report,
    },
    common: passes,
    examples: [
      "dns-template-sync plan 'acme-*' --detailed-exitcode",
      'dns-template-sync plan --format json --out plan.json   # for apply --plan',
    ],
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    usage: 'apply [template...]',
    about:
      'Makes one pass, then exits; without a terminal it needs --yes. Shows the plan, asks on a terminal, writes, and shows the outcome of each write. A template held by a guard is written only with --force and its name.',
    options: {
      '--yes': 'write without asking',
      '--plan <file>': 'write only if the plan is still the one in this file',
      '--force': 'write what a guard holds, for the named templates',
      '--retry': 'retry what waits for a person, for the named templates',
      '--accept-loss': 'accept that records are gone, for the named templates',
      '--lock-timeout <duration>': 'how long to wait for another pass (default: 60s)',
      ...report,
    },
    common: passes,
    examples: ['dns-template-sync apply --yes --plan plan.json', 'dns-template-sync apply mail-only --yes'],
    load: async () => (await import('./apply.ts')).apply,
  },
  {
    usage: 'accept <template> [record...]',
    about:
      'Writes into the template files what the service has. Shows the diff and asks. A value behind a variable or an alias, and a fragment that other templates include, are refused with their place. Reads from the service only.',
    options: {
      '--yes': 'change the files without asking',
      '--out <file>': 'write a patch for `git apply` instead of changing files; - is stdout',
    },
    common: passes,
    examples: [
      "dns-template-sync accept mail-only '@ MX' --yes",
      'dns-template-sync accept mail-only --out drift.patch',
    ],
    load: async () => (await import('./accept.ts')).accept,
  },
  {
    usage: 'validate [file...]',
    about: 'Checks the template files, without network and tokens. With --strict, warnings are errors.',
    options: { '--format <text|json|github>': 'form of the result (default: text)' },
    common: { ...settings, ...files },
    examples: ['dns-template-sync validate --strict', 'dns-template-sync validate templates/voice.yaml'],
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    usage: 'import [template...]',
    about:
      "Writes template files from the client's own templates at the service. A pass over them changes nothing. A file that exists is left alone: accept changes it. With --zone, writes one file from a zone file or from what dig prints of a transfer, without the service; what no template can hold becomes a comment in it.",
    options: {
      '--out <dir>': 'the directory (default: the first of the template directories)',
      '--var <name=value>...': 'a variable of the existing files',
      '--zone <file>': 'write one from this zone file or transfer instead; - is stdin',
      '--origin <name>': 'with --zone: the name of the zone, such as example.net',
      '--no-schema': 'do not name the schema for editors where it is there',
    },
    common: settingsOfReads,
    examples: [
      'dns-template-sync import --out imported',
      'dns-template-sync import shop --zone example.net.zone --origin example.net',
    ],
    load: async () => (await import('./import.ts')).importFiles,
  },
  {
    usage: 'check <name...>',
    about: 'Compares a name, side by side, in file, template, service and each name server.',
    options: { ...asTable, '--detailed-exitcode': 'exit with 2 if differences remain' },
    common: passes,
    examples: ['dns-template-sync check team.example.org --sandbox'],
    load: async () => (await import('./check.ts')).check,
  },
  {
    usage: 'doctor',
    about:
      'Checks the settings, the service and this machine, and says what to set. Whether the service can be reached and answers as specified, whether two listings agree, and where settings, tokens, template files and state come from. Reads only.',
    options: asText,
    common: passes,
    examples: ['dns-template-sync doctor'],
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    usage: 'suspend [template...]',
    about:
      'Keeps every pass from writing to these templates, or to a whole --client, until resumed. That holds in every process that shares the saved state. Reports show who suspended them and why. apply --force does not override it.',
    options: {
      '--reason <text>': 'why, for those who see the report; required',
      '--for <duration>': 'end by itself after this time, such as 2h',
    },
    common: passes,
    examples: ["dns-template-sync suspend mail-only --for 2h --reason 'moving the mail by hand'"],
    load: async () => (await import('./suspend.ts')).suspend,
  },
  {
    usage: 'resume [template...]',
    about: 'Ends the suspension of these templates, or of a whole --client, whoever made it.',
    common: passes,
    examples: ['dns-template-sync resume mail-only'],
    load: async () => (await import('./suspend.ts')).resume,
  },
  {
    usage: 'get',
    about: 'Reads accounts, databases, templates and records from the service.',
    examples: ['dns-template-sync get dns-templates'],
  },
  read('accounts', 'All accounts of the client.', asTable, 'accounts --format json'),
  read('account <id>', 'One account.', asTable, 'account 301'),
  read(
    'databases',
    'The databases of an account.',
    { '--account <id>': 'the account; required', ...asTable },
    'databases --account 301',
  ),
  read(
    'dns-templates [name]',
    'All DNS templates, public ones too; with a name or id, its records, also as a zone file.',
    asZone,
    'dns-templates voice --format zone --origin example.net',
  ),
  read(
    'dns-template <name>',
    'The records of one DNS template, by its name or id.',
    asZone,
    'dns-template voice',
  ),
  read(
    'dns-records <subdomain>',
    'The DNS records of a subdomain, and which template record each comes from.',
    asTable,
    'dns-records team.example.org',
  ),
  {
    usage: 'history [template...]',
    about:
      'What was written: when, by which pass, before, after, and what became of it. Lists the newest 1,000 writes of the last 90 days, the oldest first. Reads the saved state.',
    options: {
      '--since <when>': 'a duration ago (2d) or a time (2026-11-20T20:00:00Z)',
      '--outcome <applied|failed|unknown|duplicate>': 'only writes with it',
      ...asText,
    },
    common: settingsOfReads,
    examples: [
      'dns-template-sync history mail-only --since 2d',
      'dns-template-sync history --outcome failed --format json',
    ],
    load: async () => (await import('./history.ts')).history,
  },
  {
    usage: 'schema [what]',
    about:
      "JSON Schema, for completion and checks in editors. Prints that of template files, fragments, the settings file, clients' files, reports or notifications. With --write it puts those of template files and fragments beside the templates, as .template.schema.json and .fragment.schema.json.",
    options: { '--write [dir]': 'write them to this directory (default: those of all clients)' },
    common: settings,
    examples: [
      'dns-template-sync schema template',
      'dns-template-sync schema --write   # for the editor; again after an upgrade',
    ],
    load: async () => (await import('./schema.ts')).schema,
  },
  {
    usage: 'notify [receiver...]',
    about: 'Sends the receivers of the settings file a test message, with --test.',
    options: { '--test': 'send a test message' },
    common: settings,
    examples: ['dns-template-sync notify --test', 'dns-template-sync notify --test ops'],
    load: async () => (await import('./notify.ts')).notify,
  },
  {
    usage: 'completion <shell>',
    about: 'Prints the script with which a shell completes commands and options.',
    examples: [
      'source <(dns-template-sync completion bash)   # in ~/.bashrc',
      'source <(dns-template-sync completion zsh)    # in ~/.zshrc, after compinit',
      'dns-template-sync completion fish > ~/.config/fish/completions/dns-template-sync.fish',
    ],
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    usage: 'sandbox',
    about: 'An embedded hosting service with example data, which accepts any tokens.',
    options: {
      '--listen <host:port>': 'address to listen on (default: 127.0.0.1:8080)',
      '--data <file>': 'file for its data (default: in memory)',
      '--latency <ms>': 'milliseconds before each answer (default: 0)',
      '--reset': 'start again with the example data',
    },
    examples: ['dns-template-sync sandbox', 'dns-template-sync sandbox --data service.json --latency 200'],
    load: async () => (await import('./sandbox.ts')).sandbox,
  },
];
