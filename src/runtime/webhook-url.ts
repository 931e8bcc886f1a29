/** Where a webhook may go, checked at the door. What a name resolves to is checked again when it is connected to. */
import { InvalidInputError } from './errors.ts';
import { hasPrivateHost } from './private-addresses.ts';

/** An http or https URL without credentials, as `URL` writes it. The URL is never repeated in the error: it may hold a password. */
export function requireWebhookUrl(url: unknown, field: string, allowPrivateNetwork: boolean): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new InvalidInputError(field, 'must be an http or https URL.');
  }
  if (parsed.username || parsed.password) {
    throw new InvalidInputError(field, 'must not carry a user name or password.');
  }
  if (!allowPrivateNetwork && hasPrivateHost(parsed)) {
    throw new InvalidInputError(
      field,
      'leads into a private network; set webhooks.allowPrivateNetwork if this is meant.',
    );
  }
  return parsed.href;
}
