import type { AlertSubject } from './alert.ts'

/** A period in which a threshold is emitted once. */
export type WatchedPeriod = {
  /** Unique among the periods of the same subject. */
  readonly id: string
  readonly start: Date
  /** Exclusive; null for a period without an end. */
  readonly end: Date | null
}

/** A value of one period that alerts compare with their thresholds. */
export type WatchedValue = {
  readonly watches: AlertSubject | 'budget'
  /** Key of the charge or limit; null for spend and budgets. */
  readonly limitKey: string | null
  readonly meterName: string | null
  readonly productRef: string
  readonly purchaseRef: string
  readonly planRef: string
  readonly unit: 'units' | 'minor'
  /** Currency of minor units, otherwise null. */
  readonly currency: string | null
  /** Units of usage are 10^-6. */
  readonly value: bigint
  /** The whole limit or budget, in the same unit; null if there is none. */
  readonly whole: bigint | null
  /** Kind and key of what is watched. */
  readonly subject: string
  /**
   * The whole as the plan or the customer has set it. A threshold in percent of another size is another threshold. `whole` may
   * differ from it by units carried over, which late usage changes.
   */
  readonly size: string
  /** The part of `whole` that packs add, in the same unit. Undefined for none. */
  readonly raised?: bigint
  readonly period: WatchedPeriod
  /** In a window that moves with the time, a threshold is emitted again only after this many seconds. Undefined for fixed periods. */
  readonly rollingSeconds?: number
}
