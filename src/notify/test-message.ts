import type { Delivery } from './delivery.ts';
import { postDelivery, type ReceiverSettings } from './receiver.ts';

/** Sends a test message once. Returns why it was not accepted; null if it was. */
export const sendTest = async (receiver: ReceiverSettings, id: string): Promise<string | null> => {
  const posted = await postDelivery(testDelivery(id), receiver, new AbortController().signal);
  return posted.outcome === 'delivered' ? null : posted.reason;
};

const testDelivery = (id: string): Delivery => ({
  id,
  createdAt: new Date(),
  changes: [
    {
      event: 'cleared',
      client: 'test',
      health: {
        template: null,
        templateId: null,
        file: null,
        state: 'in-sync',
        message: 'this is a test: messages reach this receiver',
        keys: [],
        corrected: [],
        differences: [],
        subdomains: [],
      },
      previous: 'in-sync',
      merged: 1,
      run: id,
      at: new Date().toISOString(),
    },
  ],
});
