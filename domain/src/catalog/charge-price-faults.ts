import type { Charge } from '@tollgate/schemas/http/charges'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { fieldFault } from '../plans/field-fault.ts'
import { chargeCosts, chargeTermsOf } from '../pricing/charge-terms.ts'

/* Faults of the prices of one charge, by the fields of the charge. */

/** Which kind of usage the charges of a plan price: none, usage that the wallet pays, or usage that is billed afterwards. */
export type ChargedUsage = 'none' | 'wallet' | 'billed'

export function chargePriceFaults(charge: Charge, usage: ChargedUsage): ValidationIssue[] {
  switch (usage) {
    case 'none':
      return unpricedFaults(charge)
    case 'wallet':
      return [...modelFaults(charge), ...walletFaults(charge)]
    case 'billed': {
      const faults = [...modelFaults(charge), ...unitFaults(charge)]
      return faults.length > 0 ? faults : [...missingPrices(charge), ...unreachedPrices(charge)]
    }
  }
}

const priceFields = [
  'price',
  'creditsPerUnit',
  'tiers',
  'rows',
  'unitsPerPackage',
  'included',
] as const

/** Recurring and one-time plans charge nothing for usage, so their charges only cap it. */
function unpricedFaults(charge: Charge): ValidationIssue[] {
  const message = 'Only usage-based and hybrid plans charge for units. Set a `cap` alone.'
  const given = priceFields.filter((field) => isGiven(charge[field]))
  const faults = given.map((field) => fieldFault([field], message))
  if (charge.model !== 'per_unit') faults.push(fieldFault(['model'], message))
  if (faults.length > 0 || isGiven(charge.cap)) return faults
  return [fieldFault(['cap'], 'A charge without a price needs a `cap`.')]
}

/** The wallet pays each record when it is recorded, before it is known how much the period will have. */
function walletFaults(charge: Charge): ValidationIssue[] {
  const faults: ValidationIssue[] = []
  if (charge.model !== 'per_unit' && charge.model !== 'matrix') {
    const message =
      'A pre-paid plan debits each record at once, so tiers and packages have no effect. Use `per_unit` or `matrix`.'
    faults.push(fieldFault(['model'], message))
  }
  if (isGiven(charge.included)) {
    const message = 'A pre-paid plan has no included units. Grant credits instead.'
    faults.push(fieldFault(['included'], message))
  }
  for (const [path, priced] of pricedOf(charge)) {
    if (priced.price !== undefined) {
      const message = 'A pre-paid plan is paid in credits. Use `creditsPerUnit`.'
      faults.push(fieldFault([...path, 'price'], message))
    } else if (priced.creditsPerUnit === undefined && hasOwnPrice(charge, path)) {
      faults.push(fieldFault([...path, 'creditsPerUnit'], 'Set the price, or "0".'))
    }
  }
  return faults
}

type PricedAt = readonly [ValidationIssue['path'], Pick<Charge, 'price' | 'creditsPerUnit'>]

/** Returns the charge itself, its tiers and its rows with their paths. */
function pricedOf({ tiers = [], rows = [], ...charge }: Charge): PricedAt[] {
  return [
    [[], charge],
    ...tiers.map((tier, at): PricedAt => [['tiers', at], tier]),
    ...rows.map((row, at): PricedAt => [['rows', at], row]),
  ]
}

function hasOwnPrice({ model }: Charge, path: readonly unknown[]): boolean {
  return path.length > 0 || (model !== 'graduated' && model !== 'volume')
}

const modelFields = {
  per_unit: [],
  graduated: ['tiers'],
  volume: ['tiers'],
  package: ['unitsPerPackage'],
  matrix: ['rows'],
} as const satisfies Record<Charge['model'], readonly (keyof Charge)[]>

