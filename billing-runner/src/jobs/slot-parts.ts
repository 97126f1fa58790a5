import type { BatchParts, AttemptOutcome } from './run-batch.ts'

export type SlotParts = BatchParts & {
  readonly limits: BatchParts['limits'] & {
    readonly batchItemsMax: number
    readonly claimLeaseMs: number
  }
}

/** Called after each batch with its outcomes and its duration in seconds. */
export type OnBatch = (outcomes: ReadonlyMap<AttemptOutcome, number>, seconds: number) => void

/** `waiting`: other runners still process items of the slot, or a failed item waits for its next attempt. */
export type SlotOutcome = 'ended' | 'waiting' | 'stopped'
