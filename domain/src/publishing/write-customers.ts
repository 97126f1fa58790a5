import type { Entry, NamedEntry } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { PublisherParts } from './publisher-parts.ts'
import { forEachConcurrently } from '../postgres/for-each-concurrently.ts'

/** Content of the entries of one customer. */
export type PublishedCustomer = {
  readonly providerId: string
  readonly customerRef: string
  readonly version: number
  /** Ordered by when they were linked. */
  readonly references: readonly string[]
  /** Entries of each product that the customer holds, the same under every reference. */
  readonly held: readonly (Omit<Entry, 'version'> & { readonly productRef: string })[]
  /** Stored next to the customer's own reference. */
  readonly wallet: Omit<Entry, 'version'> | undefined
  /** The time of the customer's test clock. Empty for a customer of real time. */
  readonly onClock: Pick<KnownCustomer, 'clockMs'>
}

/** Hot state does nothing else while it handles one call, so a call has few entries and takes some milliseconds. */
const entriesPerCall = 100
const callsInFlightMax = 8

/**
 * Writes the entries of customers to hot state, many in each call. The reference that was linked last is written first for every
 * customer, so its counters exist before the entries of older references name it.
 */
export async function writeCustomers(
  { hotState, partitionCount }: Pick<PublisherParts, 'hotState' | 'partitionCount'>,
  environment: Environment,
  customers: readonly PublishedCustomer[],
): Promise<void> {
  const referencesMax = Math.max(0, ...customers.map(({ references }) => references.length))
  for (let later = 0; later < referencesMax; later += 1) {
    const calls = callsOf(customers, later, partitionCount(environment))
    await forEachConcurrently(calls, callsInFlightMax, ({ partition, entries }) =>
      hotState.putEntries(environment, partition, entries),
    )
  }
}

type Call = { readonly partition: number; readonly entries: NamedEntry[] }

/**
 * Returns the calls for one reference of each customer: the one followed by `later` newer references. Entries of one reference stay
 * in one call.
 */
function callsOf(
  customers: readonly PublishedCustomer[],
  later: number,
  partitionCount: number,
): Call[] {
  const calls: Call[] = []
  const open = new Map<number, Call>()
  for (const customer of customers) {
    const reference = customer.references.at(-1 - later)
    if (reference === undefined) continue
    const subject = subjectKey(customer.providerId, reference)
    const partition = partitionOf(subject, partitionCount)
    let call = open.get(partition)
    if (call === undefined || call.entries.length >= entriesPerCall) {
      call = { partition, entries: [] }
      calls.push(call)
      open.set(partition, call)
    }
    addEntries(call.entries, reference, customer)
  }
  return calls
}

function addEntries(entries: NamedEntry[], reference: string, customer: PublishedCustomer): void {
  const { providerId, version, customerRef, held, wallet, onClock } = customer
  const subject = subjectKey(providerId, reference)
  if (wallet !== undefined && reference === customerRef) {
    const place = { subject: walletSubject(providerId, customerRef), scope: walletScope }
    entries.push({ ...place, version, ...wallet })
  }
  for (const { productRef, ...entry } of held) {
    entries.push({ subject, scope: productRef, version, ...entry })
  }
  // Written last, because slots of a known customer are swept early. By now the purchases above have used theirs.
  const known: KnownCustomer = { customerRef, ...onClock }
  const document = JSON.stringify(known)
  entries.push({ subject, scope: '', version, document, windows: [] })
}
