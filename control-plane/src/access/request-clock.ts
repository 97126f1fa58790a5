import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from '@tollgate/platform/clock/clock'

/**
 * The clock of requests. It shows real time, except within a request about a customer on a test clock. Everything that such a request
 * reads and decides then has the time of that customer, however deep it reads the clock.
 */
export class RequestClock implements Clock {
  readonly #realTime: Clock
  readonly #times = new AsyncLocalStorage<number>()

  constructor(realTime: Clock) {
    this.#realTime = realTime
  }

  now(): number {
    return this.#times.getStore() ?? this.#realTime.now()
  }

  /** Runs `body`, and everything that it starts, at that time. */
  runAt<Result>(time: Date, body: () => Result): Result {
    return this.#times.run(time.getTime(), body)
  }
}
