import { minorPerMajor, processorMinimumOf, majorText } from '../money/currencies.ts'
import { divideRounded, fractionOf } from '../money/decimal.ts'
import { toFraction, type ExchangeRate } from '../money/exchange-rates.ts'
import { breakDownTax } from '../invoices/tax-breakdown.ts'
import type { TaxTerms } from '../tax/tax-rule.ts'
import type { AutoRecharge, AutoRechargeTerms } from './repository.ts'

/** Largest amount that a request may contain, in major units. */
export const rechargeMajorMax = 10_000

export type AutoRechargeRequest = {
  readonly enabled: boolean
  /** Currency of the top-up, upper case. */
  readonly currency: string
  /** Major units of the currency in which the balance is shown. */
  readonly thresholdAmountMajor: number | undefined
  readonly topupAmountMajor: number | undefined
  readonly maxMonthlySpendMajor: number | undefined
}

export type AutoRechargeContext = {
  readonly stored: AutoRecharge | undefined
  readonly supportedCurrencies: readonly string[]
  /** Rate of the currency in which the balance is shown. `topupRate` is the rate of the top-up's currency. */
  readonly displayRate: ExchangeRate
  readonly topupRate: ExchangeRate | undefined
  /** Tax terms of credits. Undefined if the customer never entered tax details. */
  readonly taxTerms: TaxTerms | undefined
  readonly hasReusableCard: boolean
}

export type AutoRechargeDecision =
  | { readonly kind: 'save'; readonly terms: AutoRechargeTerms }
  | { readonly kind: 'refuse'; readonly reason: string; readonly fault: RechargeFault }

/** Why terms are refused, for pages that show the reason in another language than the API. */
export type RechargeFault =
  | {
      readonly code:
        | 'currency'
        | 'required'
        | 'too-large'
        | 'minor-units'
        | 'threshold'
        | 'too-small'
        | 'below-threshold'
    }
  /**
   * The monthly maximum is too low for one top-up. `leastMinor` is the smallest maximum that is enough, including tax.
   */
  | { readonly code: 'cap'; readonly leastMinor: bigint }

/** Decides whether the requested terms are accepted. A request to switch off needs no amounts. */
export function decideRechargeTerms(
  request: AutoRechargeRequest,
  context: AutoRechargeContext,
): AutoRechargeDecision {
  const { currency } = request
  if (!request.enabled) {
    const { stored } = context
    return {
      kind: 'save',
      terms: {
        status: 'disabled',
        thresholdMinor: stored?.thresholdMinor ?? 0n,
        thresholdCurrency: stored?.thresholdCurrency ?? context.displayRate.currency,
        topupMinor: stored?.topupMinor ?? 0n,
        topupCurrency: stored?.topupCurrency ?? currency,
        monthlySpendMaxMinor: stored?.monthlySpendMaxMinor ?? null,
      },
    }
  }
  if (!context.supportedCurrencies.includes(currency) || context.topupRate === undefined) {
    const available = context.supportedCurrencies.join(', ')
    return refuse('currency', `Currency ${currency} is not supported. Available: ${available}`)
  }
  return decideEnabledTerms(request, { ...context, topupRate: context.topupRate })
}

function decideEnabledTerms(
  request: AutoRechargeRequest,
  context: AutoRechargeContext & { readonly topupRate: ExchangeRate },
): AutoRechargeDecision {
  const { currency, thresholdAmountMajor, topupAmountMajor, maxMonthlySpendMajor } = request
  const { displayRate, topupRate } = context
  if (thresholdAmountMajor === undefined || topupAmountMajor === undefined) {
    return refuse('required', 'thresholdAmountMajor and topupAmountMajor are required')
  }
  if (thresholdAmountMajor > rechargeMajorMax || topupAmountMajor > rechargeMajorMax) {
    return refuse(
      'too-large',
      `thresholdAmountMajor and topupAmountMajor must not exceed ${rechargeMajorMax}`,
    )
  }
  const thresholdMinor = toMinor(thresholdAmountMajor, displayRate.currency)
  const topupMinor = toMinor(topupAmountMajor, currency)
  const spendMaxMinor =
    maxMonthlySpendMajor === undefined ? null : toMinor(maxMonthlySpendMajor, currency)
  if (thresholdMinor === undefined || topupMinor === undefined || spendMaxMinor === undefined) {
    return refuse('minor-units', 'Amounts must be whole minor units of their currency')
  }
  if (thresholdMinor <= 0n)
    return refuse('threshold', 'thresholdAmountMajor must be greater than 0')
  const minimumMinor = processorMinimumOf(currency)
  if (topupMinor < minimumMinor) {
    return refuse(
      'too-small',
      `topupAmountMajor must be at least ${majorText(minimumMinor, currency)}`,
    )
  }
  if (convertMinor(topupMinor, topupRate, displayRate) < thresholdMinor) {
    return refuse('below-threshold', 'topupAmountMajor must not be less than thresholdAmountMajor')
  }
  const refusal = refuseLowCap(spendMaxMinor, topupMinor, currency, context.taxTerms)
  if (refusal !== undefined) return refusal
  return {
    kind: 'save',
    terms: {
      status: context.hasReusableCard ? 'active' : 'pending_setup',
      thresholdMinor,
      thresholdCurrency: displayRate.currency,
      topupMinor,
      topupCurrency: currency,
      monthlySpendMaxMinor: spendMaxMinor,
    },
  }
}

/** Refuses a monthly maximum that is too low for one top-up with its tax, because then nothing could ever be bought. */
function refuseLowCap(
  spendMaxMinor: bigint | null,
  topupMinor: bigint,
  currency: string,
  taxTerms: TaxTerms | undefined,
): Refusal | undefined {
  if (spendMaxMinor === null) return undefined
  if (spendMaxMinor < topupMinor) {
    const reason = 'maxMonthlySpendMajor must not be less than topupAmountMajor'
    return { kind: 'refuse', reason, fault: { code: 'cap', leastMinor: topupMinor } }
  }
  if (taxTerms === undefined) return undefined
  const { totalMinor } = breakDownTax(topupMinor, taxTerms.rule, taxTerms.isInclusive)
  if (spendMaxMinor >= totalMinor) return undefined
  const total = `${majorText(totalMinor, currency)} ${currency}`
  const reason = `maxMonthlySpendMajor must not be less than topupAmountMajor with its tax, ${total}`
  return { kind: 'refuse', reason, fault: { code: 'cap', leastMinor: totalMinor } }
}

/** Converts an amount to minor units of another currency, through the US dollar. */
export function convertMinor(amountMinor: bigint, from: ExchangeRate, to: ExchangeRate): bigint {
  if (from.currency === to.currency) return amountMinor
  const [source, target] = [toFraction(from), toFraction(to)]
  return divideRounded(
    amountMinor * minorPerMajor(to.currency) * target.numerator * source.denominator,
    minorPerMajor(from.currency) * target.denominator * source.numerator,
  )
}

/** Returns undefined if the amount is not a whole number of minor units. */
function toMinor(amountMajor: number, currency: string): bigint | undefined {
  // Formatting with 6 decimals restores the decimal number that the JSON contained.
  const { numerator, denominator } = fractionOf(amountMajor.toFixed(6))
  const minor = numerator * minorPerMajor(currency)
  return minor % denominator === 0n ? minor / denominator : undefined
}

type Refusal = Extract<AutoRechargeDecision, { kind: 'refuse' }>

function refuse(code: Exclude<RechargeFault['code'], 'cap'>, reason: string): Refusal {
  return { kind: 'refuse', reason, fault: { code } }
}
