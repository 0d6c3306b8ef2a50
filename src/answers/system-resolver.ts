import { getServers } from 'node:dns';

/** The recursive server that the operating system asks first. */
export const systemResolver = (): string => getServers()[0] ?? '127.0.0.1';
