import { YAMLException } from 'js-yaml';
import { explainSyntax } from './explain-syntax.ts';
import { parseYaml, type YamlNode, type YamlProblem } from './yaml.ts';

/** The documents of a text, and what is wrong with its YAML: none where the rest cannot be read. */
export const readYaml = (
  given: string,
): {
  /** The same length as was given, but for blanks; the offsets are in it. */
  readonly text: string;
  readonly roots: readonly YamlNode[] | null;
  readonly problems: readonly YamlProblem[];
} => {
  // People close a bracket at the beginning of a line, which YAML does not allow: then a blank goes before it.
  const text = /\n[\]}]/.test(given) ? given.replaceAll(/^[\]}]/gm, ' $&') : given;
  const parsed = parsedOrWrong(text);
  if (!(parsed instanceof YAMLException)) return { text, ...parsed };
  const mistakes = explainSyntax(text, parsed);
  const again = parsedOrWrong(withLetters(text, mistakes));
  return again instanceof YAMLException
    ? { text, roots: null, problems: mistakes }
    : { text, roots: again.roots, problems: [...mistakes, ...again.problems] };
};

/** An error as a value: the first one. */
export const parsedOrWrong = (text: string): ReturnType<typeof parseYaml> | YAMLException => {
  try {
    return parseYaml(text);
  } catch (error) {
    if (error instanceof YAMLException) return error;
    throw error;
  }
};

/** A letter in place of each sign that begins no text, or is no escape: then the rest can be read. */
const withLetters = (given: string, problems: readonly YamlProblem[]): string => {
  const signs = problems.map(({ at }) => at).filter((at) => /[@`*%\\]/.test(given.charAt(at)));
  const pieces: string[] = [];
  let end = 0;
  for (const at of [...new Set(signs)].sort((one, other) => one - other)) {
    pieces.push(given.slice(end, at));
    end = at + 1;
  }
  return [...pieces, given.slice(end)].join('x');
};
