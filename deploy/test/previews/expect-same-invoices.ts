import type { InvoiceWithLines } from '@tollgate/domain/invoices/invoice'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import type { PreviewedInvoice } from '@tollgate/domain/previews/price-invoices'
import { expect } from 'vitest'

/**
 * Compares previewed invoices with those that were made: every line with its inputs, total, tax, what is due and what is carried over,
 * and the date. Lines that cost nothing must be drafts.
 */
export function expectSameInvoices(
  previewed: readonly PreviewedInvoice[],
  made: readonly InvoiceWithLines[],
): void {
  const issued = made.filter(({ number }) => number !== null)
  const drafts = made.filter(({ number }) => number === null)
  expect(issued.map(shapeOfMade)).toEqual(
    previewed.filter(({ isIssued }) => isIssued).map(shapeOfPreviewed),
  )
  expect(inOneOrder(drafts.map(({ lines }) => lines.map(shapeOfLine)))).toEqual(
    inOneOrder(
      previewed
        .filter(({ isIssued, at }) => !isIssued && at !== undefined)
        .filter(({ cause }) => cause !== 'plan_change')
        .map(({ lines }) => lines.map(shapeOfLine)),
    ),
  )
}

function shapeOfMade(invoice: InvoiceWithLines) {
  const { currency, totalMinor, carriedMinor, paidMinor, isHeld, planSnapshot, lines } = invoice
  return {
    ...{ currency, totalMinor, carriedMinor, isHeld, plan: planSnapshot?.reference },
    // Every invoice of these tests is paid as soon as it is issued.
    dueMinor: paidMinor,
    issuedAt: invoice.issuedAt?.toISOString(),
    lines: lines.map(shapeOfLine),
  }
}

function shapeOfPreviewed(invoice: PreviewedInvoice) {
  const { currency, totalMinor, carriedMinor, dueMinor, isHeld, plan, lines, at } = invoice
  return {
    ...{ currency, totalMinor, carriedMinor, isHeld, plan: plan.reference, dueMinor },
    issuedAt: at?.toISOString(),
    lines: lines.map(shapeOfLine),
  }
}

/** The time and place of a reading of usage differ, and nothing else. */
function shapeOfLine({ description, period, inputs, amountMinor, exact }: InvoiceLine) {
  const { reading: _reading, ...rest } = { reading: undefined, ...inputs }
  return {
    ...{ description, amountMinor, inputs: rest },
    exact: `${exact.numerator}/${exact.denominator}`,
    period: period && [period.start.toISOString(), period.end.toISOString()],
  }
}

/** Drafts have no numbers. JSON of the database has its keys in another order, so they are sorted by what they charge. */
function inOneOrder(drafts: readonly ReturnType<typeof shapeOfLine>[][]) {
  const name = (lines: (typeof drafts)[number]): string =>
    lines.map(({ period, description }) => `${period?.join()} ${description}`).join()
  return drafts.toSorted((one, other) => (name(one) < name(other) ? -1 : 1))
}
