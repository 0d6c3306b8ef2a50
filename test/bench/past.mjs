import Database from 'libsql';

/** Copies the last write into the past, a minute before the next one each time. */
export const fillHistory = (file, count) => {
  const database = new Database(file);
  database.exec('BEGIN');
  database
    .prepare(
      `INSERT INTO history (scope, at, template, outcome, body)
       WITH RECURSIVE past (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < ?),
         newest AS (SELECT * FROM history ORDER BY id DESC LIMIT 1)
       SELECT scope, at - n * 60000, template, outcome, json_set(body, '$.at', at - n * 60000) FROM past, newest`,
    )
    .run(count);
  database.exec('COMMIT');
  database.close();
};
