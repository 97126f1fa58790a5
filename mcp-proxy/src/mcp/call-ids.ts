import { Recent } from '@tollgate/platform/memory/recent'
import { randomUUID } from 'node:crypto'

const rememberedMax = 100_000

/**
 * The ids of calls that came back with the input they were asked for. Calls with one id count once, and a client can send the
 * same state as often as it likes: the id goes to one of these requests, and the others are calls of their own. Another process
 * does not know of it, so that a state buys at most one more answer in each.
 */
export class CallIds {
  readonly #taken = new Recent<boolean>(rememberedMax)

  /** Returns the id, or a new one if a request has it, or has ended with it. */
  take(callId: string): string {
    if (this.#taken.get(callId) === true) return randomUUID()
    this.#taken.set(callId, true)
    return callId
  }

  /** The request has asked for input again, and the next one goes on with its id. */
  giveBack(callId: string): void {
    this.#taken.set(callId, false)
  }
}
