import type { MessageId } from './messages.ts'
import { membersOf, objectOf } from './raw-json.ts'

/** Returns the text of a message with another id. The texts of all other values are not changed. */
export function withId(text: string, id: MessageId): string {
  return objectOf(membersOf(text).set('id', JSON.stringify(id)))
}
