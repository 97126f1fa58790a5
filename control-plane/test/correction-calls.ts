type Send = (path: string, body: unknown) => Promise<Record<string, string>>

const correction = {
  record: { customerRef: 'ada', idempotencyKey: 'call-1' },
  action: 'remove',
  reason: 'a mistake',
}

/** Returns a request for each route that corrects usage. */
export function correctionCalls(send: Send): Record<string, (path: string) => Promise<unknown>> {
  return {
    'POST /v1/sdk/usage-corrections': (path) => send(path, correction),
    'POST /v1/sdk/usage-corrections/batch': (path) => send(path, { corrections: [correction] }),
  }
}
