/** What `--help` shows for a command besides its options. */
export interface Manual {
  /** What it does, in two lines or so. */
  readonly about: string;
  /** What its exit codes mean; without it, 0 is done and 1 an error. */
  readonly exitCodes?: readonly (readonly [code: number, meaning: string])[];
  /** Command lines that work as they are, and what each is for. */
  readonly examples: readonly (readonly [command: string, purpose: string])[];
}

const unusable = 'bad settings, an invalid template file, no template files, or the service cannot be used';

/** By the words of the command. */
export const manuals: Readonly<Record<string, Manual>> = {
  run: {
    about:
      'Keeps the templates at the service as the files describe them: makes a pass at start, when a file changes, on a schedule and on request. Shows a status page, probes and metrics over HTTP.',
    exitCodes: [
      [0, 'ended by SIGTERM or SIGINT, after the write in progress'],
      [1, 'could not start: bad settings'],
      [130, 'ended by a second signal, at once'],
    ],
    examples: [
      ['dns-template-sync run --sandbox --reset', 'try it without an account, on an embedded service'],
      ['dns-template-sync run --dry-run --listen off', 'only report what differs, without HTTP'],
    ],
  },
  plan: {
    about:
      'Compares the template files with the service and shows what a pass would do about each difference. Writes nothing.',
    exitCodes: [
      [0, 'done, even if differences remain'],
      [1, `${unusable}; wins over 2`],
      [2, 'with --detailed-exitcode: anything is not in sync'],
    ],
    examples: [
      ['dns-template-sync plan', 'all templates'],
      ["dns-template-sync plan 'acme-*' --detailed-exitcode", 'some of them, for a script'],
      ['dns-template-sync plan --format json --out plan.json', 'a plan for apply --plan'],
    ],
  },
  apply: {
    about:
      'Makes one pass: shows the plan, asks on a terminal, writes, and shows the outcome of each write. A template held by a guard is written only with --force and its name.',
    exitCodes: [
      [0, 'done, even if differences remain that no pass writes'],
      [
        1,
        `${unusable}; a write failed, stayed unknown or was not sent; a template is held; or the plan has changed; wins over 2`,
      ],
      [2, 'with --detailed-exitcode: anything is not in sync afterwards'],
    ],
    examples: [
      [
        'dns-template-sync apply --yes --plan plan.json',
        'only if the plan is still the one that was reviewed',
      ],
      ['dns-template-sync apply mail-only --yes', 'one template, without asking'],
    ],
  },
  accept: {
    about:
      'Compares one template with the service and changes its files so that they say what the service has. Shows the diff and asks. A value behind a variable or an alias, and a fragment that other templates include, are refused with their place. Reads from the service only.',
    exitCodes: [
      [0, 'done, or nothing to accept'],
      [1, `${unusable}; a difference cannot be accepted, so no file was changed; or not confirmed`],
    ],
    examples: [
      ["dns-template-sync accept mail-only '@ MX' --yes", 'the records of one name and type, without asking'],
      ['dns-template-sync accept mail-only --out drift.patch', 'a patch for git apply'],
    ],
  },
  suspend: {
    about:
      'From now on no pass writes anything for these templates, in no process that shares the saved state, until they are resumed or the time is over. Reports show who suspended them and why. apply --force does not override it.',
    examples: [
      [
        "dns-template-sync suspend mail-only --for 2h --reason 'moving the mail by hand'",
        'keep off one template for two hours',
      ],
    ],
  },
  resume: {
    about: 'Ends the suspension of these templates, whoever suspended them. The next pass writes again.',
    examples: [['dns-template-sync resume mail-only', 'write to it again']],
  },
  validate: {
    about:
      'Checks the template files and prints each problem as FILE:LINE:COLUMN. Needs no network and no tokens.',
    exitCodes: [
      [0, 'no errors; with --strict, no warnings either'],
      [1, 'a problem, or no template files'],
    ],
    examples: [
      ['dns-template-sync validate --strict', 'all files; warnings count'],
      ['dns-template-sync validate templates/voice.yaml', 'one file, as in a pre-commit hook'],
    ],
  },
  import: {
    about:
      "Writes a template file for each of the client's own templates at the service, so that a pass over them changes nothing. A file that exists is left alone: accept changes it. New files name their schema for editors, which is written if it is missing. With --zone, writes one file from a zone file or from what dig prints of a transfer, without the service; what no template can hold becomes a comment in it.",
    exitCodes: [
      [0, 'done'],
      [1, 'an error, or a template was skipped, so no file describes it'],
    ],
    examples: [
      ['dns-template-sync import --out imported', 'all templates, into a new directory'],
      ['dns-template-sync import voice --out imported', 'one template'],
      [
        'dns-template-sync import shop --zone example.net.zone --origin example.net',
        'the template shop, from a zone file',
      ],
    ],
  },
  doctor: {
    about:
      'Checks whether the service can be reached and answers as specified, whether two listings agree, and where settings, tokens, template files and state come from. Reads only.',
    exitCodes: [
      [0, 'nothing found that keeps it from working'],
      [1, 'a problem; or bad settings'],
    ],
    examples: [['dns-template-sync doctor', 'at the first contact, and for every report of a defect']],
  },
  check: {
    about:
      'Shows a subdomain, or a name below it, as the template file, the template at the service, the records at the service and each name server have it, side by side.',
    exitCodes: [
      [0, 'done, even if differences remain'],
      [1, unusable],
      [2, 'with --detailed-exitcode: something differs'],
    ],
    examples: [
      ['dns-template-sync check team.example.org --sandbox', 'why a name does not resolve as it should'],
    ],
  },
  get: {
    about: 'Reads from the service and prints a table or JSON. Each kind of thing has a command of its own.',
    examples: [['dns-template-sync get dns-templates', 'which templates there are']],
  },
  'get accounts': {
    about: 'Lists all accounts of the client.',
    examples: [['dns-template-sync get accounts --format json', 'for a script']],
  },
  'get account': {
    about: 'Shows one account.',
    examples: [['dns-template-sync get account 301', 'the account with id 301']],
  },
  'get databases': {
    about: 'Lists the databases of an account.',
    examples: [['dns-template-sync get databases --account 301', 'of the account with id 301']],
  },
  'get dns-templates': {
    about:
      'Lists all DNS templates, public ones too, with the number of their records and subdomains. With the name or the id of one, lists its records, or prints them as a zone file.',
    examples: [
      ['dns-template-sync get dns-templates', 'names and ids for template files'],
      ['dns-template-sync get dns-templates voice --format zone', 'records for a zone of any name'],
      [
        'dns-template-sync get dns-templates voice --format zone --origin example.net',
        'as records of example.net, for a name server or for import --zone',
      ],
    ],
  },
  'get dns-template': {
    about: 'The same as get dns-templates with the name or the id of a template.',
    examples: [['dns-template-sync get dns-template voice', 'the template called voice']],
  },
  'get dns-records': {
    about: 'Lists the DNS records of a subdomain, and which template record each comes from.',
    examples: [['dns-template-sync get dns-records team.example.org', 'what the service publishes']],
  },
  history: {
    about:
      'Lists the writes of the last 90 days, the oldest first: when, by which pass, before, after, and what became of them. Reads the saved state only.',
    examples: [
      ['dns-template-sync history mail-only --since 2d', 'one template, the last two days'],
      ['dns-template-sync history --outcome failed --format json', 'failed writes, for a script'],
    ],
  },
  schema: {
    about:
      'Prints the JSON Schema of template files, fragments, the settings file, reports or notifications, for completion and checks in an editor. With --write it puts those of template files and fragments beside the templates, as .template.schema.json and .fragment.schema.json.',
    examples: [
      ['dns-template-sync schema template', 'what a template file may say'],
      ['dns-template-sync schema --write', 'both schemas, for the editor, again after an upgrade'],
    ],
  },
  notify: {
    about: 'Sends the receivers of the settings file a test message, and says whether each accepted it.',
    exitCodes: [
      [0, 'every receiver accepted it'],
      [1, 'bad settings, no such receiver, or one did not accept it'],
    ],
    examples: [
      ['dns-template-sync notify --test', 'all receivers'],
      ['dns-template-sync notify --test ops', 'the receiver called ops'],
    ],
  },
  completion: {
    about: 'Prints a script with which a shell completes commands, options and their values.',
    examples: [
      ['source <(dns-template-sync completion bash)', 'in ~/.bashrc'],
      ['source <(dns-template-sync completion zsh)', 'in ~/.zshrc, after compinit'],
      [
        'dns-template-sync completion fish > ~/.config/fish/completions/dns-template-sync.fish',
        'for fish, once',
      ],
    ],
  },
  sandbox: {
    about:
      'Starts a hosting service with example data and all seven operations, which accepts any tokens. For trying things out, and for tests.',
    exitCodes: [
      [0, 'ended by SIGTERM or SIGINT'],
      [1, 'could not start'],
    ],
    examples: [
      ['dns-template-sync sandbox', 'on http://127.0.0.1:8080/api/v1, until Ctrl-C'],
      ['dns-template-sync sandbox --data service.json --latency 200', 'a slow one that keeps its data'],
    ],
  },
};
