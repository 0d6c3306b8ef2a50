import { HostingError } from '../hosting/errors.ts';
import type { HostingService } from '../hosting/service.ts';
import { plural } from '../lib/plural.ts';
import type { ActualTemplate } from '../model/template.ts';
import { findingsAbout, type Found } from './finding.ts';

/** Whether two listings that are `settle` apart show the same. */
export const compareListings = (
  first: readonly ActualTemplate[],
  second: readonly ActualTemplate[],
  settle: string,
): Found => {
  const { all, ok, note, problem } = findingsAbout('two listings');
  const [before, after] = [first, second].map((listing) => new Map(idsIn(listing)));
  const gone = [...before!.keys()].filter((id) => !after!.has(id));
  const come = [...after!.keys()].filter((id) => !before!.has(id));
  const differ = [...before!].filter(([id, text]) => after!.has(id) && after!.get(id) !== text);
  if (gone.length + come.length > 0)
    problem(
      `${settle} apart, ${plural(gone.length, 'id')} gone and ${come.length} new: does somebody work there now, or is a listing not whole?`,
    );
  else if (differ.length > 0) note(`${settle} apart, ${plural(differ.length, 'record')} with other values`);
  else if ([...before!.keys()].join() !== [...after!.keys()].join())
    ok(`${settle} apart, the same ids and values in another order, which does not matter`);
  else ok(`${settle} apart, the same ids, values and order`);
  return { findings: all };
};

const idsIn = (listing: readonly ActualTemplate[]): [string, string][] =>
  listing.flatMap(({ id, records }) => [
    [`template ${id}`, ''] as [string, string],
    ...records.map((record): [string, string] => [`record ${record.id}`, JSON.stringify(record)]),
  ]);

/** Records of subdomains that derive from template records which no listing shows: then the listing is not whole. */
export const examineSubdomains = async (
  service: Pick<HostingService, 'listDnsRecords'>,
  subdomains: readonly string[],
  listings: readonly (readonly ActualTemplate[])[],
): Promise<Found> => {
  const { all, ok, note, problem } = findingsAbout('subdomains');
  const listed = new Set(listings.flat().flatMap(({ records }) => records.map(({ id }) => id)));
  const chosen = subdomains.slice(0, mostAsked);
  if (chosen.length === 0)
    note('no template file names one, so it cannot be seen whether the listing is whole');
  let sound = 0;
  for (const subdomain of chosen) {
    try {
      const records = await service.listDnsRecords(subdomain);
      const hidden = records.filter(
        ({ templateRecordId }) => templateRecordId !== null && !listed.has(templateRecordId),
      );
      const [example] = hidden;
      if (example)
        problem(
          `${subdomain} has ${plural(hidden.length, 'record')} of template records that no listing shows, such as ${example.type} ${example.name ?? '@'} of ${example.templateRecordId}: the listing is not whole, so nothing may be added`,
        );
      else sound += 1;
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      note(`${subdomain}: ${error.message}`);
    }
  }
  if (sound > 0) ok(`${plural(sound, 'subdomain')}: every record derives from one that the listing shows`);
  return { findings: all };
};

const mostAsked = 20;
