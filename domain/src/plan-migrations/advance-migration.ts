import { forEachConcurrently } from '../postgres/for-each-concurrently.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listScheduledHolders } from './items-repository.ts'
import { processHolder, withdrawHolder } from './process-holder.ts'
import {
  findMigration,
  listNextHolders,
  lockMigration,
  updateMigrationStatus,
  updateProcessedTo,
} from './repository.ts'
import type { PlanMigration } from './plan-migration.ts'

type Committing = {
  readonly now: Date
  commit<Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
}

export type AdvanceLimits = {
  /** Purchases that one call processes. */
  readonly pageMax: number
  readonly inFlightMax: number
}

/**
 * Processes the next page of a migration, each purchase in a transaction of its own. Then the position is stored. After a crash in
 * between, the page is processed again, and the purchases that were done are recognized. Returns false if there is nothing to do.
 */
export async function advanceMigration(
  context: Committing,
  reference: string,
  { pageMax, inFlightMax }: AdvanceLimits,
): Promise<boolean> {
  const read = await context.commit(async ({ sql, providerId }) => {
    const migration = await findMigration(sql, providerId, reference)
    if (migration?.status === 'running') {
      return { migration, page: await listNextHolders(sql, providerId, migration, pageMax) }
    }
    if (migration?.status !== 'cancelling') return undefined
    return { migration, page: await listScheduledHolders(sql, providerId, reference, pageMax) }
  })
  if (read === undefined) return false
  const { migration, page } = read
  const isRunning = migration.status === 'running'
  const act = isRunning ? processHolder : withdrawHolder
  await forEachConcurrently(page, inFlightMax, (holder) =>
    context.commit((work) => act(work, reference, holder)),
  )
  const last = page.at(-1)
  if (page.length < pageMax || last === undefined) {
    await endMigration(context, migration, isRunning ? 'done' : 'cancelled')
  } else if (isRunning) {
    const reached = { from: migration.processedTo, to: last.purchaseRef }
    await context.commit(({ sql, providerId }) =>
      updateProcessedTo(sql, providerId, reference, reached),
    )
  }
  return true
}

/** Ends the migration, unless it was paused or cancelled since the page was read. */
async function endMigration(
  context: Committing,
  { reference, status: before }: PlanMigration,
  status: PlanMigration['status'],
): Promise<void> {
  await context.commit(async ({ sql, providerId, now }) => {
    const migration = await lockMigration(sql, providerId, reference)
    if (migration?.status !== before) return
    await updateMigrationStatus(sql, providerId, { reference, status, updatedAt: now })
  })
}
