import type { Tokens } from '../hosting/call.ts';
import type { Probe, ProbeAnswer } from '../hosting/probe.ts';
import type { HostingService } from '../hosting/service.ts';
import { putParameterForms, type Dialect } from '../model/dialect.ts';
import { hasPriority, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { definitionOf } from '../model/types/table.ts';
import { isObject, namesError } from '../hosting/error-words.ts';
import { readTemplate } from '../hosting/dns-resources.ts';
import { findingsAbout, type Found } from './finding.ts';
import { shownAnswer } from './listing.ts';
import { examineLag } from './listing-lag.ts';

/** The update of a record with its own values: what is sent. */
export const ownValues = ({ id, type, name, content, priority }: ActualRecord): OwnValues => ({
  record_id: id,
  content,
  ...(definitionOf(type.toUpperCase())?.name === 'required' ? { name } : {}),
  ...(hasPriority(type.toUpperCase()) ? { priority } : {}),
});

type OwnValues = Readonly<Record<string, string | number | null>>;

interface WriteProbe {
  readonly probe: Probe;
  readonly service: Pick<HostingService, 'listDnsTemplates'>;
  readonly tokens: Tokens;
  readonly dialect: Dialect;
  /** Milliseconds, to be held against how long a listing takes to show a change; null: that is not tried. */
  readonly settle: number | null;
}

/**
 * Updates one record with the values that it has, in each way until one is accepted, and says what the service answers.
 * It stops where an outcome is not clear.
 */
export const examineWrite = async (
  { id: templateId }: ActualTemplate,
  record: ActualRecord,
  { probe, service, tokens, dialect, settle }: WriteProbe,
): Promise<Found> => {
  const { all, ok, note, problem } = findingsAbout('PUT update_record');
  const path = `/dns_templates/${templateId}/update_record`;
  const parameters = ownValues(record);
  const call = { operation: 'update-dns-template-record', method: 'PUT', path, parameters } as const;
  const forms = [dialect.putParameters, ...putParameterForms.filter((one) => one !== dialect.putParameters)];
  for (const putParameters of forms) {
    const answer = await probe.ask(call, { ...dialect, putParameters }, tokens);
    const how = `parameters ${placeNames[putParameters]}: ${shownAnswer(answer)}`;
    const isRefused = answer.isSuccess && isObject(answer.json) && namesError(answer.json);
    if (answer.isSuccess && !isRefused) {
      ok(how);
      const template = readTemplate(answer.json);
      const writeAnswers = template === null ? 'listing' : 'template';
      if (template === null) note(`it is not answered with the whole template: set writeAnswers: listing`);
      const shown = (template ?? (await listed(service, templateId)))?.records.find(
        (one) => one.id === record.id,
      );
      const set = { putParameters, writeAnswers } as const;
      if (!shown || JSON.stringify(shown) !== JSON.stringify(record)) {
        problem(`the record is shown otherwise now: ${JSON.stringify(shown ?? null)}`);
        return { findings: all, set };
      }
      ok('the record is shown as before');
      if (settle === null) {
        note('add --lag to see how long a listing takes to show a change');
        return { findings: all, set };
      }
      const setTtl = (ttl: number): Promise<ProbeAnswer> =>
        probe.ask({ ...call, parameters: { ...parameters, ttl } }, { ...dialect, putParameters }, tokens);
      const lag = await examineLag(record, { service, settle, setTtl });
      return { findings: [...all, ...lag.findings], set: { ...set, ...lag.set } };
    }
    note(`${how}${answer.status === null ? '' : `: ${answer.words}`}`);
    if (answer.status === null || answer.status >= 500) break;
  }
  problem('no way of writing was accepted: nothing was changed, as far as the service says');
  return { findings: all };
};

const listed = async (
  service: WriteProbe['service'],
  templateId: number,
): Promise<ActualTemplate | undefined> =>
  (await service.listDnsTemplates()).find(({ id }) => id === templateId);

const placeNames = { form: 'in a form body', query: 'in the query', json: 'in a JSON body' } as const;
