import { parentPort, type MessagePort } from 'node:worker_threads';
import { messageOf } from '../errors.ts';
import type { DesiredState } from '../model/template.ts';
import type { LoadAnswer } from './background-loader.ts';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import { packState } from './packed.ts';

/* What the thread runs that loads the files of a daemon: each message is the port of one more loader. */

const serve = (port: MessagePort): void => {
  const loader = createTemplateLoader();
  let told: DesiredState | null = null;
  const answerTo = async (options: LoadOptions): Promise<LoadAnswer> => {
    try {
      const state = await loader.load(options);
      if (state === told) return { state: null };
      const packed = packState(state, told);
      told = state;
      return { state: packed };
    } catch (error) {
      return { failure: messageOf(error) };
    }
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  port.on(
    'message',
    (options: LoadOptions) => void answerTo(options).then((answer) => port.postMessage(answer)),
  );
};

parentPort?.on('message', serve);
