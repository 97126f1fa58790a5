import { isNumberText, movePoint } from '../formats/decimals.ts'
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
  /** Dimensions of the saved row. They apply while the text is unchanged, because text cannot show every value. */
  readonly savedWhen?: When
}

type When = Readonly<Record<string, string>>

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
export const newRow: RowDraft = { when: '', price: '' }

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
    rows: rows.map((row) => ({
      when: whenText(row.when),
      price: price(row),
      savedWhen: row.when,
    })),
    rest: {
      ...(key === undefined ? {} : { key }),
      ...(displayName === undefined ? {} : { displayName }),
      ...(where === undefined ? {} : { where }),
      ...(rollover === undefined ? {} : { rollover }),
    },
  }
}

type Priced = { readonly price?: string; readonly creditsPerUnit?: string }

/**
 * Returns the charge for the API. Call it for a draft in which `chargeFault` finds no fault. A price that is not a number is sent as it
 * is typed, and the API refuses it with the name of the field.
 */
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
      ? { rows: draft.rows.map((row) => ({ when: whenOf(row) ?? {}, ...priced(row.price) })) }
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

/** Returns what cannot be read in the fields of the charge's model, or undefined. */
export function chargeFault(draft: ChargeDraft): string | undefined {
  const { model, included, cap, unitsPerPackage, tiers, rows } = draft
  const hasTiers = model === 'graduated' || model === 'volume'
  const numbers = [
    { name: 'included units', text: included },
    { name: 'limit of units', text: cap },
    ...(model === 'package' ? [{ name: 'units per package', text: unitsPerPackage }] : []),
    ...(hasTiers
      ? tiers.map(({ upTo }, index) => ({ name: `tier ${index + 1}, up to`, text: upTo }))
      : []),
  ]
  const unread = numbers.find(({ text }) => text.trim() !== '' && !isNumberText(text))
  if (unread !== undefined) return `${unread.name}: use a number with at most 6 decimals`
  const unreadRow = model === 'matrix' ? rows.findIndex((row) => whenOf(row) === undefined) : -1
  return unreadRow === -1
    ? undefined
    : `row ${unreadRow + 1}: write dimensions as "model=large, region=eu"`
}

export function whenText(when: When): string {
  return Object.entries(when)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

/** Returns the dimensions of the row, or undefined if the text cannot be read. */
function whenOf({ when, savedWhen }: RowDraft): Record<string, string> | undefined {
  const isSaved = savedWhen !== undefined && when === whenText(savedWhen)
  return isSaved ? { ...savedWhen } : readWhen(when)
}

/** Reads dimensions with their values, such as `model=large, region=eu`. Returns undefined if a part is no dimension. */
export function readWhen(text: string): Record<string, string> | undefined {
  if (text.trim() === '') return {}
  const pairs = text.split(',').map((each) => {
    const at = each.indexOf('=')
    return [each.slice(0, Math.max(at, 0)).trim(), each.slice(at + 1).trim()] as const
  })
  const names = new Set(pairs.map(([name]) => name))
  return names.has('') || names.size < pairs.length ? undefined : Object.fromEntries(pairs)
}
