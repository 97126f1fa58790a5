import { setTimeout as sleep } from 'node:timers/promises'
import { startLoad } from '../load/usage-load.ts'
import { createLogReading } from '../chaos/read-log.ts'
import { readSums } from '../chaos/read-sums.ts'
import { sumsAgree } from '../chaos/sums.ts'
import { createMeasuredProduct } from '../client/measured-product.ts'
import { createSeededRandom } from '../client/seeded-random.ts'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

const customers = 4
const lanes = 4
const loadMs = 1_000
const timeoutMs = 60_000

export type KillTestOptions = {
  readonly client: TollgateClient
  readonly dataDir: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Kills every process of the installation at once and starts it again. */
  readonly killAndRestart: () => Promise<void>
}

/**
 * Kills the installation while clients post usage. Then compares what was sent, acknowledged, logged, counted and stored. Resolves
 * to the number of records. Throws if a sum differs.
 */
export async function surviveKill(survivor: KillTestOptions): Promise<number> {
  const { client, dataDir, environment, killAndRestart } = survivor
  const run = Date.now().toString(36)
  const product = await createMeasuredProduct(client, run, customers)
  const random = createSeededRandom(1)
  const load = startLoad({ clients: [client], random, run, ...product, lanes })
  await sleep(loadMs)
  await killAndRestart()
  await load.stop()
  const readLog = createLogReading(environment, dataDir, product.productRef)
  const sums = await readSums({ client, ...product, readLog, timeoutMs }, load.ledgers)
  if (!sumsAgree(sums)) throw new Error(`The sums differ: ${JSON.stringify(sums)}`)
  return sums.ackedRecords
}
