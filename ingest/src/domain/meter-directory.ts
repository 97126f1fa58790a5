import type { KeyHolder } from './key-holder.ts'

export type MeterStatus = 'active' | 'archived' | 'unknown'

/** Which meters a provider has. */
export interface MeterDirectory {
  /** The status of each name, in input order. Rejects with UnavailableError when it cannot be found out now. */
  statusOf(holder: KeyHolder, names: readonly string[]): Promise<MeterStatus[]>
}
