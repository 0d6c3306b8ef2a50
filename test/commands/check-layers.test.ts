import { expect, it } from 'vitest';
import { layerRows } from '../../src/commands/check-layers.ts';
import type { AnswerDifference, ServerResult } from '../../src/result.ts';

const record = (content: string, name: string | null = null) => ({
  type: 'CNAME',
  name,
  content,
  priority: null,
  ttl: null,
});

const server = (address: string): ServerResult => ({
  name: 'ns1.example.net',
  address,
  serial: 1,
  status: 'in-sync',
  message: null,
});

it('two addresses of one name server have a column each', () => {
  const shown = [record('web.example.net', 'www.shop.example.net')];
  const stale: AnswerDifference = {
    kind: 'stale',
    server: 'ns1.example.net',
    address: '2001:db8::53',
    name: 'www.shop.example.net',
    type: 'CNAME',
    desired: shown,
    current: [record('old.example.net')],
  };
  const servers = ['192.0.2.53', '2001:db8::53'].map(server);
  const [row, ...others] = layerRows('shop.example.net', {
    desired: null,
    template: undefined,
    service: shown,
    answers: { status: 'drifted', servers, differences: [stale] },
  });
  expect(others).toEqual([]);
  expect(row?.servers).toEqual({
    'ns1.example.net (192.0.2.53)': shown,
    'ns1.example.net (2001:db8::53)': stale.current,
  });
});

it('the placeholder of the service stands for the subdomain, in names and contents', () => {
  const rows = layerRows('shop.example.net', {
    desired: { records: [record('web.##DOMAIN##', 'www.##DOMAIN##')] },
    template: undefined,
    service: [record('web.shop.example.net', 'www.shop.example.net')],
    answers: { status: 'off', servers: [], differences: [] },
  });
  expect(rows).toMatchObject([{ name: 'www', file: [{ content: 'web.shop.example.net' }] }]);
});

it('of a type that no template has, nobody says what name servers answer', () => {
  const [row] = layerRows('shop.example.net', {
    desired: null,
    template: undefined,
    service: [{ ...record('ns1.example.net', 'shop.example.net'), type: 'NS' }],
    answers: { status: 'in-sync', servers: [server('192.0.2.53')], differences: [] },
  });
  expect(row?.servers).toEqual({ 'ns1.example.net': null });
});
