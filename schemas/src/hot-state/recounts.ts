import type { Environment } from '../environment.ts'

/**
 * While there is a document under this key, the counters projection makes the counts of the partition again from what is
 * stored, and removes it when that is done. The document says when that was asked for, ISO 8601.
 */
export function recountKey(environment: Environment, partition: number): string {
  return `recount/${environment}/${partition}`
}
