import { z } from 'zod';
import { listOf, optionalListOf, optionalNumber, optionalText, text, wholeNumber } from './fields.ts';

/*
 * Accounts and their contents (specification §2). They are only shown, so missing parts are null or an empty
 * list. Unknown keys are dropped.
 */

const databaseGrant = z
  .object({ id: optionalNumber, login: optionalText, access_level: optionalText })
  .transform(({ id, login, access_level }) => ({ id, login, accessLevel: access_level }));

const database = z
  .object(
    {
      id: wholeNumber,
      account_id: optionalNumber,
      name: optionalText,
      hosts: optionalListOf(text),
      database_grants: optionalListOf(databaseGrant),
    },
    { error: 'is not an object' },
  )
  .transform(({ account_id, database_grants, ...rest }) => ({
    ...rest,
    accountId: account_id,
    databaseGrants: database_grants,
  }));
export const databases = listOf(database);
/** A grant's `id` is null if the service gives none, as in an account (specification §2, Database grant). */
export type Database = z.output<typeof database>;

const application = z
  .object({
    id: wholeNumber,
    account_id: optionalNumber,
    name: optionalText,
    created_at: optionalText,
    aliases: optionalListOf(z.unknown()),
  })
  .transform(({ account_id, created_at, ...rest }) => ({
    ...rest,
    accountId: account_id,
    createdAt: created_at,
  }));

const ftpUser = z
  .object({
    id: wholeNumber,
    account_id: optionalNumber,
    user: optionalText,
    host: optionalText,
    directory: optionalText,
  })
  .transform(({ account_id, ...rest }) => ({ ...rest, accountId: account_id }));

export const account = z
  .object(
    {
      id: wholeNumber,
      name: optionalText,
      created_at: optionalText,
      virtual_server_id: optionalNumber,
      applications: optionalListOf(application),
      databases: optionalListOf(database),
      ftp_users: optionalListOf(ftpUser),
      ssh_keys: optionalListOf(z.unknown()),
    },
    { error: 'is not an object' },
  )
  .transform(({ created_at, virtual_server_id, ftp_users, ssh_keys, ...rest }) => ({
    ...rest,
    createdAt: created_at,
    virtualServerId: virtual_server_id,
    ftpUsers: ftp_users,
    sshKeys: ssh_keys,
  }));
export const accounts = listOf(account);
/** `createdAt` is a timestamp as the service writes it: `YYYY-MM-DD HH:MM:SS +ZZZZ`. */
export type Account = z.output<typeof account>;
