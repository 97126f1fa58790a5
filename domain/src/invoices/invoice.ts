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
  /** Null where nothing was bought but credits. */
  readonly purchaseRef: string | null
  /** The purchase's, as it was when this was priced. */
  readonly planSnapshot: PlanSnapshot | null
  /** ISO 4217, upper case. */
  readonly currency: string
  /** More than the processor takes at once: a person decides how it is paid. */
  readonly isHeld: boolean
  /** Null for a draft. */
  readonly parties: InvoiceParties | null
  /** Charges that failed. */
  readonly failedCharges: number
  /** When it is charged next, unless somebody does before; null: not by itself. */
  readonly nextChargeAt: Date | null
  /** The last failure that was counted: told again, it is no other one. */
  readonly countedFailure: string | null
  readonly issuedAt: Date | null
  readonly paidAt: Date | null
  /** When it became void or uncollectible. */
  readonly closedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

export type InvoiceWithLines = Invoice & { readonly lines: readonly InvoiceLine[] }

/** Who sold what product to whom, in the words of the day the invoice was issued. */
export type InvoiceParties = {
  readonly seller: {
    readonly name: string
    readonly country: string | null
    readonly companyNumber: string | null
    readonly taxId: string | null
    readonly supportEmail: string | null
    /** Lines separated by line feeds, without the country; absent on invoices from before addresses were kept. */
    readonly address?: string | null
  }
  readonly buyer: {
    readonly reference: string
    readonly name: string | null
    readonly email: string
    /** ISO 3166-1 alpha-2: as the customer told it for its taxes; missing: it never did. */
    readonly country?: string | null
    readonly taxId?: string | null
    /** As the seller's. */
    readonly address?: string | null
  }
  /** Of what was bought; absent on invoices from before it was kept, and where credits were bought for no product. */
  readonly productName?: string
}

const numberPrefixes: Readonly<Record<NumberedDocument, string>> = {
  invoice: 'INV',
  credit_note: 'CRN',
}

/** As people write it. Numbers of sandbox and live are counted apart, and look apart. */
export function documentNumberText(
  kind: NumberedDocument,
  number: bigint,
  environment: Environment,
): string {
  const prefix = environment === 'live' ? '' : 'TEST-'
  return `${prefix}${numberPrefixes[kind]}-${number.toString().padStart(6, '0')}`
}
