import type { Environment } from '@tollgate/schemas/environment'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import type { NumberedDocument } from './numbers.ts'
import type { InvoiceAmounts, InvoiceStatus } from './transitions.ts'

/** Amounts are minor units of `currency`. */
export type Invoice = InvoiceAmounts & {
  readonly reference: string
  /** Counted from 1 for each provider and environment, without gaps. Null for a draft. */
  readonly number: bigint | null
  readonly status: InvoiceStatus
  readonly customerRef: string
  /** Null if only credits were bought. */
  readonly purchaseRef: string | null
  /** The purchase's plan snapshot at the time the invoice was priced. */
  readonly planSnapshot: PlanSnapshot | null
  /** ISO 4217, upper case. */
  readonly currency: string
  /**
   * Whether the amount due exceeds what the processor accepts in one charge. A person then decides how the invoice is
   * paid.
   */
  readonly isHeld: boolean
  /** Null for a draft. */
  readonly parties: InvoiceParties | null
  /** Number of failed charges. */
  readonly failedCharges: number
  /** When the next automatic charge is due. Null if no automatic charge is scheduled. */
  readonly nextChargeAt: Date | null
  /**
   * The last failed charge that was counted, so that the same failure is not counted again when it is reported again.
   */
  readonly countedFailure: string | null
  readonly issuedAt: Date | null
  /** When it is to be paid. Null: when it is issued. */
  readonly dueAt: Date | null
  readonly paidAt: Date | null
  /** When it became void or uncollectible. */
  readonly closedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type InvoiceWithLines = Invoice & { readonly lines: readonly InvoiceLine[] }

/** Seller, buyer and product of an invoice, as they were when the invoice was issued. */
export type InvoiceParties = {
  readonly seller: {
    readonly name: string
    readonly country: string | null
    readonly companyNumber: string | null
    readonly taxId: string | null
    readonly supportEmail: string | null
    /**
     * Lines separated by line feeds, without the country. Absent on invoices that were issued before addresses were
     * stored.
     */
    readonly address?: string | null
  }
  readonly buyer: {
    readonly reference: string
    readonly name: string | null
    readonly email: string
    /** ISO 3166-1 alpha-2, from the customer's tax details. Absent if the customer never entered tax details. */
    readonly country?: string | null
    readonly taxId?: string | null
    /** In the same format as the seller's address. */
    readonly address?: string | null
  }
  /**
   * Name of the product that was bought. Absent on invoices that were issued before the name was stored, and on
   * purchases of credits without a product.
   */
  readonly productName?: string
}

const numberPrefixes: Readonly<Record<NumberedDocument, string>> = {
  invoice: 'INV',
  credit_note: 'CRN',
}

/**
 * Returns the document number as it is shown to people. Sandbox and live count separately, and sandbox numbers start
 * with `TEST-`.
 */
export function documentNumberText(
  kind: NumberedDocument,
  number: bigint,
  environment: Environment,
): string {
  const prefix = environment === 'live' ? '' : 'TEST-'
  return `${prefix}${numberPrefixes[kind]}-${number.toString().padStart(6, '0')}`
}

/** Returns when an invoice may be charged: not before its due date, if it has one. */
export function laterOf(dueAt: Date | null, at: Date): Date {
  return dueAt !== null && dueAt > at ? dueAt : at
}
