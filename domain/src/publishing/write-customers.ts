import type { Entry, NamedEntry } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import type { KnownCustomer } from '@tollgate/schemas/hot-state/documents'
import { walletScope, walletSubject } from '@tollgate/schemas/hot-state/wallets'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import type { PublisherParts } from './publisher-parts.ts'
import { workOff } from '../postgres/work-off.ts'

/** What the entries of one customer are made of. */
export type PublishedCustomer = {
  readonly providerId: string
  readonly customerRef: string
  readonly version: number
  /** By when they were linked. */
  readonly references: readonly string[]
  /** Of each product that the customer holds: the same under every reference. */
  readonly held: readonly (Omit<Entry, 'version'> & { readonly productRef: string })[]
  /** Kept beside the customer's own reference. */
  readonly wallet: Omit<Entry, 'version'> | undefined
}

/** Hot state does nothing else while it takes the entries of one call, so they are few: some milliseconds. */
const entriesPerCall = 100
const callsInFlightMax = 8

/**
 * Puts the entries of customers into the hot state, many in each call. The latest link of everyone goes first: its counters
 * are in place before the entries of the older references name it.
 */
export async function writeCustomers(
  { hotState, partitionCount }: Pick<PublisherParts, 'hotState' | 'partitionCount'>,
  environment: Environment,
  customers: readonly PublishedCustomer[],
): Promise<void> {
  const referencesMax = Math.max(0, ...customers.map(({ references }) => references.length))
  for (let later = 0; later < referencesMax; later += 1) {
    const calls = callsOf(customers, later, partitionCount(environment))
    await workOff(calls, callsInFlightMax, ({ partition, entries }) =>
      hotState.putEntries(environment, partition, entries),
    )
  }
}

type Call = { readonly partition: number; readonly entries: NamedEntry[] }

/** The entries of each customer's reference after which so many were linked. Those of one reference stay together. */
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
  const { providerId, version, customerRef, held, wallet } = customer
  const subject = subjectKey(providerId, reference)
  if (wallet !== undefined && reference === customerRef) {
    const place = { subject: walletSubject(providerId, customerRef), scope: walletScope }
    entries.push({ ...place, version, ...wallet })
  }
  for (const { productRef, document, windows } of held) {
    entries.push({ subject, scope: productRef, version, document, windows })
  }
  // Last, because slots of a known customer are swept early: the purchases above have taken theirs by now.
  const known: KnownCustomer = { customerRef }
  const document = JSON.stringify(known)
  entries.push({ subject, scope: '', version, document, windows: [] })
}
