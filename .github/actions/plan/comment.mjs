// Puts a file into the comment of a pull request that begins with a marker; without such a comment, adds one.
import { readFileSync } from 'node:fs';

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, NUMBER } = process.env;
const marker = '<!-- dns-template-sync plan -->';
const repository = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}`;

const call = async (method, address, body) => {
  const answer = await fetch(address, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Others may write the marker too, but only a comment of the same bot can be changed. */
const find = async () => {
  for (let page = 1; ; page += 1) {
    const some = await call('GET', `${repository}/issues/${NUMBER}/comments?per_page=100&page=${page}`);
    const own = some.find(({ body, user }) => body?.startsWith(marker) && user?.type === 'Bot');
    if (own !== undefined || some.length < 100) return own ?? null;
  }
};

const body = `${marker}\n${readFileSync(process.argv[2], 'utf8')}`;
const own = await find();
if (own === null) await call('POST', `${repository}/issues/${NUMBER}/comments`, { body });
else await call('PATCH', `${repository}/issues/comments/${own.id}`, { body });
