import { refusal } from './refusal.ts'

/** The refusals of requests about test clocks. */
export const testClockRefusals = {
  sandboxOnly: () => refusal('sandbox_only', 'Test clocks exist only in the sandbox'),
  testClockNotFound: (reference: string) =>
    refusal('test_clock_not_found', `Test clock with reference ${reference} not found`),
  testClockTime: (earliest: Date, latest: Date) =>
    refusal(
      'test_clock_time',
      `The time must be from ${earliest.toISOString()} to ${latest.toISOString()}`,
    ),
  testClockNotNow: (reference: string, status: string) =>
    refusal('test_clock_not_now', `Test clock ${reference} is ${status}`),
  testClockAdvancing: (reference: string) =>
    refusal(
      'test_clock_advancing',
      `Test clock ${reference} of the customer is advancing. Retry when it is ready, or pause it`,
    ),
  tooManyTestClocks: (max: number) =>
    refusal('too_many_test_clocks', `A provider can have ${max} test clocks`),
  testClockFull: (reference: string, max: number) =>
    refusal('test_clock_full', `Test clock ${reference} has ${max} customers`),
  customerOnOtherClock: () =>
    refusal(
      'customer_on_other_clock',
      'The customer exists already and lives by another test clock or by real time',
    ),
} as const
