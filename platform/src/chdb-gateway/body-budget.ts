import { GatewayException } from './exception.ts'

/** The share of one request in the memory for request bodies. */
export type BodyShare = {
  readonly bytesMax: number
  /** Reserves bytes. Throws if this request, or all requests together, would exceed their limit. */
  take(bytes: number): void
  close(): void
}

export type BodyBudget = { open(): BodyShare }

/**
 * Limits the memory of request bodies. Bodies wait in memory for their turn, so limiting the number of waiting statements alone
 * would not limit memory.
 */
export function createBodyBudget(perRequestMax: number, togetherMax: number): BodyBudget {
  let together = 0
  return {
    open() {
      let own = 0
      return {
        bytesMax: perRequestMax,
        take(bytes) {
          if (own + bytes > perRequestMax) {
            throw new GatewayException(307, 'TOO_MANY_BYTES', `at most ${perRequestMax} bytes`)
          }
          if (together + bytes > togetherMax) {
            const message = 'too many bytes are waiting'
            throw new GatewayException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', message)
          }
          own += bytes
          together += bytes
        },
        close() {
          together -= own
          own = 0
        },
      }
    },
  }
}
