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

/**
 * Returns the result of one recorded CloudEvent as members of a JSON object. A duplicate counts nothing, and neither does an event
 * without success.
 */
export function eventResultFields(event: MeterEvent, { outcome, debit }: RecordedUsage): string {
  const isCounted = outcome === 'recorded' && event.outcome === 'success'
  const counted = isCounted ? countsOf(event) : []
  const counts = counted.map(({ meterName, value }) => {
    return { meterName, value: numberFromMicros(BigInt(value)) }
  })
  const fields = `"reference":"${event.id}","counts":${JSON.stringify(counts)}`
  return debit === undefined ? fields : `${fields},"creditDebit":${debitText(debit)}`
}

function debitText(debit: CreditDebit): string {
  return debit.debited ? JSON.stringify(debit) : `{"debited":false,"reason":"${debit.reason}"}`
}
