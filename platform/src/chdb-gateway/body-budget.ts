import { GatewayException } from './exception.ts'

/** The bytes one request may hold, out of what all may hold together. */
export type BodyShare = {
  readonly bytesMax: number
  /** Throws when this request, or all together, would hold too much. */
  take(bytes: number): void
  close(): void
}

export type BodyBudget = { open(): BodyShare }

/** Bodies wait in memory for their turn, so the number of waiting statements alone would bound nothing. */
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
