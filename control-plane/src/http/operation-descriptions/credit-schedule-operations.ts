/** Descriptions of credits that a customer gets repeatedly, by operation id. */
export const creditScheduleOperations: Readonly<Record<string, string>> = {
  createCreditSchedule:
    "Grants credits to a customer's wallet repeatedly: every so many days, weeks or months from `startsAt`, by the calendar of a time zone, until `endsAt` or for `grantsMax` grants. Each grant expires never, with the next grant or some days after its date, and `rollOverMax` unused credits of an expired grant are added to the next one. With `purchaseRef`, a grant is given once the purchase is paid for its date, and the schedule ends with the purchase. The same `Idempotency-Key` creates one schedule.",
  listCreditSchedules:
    'Returns the schedules of a customer, newest first, with the date of the next grant. Ended schedules stay in the list.',
  listScheduledGrants:
    'Returns the processed dates of a schedule, newest first: the credits that were granted, or those that had expired before they could be given.',
  changeCreditSchedule:
    'Changes the terms of a schedule from its next grant on. Given grants keep their credits and expiry. The next date stays, and a new interval is counted from it. `null` removes `endsAt` or `grantsMax`.',
  pauseCreditSchedule:
    'Pauses a schedule. Dates within the pause are passed over: they grant nothing later, and do not count as grants.',
  resumeCreditSchedule: 'Continues a paused schedule with its next date from now on.',
  endCreditSchedule: 'Ends a schedule for good. Credits that were granted stay in the wallet.',
}
