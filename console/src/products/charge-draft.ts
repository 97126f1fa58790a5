import { movePoint } from '../formats/decimals.ts'
import type { Charge, Tier } from './plan.ts'

/** Prices of a charge are all money, or all credits. */
type PricedIn = 'money' | 'credits'

export type TierDraft = {
  /** The last unit of the tier. Nothing for a tier without an end. */
  readonly upTo: string
  readonly price: string
  readonly flatPrice: string
}

export type RowDraft = {
  /** Dimensions with their values, such as `model=large, region=eu`. */
  readonly when: string
  readonly price: string
}

/** A charge as it is typed. Prices are in whole units of the currency, or in credits. */
export type ChargeDraft = {
  readonly meter: string
  readonly model: Charge['model']
  readonly pricedIn: PricedIn
  readonly price: string
  readonly unitsPerPackage: string
  readonly included: string
  readonly cap: string
  readonly tiers: readonly TierDraft[]
  readonly rows: readonly RowDraft[]
  /** What the form does not show: it stays as it is. */
  readonly rest: Pick<Charge, 'key' | 'displayName' | 'where' | 'rollover'>
}

export const newCharge: ChargeDraft = {
  ...{ meter: '', model: 'per_unit', pricedIn: 'money', price: '', unitsPerPackage: '' },
  ...{ included: '', cap: '', tiers: [], rows: [], rest: {} },
}

export const newTier: TierDraft = { upTo: '', price: '', flatPrice: '' }

export function chargeDraftOf(charge: Charge, digits: number): ChargeDraft {
  const { meter, model = 'per_unit', tiers = [], rows = [] } = charge
  const { key, displayName, where, rollover } = charge
  const isCredits = [charge, ...tiers, ...rows].some((each) => each.creditsPerUnit !== undefined)
  const pricedIn = isCredits ? 'credits' : 'money'
  const price = (given: Priced): string =>
    isCredits ? (given.creditsPerUnit ?? '') : shown(given.price, digits)
  return {
    ...{ meter, model, pricedIn, price: price(charge) },
    unitsPerPackage: textOf(charge.unitsPerPackage),
    included: textOf(charge.included),
    cap: textOf(charge.cap),
    tiers: tiers.map((tier) => ({
      upTo: textOf(tier.upTo ?? undefined),
      price: price(tier),
      flatPrice: shown(tier.flatPrice, digits),
    })),
    rows: rows.map((row) => ({ when: whenText(row.when), price: price(row) })),
    rest: {
      ...(key === undefined ? {} : { key }),
      ...(displayName === undefined ? {} : { displayName }),
      ...(where === undefined ? {} : { where }),
      ...(rollover === undefined ? {} : { rollover }),
    },
  }
}

type Priced = { readonly price?: string; readonly creditsPerUnit?: string }

/** Returns the charge as the API reads it. What it cannot read, it refuses with the name of the field. */
export function chargeOf(draft: ChargeDraft, digits: number): Charge {
  const { meter, model, pricedIn, rest } = draft
  const hasTiers = model === 'graduated' || model === 'volume'
  const priced = (text: string): Priced => {
    if (text.trim() === '') return {}
    return pricedIn === 'credits'
      ? { creditsPerUnit: text.trim() }
      : { price: movePoint(text, digits) }
  }
  return {
    ...{ ...rest, meter: meter.trim(), model },
    ...(hasTiers ? {} : priced(draft.price)),
    ...(hasTiers ? { tiers: draft.tiers.map((tier) => tierOf(tier, priced, digits)) } : {}),
    ...(model === 'package' ? numberField('unitsPerPackage', draft.unitsPerPackage) : {}),
    ...(model === 'matrix'
      ? { rows: draft.rows.map((row) => ({ when: whenOf(row.when), ...priced(row.price) })) }
      : {}),
    ...numberField('included', draft.included),
    ...numberField('cap', draft.cap),
    per: 'period',
  }
}

function tierOf(tier: TierDraft, priced: (text: string) => Priced, digits: number): Tier {
  const flat = tier.flatPrice.trim()
  return {
    upTo: tier.upTo.trim() === '' ? null : Number(tier.upTo),
    ...priced(tier.price),
    ...(flat === '' ? {} : { flatPrice: movePoint(flat, digits) }),
  }
}

function numberField<Name extends string>(
  name: Name,
  text: string,
): { readonly [Each in Name]?: number } {
  const given = text.trim() === '' ? {} : { [name]: Number(text) }
  return given as { readonly [Each in Name]?: number }
}

function textOf(value: number | undefined): string {
  return value === undefined ? '' : String(value)
}

function shown(price: string | undefined, digits: number): string {
  return price === undefined ? '' : movePoint(price, -digits)
}

export function whenText(when: Readonly<Record<string, string>>): string {
  return Object.entries(when)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

/** Reads dimensions with their values, such as `model=large, region=eu`. */
export function whenOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((each) => {
    const at = each.indexOf('=')
    return at === -1 ? [] : [[each.slice(0, at).trim(), each.slice(at + 1).trim()] as const]
  })
  return Object.fromEntries(pairs)
}
