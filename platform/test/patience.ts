/** For calls in tests that are not about time: a machine that is busy with other tests is slow. */
export const callTimeoutMs = 20_000
