/** @type {readonly import('../table.mjs').Mutation[]} */
export const requests = [
  {
    rule: '§3.3 the size of what is being read does not make the outcome of a write unknown',
    file: 'src/hosting/transport.ts',
    from: 'request, roomOf(this.#options.maxAnswerSize));',
    to: 'request, this.#room);',
    tests: ['hosting/transport'],
  },
  {
    rule: '§3.3 each write uses its own connection',
    file: 'src/hosting/transport.ts',
    from: 'await this.#send(connection, request,',
    to: 'await this.#send(this.#reads.pool, request,',
    tests: ['hosting/transport'],
  },
  {
    rule: '§3.3 a request that the transport has sent is not sent a second time',
    file: 'src/hosting/transport.ts',
    from: 'return sendRequest(dispatcher, { ...request, path: prefix + request.path, headers }, room, signal);',
    to: `const sent = { ...request, path: prefix + request.path, headers };
    return sendRequest(dispatcher, sent, room, signal).catch(() => sendRequest(dispatcher, sent, room, signal));`,
    tests: ['hosting/transport', 'hosting/service', 'hosting/faults'],
  },
  {
    rule: '§3.4 what was there before an add was sent is not its result',
    file: 'src/reconcile/core/recover.ts',
    from: 'const old = new Set(intent.idsBefore);',
    to: 'const old = new Set<number>();',
    tests: ['reconcile/late', 'reconcile/settle'],
  },
  {
    rule: '§7 the grace ends if the clock was set back',
    file: 'src/reconcile/shell/subdomains.ts',
    from: 'Math.abs(clock.now() - lastWriteAt) < subdomainGrace',
    to: 'clock.now() - lastWriteAt < subdomainGrace',
    tests: ['reconcile/subdomains'],
    unseen: 'records of subdomains are never behind their template',
  },
  ...[
    ['what the file wants', 'cached.bound.desired === one.desired &&'],
    ['what the service shows', 'cached.bound.actual === one.actual &&'],
    [
      'what other processes may write (dry run or not)',
      'cached?.isDryRun === run.isDryRun &&',
      'cached !== undefined &&',
    ],
    ['the saved state', 'cached.revision === revisions.of(one.actual.id);', 'true;'],
  ].map(([what, from, to = '']) => ({
    rule: `§3.1 a kept result holds while ${what} is the same`,
    file: 'src/reconcile/cache.ts',
    from,
    to,
    tests: ['reconcile/cache'],
  })),
  {
    rule: '§3.1 no result is kept while a write is open',
    file: 'src/reconcile/cache.ts',
    from: 'cache.byId.delete(templateId);',
    to: 'void templateId;',
    tests: ['reconcile/cache'],
    unseen: 'each pass is one of a new process, which keeps no result',
  },
];
