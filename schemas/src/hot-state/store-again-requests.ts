import type { Environment } from '../environment.ts'

/**
 * Key of a request that the sink compares the log of a partition with ClickHouse, from the oldest record on, and stores
 * again what is missing. The sink removes the document when all of that is stored.
 */
export function storeAgainKey(environment: Environment, partition: number): string {
  return `store-again/${environment}/${partition}`
}

export type StoreAgainRequest = {
  /** When it was requested, ISO 8601. */
  readonly wantedAt: string
  /** Records below this offset are compared. Undefined before the first one is. */
  readonly comparedTo?: number
  /** The comparison ends here. */
  readonly endOffset?: number
}

export function readStoreAgainRequest(document: string): StoreAgainRequest {
  return JSON.parse(document) as StoreAgainRequest
}

export function writeStoreAgainRequest(request: StoreAgainRequest): string {
  return JSON.stringify(request)
}
