/** What processes that share a store have leases on: a client, publishing template files, sending notifications. */
export const leaseKinds = ['client', 'source', 'notifications'] as const;

export type LeaseKind = (typeof leaseKinds)[number];

/**
 * What became of a lease of this process. `taken-over`: its last holder had not given it back. `lost`: it is not ours any
 * more, before it was given back.
 */
export type LeaseChange = 'taken' | 'taken-over' | 'lost' | 'given-back';
