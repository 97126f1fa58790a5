import type { BatchParts, TriedOutcome } from './run-batch.ts'

export type SlotParts = BatchParts & {
  readonly limits: BatchParts['limits'] & {
    readonly batchItemsMax: number
    readonly claimLeaseMs: number
  }
}

/** Hears of every batch when it is done. */
export type OnBatch = (outcomes: ReadonlyMap<TriedOutcome, number>, seconds: number) => void

/** `waiting`: other runners are at work in it, or something that failed is to be tried again. */
export type SlotOutcome = 'ended' | 'waiting' | 'stopped'
