import type { Instance } from '../instance/instance.ts'

/** Result of one kind of hostile traffic. */
export type Verdict = {
  /** Measurements to print. */
  readonly lines: readonly string[]
  /** Problems found. Empty if the service withstood the traffic. */
  readonly problems: readonly string[]
}

export type Check = (instance: Instance, print: (line: string) => void) => Promise<Verdict>
