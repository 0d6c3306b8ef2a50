import { escapeControl } from '../../lib/escape-control.ts';
import { moment, stateIcon } from '../../report/html-words.ts';
import { html, type Markup } from '../../report/markup.ts';
import { worstOf } from '../../result.ts';
import type { PassHistory } from '../passes/pass-history.ts';
import type { ClientManager } from '../clients/client-manager.ts';
import type { TakenAction } from './act-session.ts';

/** What became of an action, in a sentence: also of the pass that it has asked for. */
export const actionOutcome = (
  taken: TakenAction,
  { clients }: Pick<ClientManager, 'clients'>,
  passHistory: Pick<PassHistory, 'lastOf'>,
): Markup => {
  const { action, client, template, at, until, isDone } = taken;
  const zone = { now: Date.now(), timeZone: clients[0]?.client.settings.timezone ?? 'UTC' };
  const passes = clients
    .filter(({ client: { settings } }) => client === null || settings.name === client)
    .map(({ client: { settings } }) => passHistory.lastOf(settings.name))
    .map((pass) => (pass !== null && pass.startedAt >= at ? pass.status : null));
  const ended = passes.flatMap((status) => status ?? []);
  const pass =
    ended.length < passes.length
      ? 'A pass was asked for, and has not ended yet.'
      : html`The pass that was asked for has ended: ${stateIcon(worstOf(ended))}`;
  const name = escapeControl(template ?? '');
  const words =
    action === 'sync'
      ? ''
      : action === 'suspend'
        ? html`<b>${name}</b> is suspended
            ${until === null ? 'until somebody resumes it' : html`until ${moment(until, zone)}`}.`
        : html`<b>${name}</b> ${isDone ? 'is resumed' : 'was not suspended'}.`;
  return html`<p role="status">${words} ${pass}</p>`;
};
