import { createSeededRandom } from '../client/seeded-random.ts'
import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import type { Credentials } from '@tollgate/deploy/standalone/credentials'
import { forSeconds, runLanes } from '../load/lanes.ts'
import { compareCustomers } from './compare.ts'
import { findOrCreateDemoProduct } from './demo-product.ts'
import { runMcpSession } from './mcp-session.ts'
import { showComparing, showSending } from './progress.ts'
import { differences, summaryText } from './summary.ts'
import type { CustomerTally } from './tally.ts'

export type DemoOptions = {
  readonly seconds: number
  readonly agents: number
  readonly seed: number
}

const storedTimeoutMs = 60_000

/** Sends traffic, compares the numbers and prints the result. Resolves to whether all numbers agree. */
export async function runDemo(
  { baseUrl, sandboxKey }: Credentials,
  options: DemoOptions,
  print: (line: string) => void,
): Promise<boolean> {
  const connectionsMax = options.agents
  const client = createTollgateClient({
    baseUrl,
    key: sandboxKey,
    connectionsMax,
    timeoutMs: 30_000,
  })
  try {
    const productRef = await findOrCreateDemoProduct(client)
    const meterRef = await client.requestsMeter()
    const random = createSeededRandom(options.seed)
    const startedAtMs = Date.now()
    const tallies: CustomerTally[] = []
    const run = startedAtMs.toString(36)

    await showSending(options.seconds, tallies, () => {
      const shouldContinue = forSeconds(options.seconds)
      const context = {
        client,
        random,
        productRef,
        run,
        tallies,
        isFinished: () => !shouldContinue(),
      }
      let next = 1
      // When a session ends, a session of the next customer begins.
      return runLanes(options.agents, shouldContinue, () => runMcpSession(context, next++))
    })
    const comparisons = await showComparing(tallies.length, (onCompared) =>
      compareCustomers(
        { client, productRef, meterRef, now: Date.now, timeoutMs: storedTimeoutMs },
        tallies,
        onCompared,
      ),
    )
    print(`\n${summaryText(comparisons)}\n`)
    const problems = differences(comparisons)
    for (const problem of problems) print(`DIFFERS ${problem}`)
    print(
      problems.length === 0
        ? `All ${tallies.length} customers agree to the unit.`
        : `${problems.length} of ${tallies.length} customers disagree.`,
    )
    return problems.length === 0
  } finally {
    client.close()
  }
}
