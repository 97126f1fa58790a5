import { displayMinor } from '@tollgate/domain/money/credits'
import { microsOfDecimal } from '@tollgate/domain/money/decimal'
import { dollarRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import { costsSomething, type Rate, type UsageTerms } from '@tollgate/domain/pricing/usage-terms'
import type { Formats } from '../formats.ts'

/** What usage costs that is billed when its period has ended. Empty where it costs nothing. */
export function usagePrices(terms: UsageTerms, formats: Formats): string[] {
  if (!costsSomething(terms)) return []
  const price = priceWords(terms.rate, formats)
  const { unitsPerPackage } = terms
  const packages = `Counted in packages of ${formats.count(Number(unitsPerPackage))}`
  return [
    `${beyondWords(terms)}${price}`,
    ...(unitsPerPackage === undefined ? [] : [packages]),
    'Billed when the period has ended',
  ]
}

function beyondWords({ overage, freeUnits }: UsageTerms): string {
  if (overage !== undefined) return 'Beyond what is included, '
  return freeUnits === '0' ? '' : 'Beyond what is free, '
}

function priceWords(rate: Rate, formats: Formats): string {
  const units = exampleUnits(rate)
  const example = formats.count(units)
  const priceOf = (creditsPerUnit: string): string => {
    const credits = (microsOfDecimal(creditsPerUnit) * units) / microsPerCredit
    return formats.money(displayMinor(credits, 'USD', toFraction(dollarRate)), 'USD')
  }
  if (rate.kind === 'flat') return `${example} requests cost ${priceOf(rate.creditsPerUnit)}`
  const isVolume = rate.kind === 'volume'
  const parts = rate.tiers.map(({ upTo, creditsPerUnit }, index) => {
    // Of the last one no end counts.
    const end = index === rate.tiers.length - 1 ? null : upTo
    const which = end === null ? 'above' : `up to ${formats.count(Number(end))}`
    return `${priceOf(creditsPerUnit)} ${which}`
  })
  const counted = isVolume ? 'requests, all at the price of the last one' : 'requests'
  return `${example} ${counted}: ${parts.join(', ')}`
}

/** What a request costs is mostly far below a cent. So many that their price is one of whole cents, where it can be. */
function exampleUnits(rate: Rate): bigint {
  const rates = rate.kind === 'flat' ? [rate] : rate.tiers
  const isInTenths = rates.every(
    ({ creditsPerUnit }) => microsOfDecimal(creditsPerUnit) % 100_000n === 0n,
  )
  return isInTenths ? 1_000n : 1_000_000n
}

const microsPerCredit = 1_000_000n
