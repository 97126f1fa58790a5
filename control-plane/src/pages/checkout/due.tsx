import type { ReactElement, ReactNode } from 'react'
import type { Formats } from '../formats.ts'
import type { Billing, PricedChoice } from './read-billing.ts'
import { Sums, type SumLine } from './sums.tsx'

type DueProps = {
  readonly lines: readonly SumLine[]
  readonly priced: Extract<PricedChoice, { kind: 'priced' }> | undefined
  readonly billing: Billing
  readonly formats: Formats
  readonly children?: ReactNode
}

/** What is to be paid: the part of a form that follows from its fields. */
export function Due({ lines, priced, billing, formats, children }: DueProps): ReactElement {
  return (
    <div className="stack" data-part="due" aria-live="polite">
      {priced !== undefined && (
        <Sums {...priced} lines={lines} totalLabel="Due today" formats={formats} />
      )}
      {billing.isNeeded && billing.details === undefined && (
        <p className="quiet small">Taxes depend on the country that you are in.</p>
      )}
      {children}
    </div>
  )
}

export function PayButtons(): ReactElement {
  return (
    <>
      <button className="button main broad" type="submit">
        Continue to payment
      </button>
      <noscript>
        <button
          className="button broad"
          type="submit"
          name="step"
          value="total"
          formNoValidate={true}
        >
          Update the total
        </button>
      </noscript>
    </>
  )
}
