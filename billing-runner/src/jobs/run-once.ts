import { setTimeout as sleep } from 'node:timers/promises'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { Job } from './job.ts'
import type { TriedOutcome } from './run-batch.ts'
import type { SlotParts } from './slot-parts.ts'
import { workSlot } from './work-slot.ts'

/** How many items had each outcome. */
export type Totals = ReadonlyMap<TriedOutcome, number>

const waitMs = 500

/**
 * Runs the job in one space until it is done, as a run of its own beside those of the schedule. Tells of the totals so far after each batch.
 */
export async function runOnce(
  parts: SlotParts,
  job: Job,
  space: PublicationSpace,
  stopping: AbortSignal,
  onProgress: (totals: Totals) => void,
): Promise<Totals> {
  const totals = new Map<TriedOutcome, number>()
  const when = { at: new Date(), isByHand: true }
  for (;;) {
    const outcome = await workSlot(parts, job, space, when, stopping, (batch) => {
      for (const [name, count] of batch) totals.set(name, (totals.get(name) ?? 0) + count)
      onProgress(totals)
    })
    if (outcome !== 'waiting') return totals
    await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}
