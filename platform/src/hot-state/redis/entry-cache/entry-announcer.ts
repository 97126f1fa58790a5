import { setTimeout as sleep } from 'node:timers/promises'
import { RedisUnavailableError } from '../redis-unavailable-error.ts'
import type { RunLeaseScript } from './lease-script.ts'
import { announceScript, countBehindScript } from './scripts.ts'

const firstPauseMs = 1
const pauseMsMax = 25
/** Readers notice a change within milliseconds. One that does not is waited for until its lease has ended, which it may renew once. */
const waitMsMax = 15_000

export type ChangedEntries = {
  readonly space: string
  readonly partition: number
  readonly subjects: readonly string[]
}

/** Announces changed entries to the processes that cache them. */
export class EntryAnnouncer {
  readonly #run: RunLeaseScript
  readonly #channel: string

  constructor(run: RunLeaseScript, channel: string) {
    this.#run = run
    this.#channel = channel
  }

  /**
   * Resolves once no process uses what it cached of these entries before. The change must be made already. Rejects with a
   * RedisUnavailableError if that remains unknown; the change must then be made again.
   */
  async announce(changed: ChangedEntries): Promise<void> {
    const startedAtMs = performance.now()
    let [runId, sequence, behind] = await this.#send(changed)
    for (let pauseMs = firstPauseMs; behind !== 0; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      if (performance.now() - startedAtMs > waitMsMax) {
        throw new RedisUnavailableError('A process that caches entries has not noticed a change')
      }
      await sleep(pauseMs)
      behind = (await this.#run(countBehindScript, [runId, `${sequence}`])) as number
      // Another server does not know the change, so it is announced again.
      if (behind < 0) [runId, sequence, behind] = await this.#send(changed)
    }
  }

  async #send(changed: ChangedEntries): Promise<[runId: string, sequence: number, behind: number]> {
    const text = JSON.stringify(changed)
    return (await this.#run(announceScript, [this.#channel, text])) as [string, number, number]
  }
}
