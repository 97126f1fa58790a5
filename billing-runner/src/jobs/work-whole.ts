import {
  claimDue,
  failClaim,
  renewClaim,
  settleClaims,
  type DueItem,
  type SelectDue,
} from '@tollgate/domain/calendar/claims'
import { endSlot, type Slot } from '@tollgate/domain/calendar/slots'
import type { Environment } from '@tollgate/schemas/environment'
import type { WholeJob } from './job.ts'
import type { OnBatch, SlotOutcome, SlotParts } from './slot-parts.ts'

/** It is no provider's. */
const whole: DueItem = { providerId: '', item: 'all' }

const selectWhole: SelectDue = (sql, now) =>
  sql`select ${whole.providerId} as provider_id, ${whole.item} as item, ${now}::timestamptz as due_at`

/**
 * Does the work of a slot, unless another runner has it in hand. The claim is renewed while the work goes on, so that it
 * is taken over soon after a runner has died, however long the work takes.
 */
export async function workWhole(
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
    claimDue(sql, slot, selectWhole, { itemsMax: 1, leaseMs, triesMax }, publisher.now()),
  )
  if (claimed.kind !== 'claimed') {
    // Whoever has it renews the claim, which is progress.
    if (claimed.kind === 'waiting') onBatch(new Map(), 0)
    else await job.ended(environment)
    return claimed.kind
  }
  const renewing = setInterval(() => {
    onBatch(new Map(), 0)
    // Where that fails another runner begins anew, which does no harm.
    renewClaim(pool, job.name, whole, leaseMs).catch(() => undefined)
  }, leaseMs / 3)
  try {
    await job.perform(environment, stopping)
  } catch (error) {
    if (!stopping.aborted) {
      await failClaim(pool, job.name, whole, { pauseMs, triesMax })
      throw error
    }
    await settleClaims(pool, job.name, [whole], [])
    return 'stopped'
  } finally {
    clearInterval(renewing)
  }
  await pool.begin(async (sql) => {
    await endSlot(sql, slot, publisher.now())
    await settleClaims(sql, job.name, [whole], [])
  })
  onBatch(new Map([['done', 1]]), (performance.now() - beganMs) / 1_000)
  await job.ended(environment)
  return 'ended'
}
