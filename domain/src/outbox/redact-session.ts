import type { EventEnvelope } from '@tollgate/schemas/http/webhooks'
import type { JsonObject } from '@tollgate/schemas/json-object'

/** Replaces values that let a reader act as a customer. */
export const redacted = '[redacted]'

/** Fields of an event's object that give access to the customer's hosted pages. */
const secretFields: readonly string[] = ['url', 'session_id']

/** Returns whether events of the type contain the link of a hosted page. */
export function isSessionEvent(type: string): boolean {
  return type.startsWith('checkout_session.') || type.startsWith('customer_session.')
}

/** Returns an event's object for readers who are not allowed to act as the customer. The stored event is unchanged. */
export function redactSession(type: string, object: JsonObject): JsonObject {
  if (!isSessionEvent(type)) return object
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      secretFields.includes(name) ? redacted : value,
    ]),
  )
}

/** Returns the text of a whole event, as receivers get it, with the same fields redacted. */
export function redactSessionText(text: string): string {
  const envelope = JSON.parse(text) as EventEnvelope
  const { type, data } = envelope
  if (!isSessionEvent(type)) return text
  const object = redactSession(type, data.object)
  return JSON.stringify({ ...envelope, data: { ...data, object } })
}
