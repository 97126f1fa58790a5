import type { CorrectionAction, CorrectionStatus } from '@tollgate/schemas/http/usage-corrections'
import type { FilterValue } from '@tollgate/schemas/meter-reading'

/** Values by property, of which a record must have one. */
export type PropertyValues = Readonly<Record<string, readonly FilterValue[]>>

/** The records that a correction changes. It is stored as JSON. */
export type CorrectionSelection =
  | {
      readonly kind: 'record'
      readonly id: string
      /** The reference under which the record may be stored. Undefined if it is unknown. */
      readonly customerRef?: string | undefined
    }
  | {
      readonly kind: 'filter'
      readonly customerRef?: string | undefined
      readonly productRef?: string | undefined
      readonly meterName?: string | undefined
      /** Unix milliseconds, half-open. */
      readonly fromMs: number
      readonly toMs: number
      readonly dimensions: PropertyValues
      readonly properties: PropertyValues
    }

/** What a correction does to each of its records. */
export type CorrectionChange = {
  readonly action: CorrectionAction
  /** 10^-6 units that a record has afterwards. Undefined unless the action is `set`. */
  readonly valueMicros: bigint | undefined
}

export type NewCorrection = CorrectionChange & {
  readonly selection: CorrectionSelection
  readonly reason: string
  readonly author: string
  readonly idempotencyKey: string | null
}

/** Offsets of the log by partition, as a JSON object. */
export type ReadTo = Readonly<Record<string, number>>

/** The position of a record in the order in which a correction changes its records. */
export type CorrectionCursor = { readonly ms: number; readonly id: string }

export type UsageCorrection = NewCorrection & {
  readonly reference: string
  readonly status: CorrectionStatus
  /** Undefined before the first page. */
  readonly readTo: ReadTo | undefined
  /** The last record of the last page. Undefined before the first page. */
  readonly cursor: CorrectionCursor | undefined
  readonly recordsCorrected: number
  readonly recordsSkipped: number
  /** The error of the last try. Undefined if it had none. */
  readonly failure: string | undefined
  readonly createdAt: Date
  readonly appliedAt: Date | null
}

/** The sum of the changes of a correction for one customer, product and meter. */
export type CorrectedUsage = {
  /** The reference under which the usage is recorded. */
  readonly customerRef: string
  /** Empty if the usage has no product. */
  readonly productRef: string
  readonly meterName: string
  readonly records: number
  /** The difference, in 10^-6 units. */
  readonly micros: bigint
  /** 10^-6 credits that go back to the wallet. */
  readonly returnedMicros: bigint
}
