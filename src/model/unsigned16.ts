/** The largest number of two octets: of a priority, a weight, a port. */
export const maxUnsigned16 = 65_535;

export const isUnsigned16 = (text: string | undefined): boolean =>
  text !== undefined && /^\d{1,5}$/.test(text) && Number(text) <= maxUnsigned16;
