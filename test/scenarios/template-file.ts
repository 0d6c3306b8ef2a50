import { parseRecord } from './records.ts';

/** A template file: keys as they are, and records in the short form. A key line is `key: value`, the others are records. */
export const templateFile = (name: string, lines: readonly string[]): string => {
  const isKey = (line: string): boolean => /^[a-z]\w*: /.test(line);
  const keys = lines.filter(isKey);
  const hasName = keys.some((line) => /^(?:template|id): /.test(line));
  const records = lines.filter((line) => !isKey(line)).map(recordLine);
  return [
    ...(hasName || name.startsWith('_') ? [] : [`template: ${name}`]),
    ...keys,
    ...(records.length === 0 ? ['records: []'] : ['records:', ...records]),
    '',
  ].join('\n');
};

const recordLine = (line: string): string => {
  const { type, name, content, priority, ttl } = parseRecord(line);
  const values = [
    `type: ${type}`,
    ...(name === null ? [] : [`name: ${JSON.stringify(name)}`]),
    `content: ${JSON.stringify(content)}`,
    ...(priority === null ? [] : [`priority: ${priority}`]),
    ...(ttl === null ? [] : [`ttl: ${ttl}`]),
  ];
  return `  - {${values.join(', ')}}`;
};
