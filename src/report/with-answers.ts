import {
  worstOf,
  type PassResult,
  type Status,
  type SubdomainAnswers,
  type TemplateResult,
} from '../result.ts';

/** The last answers of name servers, by template and subdomain. */
export type KnownAnswers = ReadonlyMap<string, SubdomainAnswers>;

/** Template null: no file names the subdomain. */
export const answersKey = (template: string | null, subdomain: string): string =>
  JSON.stringify([template, subdomain]);

export const subdomainOfKey = (
  key: string,
): { readonly template: string | null; readonly subdomain: string } => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `answersKey` made
  const [template, subdomain] = JSON.parse(key) as [string | null, string];
  return { template, subdomain };
};

/** Adds the answers of name servers to a pass. Without any, returns the same object. */
export const withAnswers = (pass: PassResult, known: KnownAnswers): PassResult => {
  const templates = pass.templates.map((template) => templateWithAnswers(template, known));
  return templates.every((one, index) => one === pass.templates[index]) ? pass : { ...pass, templates };
};

/** The answers that a pass was shown with. */
export const answersIn = ({ templates }: PassResult): KnownAnswers =>
  new Map(
    templates.flatMap(({ template, subdomains }) =>
      subdomains
        .filter(({ answers }) => answers.status !== 'off')
        .map(({ subdomain, answers }) => [answersKey(template, subdomain), answers] as const),
    ),
  );

const templateWithAnswers = (template: TemplateResult, known: KnownAnswers): TemplateResult => {
  const found = template.subdomains.map(({ subdomain }) =>
    known.get(answersKey(template.template, subdomain)),
  );
  if (found.every((one) => one === undefined)) return template;
  return {
    ...template,
    status: worstOf([
      template.status,
      ...found.flatMap((one) => (one === undefined ? [] : statusByAnswers[one.status])),
    ]),
    subdomains: template.subdomains.map((one, index) => ({ ...one, answers: found[index] ?? one.answers })),
  };
};

const statusByAnswers: Record<SubdomainAnswers['status'], Status> = {
  'in-sync': 'in-sync',
  pending: 'in-sync',
  drifted: 'drifted',
  // A failure to ask is no failure of the template.
  failed: 'in-sync',
  off: 'in-sync',
};
