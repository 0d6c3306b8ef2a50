import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { messageOf, UserError } from '../errors.ts';
import type { DesiredState } from '../model/template.ts';
import type { Found } from './find.ts';
import { createTemplateLoader, type LoadOptions, type TemplateLoader } from './load.ts';
import { unpackState, type PackedState } from './packed.ts';
import { lookAt } from './snapshot.ts';
import { plainSettings } from './threads.ts';

/** What the thread tells after a load; a state of null is the very one that it told before. */
export type LoadAnswer = { readonly state: PackedState | null } | { readonly failure: string };

/**
 * A loader for a program that has to answer others meanwhile. Whatever the files hold, and however long that takes,
 * this thread only takes over what another one made of them. All such loaders share that thread.
 */
export const createBackgroundLoader = (): TemplateLoader =>
  existsSync(program) ? new BackgroundLoader() : createTemplateLoader();

/** The built program has it beside itself; where the sources run as they are, there are no threads. */
const program = fileURLToPath(new URL('./loader-thread.mjs', import.meta.url));

class BackgroundLoader implements TemplateLoader {
  readonly #closing = new AbortController();
  #remote: RemoteLoader | null = null;
  /** What the remote loader told last. */
  #state: DesiredState | null = null;
  #found: Found | undefined;
  /** One load after the other, for an answer says what is new since the one before. */
  #last: Promise<unknown> = Promise.resolve();

  readonly isWarm = (): boolean => this.#state !== null;

  readonly look: TemplateLoader['look'] = async (paths) => {
    this.#found = (await lookAt(paths, this.#found)).found;
    return this.#found;
  };

  readonly load: TemplateLoader['load'] = (options) => {
    const load = (): Promise<DesiredState> => this.#load(options);
    const loaded = this.#last.then(load, load);
    this.#last = loaded;
    return loaded;
  };

  readonly close = (): void => {
    this.#closing.abort();
    this.#remote?.port.close();
  };

  async #load(options: LoadOptions): Promise<DesiredState> {
    const remote = (this.#remote ??= openRemote());
    try {
      const { state } = await askRemote(remote, options, this.#closing.signal);
      if (state !== null) this.#state = await unpackState(state, this.#state, setImmediate);
      return this.#state!;
    } catch (error) {
      // The next load begins anew, with another thread if this one has ended.
      remote.port.close();
      this.#remote = null;
      this.#state = null;
      throw new UserError(`the template files could not be read to the end: ${messageOf(error)}`);
    }
  }
}

/** A loader in the other thread. It is gone when the port is closed. */
interface RemoteLoader {
  readonly thread: Worker;
  readonly port: MessagePort;
}

let shared: Worker | null = null;

const openRemote = (): RemoteLoader => {
  const thread = (shared ??= startThread());
  const { port1: port, port2: theirs } = new MessageChannel();
  thread.postMessage(theirs, [theirs]);
  return { thread, port };
};

const startThread = (): Worker => {
  const thread = new Worker(program, { execArgv: [] }).setMaxListeners(0);
  thread.on('error', () => undefined).on('exit', () => (shared = null));
  // The program does not go on for its sake.
  thread.unref();
  return thread;
};

const askRemote = async (
  { thread, port }: RemoteLoader,
  { paths, allowEmpty = false, ...settings }: LoadOptions,
  closing: AbortSignal,
): Promise<Extract<LoadAnswer, { state: unknown }>> => {
  const over = new AbortController();
  const signal = AbortSignal.any([closing, over.signal]);
  const ended = once(thread, 'exit', { signal }).then(() => {
    throw new Error('the thread that reads them has ended');
  });
  try {
    const told = once(port, 'message', { signal });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
    port.postMessage({ paths, allowEmpty, ...plainSettings(settings) } satisfies LoadOptions);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the thread tells
    const [answer] = (await Promise.race([told, ended])) as [LoadAnswer];
    if ('failure' in answer) throw new Error(answer.failure);
    return answer;
  } finally {
    over.abort();
  }
};
