import type { Logger } from 'pino';
import type { Settings } from '../../settings.ts';
import { watchFiles, type Watcher } from '../../source/watch.ts';

/** Has the files of clients read again when they change, and from time to time while something is wrong with them. */
export class ClientFilesWatch {
  readonly #reread: () => void;
  readonly #log: Logger;
  #watcher: Watcher | null = null;
  #retryTimer: NodeJS.Timeout | undefined;
  #said = '[]';
  #isClosed = false;

  constructor(reread: () => void, log: Logger) {
    this.#reread = reread;
    this.#log = log;
  }

  /**
   * From now on watches the files of these settings, which may have changed since they were read. Somebody who has
   * asked for that is told all errors again.
   */
  async follow(settings: Settings): Promise<void> {
    await this.#watcher?.close();
    this.#watcher = null;
    if (settings.leftOut.length > 0) this.#said = '[]';
    this.note(settings);
    const { clientFiles } = settings;
    if (clientFiles === null || this.#isClosed) return;
    this.#watcher = watchFiles({
      paths: clientFiles.directories,
      look: () => Promise.resolve(clientFiles.look()),
      onChange: this.#reread,
      log: this.#log,
    });
    this.#reread();
  }

  /** Reports errors of the files, if they are new. A missing file may appear later, such as a token file. */
  note({ leftOut }: Settings): void {
    clearTimeout(this.#retryTimer);
    const problems = JSON.stringify(leftOut);
    if (problems !== this.#said && leftOut.length > 0)
      this.#log.error(
        { event: 'settings.refused', problems: leftOut },
        'invalid client files; these clients keep their previous settings, and new ones wait',
      );
    if (leftOut.length === 0 && this.#said !== '[]')
      this.#log.info({ event: 'settings.accepted' }, 'all client files are valid');
    this.#said = problems;
    if (leftOut.length > 0 && !this.#isClosed)
      this.#retryTimer = setTimeout(this.#reread, retryInterval).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    await this.#watcher?.close();
  }
}

/** Milliseconds. */
const retryInterval = 30_000;
