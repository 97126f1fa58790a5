import type { JsonObject } from '@tollgate/schemas/json-object'

export type OutboxEvent = {
  readonly eventId: string
  readonly providerId: string
  readonly type: string
  readonly livemode: boolean
  readonly object: JsonObject
  readonly previousAttributes: JsonObject | null
  readonly requestId: string | null
  readonly idempotencyKey: string | null
  readonly createdAt: Date
}
