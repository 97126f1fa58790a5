import { setTimeout as sleep } from 'node:timers/promises'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import type { Job } from './job.ts'
import type { AttemptOutcome, SlotParts } from './run-batch.ts'
import { processSlot } from './process-slot.ts'

/** How many items had each outcome. */
export type Totals = ReadonlyMap<AttemptOutcome, number>

const waitMs = 500

/**
 * Runs the job in one space until nothing is left, as a run by hand in addition to the schedule. Reports the totals after each
 * batch.
 */
export async function runOnce(
  parts: SlotParts,
  job: Job,
  space: PublicationSpace,
  stopping: AbortSignal,
  onProgress: (totals: Totals) => void,
): Promise<Totals> {
  const totals = new Map<AttemptOutcome, number>()
  const when = { at: new Date(), isByHand: true }
  for (;;) {
    const outcome = await processSlot(parts, job, space, when, stopping, (batch) => {
      for (const [name, count] of batch) totals.set(name, (totals.get(name) ?? 0) + count)
      onProgress(totals)
    })
    if (outcome !== 'waiting') return totals
    await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}
