import type { Script } from '../scripts/script.ts'

/** Runs a script on the hash of the leases. */
export type RunLeaseScript = (script: Script, args: readonly string[]) => Promise<unknown>
