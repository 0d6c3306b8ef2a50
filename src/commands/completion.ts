import type { Command } from 'commander';
import type { Io } from '../io.ts';
import type { Run } from './table.ts';

/** The script with which a shell completes command lines of this program: it asks the program about each. */
export const completion: Run = ([shell], _, { stdout }) => {
  stdout.write(shell === 'fish' ? fish : shell === 'zsh' ? zsh : bash);
  return Promise.resolve(0);
};

/** Where nothing is offered, shells complete file names. */
const bash = `_dns_template_sync() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" complete "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2> /dev/null | cut -f1))
}
complete -o default -F _dns_template_sync dns-template-sync
`;

/** zsh runs what bash completes with. */
const zsh = `autoload -U +X bashcompinit && bashcompinit\n${bash}`;

const fish = `function __dns_template_sync
  set -l found (dns-template-sync complete (commandline -opc)[2..] (commandline -ct) 2> /dev/null)
  set -q found[1]; and printf '%s\\n' $found; or __fish_complete_path (commandline -ct)
end
complete -c dns-template-sync -f -a '(__dns_template_sync)'
`;

/** Prints what may stand in place of the last word. A shell cannot show errors there. */
export const complete = (words: readonly string[], program: Command, { stdout }: Io): number => {
  const word = words.at(-1) ?? '';
  const offered = offersFor(words.slice(0, -1), word, program);
  const lines = offered.filter((one) => one.startsWith(word)).map((one) => `${one}\n`);
  stdout.write([...new Set(lines)].join(''));
  return 0;
};

/** Each may have a description behind a tab. */
const offersFor = (before: readonly string[], word: string, program: Command): readonly string[] => {
  const command = before.reduce(
    (above, name) => above.commands.find((one) => one.name() === name) ?? above,
    program,
  );
  const option = command.options.find((one) => one.long === before.at(-1) && one.required);
  if (option === undefined && word.startsWith('-'))
    return [...command.options.map((one) => `${one.long}\t${one.description}`), '--help'];
  const { argChoices } = option ?? command.registeredArguments[0] ?? {};
  if (argChoices !== undefined) return argChoices;
  const below = option === undefined ? command.commands : [];
  return below.map((one) => `${one.name()}\t${one.summary()}`);
};
