/** The query of a list's address. Pages are counted from 1. */
export type ListSearch = { readonly page?: number; readonly search?: string }

export function listSearch(given: Record<string, unknown>): ListSearch {
  const page = Number(given['page'])
  const { search } = given
  return {
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
    ...(typeof search === 'string' && search !== '' ? { search } : {}),
  }
}

/** The states of an invoice by which the list can be filtered. */
export const invoiceFilters = ['draft', 'open', 'paid', 'uncollectible', 'void'] as const
type InvoiceFilter = (typeof invoiceFilters)[number]

export function invoicesSearch(
  given: Record<string, unknown>,
): ListSearch & { readonly status?: InvoiceFilter } {
  const status = invoiceFilters.find((each) => each === given['status'])
  const { page } = listSearch(given)
  return { ...(page === undefined ? {} : { page }), ...(status === undefined ? {} : { status }) }
}
