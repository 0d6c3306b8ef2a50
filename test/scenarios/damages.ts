import { renameSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'libsql';

/** What may befall a state file, by the words of a scenario. */
export const damages: Readonly<Record<string, (file: string) => void>> = {
  text: (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    writeFileSync(file, 'no database');
  },
  zeroed: (file) => writeFileSync(file, whole(file).fill(0, 4_096, 12_288)),
  kept: (file) => writeFileSync(`${file}.kept`, whole(file)),
  'put back': (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    renameSync(`${file}.kept`, file);
  },
  'with a long history': (file) =>
    withDatabase(
      file,
      `INSERT INTO history (scope, at, body)
       WITH RECURSIVE past (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < 1000)
       SELECT scope, at - n, json_set(body, '$.at', at - n) FROM history, past`,
    ),
  'without its journal': (file) => rmSync(`${file}-wal`, { force: true }),
};

/** With nothing of it in its journal. */
const whole = (file: string): Buffer => {
  withDatabase(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  return readFileSync(file);
};

const withDatabase = (file: string, sql: string): void => {
  const database = new Database(file);
  database.exec(sql);
  database.close();
};
