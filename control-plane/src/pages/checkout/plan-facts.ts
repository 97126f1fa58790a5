import { displayMinor } from '@tollgate/domain/money/credits'
import { dollarRate, toFraction } from '@tollgate/domain/money/exchange-rates'
import { isCreditBased, renews, type Plan } from '@tollgate/domain/plans/plan'
import { currenciesOf } from '@tollgate/domain/pricing/plan-prices'
import { usageTermsOf } from '@tollgate/domain/pricing/usage-terms'
import type { Formats } from '../formats.ts'
import { readerOf } from '../reader.ts'
import { periodWords } from '../purchase-words.ts'
import { usagePrices } from './usage-prices.ts'

/** What a customer should know before choosing, beside the price. `isTriable`: it can be had without paying first. */
export function planFacts(plan: Plan, formats: Formats, isTriable: boolean): string[] {
  const { count, money } = formats
  const usageTerms = usageTermsOf(plan)
  const { terms, setupFeeMinor, currency } = plan
  const { trialDays = 0, freeUnits = 0, limit = 0, accessExpiryDays = 0 } = terms
  const { maxUnbilledMinor = 0 } = terms
  const others = currenciesOf(plan).slice(1)
  const facts: readonly (string | false)[] = [
    isCreditBased(plan) && `${count(exampleUnits)} requests cost ${exampleWords(plan, money)}`,
    isTriable && `${count(trialDays)} ${trialDays === 1 ? 'day' : 'days'} free to try`,
    endWords(plan),
    noticeWords(plan, formats),
    freeUnits > 0 && `${count(freeUnits)} requests free in each period`,
    limit > 0 && `${limitWords(plan)} ${count(limit)} requests in each period`,
    ...(usageTerms === undefined ? [] : usagePrices(usageTerms, formats)),
    maxUnbilledMinor > 0 &&
      `Usage up to ${money(BigInt(maxUnbilledMinor), currency)} in each period before it is billed`,
    (setupFeeMinor ?? 0) > 0 &&
      `${money(BigInt(setupFeeMinor ?? 0), currency)} once for the set-up`,
    terms.requiresPaymentMethod === true && 'Starts with a saved card',
    accessExpiryDays > 0 && plan.type === 'one-time' && `Yours for ${count(accessExpiryDays)} days`,
    others.length > 0 && `Also in ${others.join(', ')}`,
  ]
  return facts.filter((fact) => fact !== false)
}

/** What a request costs is mostly far below a cent. */
const exampleUnits = 1_000

function exampleWords({ terms }: Plan, money: Formats['money']): string {
  const credits = BigInt(terms.creditsPerUnit ?? 0) * BigInt(exampleUnits)
  return money(displayMinor(credits, 'USD', toFraction(dollarRate)), 'USD')
}

/** Of a plan with periods that has one alone. */
function endWords(plan: Plan): string | false {
  const period = periodWords(plan, readerOf('en-US').t)
  if (plan.type === 'one-time' || period === undefined || renews(plan)) return false
  return `Ends after ${period}, and does not renew`
}

/** False for plans that do not renew, and for those without a notice. */
function noticeWords(plan: Plan, { count }: Formats): string | false {
  const { cancellationNoticeDays: days = 0 } = plan.terms
  if (days === 0 || plan.type !== 'recurring' || !renews(plan)) return false
  return `Cancel at least ${count(days)} ${days === 1 ? 'day' : 'days'} before a period ends`
}

/** With overage the limit is what the price includes; else it is where the plan ends. */
function limitWords({ terms }: Plan): string {
  return terms.overagePolicy?.allowOverage === true ? 'Includes' : 'Up to'
}
