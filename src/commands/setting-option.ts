import { clientTable, programTable, runTable, type Setting } from '../settings/table.ts';

/** What an option that is a setting does, by the table of settings; empty if it is none. */
export const aboutSetting = (key: string, isBoolean: boolean): string => {
  const setting = settingByFlag.get(key);
  if (setting === undefined) return '';
  const [sentence = ''] = setting.about.split(/\.(?: |$)/);
  const repeatable = setting.kind.divider === undefined ? '' : '; repeatable';
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}${repeatable}${isBoolean ? '' : defaultOf(setting)}`;
};

const settingByFlag: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values<Setting<unknown>>({ ...clientTable, ...programTable, ...runTable }).flatMap((setting) =>
    setting.flag === undefined ? [] : [[setting.flag, setting]],
  ),
);

const defaultOf = ({ kind, fallback, shownDefault }: Setting<unknown>): string => {
  const value = shownDefault ?? kind.show?.(fallback) ?? (typeof fallback === 'string' ? fallback : '');
  return value === '' ? '' : ` (default: ${value})`;
};
