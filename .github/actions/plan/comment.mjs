// Puts a plan into the comment of a pull request that begins with the marker of this use; without such a comment, adds one.
import { readFileSync } from 'node:fs';

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, NUMBER, NAME, SETTINGS, PLAN } = process.env;
const marker = `<!-- dns-template-sync plan ${encodeURIComponent(NAME || SETTINGS)} -->`;
const repository = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}`;

const ask = (method, address, body) =>
  fetch(address, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const taken = async (answer) => {
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Others may write the marker too. Who asks is told only to the token of a person; any other one is that of a bot. */
const isOwn = async () => {
  const answer = await ask('GET', `${GITHUB_API_URL}/user`);
  if (answer.status === 403) return ({ user }) => user?.type === 'Bot';
  const { login } = answer.ok ? await answer.json() : {};
  return ({ user }) => login === undefined || user?.login === undefined || user.login === login;
};

const marked = async () => {
  const found = [];
  for (let page = 1; ; page += 1) {
    const some = await taken(
      await ask('GET', `${repository}/issues/${NUMBER}/comments?per_page=100&page=${page}`),
    );
    found.push(...some.filter(({ body }) => body?.startsWith(marker)));
    if (some.length < 100) return found;
  }
};

/** Whether a comment that this token may change has it now. */
const update = async (body) => {
  const candidates = await marked();
  if (candidates.length === 0) return false;
  for (const { id } of candidates.filter(await isOwn())) {
    const answer = await ask('PATCH', `${repository}/issues/comments/${id}`, { body });
    if (answer.status === 403 || answer.status === 404) continue;
    await taken(answer);
    return true;
  }
  return false;
};

const body = `${marker}\n${readFileSync(PLAN, 'utf8')}`;
if (!(await update(body)))
  await taken(await ask('POST', `${repository}/issues/${NUMBER}/comments`, { body }));
