const pattern = /##[^#]*##|\{[^{}]*\}|<[^<>]*>|%[^%]*%/;

/** A placeholder in a name that the service replaces: `##DOMAIN##`, `{domain}`, `<domain>`, `%domain%`. */
export const hasPlaceholder = (text: string): boolean => pattern.test(text);

/** Whether the text is nothing but a placeholder, with or without a final dot. */
export const isPlaceholder = (text: string): boolean => new RegExp(`^(?:${pattern.source})\\.?$`).test(text);
