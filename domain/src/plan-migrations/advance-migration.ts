import { forEachConcurrently } from '../postgres/for-each-concurrently.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listScheduledHolders } from './items-repository.ts'
import { processHolder, skipFailed, withdrawHolder } from './process-holder.ts'
import {
  findMigration,
  listNextHolders,
  lockMigration,
  updateMigrationStatus,
  updateProcessedTo,
  type Holder,
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
 *
 * A purchase that fails twice is skipped, so it does not hold up the others. A change that cannot be withdrawn keeps the migration
 * in its state. In both cases an error is thrown at the end of the page, which names a purchase.
 */
export async function advanceMigration(
  context: Committing,
  reference: string,
  limits: AdvanceLimits,
): Promise<boolean> {
  const read = await context.commit(async ({ sql, providerId }) => {
    const migration = await findMigration(sql, providerId, reference)
    if (migration?.status === 'running') {
      return { migration, page: await listNextHolders(sql, providerId, migration, limits.pageMax) }
    }
    if (migration?.status !== 'cancelling') return undefined
    const page = await listScheduledHolders(sql, providerId, reference, limits.pageMax)
    return { migration, page }
  })
  if (read === undefined) return false
  const { migration, page } = read
  if (migration.status === 'running') await schedulePage(context, migration, page, limits)
  else await withdrawPage(context, migration, page, limits)
  return true
}

async function schedulePage(
  context: Committing,
  migration: PlanMigration,
  page: readonly Holder[],
  { pageMax, inFlightMax }: AdvanceLimits,
): Promise<void> {
  const { reference } = migration
  let isRunning = true
  const attempt = async (holder: Holder): Promise<void> => {
    const isProcessed = await context.commit((work) => processHolder(work, reference, holder))
    isRunning &&= isProcessed
  }
  const tried = await attemptEach(page, inFlightMax, attempt)
  const failures = await attemptEach(
    tried.map(({ holder }) => holder),
    inFlightMax,
    attempt,
  )
  // If the database is what failed, this fails too, and the page is processed again.
  await forEachConcurrently(failures, inFlightMax, ({ holder }) =>
    context.commit((work) => skipFailed(work, reference, holder)),
  )
  // Purchases were left out while the migration was paused. It may have been resumed since, and the page is processed again.
  if (!isRunning) return
  const last = page.at(-1)
  if (page.length < pageMax || last === undefined) await endMigration(context, migration, 'done')
  else {
    const reached = { from: migration.processedTo, to: last.purchaseRef }
    await context.commit(({ sql, providerId }) =>
      updateProcessedTo(sql, providerId, reference, reached),
    )
  }
  throwFirst(failures, `purchases of ${reference} failed and were skipped`)
}

async function withdrawPage(
  context: Committing,
  migration: PlanMigration,
  page: readonly Holder[],
  { pageMax, inFlightMax }: AdvanceLimits,
): Promise<void> {
  const { reference } = migration
  const failures = await attemptEach(page, inFlightMax, (holder) =>
    context.commit((work) => withdrawHolder(work, reference, holder)),
  )
  throwFirst(failures, `changes of ${reference} could not be withdrawn`)
  if (page.length < pageMax) await endMigration(context, migration, 'cancelled')
}

type Failure = { readonly holder: Holder; readonly error: unknown }

/** Runs `act` for each purchase, also after a failure. Returns the failures. */
async function attemptEach(
  page: readonly Holder[],
  inFlightMax: number,
  act: (holder: Holder) => Promise<void>,
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  await forEachConcurrently(page, inFlightMax, async (holder) => {
    try {
      await act(holder)
    } catch (error) {
      failures.push({ holder, error })
    }
  })
  return failures
}

function throwFirst(failures: readonly Failure[], what: string): void {
  const [first] = failures
  if (first === undefined) return
  const message = `${failures.length} ${what}, such as ${first.holder.purchaseRef}`
  throw new Error(message, { cause: first.error })
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
