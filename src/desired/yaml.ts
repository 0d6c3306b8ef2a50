import { composeYaml } from './yaml-composer.ts';
import { readEvents } from './yaml-events.ts';
import type { ParsedYaml } from './yaml-tree.ts';

/**
 * Reads YAML 1.2, core schema, no merge keys. Never throws: what is wrong comes back as faults. Nearly all files are
 * plain, and read by their events, at a tenth of the time that the library needs which can explain what is wrong.
 */
export const parseYaml = (source: string): ParsedYaml => {
  const documents = readEvents(source);
  return documents === null ? composeYaml(source) : { documents, faults: [] };
};
