import type { Environment } from '../environment.ts'

/**
 * Returns the key of a request to recount a partition. While a document exists under it, the counters projection rebuilds the
 * counts of the partition from stored records, and deletes the document when it is done. The document contains the time of the
 * request in ISO 8601.
 */
export function recountKey(environment: Environment, partition: number): string {
  return `recount/${environment}/${partition}`
}
