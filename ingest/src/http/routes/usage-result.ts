import type { CreditDebit } from '@tollgate/schemas/http/usages'

/**
 * Returns the result of one recorded usage call as members of a JSON object. The text is built by hand, because this is the most
 * frequent response. References need no escaping.
 */
export function resultFields(reference: string, debit: CreditDebit | undefined): string {
  if (debit === undefined) return `"reference":"${reference}"`
  return `"reference":"${reference}","creditDebit":${debitText(debit)}`
}

function debitText(debit: CreditDebit): string {
  return debit.debited ? JSON.stringify(debit) : `{"debited":false,"reason":"${debit.reason}"}`
}
