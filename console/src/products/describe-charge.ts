import { fractionDigitsOf } from '@tollgate/schemas/minor-units'
import { formatCount } from '../formats/amounts.ts'
import { movePoint } from '../formats/decimals.ts'
import { whenText } from './charge-draft.ts'
import type { Charge } from './plan.ts'

export const modelNames: Readonly<Record<Charge['model'], string>> = {
  per_unit: 'Per unit',
  graduated: 'Graduated tiers',
  volume: 'Volume tiers',
  package: 'Packages',
  matrix: 'By dimension',
}

/** Returns the terms of a charge as lines of text. */
export function chargeLines(charge: Charge, currency: string): readonly string[] {
  const { model, tiers = [], rows = [], unitsPerPackage, included, cap, where } = charge
  const price = (given: Priced): string => priceText(given, currency)
  const unit = unitsPerPackage === undefined ? 'unit' : `${formatCount(unitsPerPackage)} units`
  const hasPrice = charge.price !== undefined || charge.creditsPerUnit !== undefined
  return [
    modelNames[model],
    ...tiers.map(({ upTo, flatPrice, ...each }) => {
      const range = upTo === null ? 'Above' : `Up to ${formatCount(upTo)}`
      const flat =
        flatPrice === undefined ? '' : `, and ${priceText({ price: flatPrice }, currency)} once`
      return `${range}: ${price(each)} per unit${flat}`
    }),
    ...rows.map(({ when, ...each }) => `${whenText(when)}: ${price(each)} per unit`),
    ...(hasPrice ? [`${rows.length > 0 ? 'All others: ' : ''}${price(charge)} per ${unit}`] : []),
    ...(included === undefined ? [] : [`${formatCount(included)} included`]),
    // A cap of 0 is no cap.
    ...(cap === undefined || cap === 0 ? [] : [`At most ${formatCount(cap)}`]),
    ...(charge.rollover === true ? ['Unused included units roll over once'] : []),
    ...(where === undefined ? [] : [`Only ${JSON.stringify(where)}`]),
  ]
}

type Priced = { readonly price?: string; readonly creditsPerUnit?: string }

function priceText({ price, creditsPerUnit }: Priced, currency: string): string {
  if (creditsPerUnit !== undefined) return `${creditsPerUnit} credits`
  const amount = movePoint(price ?? '0', -fractionDigitsOf(currency))
  return `${amount} ${currency}`
}
