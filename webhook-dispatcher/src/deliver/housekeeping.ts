import type { Logger } from '@tollgate/platform/observability/logger'
import { WakeUps } from '@tollgate/platform/waiting/wake-ups'
import type { WebhookDispatcherConfig } from '../config.ts'
import { deleteOldDeliveries } from '../postgres/clean-up.ts'
import type { Pool } from '../postgres/pool.ts'
import { settleQueues } from '../postgres/settle-queues.ts'

export type HousekeepingParts = {
  readonly sql: Pool
  readonly now: () => Date
  readonly logger: Logger
  readonly config: Pick<WebhookDispatcherConfig, 'pollMs' | 'deliveriesKeptDays'>
  /** Deliveries may have become pending. */
  readonly onSettled: () => void
}

const dayMs = 86_400_000
const cleanUpIntervalMs = 3_600_000

/** Holds and frees what waits for endpoints that changed, at once and with each poll; deletes what is old, every hour. */
export class Housekeeping {
  readonly #parts: HousekeepingParts
  readonly #wakeUps = new WakeUps()
  #wasAsked = false
  #isStopping = false
  #cleanedUpAt = -Infinity
  #loop: Promise<void> | undefined

  constructor(parts: HousekeepingParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    await this.#settle()
    this.#loop = this.#run()
  }

  settleSoon(): void {
    this.#wasAsked = true
    this.#wakeUps.wake()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#wakeUps.wake()
    await this.#loop
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      await this.#cleanUp()
      if (!this.#wasAsked) await this.#wakeUps.wait(this.#parts.config.pollMs)
      this.#wasAsked = false
      if (!this.#isStopping) await this.#settle()
    }
  }

  /** What fails is looked for again with the next poll. */
  async #settle(): Promise<void> {
    const { sql, now, onSettled, logger } = this.#parts
    try {
      await settleQueues(sql, now())
      onSettled()
    } catch (error) {
      logger.warn({ err: error }, 'what waits for changed endpoints could not be looked through')
    }
  }

  async #cleanUp(): Promise<void> {
    const { sql, now, logger, config } = this.#parts
    const startedAt = now().getTime()
    if (startedAt < this.#cleanedUpAt + cleanUpIntervalMs) return
    try {
      const madeBefore = new Date(startedAt - config.deliveriesKeptDays * dayMs)
      const deleted = await deleteOldDeliveries(sql, madeBefore)
      if (deleted > 0) logger.info({ deleted }, 'old deliveries were deleted')
      this.#cleanedUpAt = startedAt
    } catch (error) {
      logger.warn({ err: error }, 'old deliveries could not be deleted')
    }
  }
}
