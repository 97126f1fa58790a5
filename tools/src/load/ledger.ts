/** What one customer's clients know for certain, and what may be so. */
export type CustomerLedger = {
  readonly customerRef: string
  /** Acknowledged. */
  units: number
  records: number
  /** Sent at least once, with an answer or without. */
  sentUnits: number
  sentRecords: number
}

export function newLedger(customerRef: string): CustomerLedger {
  return { customerRef, units: 0, records: 0, sentUnits: 0, sentRecords: 0 }
}

/** Enters a record for each entry: as sent at once, as acknowledged when `send` has resolved. */
export async function enter(
  entries: readonly { readonly ledger: CustomerLedger; readonly units: number }[],
  send: () => Promise<unknown>,
): Promise<void> {
  for (const { ledger, units } of entries) {
    ledger.sentUnits += units
    ledger.sentRecords++
  }
  await send()
  for (const { ledger, units } of entries) {
    ledger.units += units
    ledger.records++
  }
}

/** Whether a count has all units that were acknowledged before the question, and none that is not sent yet. */
export function isTrue(
  counted: number,
  ackedBefore: number,
  { sentUnits }: CustomerLedger,
): boolean {
  return counted >= ackedBefore && counted <= sentUnits
}
