/** The same templates and records for the service and for the files. */
export const templateName = (index) => `template-${index}`;

const types = ['A', 'A', 'A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV'];

export const recordOf = (index) => {
  const type = types[index % types.length];
  const name = type === 'SRV' ? `_sip${index}._tcp` : `host-${index}`;
  const priority = type === 'MX' || type === 'SRV' ? 10 : null;
  return { type, name, content: contentOf(type, index), priority };
};

const contentOf = (type, index) => {
  switch (type) {
    case 'A':
      return `192.0.2.${index % 256}`;
    case 'AAAA':
      return `2001:db8::${(index % 65_535).toString(16)}`;
    case 'TXT':
      return `site-verification=${index}`;
    case 'SRV':
      return `5 5060 sip${index}.example.net`;
    default:
      return `target-${index}.example.net`;
  }
};

/** `records` may be changed before they are written. */
export const templateText = (name, records) =>
  `template: ${name}\nrecords:\n${records.map((record) => `  - ${entryOf(record)}\n`).join('')}`;

const entryOf = ({ type, name, content, priority }) =>
  `{type: ${type}, name: ${name}, content: ${quoted(content)}${priority === null ? '' : `, priority: ${priority}`}}`;

const quoted = (content) => (/[:= ]/.test(content) ? `"${content}"` : content);
