import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresDatabase } from '@tollgate/platform/database/postgres/postgres-database'
import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { formatCount } from '@tollgate/platform/terminal/table'
import { newLedger, type CustomerLedger } from './ledger.ts'
import { hasUnpublishedCustomers, copyCustomer, newCopy } from './copy-customer.ts'

export type CreateCustomersOptions = {
  readonly customers: number
  readonly timeoutMs: number
  readonly print: (line: string) => void
}

export type CreatedCustomers = {
  readonly ledgers: readonly CustomerLedger[]
  /** Milliseconds that the services took to publish all customers. */
  readonly publishedMs: number
}

const pollMs = 200

/**
 * Creates one customer with a purchase of the free plan over the API, copies it, and waits until the copies are published. Half of
 * them are used by their Tollgate reference, the other half by their external reference.
 */
export async function createCustomers(
  { customers, timeoutMs, print }: CreateCustomersOptions,
  client: TollgateClient,
  productRef: string,
  databaseUrl: string,
): Promise<CreatedCustomers> {
  const fields = { email: 'original@measured.example', externalRef: 'original' }
  const { reference: originalRef } = await client.createCustomer(fields)
  await client.checkLimit(originalRef, productRef)
  const copies = Array.from({ length: customers }, (_, number) => newCopy(`copy_${number}`))
  const database = createPostgresDatabase({ url: databaseUrl, isOwner: true, poolMax: 1 })
  try {
    const pool = database.in('sandbox')
    await copyCustomer(pool, originalRef, copies)
    // A server that has had so many customers for some time has current statistics.
    await pool`analyze`
    print(`publishing ${formatCount(customers)} customers ...`)
    const startedAtMs = performance.now()
    while (await hasUnpublishedCustomers(pool)) {
      if (performance.now() - startedAtMs > timeoutMs)
        throw new Error('The customers were not published in time.')
      await sleep(pollMs)
    }
    const publishedMs = performance.now() - startedAtMs
    print(`published after ${(publishedMs / 1000).toFixed(1)} s`)
    const ledgers = copies.map(({ customerRef, externalRef }, number) =>
      newLedger(number % 2 === 0 ? externalRef : customerRef),
    )
    return { ledgers, publishedMs }
  } finally {
    await database.close()
  }
}
