import type { Logger } from 'pino';
import { openNotifiedFile, type NotifiedFile } from './notified-file.ts';
import { LocalOutbox, type Outboxes } from './outbox.ts';

export interface LocalOutboxesOptions {
  /** The file with the last messages about a client. */
  readonly fileFor: (client: string) => string;
  readonly log: Logger;
}

/** Those of a process that shares them with nobody. */
export const localOutboxes = ({ fileFor, log }: LocalOutboxesOptions): Outboxes => {
  const files = new Map<string, NotifiedFile>();
  const fileOf = (client: string): NotifiedFile => {
    const open = (): NotifiedFile =>
      openNotifiedFile({
        file: fileFor(client),
        onError: (error) =>
          log.warn(
            { event: 'notify.unsaved', err: error, client },
            'cannot save notification state; messages may repeat after a restart',
          ),
      });
    const file = files.get(client) ?? open();
    files.set(client, file);
    return file;
  };
  return {
    of: (receiver) =>
      new LocalOutbox({
        get: (client, template) => fileOf(client).get(receiver, template),
        set: (client, template, lastNotified) => fileOf(client).set(receiver, template, lastNotified),
        forget: (client) => {
          files.get(client)?.remove();
          files.delete(client);
        },
      }),
    close: () => Promise.resolve(),
  };
};
