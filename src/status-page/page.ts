import { html } from '../report/markup.ts';
import { actionBar } from './actions.ts';
import { clientSection } from './clients.ts';
import { differenceSections, unmanagedSection } from './differences.ts';
import type { PageFacts } from './facts.ts';
import { filters } from './filters.ts';
import { fleetSection } from './fleet.ts';
import { frame } from './frame.ts';
import { addressOf } from './query.ts';
import { layerSection } from './layers.ts';
import { passSection } from './passes.ts';
import { stateOf, stateSection, titleOf } from './state.ts';
import { writeSection } from './writes.ts';

/** The status page: what needs a person first, then the rest. */
export const renderPage = (facts: PageFacts): string => {
  const { newest, clients, query, day, passes, writes, fleet } = facts;
  const state = stateOf(facts);
  return frame({
    facts,
    state,
    title: titleOf(state),
    main: html`${stateSection(facts)}
    ${actionBar(facts.acting, { page: addressOf(query), client: query.client })}
    ${newest.report.run === '' ? '' : filters(newest, query)} ${differenceSections(facts)}
    ${unmanagedSection(newest)} ${layerSection(newest.layers, newest.moreLayers)}
    ${clientSection(clients, facts)} ${fleetSection(fleet, facts)} ${passSection(day, passes, facts)}
    ${writeSection(writes, facts, { withClient: clients.length > 1 })}`,
  });
};
