import { jobActor } from '@tollgate/domain/audit/actor'
import { findCustomer, findCustomerByEmail } from '@tollgate/domain/customers/repository'
import { findProduct } from '@tollgate/domain/catalog/products-repository'
import { findDecidingPurchase, listPurchases } from '@tollgate/domain/purchases/repository'
import { reuseOrOpenCustomerSession } from '@tollgate/domain/sessions/customer-sessions'
import type { Queryable } from '@tollgate/platform/database/database'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import { createCustomers } from '../load/create-customers.ts'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { measureLanes } from '../load/lanes.ts'
import { mediansOf, spreadOf, type Spread } from '../load/statistics.ts'
import { measureInRounds } from './rounds.ts'

type ManagementRate = { readonly perSecond: number; readonly p99Ms: number }

export type ManagementResult = {
  readonly name: string
  readonly ours: ManagementRate
  /** Rate of the same statements with the same driver, sent directly from this process to PostgreSQL. */
  readonly direct: ManagementRate
  /** Ratio of ours to direct requests per second within each round. */
  readonly throughput: Spread
}

export type ManagementOptions = {
  readonly client: TollgateClient
  readonly databaseUrl: string
  readonly productRef: string
  readonly customers: number
  readonly seconds: number
  readonly repeats: number
  readonly print: (line: string) => void
}

/** Number of concurrent callers, and of connections, which is that of the control plane per schema of PostgreSQL. */
const callers = 16
const connections = 8

const limits = { openPortalLinksMax: 50 }

/** Measures the requests that a backend sends about a customer, with many customers in the database. */
export async function measureManagement(options: ManagementOptions): Promise<ManagementResult[]> {
  const { client, databaseUrl, productRef, customers, print } = options
  const making = { customers, timeoutMs: 600_000, print }
  const { ledgers } = await createCustomers(making, client, productRef, databaseUrl)
  const references = ledgers.map(({ customerRef }) => customerRef)
  const database = createPostgresDatabase({ url: databaseUrl, poolMax: connections })
  try {
    const sql = database.in('sandbox')
    const [{ provider_id: providerId } = { provider_id: '' }] = await sql<
      { provider_id: string }[]
    >`select provider_id from products where reference = ${productRef}`
    return await compare(operations(client, sql, providerId, productRef), references, options)
  } finally {
    await database.close()
  }
}

type SendRequest = (reference: string, number: number) => Promise<unknown>
type Operation = { readonly name: string; readonly ours: SendRequest; readonly direct: SendRequest }

function operations(
  client: TollgateClient,
  sql: Queryable,
  providerId: string,
  productRef: string,
): Operation[] {
  const get = async (path: string): Promise<void> => {
    const { status } = await client.send('GET', path)
    if (status !== 200) throw new Error(`${path} was answered ${status}`)
  }
  const emailOf = (number: number): string => `copy_${number}@measured.example`
  return [
    {
      name: 'customer by reference',
      ours: (reference) => get(`/v1/sdk/customers/${reference}`),
      direct: async (reference) => {
        const customer = await findCustomer(sql, providerId, reference)
        return listPurchases(sql, providerId, activeOf(customer!.reference))
      },
    },
    {
      name: 'customer by e-mail',
      ours: (_, number) => get(`/v1/sdk/customers?email=${emailOf(number)}`),
      direct: async (_, number) => {
        const customer = await findCustomerByEmail(sql, providerId, emailOf(number))
        return listPurchases(sql, providerId, activeOf(customer!.reference))
      },
    },
    {
      name: 'purchases of a customer',
      ours: (reference) => get(`/v1/sdk/purchases/customer/${reference}`),
      direct: async (reference) => {
        const customer = await findCustomer(sql, providerId, reference)
        return listPurchases(sql, providerId, { customerRef: customer!.reference, rowsMax: 1_000 })
      },
    },
    {
      name: 'user-info',
      ours: async (customerRef) => {
        const body = { customerRef, productRef }
        const { status } = await client.send('POST', '/v1/sdk/user-info', body)
        if (status !== 200) throw new Error(`user-info was answered ${status}`)
      },
      direct: async (reference) => {
        const customer = await findCustomer(sql, providerId, reference)
        const customerRef = customer!.reference
        await findProduct(sql, providerId, productRef)
        await findDecidingPurchase(sql, providerId, customerRef, productRef)
        const work = { sql, providerId, now: new Date(), actor: jobActor('bench') }
        await reuseOrOpenCustomerSession(work, limits, { customerRef, productRef })
      },
    },
  ]
}

function activeOf(customerRef: string) {
  return { customerRef, statuses: ['active'] as const, rowsMax: 1_000 }
}

/** Measures the requests and their statements alternately. */
async function compare(
  operations: readonly Operation[],
  references: readonly string[],
  { seconds, repeats }: ManagementOptions,
): Promise<ManagementResult[]> {
  const pairs = operations.map(({ ours, direct }) => ({ ours, ceiling: direct }))
  const measured = await measureInRounds(pairs, repeats, (send) =>
    measure(send, references, seconds),
  )
  const medians = (rates: readonly ManagementRate[]): ManagementRate =>
    mediansOf(rates, ['perSecond', 'p99Ms'])
  return measured.map((rounds, at) => ({
    name: operations[at]!.name,
    ours: medians(rounds.map(({ ours }) => ours)),
    direct: medians(rounds.map(({ ceiling }) => ceiling)),
    throughput: spreadOf(rounds.map(({ ours, ceiling }) => ours.perSecond / ceiling.perSecond)),
  }))
}

/** Runs concurrent callers. Each sends one request after the other, about another customer each time. */
async function measure(
  send: SendRequest,
  references: readonly string[],
  seconds: number,
): Promise<ManagementRate> {
  let next = 0
  return await measureLanes(callers, seconds, () => {
    // The stride has no common divisor with the number of customers. It spreads the requests, so that caches do not contain them by
    // chance.
    const number = (next++ * 7_919) % references.length
    return send(references[number]!, number)
  })
}
