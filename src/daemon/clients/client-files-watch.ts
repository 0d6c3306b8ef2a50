import type { Logger } from 'pino';
import type { Settings } from '../../settings.ts';
import { watchFiles, type Watcher } from '../../source/watch.ts';

/** Has the files of clients read again when they change, and from time to time while something is wrong with them. */
export const clientFilesWatch = (reread: () => void, log: Logger) => {
  let watcher: Watcher | null = null;
  let retry: NodeJS.Timeout | undefined;
  let said = '[]';
  let isClosed = false;
  /** Reports errors of the files, if they are new. A missing file may appear later, such as a token file. */
  const note = ({ leftOut }: Settings): void => {
    clearTimeout(retry);
    const problems = JSON.stringify(leftOut);
    if (problems !== said && leftOut.length > 0)
      log.error(
        { event: 'settings.refused', problems: leftOut },
        'invalid client files; these clients keep their previous settings, and new ones wait',
      );
    if (leftOut.length === 0 && said !== '[]')
      log.info({ event: 'settings.accepted' }, 'all client files are valid');
    said = problems;
    if (leftOut.length > 0 && !isClosed) retry = setTimeout(reread, retryInterval).unref();
  };
  return {
    note,
    /** From now on watches the files of these settings, which may have changed since they were read. Says all errors again. */
    follow: async (settings: Settings): Promise<void> => {
      await watcher?.close();
      watcher = null;
      if (settings.leftOut.length > 0) said = '[]';
      note(settings);
      const { clientFiles } = settings;
      if (clientFiles === null || isClosed) return;
      watcher = watchFiles({
        paths: clientFiles.directories,
        look: () => Promise.resolve(clientFiles.look()),
        onChange: reread,
        log,
      });
      reread();
    },
    close: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(retry);
      await watcher?.close();
    },
  };
};

/** Milliseconds. */
const retryInterval = 30_000;
