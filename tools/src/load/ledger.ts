/** What one customer's clients know: the acknowledged usage, and the usage that may be recorded. */
export type CustomerLedger = {
  readonly customerRef: string
  /** Acknowledged units. */
  units: number
  records: number
  /** Units sent at least once, answered or not. */
  sentUnits: number
  sentRecords: number
}

export function newLedger(customerRef: string): CustomerLedger {
  return { customerRef, units: 0, records: 0, sentUnits: 0, sentRecords: 0 }
}

/** Adds a record for each entry: immediately as sent, and as acknowledged after `send` has resolved. */
export async function recordInLedgers(
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

/** Returns whether a count includes all units acknowledged before the check, and none that were not sent yet. */
export function isPossibleCount(
  counted: number,
  ackedBefore: number,
  { sentUnits }: CustomerLedger,
): boolean {
  return counted >= ackedBefore && counted <= sentUnits
}
