import type { Command, Option } from 'commander';
import { loadTemplates } from '../app/load-templates.ts';
import type { Options } from '../app/options.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { readSettings, type Settings } from '../settings.ts';

/**
 * The script with which a shell completes the commands and options of a program. For the names of templates and clients
 * it calls the program, which reads them from the files.
 */
export const completion = (shell: string, program: Command): string => {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => entriesOf(command, ''));
  if (shell === 'fish') return fishScript(program.name(), commands);
  return shell === 'zsh' ? zshScript(program.name(), commands) : bashScript(program.name(), commands);
};

/** A command or a subcommand such as `get accounts`. */
interface CompletionEntry {
  readonly words: string;
  readonly about: string;
  readonly options: readonly Option[];
  /** The possible values of its first argument. */
  readonly choices: readonly string[];
  /** Whether its arguments are files. */
  readonly takesFiles: boolean;
  /** Whether its arguments are names of templates. */
  readonly takesTemplates: boolean;
}

const entriesOf = (command: Command, above: string): CompletionEntry[] => {
  const words = `${above}${command.name()}`;
  const [first] = command.registeredArguments;
  return [
    {
      words,
      about: command.summary(),
      options: command.options,
      choices: first?.argChoices ?? command.commands.map((one) => one.name()),
      takesFiles: first?.name() === 'file',
      takesTemplates: first?.name() === 'template',
    },
    ...command.commands.flatMap((one) => entriesOf(one, `${words} `)),
  ];
};

const flagsOf = ({ options }: CompletionEntry): string[] => options.flatMap(({ long }) => long ?? []);

const takesPath = ({ flags }: Option): boolean => /<(?:file|dir|path)>/.test(flags);

/** What lists the names that may follow an option. */
const namesFor = ({ flags, long }: Option): string | null =>
  long === '--client' ? 'clients' : /<template>/.test(flags) ? 'templates' : null;

const named = (name: string): string => `_${name.replaceAll('-', '_')}`;

const firstWords = (commands: readonly CompletionEntry[]): string =>
  commands
    .filter(({ words }) => !words.includes(' '))
    .map(({ words }) => words)
    .join(' ');

const bashScript = (name: string, commands: readonly CompletionEntry[]): string => `${named(name)}_names() {
  "\${COMP_WORDS[0]}" complete "$1" "\${COMP_WORDS[@]:2:$((COMP_CWORD - 2))}" '' 2> /dev/null
}
${named(name)}() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=
  case "$COMP_CWORD \${COMP_WORDS[1]} \${COMP_WORDS[2]} " in
    '1 '*) words='${firstWords(commands)} help' ;;
    *' help '*) words='${firstWords(commands)}' ;;
${[...commands]
  .sort((one, other) => other.words.length - one.words.length)
  .map((one) => bashCase(one, `${named(name)}_names`))
  .join('\n')}
  esac
  COMPREPLY+=($(compgen -W "$words" -- "$word"))
}
complete -F ${named(name)} ${name}
`;

/** What may follow a command: a value of the option before, else its arguments and options. */
const bashCase = (one: CompletionEntry, list: string): string => {
  const files = 'COMPREPLY=($(compgen -f -- "$word"))';
  const values = one.options.flatMap((option) => {
    if (option.argChoices) return `        ${option.long}) words='${option.argChoices.join(' ')}' ;;`;
    const names = namesFor(option);
    if (names !== null) return `        ${option.long}) words=$(${list} ${names}) ;;`;
    return takesPath(option) ? `        ${option.long}) ${files} ;;` : [];
  });
  const words = [...one.choices, ...flagsOf(one), '--help'].join(' ');
  const templates = one.takesTemplates ? `; [[ $word == -* ]] || words=$(${list} templates)` : '';
  return `    *' ${one.words} '*)
      case $before in
${[...values, `        *) words='${words}'${templates}${one.takesFiles ? `; ${files}` : ''} ;;`].join('\n')}
      esac ;;`;
};

/** zsh runs what bash completes with. */
const zshScript = (name: string, commands: readonly CompletionEntry[]): string =>
  `autoload -U +X bashcompinit && bashcompinit\n${bashScript(name, commands)}`;

const fishScript = (name: string, commands: readonly CompletionEntry[]): string => {
  const line = (...parts: readonly string[]): string => `complete -c ${name} ${parts.join(' ')}\n`;
  const about = (text: string): string => `-d '${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  return [
    line('-f'),
    line('-n __fish_use_subcommand', '-a help'),
    line("-n '__fish_seen_subcommand_from help'", `-a '${firstWords(commands)}'`),
    ...commands.flatMap((one) => {
      const [command = '', below] = one.words.split(' ');
      const given = (word: string): string => `__fish_seen_subcommand_from ${word}`;
      const isHere = below === undefined ? given(command) : `${given(command)}; and ${given(below)}`;
      return [
        below === undefined
          ? line('-n __fish_use_subcommand', `-a ${command}`, about(one.about))
          : line(`-n '${given(command)}'`, `-a ${below}`, about(one.about)),
        ...(one.takesFiles ? [line(`-n '${isHere}'`, '-F')] : []),
        ...(one.takesTemplates ? [line(`-n '${isHere}'`, fishNames(name, 'templates'))] : []),
        ...(one.choices.length > 0 && below === undefined && command !== 'get'
          ? [line(`-n '${isHere}'`, `-a '${one.choices.join(' ')}'`)]
          : []),
        ...one.options.map((option) =>
          line(
            `-n '${isHere}'`,
            `-l ${(option.long ?? '').replace(/^--/, '')}`,
            ...fishValue(option, name),
            about(option.description),
          ),
        ),
      ];
    }),
  ].join('');
};

const fishNames = (name: string, what: string): string =>
  `-a '(${name} complete ${what} (commandline -opc)[3..] "" 2> /dev/null)'`;

const fishValue = (option: Option, name: string): readonly string[] => {
  if (option.argChoices) return [`-xa '${option.argChoices.join(' ')}'`];
  const names = namesFor(option);
  if (names !== null) return ['-x', fishNames(name, names)];
  if (takesPath(option)) return ['-rF'];
  return option.required ? ['-x'] : [];
};

/** Prints names for the completion of a shell, from the files alone. A shell cannot show errors there. */
export const complete = async (what: string, options: Options, io: Io): Promise<number> => {
  try {
    const needs = { baseUrl: false, tokens: false };
    // A client may be what is completed.
    const flags = what === 'clients' ? { ...options, client: undefined } : options;
    const settings = readSettings({ flags, needs, mayLeaveOut: true, env: io.env, cwd: io.cwd });
    const names = what === 'clients' ? settings.clients.map(({ name }) => name) : await templatesOf(settings);
    const offered = [...new Set(names)].filter((name) => harmless.test(name)).sort();
    io.stdout.write(offered.map((name) => `${name}\n`).join(''));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
  return 0;
};

const templatesOf = async ({ clients }: Settings): Promise<string[]> => {
  const states = await Promise.all(clients.map((client) => loadTemplates(client, {})));
  return states.flatMap(({ templates, unusable }) =>
    [...templates, ...unusable].flatMap(({ template }) => template ?? []),
  );
};

/** Shells expand what they are offered, and template files may come from anybody. */
const harmless = /^[\p{L}\p{N}_@%+=:,./-]+$/u;
