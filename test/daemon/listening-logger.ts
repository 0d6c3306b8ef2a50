import { pino, type Logger } from 'pino';

/** A logger whose lines a test can read. */
export const listeningLogger = (): { readonly log: Logger; readonly lines: Record<string, unknown>[] } => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
};
