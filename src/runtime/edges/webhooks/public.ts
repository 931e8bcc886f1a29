/** Everything `import … from 'millrace/webhooks'` offers. For receivers and senders without a queue: nothing here opens a database. */
export type { Attempt, Parcel } from '../../background/sender.ts';
export { WEBHOOK_EVENTS, type WebhookEventName, type WebhookPostOptions } from '../../webhook-options.ts';
export { type DeliverOptions, type DeliveryReport, WebhookDispatcher } from './dispatcher.ts';
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookToVerify,
  WebhookVerificationError,
} from './signature.ts';
