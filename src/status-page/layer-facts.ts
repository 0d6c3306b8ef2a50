import { ageOf, hasTrouble } from '../report/answers-view.ts';
import type { ServerResult, Status, SubdomainAnswers, SubdomainResult, TemplateResult } from '../result.ts';

/** A subdomain from file to name servers: whether each layer agrees with the one before. */
export interface LayerFacts {
  readonly subdomain: string;
  readonly template: string;
  readonly ofTemplate: Status;
  readonly ofService: SubdomainResult['status'];
  readonly answers: SubdomainAnswers['status'];
  /** When they were last asked, if a later round could not ask them. */
  readonly age: readonly string[];
  readonly servers: readonly ServerResult[];
}

/** All subdomains whose name servers were asked; those with differences come first. */
export const layersOf = (
  templates: readonly TemplateResult[],
): { readonly layers: readonly LayerFacts[]; readonly moreLayers: number } => {
  const all = templates.flatMap((template) =>
    template.subdomains.flatMap((subdomain) =>
      subdomain.answers.status === 'off' ? [] : { template, subdomain },
    ),
  );
  const isWrong = ({ subdomain: { status, answers } }: (typeof all)[number]): boolean =>
    status !== 'in-sync' || hasTrouble(answers);
  const sorted = [...all.filter(isWrong), ...all.filter((one) => !isWrong(one))];
  return {
    layers: sorted.slice(0, maxLayers).map(layerOf),
    moreLayers: Math.max(0, all.length - maxLayers),
  };
};

const maxLayers = 100;
const maxServers = 8;

const layerOf = ({
  template,
  subdomain: { subdomain, status, answers },
}: {
  readonly template: TemplateResult;
  readonly subdomain: SubdomainResult;
}): LayerFacts => ({
  subdomain,
  template: template.template,
  ofTemplate:
    template.status === 'held' || template.status === 'suspended'
      ? template.status
      : template.differences.length > 0
        ? 'drifted'
        : 'in-sync',
  ofService: status,
  answers: answers.status,
  age: ageOf(answers),
  servers: answers.servers.slice(0, maxServers),
});
