/** Values with the field names of the specification (§2). */
export const asSpecified = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asSpecified);
  if (typeof value !== 'object' || value === null) return value;
  const isTemplate = 'publiclyAvailable' in value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(isThere)
      .map(([key, part]) => [
        isTemplate && key === 'records' ? 'dns_template_records' : nameOf(key),
        asSpecified(part),
      ]),
  );
};

/** A grant inside an account has no id; the key is absent, not null. Whether an owner was stated is no field. */
const isThere = ([key, part]: [string, unknown]): boolean =>
  key !== 'isOwnerStated' && (key !== 'id' || part !== null);

const nameOf = (key: string): string =>
  key === 'templateRecordId'
    ? 'dns_template_record_id'
    : key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
