import type { CreditDebit } from '@tollgate/schemas/http/usages'

/**
 * What the answer says of one recorded usage call, as members of a JSON object. Written out, because it is the most
 * frequent answer there is; a reference needs no escaping.
 */
export function resultFields(reference: string, debit: CreditDebit | undefined): string {
  if (debit === undefined) return `"reference":"${reference}"`
  return `"reference":"${reference}","creditDebit":${debitText(debit)}`
}

function debitText(debit: CreditDebit): string {
  return debit.debited ? JSON.stringify(debit) : `{"debited":false,"reason":"${debit.reason}"}`
}
