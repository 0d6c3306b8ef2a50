import type * as Undici from 'undici';
// @ts-expect-error -- without types of its own
import connector from 'undici/lib/core/connect.js';
// @ts-expect-error -- without types of its own
import client from 'undici/lib/dispatcher/client.js';
// @ts-expect-error -- without types of its own
import pool from 'undici/lib/dispatcher/pool.js';

/*
 * The parts of undici that this program needs. Its public entry loads all of it (fetch, caches, WebSocket),
 * and a plan of the examples takes 16 of 118 ms and 6 of 68 MiB more.
 */

// oxlint-disable typescript/no-unsafe-type-assertion -- these modules are what the package exports under these names
export const Client = client as typeof Undici.Client;
export const Pool = pool as typeof Undici.Pool;
export const buildConnector = connector as typeof Undici.buildConnector;
