import type { UsageEvent } from './usage-event.ts'

/** Tollgate did not answer, or answered that it is unavailable. A later attempt may succeed. */
export class AwayError extends Error {
  override readonly name = 'AwayError'
  /** Whether any server answered. */
  readonly isAnswered: boolean

  constructor(message: string, isAnswered: boolean, options?: ErrorOptions) {
    super(message, options)
    this.isAnswered = isAnswered
  }
}

/** Tollgate refused a request. It will refuse it again until the setup or the request changes. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  /** HTTP status of the response. */
  readonly status: number
  /** Machine-readable code of the response, if it has one. */
  readonly code: string | undefined

  constructor(path: string, status: number, body: unknown) {
    const { message, code } = (body ?? {}) as { message?: unknown; code?: unknown }
    const detail = typeof message === 'string' ? message : JSON.stringify(message ?? '')
    super(`Tollgate refused ${path} with ${status}: ${detail}`)
    this.status = status
    this.code = typeof code === 'string' ? code : undefined
  }
}

/** Usage records that were not delivered and are no longer kept. Store `events` to send them later: their keys stay the same. */
export class LostUsageError extends Error {
  override readonly name = 'LostUsageError'
  readonly events: readonly UsageEvent[]

  constructor(message: string, events: readonly UsageEvent[], options?: ErrorOptions) {
    super(message, options)
    this.events = events
  }
}
