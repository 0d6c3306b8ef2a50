import type { Command, Help, Option } from 'commander';
import type { Io } from '../io.ts';
import {
  clientTable,
  limitTable,
  programTable,
  runTable,
  flagText,
  variableOf,
  type Setting,
  type Table,
} from '../settings/table.ts';
import { manuals, type Manual } from './manual.ts';

/** Gives each command its page of help: what it does, options, environment, exit codes and examples. */
export const addManuals = (program: Command, io: Pick<Io, 'stdout'>): void => {
  for (const command of program.commands) addManual(command, command.name(), io);
};

const addManual = (command: Command, words: string, io: Pick<Io, 'stdout'>): void => {
  for (const below of command.commands) addManual(below, `${words} ${below.name()}`, io);
  for (const option of command.options) option.description ||= describeSetting(option);
  const manual = manuals[words];
  if (manual === undefined) return;
  command
    .summary(command.description())
    .description(manual.about)
    .addHelpText('after', () => `\n${sectionsOf(command, manual, io).join('\n\n')}`);
};

type Item = readonly [term: string, description: string];

const sectionsOf = (
  command: Command,
  { exitCodes = usualCodes, examples }: Manual,
  { stdout }: Pick<Io, 'stdout'>,
): string[] => {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: stdout.columns || 80 });
  const variables = variablesOf(command);
  return [
    ...(variables.length === 0 ? [] : [section('Environment:', variables, help)]),
    section(
      'Exit codes:',
      exitCodes.map(([code, meaning]) => [String(code), meaning]),
      help,
    ),
    `Examples:\n${examples.map(([line, purpose]) => `  # ${purpose}\n  ${line}`).join('\n')}`,
  ];
};

const usualCodes: NonNullable<Manual['exitCodes']> = [
  [0, 'done'],
  [1, 'an error; stderr says which'],
];

const section = (title: string, items: readonly Item[], help: Help): string => {
  const width = Math.max(...items.map(([term]) => term.length));
  return [title, ...items.map(([term, about]) => help.formatItem(term, width, about, help))].join('\n');
};

/** The variables that a command reads, according to its options. */
const variablesOf = (command: Command): Item[] => {
  const flags = new Set(command.options.map(({ long }) => long));
  const isDaemon = command.name() === 'run';
  const makesPasses = flags.has('--templates') && flags.has('--base-url');
  const read = (table: Table, isWhole: boolean): readonly Setting<unknown>[] =>
    Object.values(table).filter(({ flag }) => isWhole || (flag !== undefined && flags.has(flagText(flag))));
  if (command.name() === 'sandbox') return [];
  const settings = [
    ...read({ ...clientTable, ...limitTable }, makesPasses),
    ...read(programTable, isDaemon),
    ...(flags.has('--config') ? read(runTable, false) : []),
  ];
  return [
    ...(flags.has('--config') ? [configVariable] : []),
    ...(flags.has('--base-url') ? tokens : []),
    ...(makesPasses || command.name() === 'history' ? [store] : []),
    ...settings.flatMap(itemOf),
    ...(isDaemon ? ownTokens : []),
  ];
};

const settingByFlag: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values<Setting<unknown>>({ ...clientTable, ...programTable, ...runTable }).flatMap((setting) =>
    setting.flag === undefined ? [] : [[flagText(setting.flag), setting]],
  ),
);

/** An option without a description of its own is a setting. */
const describeSetting = (option: Option): string => {
  const setting = settingByFlag.get(option.long ?? '');
  if (setting === undefined) return '';
  const [sentence = ''] = setting.about.split(/\.(?: |$)/);
  const repeatable = setting.kind.divider === undefined ? '' : '; repeatable';
  const fallback = option.isBoolean() ? '' : defaultOf(setting);
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}${repeatable}${fallback}`;
};

const itemOf = (setting: Setting<unknown>): Item[] => {
  const { env, about, flag } = setting;
  if (env === null) return [];
  const instead = flag === undefined ? '' : ` Or ${flagText(flag)}.`;
  return [[env, `${about}${instead}${defaultOf(setting)}`]];
};

const defaultOf = ({ kind, fallback, shownDefault }: Setting<unknown>): string => {
  const value = shownDefault ?? kind.show?.(fallback) ?? plainText(fallback);
  return value === '' ? '' : ` (default: ${value})`;
};

const plainText = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(', ')
    : typeof value === 'string'
      ? value
      : value === null
        ? ''
        : JSON.stringify(value);

const configVariable: Item = ['DNS_SYNC_CONFIG', 'If it is off, no settings file is read. Or --no-config.'];

const tokens: readonly Item[] = [
  ['DNS_SYNC_USER_TOKEN', "The user's token; or DNS_SYNC_USER_TOKEN_FILE, a file that holds it."],
  ['DNS_SYNC_CLIENT_TOKEN', "The client's token; or DNS_SYNC_CLIENT_TOKEN_FILE, a file that holds it."],
];

const store: Item = [
  variableOf('store'),
  `PostgreSQL, where several machines share their state; or ${variableOf('store')}_FILE. (default: SQLite in the state directory)`,
];

const ownTokens: readonly Item[] = [
  ['DNS_SYNC_TRIGGER_TOKEN', 'Lets POST /api/reconcile start a pass; or DNS_SYNC_TRIGGER_TOKEN_FILE.'],
  ['DNS_SYNC_PAGE_TOKEN', 'Needed to open the status page; or DNS_SYNC_PAGE_TOKEN_FILE.'],
];
