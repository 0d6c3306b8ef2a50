/** As `U+200B`, the first character that nobody sees and that does not belong to its text; null if there is none. */
export const unseenIn = (text: string): string | null => {
  const [first] = ascii.test(text) ? [] : (unseen.exec(text) ?? []);
  if (first === undefined) return null;
  // Other scripts need joiners, and emoji need them and variation selectors.
  const rest = text.replaceAll(/\u200c|\u200d|\ufe0e|\ufe0f/g, '');
  if (/[^\x00-\x7f]/.test(rest) && !unseen.test(rest)) return null;
  return `U+${first.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
};

const ascii = /^[\x00-\x7f]*$/;

const unseen = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
