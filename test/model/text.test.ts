import { expect, test } from 'vitest';
import { textKind } from '../../src/model/text.ts';

test.each([
  ['www', 'v=spf1 mx -all', 'spf1'],
  ['www', 'v=spf1', 'spf1'],
  ['www', 'V=SPF1 -all', 'spf1'],
  ['www', ' v=spf1 mx', 'spf1'],
  ['www', '"v=spf1 mx"', 'spf1'],
  ['_dmarc', 'v=DMARC1; p=none', 'dmarc1'],
  ['_dmarc.sub', 'v=DMARC1;p=none', 'dmarc1'],
  ['_dmarc', String.raw`v=DMARC1\; p=none`, 'dmarc1'],
  ['www', 'v=DMARC1; p=none', null],
  ['mail._domainkey', 'v=DKIM1 ; p=', 'dkim1'],
  ['mail._domainkey', 'k=rsa; p=MIG', 'dkim1'],
  ['mail._domainkey', 'p=MIG', 'dkim1'],
  ['mail._domainkey', 'hello', null],
  ['www', 'v=DKIM1; p=', null],
  ['_mta-sts', 'v=STSv1; id=1', 'stsv1'],
  ['_smtp._tls', 'v=TLSRPTv1; rua=mailto:a@example.net', 'tlsrptv1'],
  ['default._bimi', 'v=BIMI1; l=', 'bimi1'],
  ['www', 'v=spf10 mx', null],
  ['www', 'v=spf1,mx', null],
  ['www', 'v=spf2.0/pra', null],
  ['www', 'v=verify1 abc', null],
  ['www', 'spf1', null],
  ['www', 'constructor', null],
  ['www', '', null],
])('at %s, %j is of the kind %j', (name, text, kind) => {
  expect(textKind(name, text)).toBe(kind);
});
