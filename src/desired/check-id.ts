/**
 * The checks, in the order of processing: file, YAML, structure, values, record, template. An error makes a template
 * unusable; a warning is probably a mistake but does no harm. A record can switch off those that are allowable, whose
 * failure leaves its meaning clear.
 */
const checks = {
  'no-templates': 'error',
  unreadable: 'error',
  outside: 'error',
  'yaml-syntax': 'error',
  'yaml-version': 'error',
  'yaml-tag': 'error',
  'yaml-alias': 'error',
  'unknown-key': 'error',
  'duplicate-key': 'error',
  'wrong-type': 'error',
  'undefined-variable': 'error',
  include: 'error',
  'unknown-type': 'error',
  'empty-content': 'allowable error',
  'bad-ipv4': 'allowable error',
  'bad-ipv6': 'allowable error',
  'address-as-host': 'allowable error',
  'bad-host': 'allowable error',
  'label-length': 'allowable error',
  'name-length': 'allowable error',
  wildcard: 'allowable error',
  'full-name': 'allowable error',
  'cname-alone': 'allowable error',
  'cname-apex': 'allowable error',
  'name-required': 'allowable error',
  'priority-required': 'allowable error',
  'priority-range': 'error',
  'priority-not-applicable': 'error',
  'srv-content': 'allowable error',
  'ttl-range': 'error',
  'null-mx-alone': 'allowable error',
  'kind-twice': 'allowable error',
  'invisible-character': 'allowable error',
  'duplicate-record': 'error',
  'wanted-and-ignored': 'error',
  'template-twice': 'error',
  'txt-length': 'allowable error',
  'control-character': 'allowable error',
  'text-notation': 'allowable warning',
  'origin-in-name': 'allowable warning',
  'mixed-ttl': 'allowable warning',
  'ttl-unusual': 'allowable warning',
  'target-is-cname': 'allowable warning',
  'srv-name': 'allowable warning',
  'single-label-target': 'allowable warning',
  'comment-after-text': 'warning',
  'spf-open': 'allowable warning',
  'dmarc-place': 'allowable warning',
  'subdomain-name': 'warning',
  'subdomain-twice': 'warning',
} as const;

type Checks = typeof checks;

export type CheckId = keyof Checks;
export type AllowableCheck = {
  [Id in CheckId]: Checks[Id] extends `allowable ${string}` ? Id : never;
}[CheckId];

const isCheck = (text: string): text is CheckId => Object.hasOwn(checks, text);

export const isWarning = (check: string): boolean => isCheck(check) && checks[check].endsWith('warning');

const isAllowable = (check: CheckId): check is AllowableCheck => checks[check].startsWith('allowable');

export const checkIds: readonly CheckId[] = Object.keys(checks).filter(isCheck);
export const allowableChecks: readonly AllowableCheck[] = checkIds.filter(isAllowable);
