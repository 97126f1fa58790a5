import type { Credentials } from './credentials.ts'
import { demoCustomers } from './seed-demo.ts'

export type Welcome = {
  readonly credentials: Credentials
  readonly meterRef: string
  readonly dataDir: string
  readonly startedInMs: number
  readonly now: Date
}

/** What a fresh start prints. The three commands work as they stand; a test runs them through a shell. */
export function welcomeText(welcome: Welcome): string {
  const { baseUrl, sandboxKey, liveKey, productRef } = welcome.credentials
  const authorization = `-H 'Authorization: Bearer ${sandboxKey}'`
  const json = `-H 'Content-Type: application/json'`
  const customerRef = demoCustomers[0].externalRef
  const usage = JSON.stringify({ customerRef, productRef, units: 1 })
  const check = JSON.stringify({ customerRef, productRef })
  const day = 86_400_000
  const query = new URLSearchParams({
    from: new Date(welcome.now.getTime() - 29 * day).toISOString().slice(0, 10),
    to: new Date(welcome.now.getTime() + day).toISOString().slice(0, 10),
    customerRef,
  })
  return `
Tollgate runs at ${baseUrl} (started in ${(welcome.startedInMs / 1000).toFixed(1)} s, data in ${welcome.dataDir})

  sandbox key  ${sandboxKey}
  live key     ${liveKey}
  product      ${productRef}

Record usage:
  curl -s ${baseUrl}/v1/sdk/usages ${authorization} ${json} -d '${usage}'

Check the limit:
  curl -s ${baseUrl}/v1/sdk/limits ${authorization} ${json} -d '${check}'

Read the usage:
  curl -s '${baseUrl}/ui/meters/${welcome.meterRef}/usage?${query.toString()}' ${authorization}

Ctrl-C stops it; the data stays. In another terminal: npm run demo
`
}
