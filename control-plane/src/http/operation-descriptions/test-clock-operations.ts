/** Descriptions of the operations of test clocks. */
export const testClockOperations: Readonly<Record<string, string>> = {
  listTestClocks: 'Returns the test clocks of the sandbox, newest first.',
  createTestClock:
    'Creates a clock that stands at `frozenTime`, which is at least 3 days ahead of real time. Customers that are created with its reference as `testClock` live by its time: periods, limits, trials, renewals, retries, usage and the dates of invoices. It is deleted with its customers at `deletesAt`.',
  getTestClock:
    'Returns a test clock with its status and the time that it has reached. When it is `ready`, limit checks and usage have its time.',
  advanceTestClock:
    'Moves the clock to `to`, at most two years at once. All scheduled work of its customers is done in the order of time, at the times at which it is done in real time. Repeating the request while the clock advances changes nothing. A clock that has failed tries again.',
  pauseTestClock:
    'Stops an advancing clock at the time that it has reached. Its customers can then be changed.',
  resumeTestClock: 'Continues an advance that was paused or has failed.',
  deleteTestClock:
    'Deletes the clock and its customers. Their open invoices and unbilled usage are written off, and what they have bought ends.',
}
