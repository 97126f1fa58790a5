import type { BodyBudget } from './body-collector.ts'
import type { FrontOptions } from './http-front.ts'
import type { RequestHead } from './request-head.ts'

/** State that the exchanges of one front share. */
export type UwsContext = {
  readonly options: FrontOptions
  readonly budget: BodyBudget
  /** The head of the request that is being read now. It is reused for the next one. */
  readonly head: RequestHead
  /** Requests that are neither answered nor aborted. */
  inFlight: number
  /** While closing, responses ask clients to close the connection, so that a restart does not interrupt a request. */
  isClosing: boolean
}
