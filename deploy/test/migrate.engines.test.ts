import { exec } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSeededRandom } from '../../tools/src/client/seeded-random.ts'
import { createTollgateClient, type TollgateClient } from '../src/client/tollgate-client.ts'
import { startInstance, type Instance } from '../../tools/src/instance/instance.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../src/standalone/temporary-folder.ts'
import { missingEngines, prepareEngines, type EmptyEngines } from './migrate/empty-engines.ts'
import { digestFiles } from './migrate/folder-digest.ts'
import { leaveCrashBehind } from './migrate/leave-crash-behind.ts'
import { runMigrate } from './migrate/run-migrate.ts'
import { createCappedProduct, createCustomer } from './offers.ts'

const shell = promisify(exec)
const tollgate = fileURLToPath(new URL('../dist/bundled/tollgate/main.js', import.meta.url))
const timeout = 600_000
/** Kills of the command before it may complete the move. */
const kills = Number(process.env['TOLLGATE_TEST_MIGRATE_KILLS'] ?? 1)
const cap = 1_000_000
const day = 86_400_000

/** One customer with everything that must be the same after the move. */
type Customer = {
  readonly client: TollgateClient
  readonly refs: readonly string[]
  readonly productRef: string
  /** Remaining units in the last answer of the embedded installation. */
  remaining: number
  /** Units of all acknowledged usage, without duplicate keys. */
  units: number
  records: number
}

