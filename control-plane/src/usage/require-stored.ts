import { findCustomer, listReferences } from '@tollgate/domain/customers/repository'
import type { Environment } from '@tollgate/schemas/environment'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { refusals } from '../errors.ts'
import { waitForSink, type SinkParts } from './wait-for-sink.ts'

type Parts = SinkParts & {
  readonly partitionCount: (environment: Environment) => number
  readonly limits: { readonly usageStoreWaitMs: number }
}

/**
 * Waits until the usage store has every record of the customers that was accepted before. Undefined means all customers. Throws a
 * refusal with status 503 if this takes too long.
 */
export async function requireStored(
  parts: Parts,
  { environment, providerId }: Caller,
  customerRefs: readonly string[] | undefined,
): Promise<void> {
  const count = parts.partitionCount(environment)
  const partitions =
    customerRefs === undefined
      ? Array.from({ length: count }, (_, partition) => partition)
      : [...new Set(customerRefs.map((ref) => partitionOf(subjectKey(providerId, ref), count)))]
  const waitMs = parts.limits.usageStoreWaitMs
  if (!(await waitForSink(parts, environment, partitions, waitMs))) throw refusals.usageBehind()
}

/** Returns every reference of the customer. A reference that no customer has is returned as it is. */
export async function referencesOfCustomer(
  parts: ReadParts,
  caller: Caller,
  customerRef: string | undefined,
): Promise<string[] | undefined> {
  if (!customerRef) return undefined
  const { providerId } = caller
  return read(parts, caller, async (sql) => {
    const customer = await findCustomer(sql, providerId, customerRef)
    return customer === undefined
      ? [customerRef]
      : listReferences(sql, providerId, customer.reference)
  })
}
