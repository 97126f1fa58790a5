import type { ReactElement } from 'react'
import type { Reader } from '../reader.ts'

type CurrencyChoiceProps = {
  readonly reader: Reader
  readonly currencies: readonly string[]
  /** Undefined means that prices are shown in several currencies. */
  readonly current: string | undefined
  readonly pathOf: (currency: string) => string
}

/** Links to the same page with prices in another currency. Shows nothing if there is only one currency. */
export function CurrencyChoice(props: CurrencyChoiceProps): ReactElement | null {
  const { reader, currencies, current, pathOf } = props
  if (currencies.length < 2) return null
  return (
    <nav className="row" aria-label={reader.t('checkout:currency')}>
      <span className="quiet">{reader.t('checkout:payIn')}</span>
      {currencies.map((code) => (
        <a key={code} href={pathOf(code)} aria-current={code === current ? 'true' : undefined}>
          {code}
        </a>
      ))}
    </nav>
  )
}
