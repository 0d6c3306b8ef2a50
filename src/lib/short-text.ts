/** The beginning of a text of more than `max` characters, and how many are missing. */
export const shortText = (text: string, max: number): string =>
  text.length > max
    ? `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}… (${text.length - max} characters more)`
    : text;
