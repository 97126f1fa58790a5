import {
  claimDue,
  failClaim,
  renewClaim,
  finishClaims,
  type DueItem,
} from '@tollgate/domain/calendar/claims'
import type { SelectDue } from '@tollgate/domain/calendar/due-items'
import { endSlot, type Slot } from '@tollgate/domain/calendar/slots'
import type { Environment } from '@tollgate/schemas/environment'
import type { WholeJob } from './job.ts'
import type { OnBatch, SlotOutcome, SlotParts } from './run-batch.ts'

/** The single item of a whole job belongs to no provider. */
const wholeItem: DueItem = { providerId: '', item: 'all' }

const selectWholeItem: SelectDue = (sql, now) =>
  sql`select ${wholeItem.providerId} as provider_id, '' as customer_ref, ${wholeItem.item} as item, ${now}::timestamptz as due_at`

/**
 * Does the work of a slot unless another runner has claimed it. The claim is renewed during the work, so that another runner takes
 * over soon after a crash, however long the work takes.
 */
export async function runWholeJob(
  { publisher, limits }: SlotParts,
  job: WholeJob,
  environment: Environment,
  slot: Slot,
  stopping: AbortSignal,
  onBatch: OnBatch,
): Promise<SlotOutcome> {
  const pool = publisher.database.in(environment)
  const { claimLeaseMs: leaseMs, triesMax, retryPauseMs: pauseMs } = limits
  const beganMs = performance.now()
  const claimed = await pool.begin((sql) =>
    claimDue(sql, slot, selectWholeItem, { itemsMax: 1, leaseMs, triesMax }, publisher.now()),
  )
  if (claimed.kind !== 'claimed') {
    // The runner that holds the claim renews it, which counts as progress.
    if (claimed.kind === 'waiting') onBatch(new Map(), 0)
    else await job.ended(environment)
    return claimed.kind
  }
  const renewing = setInterval(() => {
    onBatch(new Map(), 0)
    // If the renewal fails, another runner starts the work from the beginning, which is harmless.
    renewClaim(pool, job.name, wholeItem, leaseMs).catch(() => undefined)
  }, leaseMs / 3)
  try {
    await job.perform(environment, stopping)
  } catch (error) {
    if (!stopping.aborted) {
      await failClaim(pool, job.name, wholeItem, { pauseMs, triesMax })
      throw error
    }
    await finishClaims(pool, job.name, [wholeItem], [])
    return 'stopped'
  } finally {
    clearInterval(renewing)
  }
  await pool.begin(async (sql) => {
    await endSlot(sql, slot, publisher.now())
    await finishClaims(sql, job.name, [wholeItem], [])
  })
  onBatch(new Map([['done', 1]]), (performance.now() - beganMs) / 1_000)
  await job.ended(environment)
  return 'ended'
}
