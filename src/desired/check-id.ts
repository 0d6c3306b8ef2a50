/** What makes a template unusable, in the order of processing: file, YAML, structure, values, record, template. */
export const errorChecks = [
  'no-templates',
  'unreadable',
  'outside',
  'yaml-syntax',
  'yaml-version',
  'yaml-tag',
  'yaml-alias',
  'unknown-key',
  'duplicate-key',
  'wrong-type',
  'undefined-variable',
  'include',
  'unknown-type',
  'empty-content',
  'bad-ipv4',
  'bad-ipv6',
  'address-as-host',
  'bad-host',
  'label-length',
  'name-length',
  'wildcard',
  'full-name',
  'cname-alone',
  'cname-apex',
  'name-required',
  'priority-required',
  'priority-range',
  'priority-not-applicable',
  'srv-content',
  'ttl-range',
  'null-mx-alone',
  'spf-twice',
  'duplicate-record',
  'wanted-and-ignored',
  'template-twice',
  'txt-length',
  'control-character',
] as const;

/** What is probably a mistake but does no harm. */
export const warningChecks = [
  'mixed-ttl',
  'ttl-unusual',
  'target-is-cname',
  'srv-name',
  'single-label-target',
  'comment-after-text',
  'spf-open',
  'dmarc-place',
  'subdomain-name',
  'ignore-matches-nothing',
] as const;

export type ErrorCheck = (typeof errorChecks)[number];
export type WarningCheck = (typeof warningChecks)[number];
export type CheckId = ErrorCheck | WarningCheck;

/** Checks that a record can switch off for itself: those whose failure leaves the meaning of the record clear. */
export const allowableChecks = [
  'empty-content',
  'bad-ipv4',
  'bad-ipv6',
  'address-as-host',
  'bad-host',
  'label-length',
  'name-length',
  'wildcard',
  'full-name',
  'cname-alone',
  'cname-apex',
  'name-required',
  'priority-required',
  'srv-content',
  'null-mx-alone',
  'spf-twice',
  'txt-length',
  'control-character',
  'mixed-ttl',
  'ttl-unusual',
  'target-is-cname',
  'srv-name',
  'single-label-target',
  'spf-open',
  'dmarc-place',
] as const satisfies readonly CheckId[];

export type AllowableCheck = (typeof allowableChecks)[number];

export const isWarning = (check: string): check is WarningCheck =>
  (warningChecks as readonly string[]).includes(check);
