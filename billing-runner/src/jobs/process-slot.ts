import { claimDue, type ClaimLimits } from '@tollgate/domain/calendar/claims'
import { endSlot, openSlot, type Slot } from '@tollgate/domain/calendar/slots'
import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import { poolOf } from '@tollgate/domain/publishing/publisher'
import type { ItemJob, Job, SweepJob } from './job.ts'
import { runBatch, type OnBatch, type SlotOutcome, type SlotParts } from './run-batch.ts'
import { runWholeJob } from './run-whole-job.ts'

/**
 * Processes one slot of a job until no unclaimed item is left or `stopping` is aborted, which takes effect after the current batch.
 * Any number of runners may process the same slot. The runner that finds everything done ends the slot.
 */
export async function processSlot(
  parts: SlotParts,
  job: Job,
  space: PublicationSpace,
  when: Pick<Slot, 'at' | 'isByHand'>,
  stopping: AbortSignal,
  onBatch: OnBatch,
): Promise<SlotOutcome> {
  const slot: Slot = { job: job.name, ...when }
  const isOpen = await openSlot(poolOf(parts.publisher, space), slot, parts.publisher.now())
  if (!isOpen) {
    if (job.kind === 'whole' && space !== 'control') await job.ended(space)
    return 'ended'
  }
  if (job.kind === 'sweep') return sweepAll(parts, job, space, slot, stopping)
  if (space === 'control') return 'ended'
  return job.kind === 'whole'
    ? runWholeJob(parts, job, space, slot, stopping, onBatch)
    : processItems(parts, job, space, slot, stopping, onBatch)
}

async function processItems(
  parts: SlotParts,
  job: ItemJob,
  environment: Exclude<PublicationSpace, 'control'>,
  slot: Slot,
  stopping: AbortSignal,
  onBatch: OnBatch,
): Promise<SlotOutcome> {
  const { publisher, limits } = parts
  const pool = publisher.database.in(environment)
  const claimLimits: ClaimLimits = {
    itemsMax: limits.batchItemsMax,
    leaseMs: limits.claimLeaseMs,
    triesMax: limits.triesMax,
  }
  while (!stopping.aborted) {
    const beganMs = performance.now()
    const claimed = await pool.begin((sql) =>
      claimDue(sql, slot, job.due.select, claimLimits, publisher.now()),
    )
    if (claimed.kind !== 'claimed') return claimed.kind
    const outcomes = await runBatch(parts, environment, job, slot, claimed.items)
    onBatch(outcomes, (performance.now() - beganMs) / 1_000)
  }
  return 'stopped'
}

/** Sweeps without claims: if several runners delete the same rows, each row is deleted once. */
async function sweepAll(
  { publisher }: SlotParts,
  job: SweepJob,
  space: PublicationSpace,
  slot: Slot,
  stopping: AbortSignal,
): Promise<SlotOutcome> {
  const pool = poolOf(publisher, space)
  while (await job.sweep(pool, space, publisher.now())) {
    if (stopping.aborted) return 'stopped'
  }
  await endSlot(pool, slot, publisher.now())
  return 'ended'
}
