import { expect, it } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';

/**
 * What people write who know DNS and are new to these files, and what they are told: where, what, and what to do. Each
 * text is a file of its own; `site` is the template's name, and `FILE` the path of the file in the messages.
 */
const mistakes: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    'no blank after a colon',
    'template:site\nrecords: []\n',
    '1:1: error: a key ends at a colon and a blank, as in `key: value`: there is none [yaml-syntax]',
  ],
  [
    'a tab',
    'template: site\nrecords:\n\t- {type: A, content: 192.0.2.1}\n',
    '3:1: error: tabs are not allowed as indentation [yaml-syntax]',
  ],
  [
    'no records',
    'template: site\n',
    '1:1: error: the template has no records: write `records: []` if it is meant to hold none [wrong-type]',
  ],
  [
    'empty records',
    'template: site\nrecords:\n',
    '2:9: error: `records` is a list, not empty: write `[]`, or entries that begin with `-` [wrong-type]',
  ],
  [
    'records without dashes',
    'template: site\nrecords:\n  type: A\n  content: 192.0.2.1\n',
    '3:3: error: `records` is a list, not a mapping: begin each entry with `-` [wrong-type]',
  ],
  [
    'a key in the singular',
    'template: site\nrecord:\n  - {type: A, content: 192.0.2.1}\n',
    '2:1: error: unknown key `record`; did you mean `records`? [unknown-key]',
  ],
  [
    'name in place of template',
    'name: site\nrecords: []\n',
    '1:1: error: unknown key `name`; did you mean `template`? [unknown-key]',
  ],
  [
    'missing comma',
    'template: site\nrecords:\n  - { type: A content: 192.0.2.1 }\n',
    '3:13: error: a comma is missing before `content` [yaml-syntax]',
  ],
  [
    'comma in text',
    'template: site\nrecords:\n  - { type: TXT, content: a, b }\n',
    '3:30: error: `b` is a key without a value; if it belongs to the text before the comma, quote the whole text [unknown-key]',
  ],
  [
    'unclosed brace',
    'template: site\nrecords:\n  - { type: A, content: 192.0.2.1\n',
    '4:1: error: a `}` is missing before this, or the lines are not indented [yaml-syntax]',
  ],
  [
    'unquoted star',
    'template: site\nrecords:\n  - { type: A, name: *, content: 192.0.2.1 }\n',
    '3:22: error: a lone `*` is not text in YAML; quote it: "*" [yaml-syntax]',
  ],
  [
    'unquoted at',
    'template: site\nrecords:\n  - { type: A, name: @, content: 192.0.2.1 }\n',
    '3:22: error: a value that begins with `@` is not plain text in YAML; quote it: "@" [yaml-syntax]',
  ],
  [
    'value key',
    'template: site\nrecords:\n  - { type: A, value: 192.0.2.1 }\n',
    '3:16: error: unknown key `value`; did you mean `content`? [unknown-key]',
  ],
  [
    'data key',
    'template: site\nrecords:\n  - { type: A, data: 192.0.2.1 }\n',
    '3:16: error: unknown key `data`; did you mean `content`? [unknown-key]',
  ],
  [
    'host key',
    'template: site\nrecords:\n  - { type: A, host: www, content: 192.0.2.1 }\n',
    '3:16: error: unknown key `host`; did you mean `name`? [unknown-key]',
  ],
  [
    'prio key',
    'template: site\nrecords:\n  - { type: MX, prio: 10, content: mx.example.net }\n',
    '3:17: error: unknown key `prio`; did you mean `priority`? [unknown-key]',
  ],
  [
    'preference key',
    'template: site\nrecords:\n  - { type: MX, preference: 10, content: mx.example.net }\n',
    '3:17: error: unknown key `preference`; did you mean `priority`? [unknown-key]',
  ],
  [
    'MX with priority in content',
    'template: site\nrecords:\n  - { type: MX, content: 10 mx.example.net }\n',
    '3:26: error: the priority has a key of its own: `content: mx.example.net`, `priority: 10` [bad-host]',
  ],
  [
    'MX to address',
    'template: site\nrecords:\n  - { type: MX, priority: 10, content: 192.0.2.1 }\n',
    '3:40: error: MX points at a host name, and `192.0.2.1` is an address: give it a name with an A or AAAA record, and write that [address-as-host]',
  ],
  [
    'CNAME to url',
    'template: site\nrecords:\n  - { type: CNAME, name: www, content: https://example.net/ }\n',
    '3:40: error: `https://example.net/` is not a host name: write its host alone, `example.net` [bad-host]',
  ],
  [
    'CNAME at apex',
    'template: site\nrecords:\n  - { type: CNAME, content: example.net }\n',
    '3:5: error: a CNAME cannot be at the subdomain itself, beside its NS and SOA records [cname-apex]',
  ],
  [
    'CNAME beside A',
    'template: site\nrecords:\n  - { type: CNAME, name: www, content: example.net }\n  - { type: A, name: www, content: 192.0.2.1 }\n',
    '3:5: error: a CNAME must be alone at its name, but at `www` there is also A (FILE:4:5) [cname-alone]',
  ],
  [
    'A with port',
    'template: site\nrecords:\n  - { type: A, content: "192.0.2.1:80" }\n',
    '3:25: error: `192.0.2.1:80` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]',
  ],
  [
    'A with host',
    'template: site\nrecords:\n  - { type: A, content: example.net }\n',
    '3:25: error: `example.net` is not an IPv4 address; a host name belongs in a CNAME record [bad-ipv4]',
  ],
  [
    'A with ipv6',
    'template: site\nrecords:\n  - { type: A, content: "2001:db8::1" }\n',
    '3:25: error: `2001:db8::1` is not an IPv4 address; an IPv6 address belongs in an AAAA record [bad-ipv4]',
  ],
  [
    'AAAA with ipv4',
    'template: site\nrecords:\n  - { type: AAAA, content: 192.0.2.1 }\n',
    '3:28: error: `192.0.2.1` is not an IPv6 address; an IPv4 address belongs in an A record [bad-ipv6]',
  ],
  [
    'A octet 256',
    'template: site\nrecords:\n  - { type: A, content: 192.0.2.256 }\n',
    '3:25: error: `192.0.2.256` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]',
  ],
  [
    'A leading zero',
    'template: site\nrecords:\n  - { type: A, content: 192.0.2.01 }\n',
    '3:25: error: `192.0.2.01` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]',
  ],
  [
    'A prefix',
    'template: site\nrecords:\n  - { type: A, content: 192.0.2.0/24 }\n',
    '3:25: error: `192.0.2.0/24` is not an IPv4 address; that is four numbers from 0 to 255 without leading zeros, such as 192.0.2.1 [bad-ipv4]',
  ],
  [
    'type NS',
    'template: site\nrecords:\n  - { type: NS, content: ns.example.net }\n',
    '3:13: error: the service has no type `NS`; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT [unknown-type]',
  ],
  [
    'type ALIAS',
    'template: site\nrecords:\n  - { type: ALIAS, content: ns.example.net }\n',
    '3:13: error: the service has no type `ALIAS`; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT [unknown-type]',
  ],
  [
    'type CAA',
    'template: site\nrecords:\n  - { type: CAA, content: 0 issue "a" }\n',
    '3:13: error: the service has no type `CAA`; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT [unknown-type]',
  ],
  [
    'type SPF',
    'template: site\nrecords:\n  - { type: SPF, content: v=spf1 -all }\n',
    '3:13: error: the service has no type `SPF`: an SPF policy is a TXT record [unknown-type]',
  ],
  [
    'type missing',
    'template: site\nrecords:\n  - { content: 192.0.2.1 }\n',
    '3:5: error: the record has no `type`; there are: A, AAAA, CNAME, MX, PTR, SRV, TXT [unknown-type]',
  ],
  [
    'SRV all in content',
    'template: site\nrecords:\n  - { type: SRV, name: _sip._tcp, content: 10 5 5060 sip.example.net }\n',
    '3:44: error: the priority has a key of its own: `content: 5 5060 sip.example.net`, `priority: 10` [srv-content]',
  ],
  [
    'SRV missing parts',
    'template: site\nrecords:\n  - { type: SRV, name: _sip._tcp, priority: 1, target: sip.example.net }\n',
    '3:5: error: an SRV record needs `weight`, `port` and `target`; `weight` and `port` are missing [srv-content]',
  ],
  [
    'SRV name without underscore',
    'template: site\nrecords:\n  - { type: SRV, name: sip.tcp, priority: 1, content: 5 5060 sip.example.net }\n',
    '3:24: warning: clients ask for an SRV record by `_service._protocol`, not by `sip.tcp` [srv-name]',
  ],
  [
    'PTR full name',
    'template: site\nrecords:\n  - { type: PTR, name: 1.2.0.192.in-addr.arpa., content: a.example.net }\n',
    '3:24: error: names are relative to the subdomain, and `1.2.0.192.in-addr.arpa.` has a final dot: write `1.2.0.192.in-addr.arpa`, or allow it if the service stores names so [full-name]',
  ],
  [
    'name with dot',
    'template: site\nrecords:\n  - { type: A, name: www., content: 192.0.2.1 }\n',
    '3:22: error: names are relative to the subdomain, and `www.` has a final dot: write `www`, or allow it if the service stores names so [full-name]',
  ],
  [
    'name full',
    'template: site\nsubdomains: [bakery.example.net]\nrecords:\n  - { type: A, name: www.bakery.example.net, content: 192.0.2.1 }\n',
    '4:22: error: names are relative to the subdomain, and `www.bakery.example.net` ends in `bakery.example.net`: write `www`, or allow it if the service stores names so [full-name]',
  ],
  [
    'name with blank',
    'template: site\nrecords:\n  - { type: A, name: "my host", content: 192.0.2.1 }\n',
    '3:22: error: `my host` is not a name: `my host` holds more than letters, digits and hyphens [bad-host]',
  ],
  [
    'name url',
    'template: site\nrecords:\n  - { type: A, name: "https://www", content: 192.0.2.1 }\n',
    '3:22: error: `https://www` is not a name: `https://www` holds more than letters, digits and hyphens [bad-host]',
  ],
  [
    'star in middle',
    'template: site\nrecords:\n  - { type: A, name: "a.*", content: 192.0.2.1 }\n',
    '3:22: error: in `a.*` the star is not the whole first label; a wildcard is `*` or `*.name` [wildcard]',
  ],
  [
    'ttl word',
    'template: site\nttl: 1 hour\nrecords: []\n',
    '2:6: error: `ttl`: a TTL is whole seconds from 0 to 2147483647, or a duration such as 5m, 1h or 1d, not `1 hour` [ttl-range]',
  ],
  [
    'ttl neg',
    'template: site\nttl: -1\nrecords: []\n',
    '2:6: error: `ttl`: a TTL is whole seconds from 0 to 2147483647, or a duration such as 5m, 1h or 1d, not `-1` [ttl-range]',
  ],
  [
    'ttl 1',
    'template: site\nttl: 1\nrecords:\n  - {type: A, content: 192.0.2.1}\n',
    '2:6: warning: a TTL of 1 s is very short [ttl-unusual]',
  ],
  [
    'ttl week',
    'template: site\nttl: 1w\nrecords: []\n',
    '2:6: error: `ttl`: a TTL is whole seconds from 0 to 2147483647, or a duration such as 5m, 1h or 1d, not `1w` [ttl-range]',
  ],
  [
    'mode',
    'template: site\nmode: readonly\nrecords: []\n',
    '2:7: error: `mode` cannot be `readonly`; there are: enforce, edits, report [wrong-type]',
  ],
  [
    'surplus delete',
    'template: site\nsurplus: delete\nrecords: []\n',
    '2:10: error: `surplus` cannot be `delete`; there are: report, park [wrong-type]',
  ],
  [
    'twice the same',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1}\n  - {type: a, content: 192.0.2.1}\n',
    '4:5: error: this A record is listed twice, also at FILE:3:5 [duplicate-record]',
  ],
  [
    'no var',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: "${ipp}"}\n',
    '4:24: error: the variable `ipp` is not defined; did you mean `ip`? [undefined-variable]',
  ],
  [
    'jinja var',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: "{{ ip }}"}\n',
    '4:24: error: a variable is written `${ip}`, not `{{ ip }}` [undefined-variable]',
  ],
  [
    'unclosed var',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: "${ip"}\n',
    '4:24: error: a variable starts with `${` and its `}` is missing; write `$${` for a literal `${` [undefined-variable]',
  ],
  [
    'include missing',
    'template: site\ninclude: [_mail.yaml]\nrecords: []\n',
    '2:11: error: cannot include `_mail.yaml`: it does not exist [include]',
  ],
  [
    'include text',
    'template: site\ninclude: mail.yaml\nrecords: []\n',
    '2:10: error: `include` is a list, not `mail.yaml`: begin each entry with `-` [wrong-type]',
  ],
  [
    'dmarc at apex',
    'template: site\nrecords:\n  - {type: TXT, content: v=DMARC1; p=none}\n',
    '3:5: warning: a DMARC policy is looked for at `_dmarc`, nowhere else [dmarc-place]',
  ],
  [
    'wrapped list',
    '- template: site\n  records: []\n',
    '1:1: error: a template is a mapping (`key: value`), not a list [wrong-type]',
  ],
  [
    'zone file',
    '$ORIGIN example.net.\n@ IN A 192.0.2.1\n',
    '1:1: error: a template is a mapping (`key: value`), and this file has a text alone [wrong-type]',
  ],
  [
    'duplicate key',
    'template: site\ntemplate: shop\nrecords: []\n',
    '2:1: error: `template` is given twice [duplicate-key]',
  ],
  [
    'allow wrong',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1, allow: [bad-ip]}\n',
    '3:43: error: an entry of `allow` cannot be `bad-ip`; did you mean `bad-ipv4`? [wrong-type]',
  ],
  [
    'ignore text',
    'template: site\nignore: [_acme-challenge]\nrecords: []\n',
    '2:10: error: an ignore rule is a mapping (`{type: TXT, name: "_acme-challenge*"}`), not `_acme-challenge` [wrong-type]',
  ],
  [
    'content multiline',
    'template: site\nrecords:\n  - type: TXT\n    content: |\n      v=spf1 -all\n',
    '4:14: error: the content `v=spf1 -all\\n` holds a control character: it ends with a line break; write `>-` or `|-`, or quote it [control-character]',
  ],
  [
    'comment',
    'template: site\nrecords:\n  - type: TXT\n    content: key #1\n',
    '4:14: warning: the text ends here, since ` #` begins a comment: quote it, or put the comment on a line of its own [comment-after-text]',
  ],
  [
    'empty file',
    '',
    '1:1: error: the file describes no template: write `template: NAME` and its `records`, or remove it [wrong-type]',
  ],
  [
    'ansible style',
    'site:\n  - {type: A, content: 192.0.2.1}\n',
    '1:1: error: unknown key `site`; there are: template, id, ttl, mode, surplus, adopt, limits, window, subdomains, answers, nameservers, vars, include, ignore, records [unknown-key]',
  ],
  [
    'id text',
    'id: site\nrecords: []\n',
    '1:5: error: `id`: a whole number of at least 1 is needed, not `site` [wrong-type]',
  ],
  [
    'priority text',
    'template: site\nrecords:\n  - {type: MX, priority: high, content: mx.example.net}\n',
    '3:26: error: `priority`: a whole number from 0 to 65535 is needed, not `high` [priority-range]',
  ],
  [
    'priority on A',
    'template: site\nrecords:\n  - {type: A, priority: 10, content: 192.0.2.1}\n',
    '3:25: error: only MX and SRV records have a `priority`, A records have none [priority-not-applicable]',
  ],
  [
    'var without braces',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: $ip}\n',
    '4:24: error: a variable is written `${ip}`, not `$ip` [undefined-variable]',
  ],
  [
    'jinja name, which looks like a placeholder',
    'template: site\nvars: {host: www}\nrecords:\n  - {type: A, name: "{{host}}", content: 192.0.2.1}\n',
    '4:21: error: a variable is written `${host}`, not `{{host}}` [undefined-variable]',
  ],
  [
    'jinja var without quotes',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: {{ ip }}}\n',
    '4:25: error: a key is one word, not a list or a mapping; a variable is written `${name}` [wrong-type]',
  ],
  [
    'var of the environment',
    'template: site\nrecords:\n  - {type: A, content: "${IP}"}\n',
    '3:24: error: the variable `IP` is not defined: define it under `vars` [undefined-variable]',
  ],
  [
    'a remark in a key',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1, comment: web}\n',
    '3:35: error: unknown key `comment`; a remark is a comment of the file: a blank, `#` and the text [unknown-key]',
  ],
  [
    'a comma after an entry',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1},\n  - {type: A, content: 192.0.2.2}\n',
    '3:34: error: entries that begin with `-` have no comma between them: remove it [yaml-syntax]',
  ],
  [
    'records without dashes, one a line',
    'template: site\nrecords:\n  {type: A, content: 192.0.2.1}\n  {type: A, content: 192.0.2.2}\n',
    '4:1: error: this line does not begin where those before it begin: an entry begins with `-`, and keys of one entry begin in the same column [yaml-syntax]',
  ],
  [
    'no blank after the dash',
    'template: site\nrecords:\n  -{type: A, content: 192.0.2.1}\n',
    '3:11: error: a blank is missing after the `-` [yaml-syntax]',
  ],
  [
    'indented too much',
    'template: site\nrecords:\n- type: A\n    content: 192.0.2.1\n',
    '3:9: error: the line after this is indented more than `type`: keys of one entry begin in the same column [yaml-syntax]',
  ],
  [
    'indented too little',
    'template: site\nrecords:\n  - type: A\n   content: 192.0.2.1\n',
    '4:1: error: this line does not begin where those before it begin: an entry begins with `-`, and keys of one entry begin in the same column [yaml-syntax]',
  ],
  [
    'a record as in a zone file',
    'template: site\nrecords:\n  - www A 192.0.2.1\n',
    '3:5: error: a record is a mapping (`{type: A, name: www, content: 192.0.2.1}`), not `www A 192.0.2.1` [wrong-type]',
  ],
  [
    'two quoted texts',
    'template: site\nrecords:\n  - type: TXT\n    content: "v=DKIM1; p=abc" "def"\n',
    '4:31: error: a quoted text ends at its closing quote: write one text within one pair of quotes [yaml-syntax]',
  ],
  ['an empty value', 'template: site\nttl:\nrecords: []\n', '2:5: error: `ttl` is empty [wrong-type]'],
  [
    'weight on MX',
    'template: site\nrecords:\n  - {type: MX, priority: 10, weight: 5, content: mx.example.net}\n',
    '3:38: error: `weight` belongs to SRV records, not to MX [srv-content]',
  ],
];

const validateAll = async (): Promise<string[]> => {
  const cwd = await workplace({ withExamples: false });
  for (const [at, [, text]] of mistakes.entries())
    await writeBelow(cwd, `templates/${at}.yaml`, text.replace('template: site', `template: site-${at}`));
  return (await run(['validate'], { cwd })).stdout.split('\n');
};

/** One command tells of all of them. */
let told: Promise<string[]> | null = null;

it.each(mistakes.map(([what, , message], at) => [what, message, `templates/${at}.yaml`] as const))(
  '%s: %s',
  async (_, message, file) => {
    told ??= validateAll();
    expect(await told).toContain(`${file}:${message.replaceAll('FILE', file)}`);
  },
);
