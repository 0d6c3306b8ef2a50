import type * as Undici from 'undici';
// @ts-expect-error -- without types of its own
import client from 'undici/lib/dispatcher/client.js';
// @ts-expect-error -- without types of its own
import pool from 'undici/lib/dispatcher/pool.js';

/*
 * The parts of undici that this program needs. Its public entry loads all of it (fetch, caches, WebSocket), which costs a plan
 * of the examples 16 ms and 6 MiB.
 */

// oxlint-disable typescript/no-unsafe-type-assertion -- these modules are what the package exports under these names
export const Client = client as typeof Undici.Client;
export const Pool = pool as typeof Undici.Pool;
