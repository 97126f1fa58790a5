/** Timeout of calls in tests that do not test timeouts. A machine that runs other tests may be slow. */
export const callTimeoutMs = 20_000
