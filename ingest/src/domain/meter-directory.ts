import type { KeyHolder } from './key-holder.ts'

export type MeterStatus = 'active' | 'archived' | 'unknown'

/** Knows the meters of each provider. */
export interface MeterDirectory {
  /** Returns the status of each name, in input order. Rejects with UnavailableError if it cannot be determined now. */
  statusOf(holder: KeyHolder, names: readonly string[]): Promise<MeterStatus[]>
}
