/** The page of one template, from the root of the pages. */
export const templateAddress = (template: string, client: string | null): string =>
  `${client === null ? '' : `clients/${encoded(client)}/`}templates/${encoded(template)}`;

/** A lone surrogate, which a name may contain, cannot be encoded; nor can a server read a long address. */
export const encoded = (text: string): string =>
  encodeURIComponent(text.slice(0, 1_500).replaceAll(/\p{Cs}/gu, '\ufffd'));
