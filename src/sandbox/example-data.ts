/**
 * A small hosting client, always the same. Compared with the files in `templates/`, its templates show every
 * kind of difference.
 */
export const exampleData = () => ({
  version: 2 as const,
  next_id: 2001,
  dns_templates: dnsTemplates(),
  subdomains: [
    { id: 1001, name: 'bakery.example.net', dns_template_id: 17 },
    { id: 1002, name: 'cafe.example.net', dns_template_id: 17 },
    { id: 1003, name: 'team.example.org', dns_template_id: 21 },
    { id: 1004, name: '100.51.198.in-addr.arpa', dns_template_id: 26 },
  ],
});

const dnsTemplates = () => [
  template(1, 'basic-hosting', true, [
    [10, 'A', null, '203.0.113.100', null, 3600],
    [11, 'CNAME', 'www', 'hosting.example.com', null, 3600],
    [12, 'MX', null, 'mail.example.com', 10, 3600],
  ]),
  template(2, 'no-mail', true, [
    [15, 'MX', null, '.', 0, 86_400],
    [16, 'TXT', null, 'v=spf1 -all', null, 86_400],
  ]),
  template(17, 'standard-web', false, [
    [170, 'A', null, '203.0.113.10', null, 3600],
    [171, 'A', 'www', '203.0.113.9', null, 3600],
    [172, 'AAAA', null, '2001:db8:10::10', null, 86_400],
    [173, 'A', 'shop', '203.0.113.25', null, 3600],
    [174, 'A', 'api', '203.0.113.30', null, 3600],
    [175, 'A', 'staging', '203.0.113.40', null, 3600],
    [176, 'CNAME', 'assets', 'cdn.example.com', null, 3600],
    [177, 'CNAME', 'status', 'status.example.com', null, 3600],
    [178, 'MX', null, 'mx1.example.com', 10, 3600],
    [179, 'TXT', null, 'v=spf1 mx -all', null, 3600],
    [180, 'TXT', '_dmarc', 'v=DMARC1; p=reject', null, 3600],
  ]),
  template(21, 'mail-only', false, [
    [210, 'MX', null, 'mx1.example.com', 10, 3600],
    [211, 'MX', null, 'mx2.example.com', 30, 3600],
    [212, 'TXT', null, 'v=spf1 mx -all', null, 3600],
    [213, 'TXT', '_dmarc', 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.org', null, 3600],
    [214, 'TXT', 'mail2025._domainkey', dkim, null, 3600],
    [215, 'CNAME', 'autoconfig', 'autoconfig.example.com', null, 3600],
    [216, 'CNAME', 'webmail', 'webmail.example.com', null, 3600],
    [217, 'TXT', null, 'v=spf1 mx -all', null, 3600],
  ]),
  template(23, 'redirects', false, [
    [230, 'A', null, '203.0.113.20', null, 300],
    [231, 'AAAA', null, '2001:db8:10::20', null, 300],
    [232, 'CNAME', 'www', 'redirect.example.net', null, 86_400],
  ]),
  template(26, 'office-reverse', false, [
    [260, 'PTR', '1', 'gateway.office.example.net', null, 86_400],
    [261, 'PTR', '10', 'files.office.example.net', null, 86_400],
    [262, 'PTR', '11', 'backup.office.example.net', null, 86_400],
    [263, 'PTR', '12', 'old-printer.office.example.net', null, 86_400],
    [264, 'PTR', '20', 'meeting-room.office.example.net', null, 86_400],
  ]),
  template(31, 'voice', false, [
    [310, 'A', 'sip', '198.51.100.20', null, 300],
    [311, 'SRV', '_sip._udp', '5 5060 sip.example.net', 10, 300],
    [312, 'SRV', '_sip._tcp', '5 5060 sip.example.net', 10, 300],
    [313, 'SRV', '_sips._tcp', '5 5060 sip.example.net', 10, 300],
  ]),
];

const dkim = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

const template = (
  id: number,
  name: string,
  publicly_available: boolean,
  rows: readonly (readonly [number, string, string | null, string, number | null, number])[],
) => ({
  id,
  name,
  publicly_available,
  dns_template_records: rows.map(([record, type, relative, content, priority, ttl]) => ({
    id: record,
    type,
    content,
    name: relative,
    priority,
    ttl,
  })),
});

/** Nothing changes them. */
export const accounts = [
  {
    id: 301,
    name: 'bakery',
    created_at: '2023-03-14 09:26:53 +0100',
    virtual_server_id: 12,
    applications: [
      {
        id: 411,
        account_id: 301,
        name: 'bakery-shop',
        created_at: '2023-03-14 09:31:07 +0100',
        aliases: ['bakery.example.net', 'www.bakery.example.net'],
      },
      { id: 412, account_id: 301, name: 'cafe', created_at: '2024-07-02 16:05:40 +0200', aliases: [] },
    ],
    databases: [
      {
        id: 511,
        account_id: 301,
        name: 'bakery_shop',
        hosts: ['localhost', 'office.example.net'],
        database_grants: [
          { id: 611, login: 'bakery_app', access_level: 'read-write' },
          { id: 612, login: 'bakery_report', access_level: 'read' },
        ],
      },
    ],
    ftp_users: [{ id: 711, account_id: 301, user: 'bakery', host: 'ftp.example.net', directory: '' }],
    ssh_keys: [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample deploy@example.net',
    ],
  },
  {
    id: 302,
    name: 'team',
    created_at: '2025-01-20 11:00:02 +0100',
    virtual_server_id: 14,
    applications: [],
    databases: [],
    ftp_users: [],
    ssh_keys: [],
  },
];
