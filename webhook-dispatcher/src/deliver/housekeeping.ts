import type { Logger } from '@tollgate/platform/observability/logger'
import { WakeUps } from '@tollgate/platform/waiting/wake-ups'
import type { WebhookDispatcherConfig } from '../config.ts'
import { deleteOldDeliveries } from '../postgres/clean-up.ts'
import type { Pool } from '../postgres/pool.ts'
import { applyEndpointStatus } from '../postgres/apply-endpoint-status.ts'

export type HousekeepingParts = {
  readonly sql: Pool
  readonly now: () => Date
  readonly logger: Logger
  readonly config: Pick<WebhookDispatcherConfig, 'pollMs' | 'deliveriesKeptDays'>
  /** Called after a sync: held deliveries may have become pending. */
  readonly onSynced: () => void
}

const dayMs = 86_400_000
const cleanUpIntervalMs = 3_600_000

/** Applies changes of endpoint status to queued deliveries, on request and with each poll. Deletes old deliveries every hour. */
export class Housekeeping {
  readonly #parts: HousekeepingParts
  readonly #wakeUps = new WakeUps()
  #isSyncRequested = false
  #isStopping = false
  #cleanedUpAt = -Infinity
  #loop: Promise<void> | undefined

  constructor(parts: HousekeepingParts) {
    this.#parts = parts
  }

  async start(): Promise<void> {
    await this.#syncEndpoints()
    this.#loop = this.#run()
  }

  syncSoon(): void {
    this.#isSyncRequested = true
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
      if (!this.#isSyncRequested) await this.#wakeUps.wait(this.#parts.config.pollMs)
      this.#isSyncRequested = false
      if (!this.#isStopping) await this.#syncEndpoints()
    }
  }

  /** An error is logged; the next poll tries again. */
  async #syncEndpoints(): Promise<void> {
    const { sql, now, onSynced, logger } = this.#parts
    try {
      await applyEndpointStatus(sql, now())
      onSynced()
    } catch (error) {
      logger.warn(
        { err: error },
        'could not apply endpoint status to queued deliveries; retrying with the next poll',
      )
    }
  }

  async #cleanUp(): Promise<void> {
    const { sql, now, logger, config } = this.#parts
    const startedAt = now().getTime()
    if (startedAt < this.#cleanedUpAt + cleanUpIntervalMs) return
    try {
      const createdBefore = new Date(startedAt - config.deliveriesKeptDays * dayMs)
      const deleted = await deleteOldDeliveries(sql, createdBefore)
      if (deleted > 0) logger.info({ deleted }, 'deleted old deliveries')
      this.#cleanedUpAt = startedAt
    } catch (error) {
      logger.warn({ err: error }, 'could not delete old deliveries; retrying with the next poll')
    }
  }
}
