import { expect, it } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';

/**
 * What people write who know DNS and are new to these files, and what they are told, once: where, what, and what to do. Each
 * text is a file of its own; `site` is the template's name, and `FILE` the path of the file in the messages.
 */
const mistakes: readonly (readonly [what: string, text: string, message: string])[] = [
  [
    'no blank after a colon',
    'template:site\nrecords: []\n',
    '1:1: error: a key ends at a colon and a blank, as in `key: value`: there is none [yaml-syntax]',
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
    'a misspelled part',
    'template: site\nrecords:\n  - {type: SRV, name: _sip._tcp, priority: 1, weigth: 5, port: 5060, target: sip.example.net}\n',
    '3:47: error: unknown key `weigth`; did you mean `weight`? [unknown-key]',
  ],
  [
    'priority in the content',
    'template: site\nrecords:\n  - {type: MX, content: 10 mx.example.net}\n',
    '3:25: error: the priority has a key of its own: `content: mx.example.net`, `priority: 10` [bad-host]',
  ],
  [
    'merge key',
    'template: site\nrecords:\n  - &www {type: A, name: www, content: 192.0.2.1}\n  - {<<: *www, name: shop}\n',
    '4:6: error: merge keys are not supported; put shared entries into a fragment and `include` it [unknown-key]',
  ],
  [
    'CNAME beside A',
    'template: site\nrecords:\n  - { type: CNAME, name: www, content: example.net }\n  - { type: A, name: www, content: 192.0.2.1 }\n',
    '3:5: error: a CNAME must be alone at its name, but at `www` there is also A (FILE:4:5) [cname-alone]',
  ],
  [
    'type SPF',
    'template: site\nrecords:\n  - { type: SPF, content: v=spf1 -all }\n',
    '3:13: error: the service has no type `SPF`: an SPF policy is a TXT record [unknown-type]',
  ],
  [
    'SRV missing parts',
    'template: site\nrecords:\n  - { type: SRV, name: _sip._tcp, priority: 1, target: sip.example.net }\n',
    '3:5: error: an SRV record needs `weight`, `port` and `target`; `weight` and `port` are missing [srv-content]',
  ],
  [
    'twice the same',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1}\n  - {type: a, content: 192.0.2.1}\n',
    '4:5: error: this A record is listed twice, also at FILE:3:5 [duplicate-record]',
  ],
  [
    'jinja var',
    'template: site\nvars: {ip: 192.0.2.1}\nrecords:\n  - {type: A, content: "{{ ip }}"}\n',
    '4:24: error: a variable is written `${ip}`, not `{{ ip }}` [undefined-variable]',
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
    'a comma after an entry',
    'template: site\nrecords:\n  - {type: A, content: 192.0.2.1},\n  - {type: A, content: 192.0.2.2}\n',
    '3:34: error: entries that begin with `-` have no comma between them: remove it [yaml-syntax]',
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
    const lines = (await told).filter((line) => line.startsWith(`${file}:`));
    expect(lines).toEqual([`${file}:${message.replaceAll('FILE', file)}`]);
  },
);
