import type { operations } from '../api/openapi.d.ts'

/* Queries of the addresses of lists. What an address has beside them is ignored. */

/** Pages are counted from 1. */
export type ListSearch = { readonly page?: number; readonly search?: string }

type Given = Readonly<Record<string, unknown>>

export function listSearch(given: Given): ListSearch {
  const page = Number(given['page'])
  const search = textOf(given, 'search')
  return {
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
    ...(search === undefined ? {} : { search }),
  }
}

/** Returns the text of the query, or undefined if it has none. A number in an address is text too. */
export function textOf(given: Given, name: string): string | undefined {
  const value = given[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

type StatusOf<Name extends keyof operations> = NonNullable<
  NonNullable<operations[Name]['parameters']['query']> extends { status?: infer Status }
    ? Status
    : never
>

/** The states of an invoice by which the list can be filtered. */
export const invoiceFilters = [
  ...['draft', 'open', 'paid', 'uncollectible', 'void'],
] as readonly StatusOf<'listInvoices'>[]

/** The states of a purchase by which the list can be filtered. */
export const purchaseFilters = [
  ...['active', 'trialing', 'past_due', 'suspended', 'pending', 'cancelled', 'expired', 'refunded'],
] as readonly StatusOf<'listPurchasesByPage'>[]

type Filter = (typeof invoiceFilters)[number] | (typeof purchaseFilters)[number]

export type InvoicesSearch = {
  readonly page?: number
  readonly status?: (typeof invoiceFilters)[number]
  readonly customer?: string
}

export function invoicesSearch(given: Given): InvoicesSearch {
  return { ...statusSearch(given, invoiceFilters), ...textSearch(given, ['customer']) }
}

export type PurchasesSearch = {
  readonly page?: number
  readonly status?: (typeof purchaseFilters)[number]
  readonly product?: string
  readonly plan?: string
}

export function purchasesSearch(given: Given): PurchasesSearch {
  return { ...statusSearch(given, purchaseFilters), ...textSearch(given, ['product', 'plan']) }
}

function statusSearch<Status extends Filter>(
  given: Given,
  filters: readonly Status[],
): { readonly page?: number; readonly status?: Status } {
  const status = filters.find((each) => each === given['status'])
  const { page } = listSearch(given)
  return { ...(page === undefined ? {} : { page }), ...(status === undefined ? {} : { status }) }
}

function textSearch<Name extends string>(
  given: Given,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(given, name)
      return text === undefined ? [] : [[name, text]]
    }),
  ) as Partial<Record<Name, string>>
}
