import { describe, expect, test } from 'vitest';
import { textKind } from '../../src/model/text.ts';
import { known, linesOf, memoryOf, planOf, type Scenario } from './records.ts';

/* One name has independent texts of several owners: a text only replaces its certain predecessor. */

const scenarios: readonly Scenario[] = [
  {
    name: 'an SPF is an SPF, quoted and in capitals',
    file: ['@ TXT v=spf1 mx -all'],
    service: ['#1 @ TXT "V=SPF1 " "-all"'],
    plan: ['update #1 content: @ TXT v=spf1 mx -all'],
  },
  {
    name: 'each text replaces one of its own kind',
    file: ['@ TXT v=spf1 mx -all', 'mail._domainkey TXT v=DKIM1; p=new', 'default._bimi TXT v=BIMI1; l=new'],
    service: ['#1 default._bimi TXT v=BIMI1; l=old', '#2 mail._domainkey TXT p=old', '#3 @ TXT v=spf1 -all'],
    plan: [
      'update #3 content: @ TXT v=spf1 mx -all',
      'update #1 content: default._bimi TXT v=BIMI1; l=new',
      'update #2 content: mail._domainkey TXT v=DKIM1; p=new',
    ],
  },
  {
    name: 'within a kind the fewest changes, then the lowest id',
    file: ['_dmarc 300 TXT v=DMARC1; p=none'],
    service: [
      '#1 _dmarc 60 TXT v=DMARC1; p=a',
      '#2 _dmarc 300 TXT v=DMARC1; p=b',
      '#3 _dmarc 300 TXT v=DMARC1; p=c',
    ],
    plan: [
      'update #2 content: _dmarc 300 TXT v=DMARC1; p=none',
      'surplus #1 unlisted',
      'surplus #3 unlisted',
    ],
  },
  {
    name: 'a known free text that was changed at the service is changed back',
    file: ['@ TXT token=ours'],
    service: ['#2 @ TXT token=theirs'],
    memory: memoryOf([known('#2 @ TXT token=ours')]),
    plan: ['update #2 content: @ TXT token=ours'],
  },
  {
    name: 'a text that the file still lists is not used for another one',
    file: ['@ TXT token=new', '@ TXT token=old'],
    service: ['#2 @ TXT token=changed'],
    memory: memoryOf([known('#2 @ TXT token=old')]),
    plan: ['update #2 content: @ TXT token=old', 'add @ TXT token=new'],
  },
  {
    name: 'a text of a kind replaces a known free text only if there is none of its kind',
    file: ['@ TXT v=spf1 mx -all'],
    service: ['#1 @ TXT token=old', '#2 @ TXT v=spf1 -all'],
    memory: memoryOf([known('#1 @ TXT token=old')]),
    plan: ['update #2 content: @ TXT v=spf1 mx -all', 'surplus #1 unlisted'],
  },
  {
    name: 'a known text of a kind is changed before a foreign one of that kind',
    file: ['@ TXT v=spf1 mx -all'],
    service: ['#1 @ TXT v=spf1 include:theirs.example.net -all', '#2 @ TXT v=spf1 -all'],
    memory: memoryOf([known('#2 @ TXT v=spf1 -all')]),
    plan: ['update #2 content: @ TXT v=spf1 mx -all', 'surplus #1 unlisted'],
  },
  {
    name: 'known texts are replaced by texts of their kind first',
    file: ['@ TXT token=new', '@ TXT v=spf1 mx -all'],
    service: ['#1 @ TXT token=old', '#2 @ TXT v=spf1 -all'],
    memory: memoryOf([known('#1 @ TXT token=old'), known('#2 @ TXT v=spf1 -all')]),
    plan: ['update #1 content: @ TXT token=new', 'update #2 content: @ TXT v=spf1 mx -all'],
  },
  {
    name: 'a changed free text replaces the known one, though the service spells its name differently',
    file: ['www TXT token=new'],
    service: ['#2 www.example.com TXT token=old'],
    memory: memoryOf([known('#2 www TXT token=old', '#2 www.example.com TXT token=old')]),
    plan: ['update #2 name,content: www TXT token=new'],
  },
  {
    name: 'a copy of a paired free text is not reused',
    file: ['@ TXT token=a', '@ TXT token=b'],
    service: ['#1 @ TXT token=a', '#2 @ TXT token=a'],
    plan: ['add @ TXT token=b', 'surplus #2 duplicate'],
  },
  {
    name: 'another TTL is an update for any text',
    file: ['@ 300 TXT token=a'],
    service: ['#1 @ 60 TXT token=a'],
    plan: ['update #1 ttl: @ 300 TXT token=a'],
  },
];

test.for(scenarios)('$name', (scenario) => {
  expect(linesOf(planOf(scenario))).toEqual(scenario.plan);
});

describe('the kind of a text', () => {
  test.for([
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
  ])('at %s, %j: %j', ([name, text, kind]) => {
    expect(textKind(name!, text!)).toBe(kind);
  });
});
