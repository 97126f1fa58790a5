import type { Charge } from '@tollgate/schemas/http/charges'
import { decimalFromMicros, microsFromNumber } from '@tollgate/schemas/quantity'
import { picosOfDecimal } from '../money/decimal.ts'
import type { UnitTerms, UsageTerms } from './usage-terms.ts'

/**
 * Everything that the price of a charge depends on, except the usage. It is stored with the invoice line: units are decimal text of
 * at most 6 decimals, prices of at most 12.
 */
export type ChargeTerms = UnitTerms & { readonly rate: ChargeRate }

export type ChargeRate = {
  /** Whether prices are minor units of the invoice's currency, or credits. */
  readonly pricedIn: PriceUnit
} & (
  | {
      /** `graduated`: each unit has the price of its own tier. `volume`: all units have the price of the last unit's tier. */
      readonly kind: 'priced_graduated' | 'priced_volume'
      readonly tiers: readonly PricedTier[]
    }
  | {
      readonly kind: 'matrix'
      readonly rows: readonly MatrixRow[]
      /** Price of a unit of records that match no row. */
      readonly price: string
    }
)

type PriceUnit = 'minor' | 'credits'

/** Tiers are counted from the first priced unit. */
export type PricedTier = {
  /** The last unit of the tier. Null for the last tier, which has no end. */
  readonly upTo: string | null
  /** Price of one unit, or of one package if units are sold in packages. */
  readonly price: string
  /** Charged once if a unit of the tier is used; absent for none. */
  readonly flatPrice?: string
}

/** The first row whose values the dimensions of a record have decides the record's price. */
type MatrixRow = { readonly when: Readonly<Record<string, string>>; readonly price: string }

export function isChargeTerms(terms: UsageTerms | ChargeTerms): terms is ChargeTerms {
  return 'pricedIn' in terms.rate
}

/** Returns how a charge is priced. Undefined for a charge without a price, which only caps usage. */
export function chargeTermsOf(charge: Charge): ChargeTerms | undefined {
  const rate = chargeRateOf(charge)
  if (rate === undefined) return undefined
  const included = unitsOf(charge.included)
  const cap = unitsOf(charge.cap)
  const { unitsPerPackage } = charge
  return {
    ...(included === null ? { limit: cap } : { limit: included, overage: overageOf(charge) }),
    freeUnits: '0',
    ...(charge.model === 'package' && unitsPerPackage !== undefined
      ? { unitsPerPackage: decimalFromMicros(microsOf(unitsPerPackage)) }
      : {}),
    rate,
  }
}

/** Returns whether a unit of the charge can cost something. */
export function chargeCosts({ rate }: ChargeTerms): boolean {
  const prices =
    rate.kind === 'matrix'
      ? [rate.price, ...rate.rows.map(({ price }) => price)]
      : rate.tiers.flatMap(({ price, flatPrice = '0' }) => [price, flatPrice])
  return prices.some((price) => picosOfDecimal(price) > 0n)
}

/** Returns the included units, 10^-6, if the charge carries unused ones over to the next period. Otherwise undefined. */
export function chargeRollOverMicros({ rollover, included = 0 }: Charge): bigint | undefined {
  return rollover === true && included > 0 ? microsOf(included) : undefined
}

/** Returns whether the charge has prices in minor units or in credits. Undefined if it has none. */
export function priceUnitOf(charge: Charge): PriceUnit | undefined {
  const priced = [charge, ...(charge.tiers ?? []), ...(charge.rows ?? [])]
  if (priced.some(({ price }) => price !== undefined)) return 'minor'
  return priced.some(({ creditsPerUnit }) => creditsPerUnit !== undefined) ? 'credits' : undefined
}

function chargeRateOf(charge: Charge): ChargeRate | undefined {
  const pricedIn = priceUnitOf(charge)
  if (pricedIn === undefined) return undefined
  const priceOf = (priced: Pick<Charge, 'price' | 'creditsPerUnit'>): string =>
    (pricedIn === 'minor' ? priced.price : priced.creditsPerUnit) ?? '0'
  const { model, tiers = [], rows = [] } = charge
  switch (model) {
    case 'matrix': {
      const priced = rows.map(({ when, ...row }) => ({ when, price: priceOf(row) }))
      return { kind: 'matrix', pricedIn, rows: priced, price: priceOf(charge) }
    }
    case 'graduated':
    case 'volume': {
      const priced = tiers.map(({ upTo, flatPrice, ...tier }) => ({
        upTo: upTo === null ? null : decimalFromMicros(microsOf(upTo)),
        price: priceOf(tier),
        ...(flatPrice === undefined ? {} : { flatPrice }),
      }))
      return { kind: `priced_${model}`, pricedIn, tiers: priced }
    }
    case 'per_unit':
    case 'package':
      return { kind: 'priced_graduated', pricedIn, tiers: [{ upTo: null, price: priceOf(charge) }] }
  }
}

/** The units above the included ones are priced, up to the cap. */
function overageOf({ included = 0, cap = 0 }: Charge): NonNullable<UnitTerms['overage']> {
  const most = microsOf(cap) - microsOf(included)
  return { maxUnits: cap <= 0 ? null : decimalFromMicros(most > 0n ? most : 0n) }
}

/** In plans, 0 and absent mean the same. */
function unitsOf(units: number | undefined): string | null {
  return units === undefined || units <= 0 ? null : decimalFromMicros(microsOf(units))
}

function microsOf(units: number): bigint {
  const micros = microsFromNumber(units)
  if (micros === undefined) throw new RangeError(`${units} has more than six decimals`)
  return BigInt(micros)
}
