import type { CreditDebit } from '@tollgate/schemas/http/usages'
import { countsOf, type MeterEvent } from '@tollgate/schemas/meter-event'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import type { RecordedUsage } from '../../recording/record-usage.ts'

/**
 * Returns the result of one recorded usage call as members of a JSON object. The text is built by hand, because this is the most
 * frequent response. References need no escaping.
 */
export function resultFields(reference: string, debit: CreditDebit | undefined): string {
  if (debit === undefined) return `"reference":"${reference}"`
  return `"reference":"${reference}","creditDebit":${debitText(debit)}`
}

/** Returns as JSON what an event counts once it is recorded. An event without success counts nothing. */
export function countsText(event: MeterEvent): string {
  const counted = event.outcome === 'success' ? countsOf(event) : []
  const counts = counted.map(({ meterName, value }) => {
    return { meterName, value: numberFromMicros(BigInt(value)) }
  })
  return JSON.stringify(counts)
}

/**
 * Returns the result of one CloudEvent as members of a JSON object. `counts` is what `countsText` returned; a duplicate counts
 * nothing.
 */
export function eventResultFields(
  reference: string,
  counts: string,
  { outcome, debit }: RecordedUsage,
): string {
  const counted = outcome === 'recorded' ? counts : '[]'
  const fields = `"reference":"${reference}","counts":${counted}`
  return debit === undefined ? fields : `${fields},"creditDebit":${debitText(debit)}`
}

function debitText(debit: CreditDebit): string {
  return debit.debited ? JSON.stringify(debit) : `{"debited":false,"reason":"${debit.reason}"}`
}