describe.each(['TOLLGATE_TEST_REDIS_URL', 'TOLLGATE_TEST_REDIS_CLUSTER'] as const)(
  'migrate, to Redis by %s',
  (redis) => {
    const missing = missingEngines(redis)
    const title = missing.length > 0 ? ` (left out without ${missing.join(', ')})` : ''
    describe.skipIf(missing.length > 0)(`with engines${title}`, () => {
      const random = (): number => seeded.fraction()
      const seeded = createSeededRandom(11)
      const clients: TollgateClient[] = []
      let folder: TemporaryFolder
      let from: string
      let to: string
      let source: Instance
      let engines: EmptyEngines
      let customers: Customer[]
      let keys: { sandboxKey: string; liveKey: string; otherKey: string; revokedKey: string }
      let target: Instance | undefined

      const connect = (baseUrl: string, key: string): TollgateClient => {
        const client = createTollgateClient({ baseUrl, key, connectionsMax: 8, timeoutMs: 30_000 })
        clients.push(client)
        return client
      }

      beforeAll(async () => {
        folder = await makeTemporaryFolder('migrate')
        from = join(folder.path, 'embedded')
        to = join(folder.path, 'engines')
        engines = await prepareEngines(folder.path, redis, to)
        source = await startSource('100')
        keys = await makeKeys()
        customers = await makeCustomers(source.credentials.baseUrl)
        await useAll('early')
        await untilStored()
        // From now on the sink stores nothing, so later records are only in the log.
        await source.stop()
        source = await startSource('3600000')
        reconnect(source.credentials.baseUrl)
        await useAll('late')
        for (const customer of customers) customer.remaining = await remainingOf(customer)
        expect(await source.stop()).toBe(0)
        await leaveCrashBehind(from)
      }, timeout)

      afterAll(async () => {
        for (const client of clients) client.close()
        await target?.stop()
        await engines.stop()
        await folder.remove()
      })

      function startSource(sinkDelayMs: string): Promise<Instance> {
        const environment = { ...process.env, TOLLGATE_SINK_DELAY_MS: sinkDelayMs }
        return startInstance({ dataDir: from, port: 0, environment })
      }

      async function makeKeys(): Promise<typeof keys> {
        const run = async (parameters: string): Promise<string> => {
          const environment = { ...process.env, TOLLGATE_DATA_DIR: from }
          const command = `${process.execPath} ${tollgate} ${parameters}`
          return (await shell(command, { env: environment })).stdout
        }
        const provider = (await run('provider create --name Other --quiet')).trim()
        const create = (): Promise<string> =>
          run(`key create --provider ${provider} --environment sandbox --json`)
        const keyIn = (output: string) => JSON.parse(output) as Record<string, string>
        const otherKey = keyIn(await create())['secretKey']!
        const revoked = keyIn(await create())
        await run(`key revoke ${revoked['keyId']}`)
        const { sandboxKey, liveKey } = source.credentials
        return { sandboxKey, liveKey, otherKey, revokedKey: revoked['secretKey']! }
      }

      async function makeCustomers(baseUrl: string): Promise<Customer[]> {
        const made: Customer[] = []
        for (const key of [keys.sandboxKey, keys.liveKey, keys.otherKey]) {
          const client = connect(baseUrl, key)
          const productRef = await createCappedProduct(client, cap)
          for (let number = 0; number < 6; number += 1) {
            const externalRef = number % 3 === 0 ? undefined : `user_${number}`
            const own = await createCustomer(client, externalRef)
            const refs = externalRef === undefined ? [own] : [own, externalRef]
            // The first check puts the customer on the free plan.
            await client.checkLimit(own, productRef)
            made.push({ client, refs, productRef, remaining: 0, units: 0, records: 0 })
          }
        }
        return made
      }

      /** Replaces the clients of the customers by clients for another URL. */
      function reconnect(baseUrl: string): void {
        const byKey = new Map<TollgateClient, TollgateClient>()
        const keyOf = [keys.sandboxKey, keys.liveKey, keys.otherKey]
        const before = [...new Set(customers.map(({ client }) => client))]
        before.forEach((client, at) => byKey.set(client, connect(baseUrl, keyOf[at]!)))
        customers = customers.map((customer) => ({
          ...customer,
          client: byKey.get(customer.client)!,
        }))
      }

      async function useAll(phase: string): Promise<void> {
        for (const customer of customers) {
          const events = Array.from({ length: 40 }, (_, number) => {
            const units = 1 + Math.floor(random() * 9)
            const isPast = number % 4 === 0
            return {
              customerRef: customer.refs[number % customer.refs.length]!,
              ...(number % 5 === 0 ? {} : { productRef: customer.productRef }),
              units,
              outcome: number % 7 === 0 ? 'fail' : 'success',
              ...(isPast && {
                timestamp: new Date(Date.now() - random() * 20 * day).toISOString(),
              }),
              ...(number % 2 === 0 && { idempotencyKey: `${phase}-${number}` }),
            }
          })
          await customer.client.recordUsages(events)
          for (const { outcome, units } of events) {
            if (outcome !== 'success') continue
            customer.units += units
            customer.records += 1
          }
        }
      }

      async function remainingOf({ client, refs, productRef }: Customer): Promise<number> {
        const answers = []
        for (const ref of refs) answers.push((await client.checkLimit(ref, productRef)).remaining)
        expect(new Set(answers).size).toBe(1)
        return answers[0]!
      }

      /** Waits until everything acknowledged is stored. A usage query fails until the sink has stored all earlier records. */
      async function untilStored(): Promise<void> {
        for (const customer of customers) expect(await usageOf(customer)).toEqual(tallyOf(customer))
      }

      async function usageOf({
        client,
        refs,
      }: Customer): Promise<{ total: number; count: number }> {
        const meterRef = await client.requestsMeter()
        const query = {
          from: new Date(Date.now() - 25 * day).toISOString(),
          to: new Date(Date.now() + day).toISOString(),
          customerRef: refs[0]!,
        }
        const { total, count } = await client.meterUsage(meterRef, query)
        return { total, count }
      }

      function tallyOf({ units, records }: Customer): { total: number; count: number } {
        return { total: units, count: records }
      }

      it(
        'continues after kills, and then answers as the embedded stores did',
        { timeout },
        async () => {
          const kept = ['log', 'groups', 'hot']
          const before = await digestFiles(from, kept)
          const stopped = await runMigrate(from, engines.environment, {
            afterMs: 1_000,
            signal: 'SIGINT',
          })
          expect(stopped.output).toContain('Run the same command again to continue')
          expect(stopped.code).toBe(130)
          let output = ''
          for (let kill = 0; kill < kills; kill += 1) {
            const afterMs = 1_000 + random() * 7_000
            const signal = 'SIGKILL'
            output += (await runMigrate(from, engines.environment, { afterMs, signal })).output
          }
          const ended = await runMigrate(from, engines.environment)
          // If an earlier run completed the move before it was killed, the last one finds nothing to do.
          expect(output + ended.output).toContain('Both sides hold the same.')
          expect(ended.code).toBe(0)
          expect(await digestFiles(from, kept)).toEqual(before)

          target = await startInstance({
            dataDir: to,
            port: 0,
            environment: { ...process.env, ...engines.environment },
          })
          expect(target.credentials.sandboxKey).toBe(keys.sandboxKey)
          const { baseUrl } = target.credentials
          reconnect(baseUrl)
          const revoked = connect(baseUrl, keys.revokedKey)
          expect((await revoked.send('POST', '/v1/sdk/usages', {})).status).toBe(401)
          for (const customer of customers) {
            expect(await remainingOf(customer)).toBe(customer.remaining)
          }
          await untilStored()
        },
      )

      it('still knows each idempotency key', { timeout }, async () => {
        for (const customer of customers) {
          const { client, refs, productRef } = customer
          for (const [phase, number] of [
            ['early', 2],
            ['late', 2],
            ['late', 38],
          ] as const) {
            const usage = { productRef, units: 9, idempotencyKey: `${phase}-${number}` }
            await client.recordUsage({ ...usage, customerRef: refs[number % refs.length]! })
          }
          expect(await remainingOf(customer)).toBe(customer.remaining)
          await client.recordUsage({ productRef, units: 3, customerRef: refs[0]! })
          expect(await remainingOf(customer)).toBe(customer.remaining - 3)
        }
      })

      it('does not move a second time', { timeout }, async () => {
        const again = await runMigrate(from, engines.environment)
        expect(again).toMatchObject({ code: 0 })
        expect(again.output).toContain('there is nothing to do')
      })
    })
  },
)
