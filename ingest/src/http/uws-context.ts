import type { BodyBudget } from './body-collector.ts'
import type { FrontOptions } from './http-front.ts'
import type { RequestHead } from './request-head.ts'

/** What the exchanges of one front share. */
export type UwsContext = {
  readonly options: FrontOptions
  readonly budget: BodyBudget
  /** Holds the head of the request that arrives now, and of no other. */
  readonly head: RequestHead
  /** Requests that have not been answered or aborted. */
  inFlight: number
  /** Answers then ask the client to leave, so that a restart does not cut anybody off. */
  isClosing: boolean
}
