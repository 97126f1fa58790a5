import type { Environment } from '../environment.ts'

/**
 * Returns the key of a request that the sink compares the log of a partition with ClickHouse, from the oldest record on, and stores
 * missing records again. The sink deletes the document when all of them are stored.
 */
export function storeAgainKey(environment: Environment, partition: number): string {
  return `store-again/${environment}/${partition}`
}

export type StoreAgainRequest = {
  /** Time of the request in ISO 8601. */
  readonly wantedAt: string
  /** Records below this offset are compared. Undefined before the first comparison. */
  readonly comparedTo?: number
  /** The comparison ends at this offset. */
  readonly endOffset?: number
}

export function readStoreAgainRequest(document: string): StoreAgainRequest {
  return JSON.parse(document) as StoreAgainRequest
}

export function writeStoreAgainRequest(request: StoreAgainRequest): string {
  return JSON.stringify(request)
}