/** Returns faults of fields that the model does not use, or that it needs. */
function modelFaults(charge: Charge): ValidationIssue[] {
  const { model } = charge
  const used: readonly string[] = modelFields[model]
  const faults = (['tiers', 'rows', 'unitsPerPackage'] as const).flatMap((field) => {
    const isUsed = used.includes(field)
    if (isUsed === isGiven(charge[field])) return []
    const message = isUsed
      ? `The model \`${model}\` needs \`${field}\`.`
      : `The model \`${model}\` has no \`${field}\`.`
    return [fieldFault([field], message)]
  })
  for (const field of ['price', 'creditsPerUnit'] as const) {
    if (charge[field] !== undefined && !hasOwnPrice(charge, [])) {
      faults.push(fieldFault([field], 'Each tier has its own price. Leave this out.'))
    }
  }
  if (model === 'matrix' && isGiven(charge.included)) {
    faults.push(fieldFault(['included'], 'A matrix has no included units.'))
  }
  return [...faults, ...tierFaults(charge.tiers ?? [])]
}

function tierFaults(tiers: NonNullable<Charge['tiers']>): ValidationIssue[] {
  return tiers.flatMap(({ upTo }, at) => {
    const isLast = at === tiers.length - 1
    if (isLast !== (upTo === null)) {
      const message = isLast ? 'The last tier has no end: null.' : 'Only the last tier has no end.'
      return [fieldFault(['tiers', at, 'upTo'], message)]
    }
    const before = at === 0 ? 0 : (tiers[at - 1]!.upTo ?? 0)
    return upTo === null || upTo > before
      ? []
      : [fieldFault(['tiers', at, 'upTo'], 'A tier must end behind the one before it.')]
  })
}

/** Returns faults of prices in two units, and of prices that are missing beside others. */
function unitFaults(charge: Charge): ValidationIssue[] {
  const all = pricedOf(charge)
  const isMoney = all.some(([, priced]) => priced.price !== undefined)
  const faults = all.flatMap(([path, { price, creditsPerUnit }]) => {
    if (price !== undefined && creditsPerUnit !== undefined) {
      return [fieldFault([...path, 'creditsPerUnit'], 'Leave out `price` or `creditsPerUnit`.')]
    }
    if (isMoney && creditsPerUnit !== undefined) {
      const message = 'All prices of a charge are `price`, or all are `creditsPerUnit`.'
      return [fieldFault([...path, 'creditsPerUnit'], message)]
    }
    return []
  })
  const flat = (charge.tiers ?? []).flatMap(({ flatPrice, price }, at) =>
    flatPrice === undefined || price !== undefined
      ? []
      : [fieldFault(['tiers', at, 'flatPrice'], '`flatPrice` is an amount. It needs a `price`.')],
  )
  return [...faults, ...flat]
}

/** A charge without any price only caps usage. Beside other prices, each tier and row has its own. */
function missingPrices(charge: Charge): ValidationIssue[] {
  const all = pricedOf(charge)
  const isPriced = ([, { price, creditsPerUnit }]: PricedAt): boolean =>
    price !== undefined || creditsPerUnit !== undefined
  const onlyCaps = charge.model === 'per_unit' && isGiven(charge.cap) && !isGiven(charge.included)
  if (onlyCaps) return []
  return all
    .filter((each) => hasOwnPrice(charge, each[0]) && !isPriced(each))
    .map(([path]) => fieldFault([...path, 'price'], 'Set the price, or "0".'))
}

/** Returns a fault if units have a price but none is ever charged, because the included units reach up to the cap. */
function unreachedPrices(charge: Charge): ValidationIssue[] {
  const { cap = 0, included = 0 } = charge
  const terms = chargeTermsOf(charge)
  if (terms === undefined || cap === 0 || cap > included) return []
  if (cap === included && !chargeCosts(terms)) return []
  return [fieldFault(['cap'], 'No unit that costs anything is reached before the `cap`.')]
}

/** In plans, 0 and absent mean the same. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== 0
}
