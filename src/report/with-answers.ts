import { worstOf, type PassResult, type SubdomainAnswers } from '../result.ts';

/** The last answers of name servers, by template and subdomain. */
export type KnownAnswers = ReadonlyMap<string, SubdomainAnswers>;

/** Template null: no file names the subdomain. */
export const answersKey = (template: string | null, subdomain: string): string =>
  JSON.stringify([template, subdomain]);

/** Adds the answers of name servers to a pass. Wrong answers are drift; a failure to ask is no failure of the template. */
export const withAnswers = (pass: PassResult, known: KnownAnswers): PassResult => {
  if (known.size === 0) return pass;
  const templates = pass.templates.map((template) => {
    const subdomains = template.subdomains.map((one) => ({
      ...one,
      answers: known.get(answersKey(template.template, one.subdomain)) ?? one.answers,
    }));
    const isWrong = subdomains.some(({ answers }) => answers.status === 'drifted');
    return {
      ...template,
      subdomains,
      status: isWrong ? worstOf(['drifted', template.status]) : template.status,
    };
  });
  return { ...pass, templates };
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
