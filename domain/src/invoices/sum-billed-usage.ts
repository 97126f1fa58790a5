import { atLeastZero, lesser } from '../money/amounts.ts'
import { microsOfDecimal } from '../money/decimal.ts'
import type { CreditConversion } from '../pricing/line-inputs.ts'

export type BilledUsage = {
  /** All billed usage of the period, including late usage. 10^-6 units. */
  readonly usedMicros: bigint
  /** Units left over from the previous period that the bill included. 10^-6 units. */
  readonly carriedOverMicros: bigint
  /**
   * Usage by earlier purchases that shared the allowance, as the bills priced it, including late usage. 10^-6 units.
   */
  readonly usedBeforeMicros: bigint
  /** The part of `usedMicros` that packs paid for; absent if there is none. */
  readonly packMicros?: bigint | undefined
  /** `usedMicros` by row of a matrix: one number for each row, and the last one for all other records. */
  readonly rowMicros?: readonly bigint[] | undefined
  /** Sum of the lines in minor units of the invoice's currency. Later credits and refunds do not change it. */
  readonly amountMinor?: bigint | undefined
  /** The part of `amountMinor` that was credited, refunded or given up. Absent if there is none. */
  readonly givenUpMinor?: bigint | undefined
  /** How the first line of the period converted credits. */
  readonly conversion?: CreditConversion | undefined
}

/** Billed usage of a period by the key of the charge, which is null for plans without charges. */
export type BilledCharges = ReadonlyMap<string | null, BilledUsage>

/** Inputs of the price of a usage line. Units are decimals. */
export type UsageLineRow = {
  readonly period_start: Date
  readonly kind: string
  readonly used: string
  readonly late: string | null
  readonly carried: string
  readonly before: string | null
  readonly late_before: string | null
  readonly packed?: string | null
  readonly late_packed?: string | null
  readonly row_units?: readonly string[] | null
  readonly late_row_units?: readonly string[] | null
  readonly late_carried?: string | null
  readonly amount?: string
  readonly given_up?: string
  readonly conversion?: CreditConversion
}

/** A usage line and the key of its charge, which is null for plans without charges. */
export type ChargedLineRow = UsageLineRow & { readonly charge: string | null }

/** Adds up usage lines by the start of their period in Unix milliseconds, and by charge. The rows of late usage must come last. */
export function sumBilledCharges(rows: readonly ChargedLineRow[]): Map<number, BilledCharges> {
  const billed = new Map<number, Map<string | null, BilledUsage>>()
  for (const charge of new Set(rows.map((row) => row.charge))) {
    const own = rows.filter((row) => row.charge === charge)
    for (const [start, usage] of sumBilledUsage(own)) {
      const charges = billed.get(start) ?? new Map<string | null, BilledUsage>()
      billed.set(start, charges.set(charge, usage))
    }
  }
  return billed
}

/**
 * Adds up usage lines, keyed by the start of their period in Unix milliseconds. The rows of late usage must come last.
 * They count only if the usage of their period is billed.
 */
export function sumBilledUsage(rows: readonly UsageLineRow[]): Map<number, BilledUsage> {
  const billed = new Map<number, BilledUsage>()
  for (const row of rows) {
    const start = row.period_start.getTime()
    const known = billed.get(start)
    if (row.kind === 'usage') {
      billed.set(start, {
        usedMicros: microsOfDecimal(row.used),
        carriedOverMicros: microsOfDecimal(row.carried),
        usedBeforeMicros: microsOfDecimal(row.before ?? '0'),
        ...(row.packed ? { packMicros: microsOfDecimal(row.packed) } : {}),
        ...(row.row_units ? { rowMicros: row.row_units.map(microsOfDecimal) } : {}),
        ...(row.amount === undefined ? {} : { amountMinor: BigInt(row.amount) }),
        ...givenUp(row),
        ...(row.conversion === undefined ? {} : { conversion: row.conversion }),
      })
    } else if (known !== undefined) {
      billed.set(start, {
        ...known,
        usedMicros: known.usedMicros + microsOfDecimal(row.late ?? '0'),
        usedBeforeMicros: known.usedBeforeMicros + microsOfDecimal(row.late_before ?? '0'),
        ...(row.late_carried
          ? { carriedOverMicros: known.carriedOverMicros + microsOfDecimal(row.late_carried) }
          : {}),
        ...(row.amount === undefined
          ? {}
          : { amountMinor: (known.amountMinor ?? 0n) + BigInt(row.amount) }),
        ...givenUp(row, known.givenUpMinor),
        ...(row.late_packed
          ? { packMicros: (known.packMicros ?? 0n) + microsOfDecimal(row.late_packed) }
          : {}),
        ...(known.rowMicros === undefined
          ? {}
          : { rowMicros: withLateRows(known.rowMicros, row.late_row_units ?? []) }),
      })
    }
  }
  return billed
}

function givenUp(row: UsageLineRow, beforeMinor = 0n): Pick<BilledUsage, 'givenUpMinor'> {
  const givenUpMinor = beforeMinor + BigInt(row.given_up ?? 0)
  return givenUpMinor === 0n ? {} : { givenUpMinor }
}

function withLateRows(rowMicros: readonly bigint[], late: readonly string[]): bigint[] {
  return rowMicros.map((micros, row) => micros + microsOfDecimal(late[row] ?? '0'))
}

/** Returns the charges with so much more given up that all credits of them together are at most `creditableMinor`. */
export function limitCredits(charges: BilledCharges, creditableMinor: bigint): BilledCharges {
  let leftMinor = creditableMinor
  return new Map(
    [...charges].map(([key, usage]) => {
      const { amountMinor = 0n, givenUpMinor = 0n } = usage
      const keptMinor = atLeastZero(amountMinor - givenUpMinor)
      const limitMinor = lesser(keptMinor, leftMinor)
      leftMinor -= limitMinor
      if (limitMinor === keptMinor) return [key, usage]
      return [key, { ...usage, givenUpMinor: givenUpMinor + keptMinor - limitMinor }]
    }),
  )
}
