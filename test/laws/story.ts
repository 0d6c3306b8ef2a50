/** What each pass of a trace did, in a line, and how it left what differs; times in seconds and minutes, without messages. */
export const storyOf = (trace: readonly string[]): readonly string[] => {
  const story: string[] = [];
  let line = '';
  for (const pass of passesIn(trace)) {
    const before = line;
    line = lineOf(pass);
    // Where nothing happens, nothing is told twice.
    if (line !== before || pass.some(({ text }) => isWrite(text))) story.push(...linesOf(pass, line));
  }
  return story;
};

interface Event {
  /** Seconds. */
  readonly at: number;
  readonly text: string;
}

const passesIn = (trace: readonly string[]): Event[][] => {
  const passes: Event[][] = [];
  for (const text of trace) {
    const event = { at: Number(text.slice(0, 12)), text: text.slice(14) };
    if (event.text.startsWith('pass ')) passes.push([event]);
    else passes.at(-1)?.push(event);
  }
  return passes;
};

const isWrite = (text: string): boolean => text.startsWith('  > ');

const lineOf = (pass: readonly Event[]): string => {
  const ends = pass.filter(({ text }) => text.startsWith('  = '));
  const listings = pass.filter(({ text }) => text.startsWith('  < listing')).length;
  const seconds = Math.floor((ends.at(-1) ?? pass[0]!).at - pass[0]!.at);
  return [
    `${listings} listings in ${seconds} s`,
    ...pass.filter(({ text }) => isWrite(text) || text.startsWith('  . ')).map(({ text }) => text.slice(4)),
    ...ends.map(({ text }) => text.slice(4).replace(/ \(.*\)/, ' (why)')),
  ].join(' · ');
};

const linesOf = (pass: readonly Event[], line: string): string[] => [
  `  ${/^pass \d+: (?:\S+, )*(?:\S+)/.exec(pass[0]!.text)?.[0].replace(/startup$/, '')} ${line}`,
  ...differencesIn(pass),
];

const differencesIn = (pass: readonly Event[]): string[] =>
  pass.filter(({ text }) => /^ {4}(?:add|update|park|surplus|blocked) /.test(text)).map(differenceOf);

const differenceOf = ({ text }: Event): string =>
  text
    .replace(/ \[([a-z-]+): .*\]/, ' [$1]')
    .replace(/ until \d+-\d+-(\d+)T(\d+:\d+).*?Z/, ' until day $1 at $2')
    .replace(/ \(simulated .*?\)/, '');
