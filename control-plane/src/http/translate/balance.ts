import { creditsPerMinorUnit, creditValueMinor } from '@tollgate/domain/money/credits'
import { formatMoney, majorText } from '@tollgate/domain/money/currencies'
import { toFraction, type ExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'
import type { BalanceBody } from '@tollgate/schemas/http/credits'

/** Converts the remaining credits of a wallet, in 10^-6 credits, with their value in the display currency of the provider. */
export function balanceToHttp(
  customerRef: string,
  micros: bigint,
  displayRate: ExchangeRate,
): BalanceBody {
  const { currency, unitsPerDollar, source } = displayRate
  const credits = wholeCredits(micros)
  const worthMinor = creditValueMinor(BigInt(credits), currency, toFraction(displayRate))
  const exchangeRate = Number(unitsPerDollar)
  return {
    customerRef,
    credits,
    displayCurrency: currency,
    creditsPerMinorUnit: Number(creditsPerMinorUnit),
    displayExchangeRate: exchangeRate,
    display: {
      amountMajor: Number(majorText(worthMinor, currency)),
      currency,
      formatted: formatMoney(worthMinor, currency),
      exchangeRate,
      rateSource: source,
    },
  }
}
