import type { BodyBudget } from './body-collector.ts'
import type { FrontOptions } from './http-front.ts'

/** What the exchanges of one front share. */
export type UwsContext = {
  readonly options: FrontOptions
  readonly budget: BodyBudget
  /** Requests that have not been answered or aborted. */
  inFlight: number
  /** Answers then ask the client to leave, so that a restart does not cut anybody off. */
  isClosing: boolean
}
