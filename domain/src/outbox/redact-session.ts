import type { EventEnvelope } from '@tollgate/schemas/http/webhooks'
import type { JsonObject } from '@tollgate/schemas/json-object'

/** Stands in place of what lets its reader act as a customer. */
export const redacted = '[redacted]'

/** Fields of an event's object that let in whoever knows them. */
const secretFields: readonly string[] = ['url', 'session_id']

/** Whether events of the type carry the link of a hosted page. */
export function tellsOfSession(type: string): boolean {
  return type.startsWith('checkout_session.') || type.startsWith('customer_session.')
}

/** Returns an event's object for readers who may not act as the customer. What is stored stays whole. */
export function redactSession(type: string, object: JsonObject): JsonObject {
  if (!tellsOfSession(type)) return object
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [
      name,
      secretFields.includes(name) ? redacted : value,
    ]),
  )
}

/** The same for the text of a whole event, as receivers get it. */
export function redactSessionText(text: string): string {
  const envelope = JSON.parse(text) as EventEnvelope
  const { type, data } = envelope
  if (!tellsOfSession(type)) return text
  const object = redactSession(type, data.object)
  return JSON.stringify({ ...envelope, data: { ...data, object } })
}
